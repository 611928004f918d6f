package judge

import (
	"sort"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Placement is one line of the plan.
type Placement struct{ Pod, Node string }

// Refusal is a placement that a filter plugin of the real scheduler rejects.
type Refusal struct {
	Pod    string `json:"pod"`
	Node   string `json:"node"`
	Plugin string `json:"plugin"`
	Reason string `json:"reason"`
}

// maxOrders is how many orders are tried before a placement counts as invalid.
const maxOrders = 8

// order is one way to bring the plan's pods to the scheduler.
type order struct {
	name string
	pods []Placement
}

// constrained counts what in a pod depends on where other pods are.
func constrained(p *v1.Pod) int {
	n := 0
	for _, c := range p.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable == v1.DoNotSchedule {
			n++
		}
	}
	if a := p.Spec.Affinity; a != nil {
		if a.PodAffinity != nil {
			n += len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		}
		if a.PodAntiAffinity != nil {
			n += len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		}
	}
	return n
}

// validity places the plan pod by pod on exactly the planned nodes. A placement counts as invalid only if it is
// refused in every order tried: the plan's own, constrained pods first or last, and those refused so far first;
// within an order, refused pods come again until nothing moves. The world with the fewest refusals is returned.
func validity(w *world, plan []Placement, r *Report) (*real, error) {
	shared := map[string]bool{}
	uses := map[string]int{}
	for _, pl := range plan {
		for _, v := range w.pods[pl.Pod].Spec.Volumes {
			if v.PersistentVolumeClaim != nil {
				k := w.pods[pl.Pod].Namespace + "/" + v.PersistentVolumeClaim.ClaimName
				uses[k]++
				shared[k] = uses[k] > 1
			}
		}
	}
	sorted := func(less func(a, b Placement) bool) []Placement {
		out := append([]Placement(nil), plan...)
		sort.SliceStable(out, func(i, j int) bool { return less(out[i], out[j]) })
		return out
	}
	degree := func(p Placement) int { return constrained(w.pods[p.Pod]) }
	orders := []order{
		{"plan", plan},
		{"constrained first", sorted(func(a, b Placement) bool { return degree(a) > degree(b) })},
		{"constrained last", sorted(func(a, b Placement) bool { return degree(a) < degree(b) })},
	}
	var best *real
	var bestRefused []Refusal
	failed := map[string]int{}
	for i := 0; i < len(orders); i++ {
		env, err := newReal(w)
		if err != nil {
			return nil, err
		}
		refusals, first := run(env, w, orders[i].pods, shared)
		if i == 0 {
			r.RefusedAtFirst = first
		}
		if best == nil || len(refusals) < len(bestRefused) {
			if best != nil {
				best.stop()
			}
			best, bestRefused, r.Order = env, refusals, orders[i].name
		} else {
			env.stop()
		}
		if len(refusals) == 0 {
			break
		}
		hopeless := true // refused by something no order can change?
		for _, f := range refusals {
			failed[f.Pod]++
			switch f.Plugin {
			case "PodTopologySpread", "InterPodAffinity", "VolumeBinding", "VolumeRestrictions", "NodeVolumeLimits", "NodePorts":
				hopeless = false
			}
		}
		if hopeless {
			break
		}
		if i == len(orders)-1 && len(orders) < maxOrders {
			orders = append(orders, order{"refused first", sorted(func(a, b Placement) bool { return failed[a.Pod] > failed[b.Pod] })})
		}
	}
	r.Invalid = bestRefused
	return best, nil
}

// run places until a fixpoint; it returns what stays refused, and how many were refused at their first try.
func run(env *real, w *world, plan []Placement, shared map[string]bool) ([]Refusal, int) {
	left, first, lag := plan, 0, 0
	for round := 0; ; round++ {
		var again []Placement
		var refusals []Refusal
		volumes := false
		for _, pl := range left {
			v, state := env.filter(w.pods[pl.Pod], pl.Node)
			if v.ok() {
				v = env.place(w.pods[pl.Pod], pl.Node, state, shared)
			}
			if !v.ok() {
				again = append(again, pl)
				refusals = append(refusals, Refusal{pl.Pod, pl.Node, v.Plugin, v.Reason})
				volumes = volumes || v.Plugin == "VolumeBinding" && len(shared) > 0
			}
		}
		if round == 0 {
			first = len(again)
		}
		if len(again) == 0 {
			return nil, first
		}
		if len(again) == len(left) {
			if !volumes || lag > 5 {
				return refusals, first
			}
			lag++ // a provisioned volume may still be on its way through the informers
			time.Sleep(20 * time.Millisecond)
		}
		left = again
	}
}
