package judge

import (
	"fmt"
	"sort"
	"time"

	"stowage.dev/tests/judge/cluster"
)

// Misfit is a node whose own daemon pods do not fit beside the planned pods.
type Misfit struct {
	Node     string  `json:"node"`
	Resource string  `json:"resource"`
	Over     float64 `json:"over"`
}

// PlanError is something wrong with the plan that needs no scheduler to see.
type PlanError struct {
	Kind    string `json:"kind"`
	Object  string `json:"object"`
	Message string `json:"message"`
}

// Report is the whole verdict.
type Report struct {
	Pods           int              `json:"pods"` // that the plan must answer for
	PlannedNew     int              `json:"plannedOnNew"`
	PlannedOld     int              `json:"plannedOnExisting"`
	Unschedulable  int              `json:"unschedulable"`
	PlanErrors     []PlanError      `json:"planErrors,omitempty"`
	Lost           []string         `json:"lost,omitempty"`
	Duplicates     []string         `json:"duplicates,omitempty"`
	Useless        []string         `json:"useless,omitempty"` // planned, but no scheduler takes them up
	Invalid        []Refusal        `json:"invalid,omitempty"`
	ByPlugin       map[string]int   `json:"invalidByPlugin,omitempty"`
	RefusedAtFirst int              `json:"refusedAtFirst"` // in the plan's own order; valid later unless in invalid
	Order          string           `json:"order,omitempty"`
	Misfits        []Misfit         `json:"daemonMisfits,omitempty"`
	Missed         []Missed         `json:"missed,omitempty"`
	Free           *FreeRun         `json:"freeRun,omitempty"`
	Guided         *FreeRun         `json:"guidedRun,omitempty"`
	Cost           *Cost            `json:"cost,omitempty"`
	MilliSeconds   map[string]int64 `json:"milliseconds"`
	Ignored        map[string]int   `json:"ignoredKinds,omitempty"`
}

func (r *Report) planError(kind, object, message string) {
	r.PlanErrors = append(r.PlanErrors, PlanError{kind, object, message})
}

// Judge holds the plan against the scheduler.
func Judge(c *cluster.Cluster, cat *cluster.Catalogue, p *Plan, o Options) (*Report, error) {
	r := &Report{MilliSeconds: map[string]int64{}, Ignored: c.Ignored}
	last := time.Now()
	lap := func(name string) {
		r.MilliSeconds[name] = time.Since(last).Milliseconds()
		last = time.Now()
	}
	w := build(c, cat, p, o, r)
	plan := r.account(w, p)
	r.limits(w, c)
	lap("build")

	env, err := validity(w, plan, r)
	if err != nil {
		return nil, err
	}
	defer env.stop()
	r.ByPlugin = map[string]int{}
	for _, f := range r.Invalid {
		r.ByPlugin[f.Plugin]++
	}
	r.overfull(env, w)
	lap("validity")
	if r.Missed, err = certain(missed(env, w, c, cat, p), c, cat, p, o); err != nil {
		return nil, err
	}
	lap("missed")
	r.Cost = cost(w, c, cat, p)
	if b := r.Cost.PlanLowerBound; b != nil && r.Cost.PlanAfter != nil && *b > *r.Cost.PlanAfter*(1+1e-9) {
		r.planError("LowerBound", "cost", fmt.Sprintf("lower bound %v above the cost %v", *b, *r.Cost.PlanAfter))
	}
	lap("cost")
	if o.Runs && len(plan) > 0 {
		if r.Free, err = freeRun(w, plan, false, o.Seed); err != nil {
			return nil, err
		}
		lap("free")
		if r.Guided, err = freeRun(w, plan, true, o.Seed); err != nil {
			return nil, err
		}
		lap("guided")
	}
	return r, nil
}

// Valid says whether the plan can be carried out: no placement that a filter refuses, no pod lost or planned
// twice, no error in the plan, no node too small for its own daemons.
func (r *Report) Valid() bool {
	return len(r.PlanErrors)+len(r.Lost)+len(r.Duplicates)+len(r.Invalid)+len(r.Misfits) == 0
}

// Holds says whether the plan is valid, gives up no pod that has a place and, with runs, sees every pod
// bound where it planned it.
func (r *Report) Holds() bool {
	return r.Valid() && len(r.Missed) == 0 && (r.Guided == nil || r.Guided.AsPlanned == r.Guided.Pods)
}

// Faults says what is wrong with the plan, a line each.
func (r *Report) Faults() []string {
	var out []string
	say := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	for _, f := range r.Invalid {
		say("refused: %s on %s: %s: %s", f.Pod, f.Node, f.Plugin, f.Reason)
	}
	for _, pod := range r.Lost {
		say("lost: %s", pod)
	}
	for _, pod := range r.Duplicates {
		say("planned twice: %s", pod)
	}
	for _, e := range r.PlanErrors {
		say("plan error: %s %s: %s", e.Kind, e.Object, e.Message)
	}
	for _, m := range r.Misfits {
		say("too small for its daemons: %s: %s over by %v", m.Node, m.Resource, m.Over)
	}
	for _, m := range r.Missed {
		say("missed: %s would go to %s; the plan says: %s", m.Pod, m.Place(), m.Said)
	}
	if g := r.Guided; g != nil && g.AsPlanned < g.Pods {
		say("guided run: %d of %d as planned; pending %v", g.AsPlanned, g.Pods, g.PendingPods)
	}
	return out
}

// account checks that every pod is answered for exactly once; it returns the placements that can be tried,
// existing nodes first, as the contract orders them.
func (r *Report) account(w *world, p *Plan) []Placement {
	var plan []Placement
	at := map[string]string{}
	put := func(pod, node string, ok bool) {
		if before, twice := at[pod]; twice {
			r.Duplicates = append(r.Duplicates, fmt.Sprintf("%s: on %s and on %s", pod, before, node))
			return
		}
		at[pod] = node
		if why := w.never[pod]; why != "" {
			if node != "unschedulable" {
				r.Useless = append(r.Useless, pod+": "+why)
			}
			return
		}
		if w.pods[pod] == nil {
			r.planError("UnknownPod", pod, "planned on "+node+", but no unbound pod of this name is in the input")
			return
		}
		if ok {
			plan = append(plan, Placement{pod, node})
		}
	}
	names := map[string]bool{}
	for _, n := range p.ExistingNodes {
		if names[n.Name] {
			r.planError("ExistingNode", n.Name, "listed twice")
		}
		names[n.Name] = true
		ok := w.existing[n.Name]
		if w.deleting[n.Name] {
			r.planError("ExistingNode", n.Name, "is being deleted")
			ok = false
		} else if !ok {
			r.planError("ExistingNode", n.Name, "is no node of the input")
		}
		for _, k := range n.Pods {
			put(k, n.Name, ok)
			r.PlannedOld++
		}
	}
	for i := range p.NodeClaims {
		_, ok := w.planned[p.NodeClaims[i].Name]
		for _, k := range p.NodeClaims[i].Pods {
			put(k, p.NodeClaims[i].Name, ok)
			r.PlannedNew++
		}
	}
	for _, u := range p.Unschedulable {
		put(u.Pod, "unschedulable", false)
		r.Unschedulable++
		if u.Reason == "" {
			r.planError("Reason", u.Pod, "unschedulable without a reason")
		}
	}
	for k := range w.pods {
		if w.must[k] {
			r.Pods++
			if at[k] == "" {
				r.Lost = append(r.Lost, k)
			}
		}
	}
	sort.Strings(r.Lost)
	return plan
}

// limits checks NodePool limits against the machines that were materialised.
func (r *Report) limits(w *world, c *cluster.Cluster) {
	grew := map[string]bool{}
	for _, n := range w.nodes {
		if _, ok := w.planned[n.Name]; ok {
			grew[n.Labels[cluster.NodePoolKey]] = true
		}
	}
	for _, pool := range c.NodePools {
		if !grew[pool.Name] || len(pool.Spec.Limits) == 0 {
			continue
		}
		use := usage(w, pool.Name)
		for k, lim := range pool.Spec.Limits {
			if l := lim.AsApproximateFloat64(); use[string(k)] > l*(1+1e-12) {
				r.planError("Limits", pool.Name, fmt.Sprintf("%s: %v used, limit %v", k, use[string(k)], l))
			}
		}
	}
}

// overfull looks for nodes that hold more than they have once all is placed. Daemon pods stand there before the
// others, so that only a node too small for its own daemons shows here.
func (r *Report) overfull(env *real, w *world) {
	sum := map[string]map[string]float64{}
	for _, p := range w.bound {
		if sum[p.Spec.NodeName] == nil {
			sum[p.Spec.NodeName] = map[string]float64{}
		}
		addTo(sum[p.Spec.NodeName], requests(p), 1)
	}
	for _, n := range w.nodes {
		if _, ok := w.planned[n.Name]; !ok {
			continue
		}
		have := amounts(n.Status.Allocatable)
		for k, v := range sum[n.Name] {
			if v > have[k]+1e-9 {
				r.Misfits = append(r.Misfits, Misfit{n.Name, k, v - have[k]})
			}
		}
	}
}
