package judge

import (
	"math"
	"sort"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"

	"stowage.dev/tests/judge/cluster"
)

// Cost is what the planned nodes cost per hour and how well they are used.
type Cost struct {
	PlannedNodes   int                `json:"plannedNodes"`
	Planned        float64            `json:"planned"`         // cheapest listed type of each claim
	Chosen         float64            `json:"chosen"`          // the types that were materialised
	BoundBySingle  float64            `json:"boundBySingle"`   // max over resources of demand x cheapest price per unit
	BoundByLP      float64            `json:"boundByLP"`       // fractional covering of all resources at once
	Ratio          float64            `json:"ratio,omitempty"` // planned / boundByLP
	PlanAfter      *float64           `json:"planAfter,omitempty"`
	PlanLowerBound *float64           `json:"planLowerBound,omitempty"`
	Requested      map[string]float64 `json:"requested"`
	Allocatable    map[string]float64 `json:"allocatable"`
	Used           map[string]float64 `json:"used"` // requested (daemons included) / allocatable
}

// Requests is the scheduler's own sum, plus one pod.
func requests(p *v1.Pod) map[string]float64 {
	m := amounts(resource.PodRequests(p, resource.PodResourcesOptions{}))
	m["pods"] = 1
	return m
}

func amounts(l v1.ResourceList) map[string]float64 {
	m := map[string]float64{}
	for k, q := range l {
		m[string(k)] = q.AsApproximateFloat64()
	}
	return m
}

func addTo(dst, src map[string]float64, sign float64) {
	for k, v := range src {
		dst[k] += sign * v
	}
}

// cost prices the plan. The bounds speak of new nodes only: the demand is what the plan puts on them, each machine
// offers what its daemons leave, and every (type, offering) some NodePool can buy takes part.
func cost(w *world, c *cluster.Cluster, cat *cluster.Catalogue, p *Plan) *Cost {
	out := &Cost{PlannedNodes: len(p.NodeClaims), Requested: map[string]float64{}, Allocatable: map[string]float64{}, Used: map[string]float64{}}
	if p.Cost != nil {
		out.PlanAfter, out.PlanLowerBound = p.Cost.After, p.Cost.LowerBound
	}
	demand := map[string]float64{}
	for i := range p.NodeClaims {
		pc := &p.NodeClaims[i]
		low := math.Inf(1)
		for _, name := range pc.InstanceTypes {
			if t := cat.Get(name); t != nil {
				if o := cluster.Cheapest(t.Compatible(pc.Requirements)); o != nil {
					low = min(low, o.Price)
				}
			}
		}
		if !math.IsInf(low, 1) {
			out.Planned += low
		}
		if ch, ok := w.planned[pc.Name]; ok {
			out.Chosen += ch.Offering.Price
			addTo(out.Allocatable, amounts(ch.Type.Allocatable()), 1)
		}
		for _, k := range pc.Pods {
			if pod := w.pods[k]; pod != nil {
				addTo(demand, requests(pod), 1)
			}
		}
	}
	addTo(out.Requested, demand, 1)
	for _, p := range w.bound {
		if _, ok := w.planned[p.Spec.NodeName]; ok {
			addTo(out.Requested, requests(p), 1)
		}
	}
	for k, a := range out.Allocatable {
		if a > 0 {
			out.Used[k] = out.Requested[k] / a
		}
	}

	var names []string
	var need []float64
	for k, v := range demand {
		if v > 0 {
			names = append(names, k)
		}
	}
	sort.Strings(names)
	for _, k := range names {
		need = append(need, demand[k])
	}
	var offer [][]float64
	var price []float64
	for _, pool := range c.NodePools {
		for _, t := range cat.Types {
			o := cluster.Cheapest(t.Compatible(pool.Reqs()))
			if o == nil {
				continue
			}
			free := amounts(t.Allocatable())
			n := claimNode("bound", pool.Name, pool.Spec.Template.Spec.Requirements, pool.Spec.Template.Metadata.Labels, pool.Spec.Template.Spec.Taints, chosen{t, o})
			for _, d := range daemonPods(w.daemons, n, nil) {
				addTo(free, requests(d), -1)
			}
			row := make([]float64, len(names))
			for i, k := range names {
				row[i] = max(0, free[k])
			}
			offer, price = append(offer, row), append(price, o.Price)
		}
	}
	for i := range names {
		unit := math.Inf(1)
		for j := range offer {
			if offer[j][i] > 0 {
				unit = min(unit, price[j]/offer[j][i])
			}
		}
		if !math.IsInf(unit, 1) {
			out.BoundBySingle = max(out.BoundBySingle, unit*need[i])
		}
	}
	out.BoundByLP = max(out.BoundBySingle, cover(need, offer, price))
	if out.BoundByLP > 0 {
		out.Ratio = out.Planned / out.BoundByLP
	}
	return out
}

// cover solves min price·x, offerᵀx >= need, x >= 0 by its dual max need·y, offer·y <= price, y >= 0:
// a plain simplex (Bland's rule) with one row per type and one column per resource.
func cover(need []float64, offer [][]float64, price []float64) float64 {
	n, m := len(need), len(offer)
	if n == 0 || m == 0 {
		return 0
	}
	scale := make([]float64, n) // bytes and cores in one tableau: bring every resource to the size of the demand
	for i := range need {
		scale[i] = need[i]
	}
	t := make([][]float64, m+1)
	for j := range t {
		t[j] = make([]float64, n+m+1)
	}
	for j := 0; j < m; j++ {
		for i := 0; i < n; i++ {
			t[j][i] = offer[j][i] / scale[i]
		}
		t[j][n+j], t[j][n+m] = 1, price[j]
	}
	for i := 0; i < n; i++ {
		t[m][i] = -need[i] / scale[i]
	}
	basis := make([]int, m)
	for j := range basis {
		basis[j] = n + j
	}
	const eps = 1e-12
	for step := 0; step < 10000; step++ {
		col := -1
		for i := 0; i < n+m; i++ {
			if t[m][i] < -eps {
				col = i
				break
			}
		}
		if col < 0 {
			return t[m][n+m]
		}
		row := -1
		for j := 0; j < m; j++ {
			if t[j][col] > eps {
				a := t[j][n+m] / t[j][col]
				if row < 0 || a < t[row][n+m]/t[row][col]-eps || a < t[row][n+m]/t[row][col]+eps && basis[j] < basis[row] {
					row = j
				}
			}
		}
		if row < 0 {
			return 0 // unbounded dual: no machine offers some resource
		}
		f := t[row][col]
		for k := range t[row] {
			t[row][k] /= f
		}
		for j := range t {
			if j != row && t[j][col] != 0 {
				g := t[j][col]
				for k := range t[j] {
					t[j][k] -= g * t[row][k]
				}
			}
		}
		basis[row] = col
	}
	return 0
}
