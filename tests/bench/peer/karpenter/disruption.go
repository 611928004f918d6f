package karpenter

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"unsafe"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/state/cost"
)

// Answer is what one disruption method says: commands, or why it failed, which in the controller fails the pass.
type Answer struct {
	Method   string
	Commands []PlanDisruption
	Err      error
}

// Disrupt asks the methods in the controller's order, about the state that `fresh` builds: up to the first that acts or
// fails, or with all every one. Each answer is about the state as given: a method that acts leaves marks (it nominates
// nodes, reserves nodes of static pools), and the next is asked about a new one.
func Disrupt(ctx context.Context, fresh func() (*World, error), all bool) ([]Answer, error) {
	var out []Answer
	var p *disruptionPass
	for i, marked := 0, true; p == nil || i < len(p.methods); i++ {
		if marked {
			w, err := fresh()
			if err != nil {
				return nil, err
			}
			if p, err = newDisruptionPass(ctx, w); err != nil {
				return nil, err
			}
		}
		a := Answer{Method: methodName(p.methods[i])}
		a.Commands, a.Err = p.ask(ctx, p.methods[i])
		out = append(out, a)
		if marked = len(a.Commands) > 0 || a.Err != nil; marked && !all {
			break
		}
	}
	return out, nil
}

// Commands are those of all answers; it fails if a method did.
func Commands(answers []Answer) ([]PlanDisruption, error) {
	out := []PlanDisruption{}
	for _, a := range answers {
		if a.Err != nil {
			return nil, fmt.Errorf("%s: %w", a.Method, a.Err)
		}
		out = append(out, a.Commands...)
	}
	return out, nil
}

// disruptionPass is a world with the methods that look at it.
type disruptionPass struct {
	*World
	queue   *disruption.Queue
	methods []disruption.Method
	spent   *cost.ClusterCost
}

func newDisruptionPass(ctx context.Context, w *World) (*disruptionPass, error) {
	wellKnown.RLock()
	defer wellKnown.RUnlock()
	p := &disruptionPass{World: w, queue: disruption.NewQueue(w.client, silentRecorder{}, w.cluster, w.clock, w.provisioner),
		spent: cost.NewClusterCost(ctx, w.provider, w.client)}
	for _, objs := range w.client.byKind {
		for _, o := range objs {
			if nc, ok := o.(*v1.NodeClaim); ok {
				if err := p.spent.UpdateNodeClaim(ctx, nc); client.IgnoreNotFound(err) != nil { // of its pool: it costs nothing
					return nil, fmt.Errorf("NodeClaim %s: %w", nc.Name, err)
				}
			}
		}
	}
	p.methods = disruption.NewMethods(ctx, w.clock, w.cluster, w.client, w.provisioner, w.provider, silentRecorder{}, p.queue)
	for _, m := range p.methods {
		if r, ok := m.(*disruption.Repair); ok { // its history has no way in
			field := reflect.ValueOf(r).Elem().FieldByName("rebootHistory")
			history := *(**disruption.RebootHistory)(unsafe.Pointer(field.UnsafeAddr()))
			for uid, count := range w.rebooted {
				for range count {
					history.RecordCommittedReboot(uid)
				}
			}
		}
	}
	return p, nil
}

func methodName(m disruption.Method) string { return reflect.TypeOf(m).Elem().Name() }

// ask is the controller's disrupt, up to the commands.
func (p *disruptionPass) ask(ctx context.Context, m disruption.Method) ([]PlanDisruption, error) {
	wellKnown.RLock()
	defer wellKnown.RUnlock()
	candidates, totals, err := disruption.GetCandidatesWithTotals(ctx, p.cluster, p.client, silentRecorder{}, p.clock, p.provider,
		m.ShouldDisrupt, m.Class(), p.queue, p.spent)
	if err != nil || len(candidates) == 0 {
		return nil, err
	}
	if s, ok := m.(disruption.NodePoolTotalsSetter); ok {
		s.SetNodePoolTotals(totals)
	}
	budgets, err := disruption.BuildDisruptionBudgetMapping(ctx, p.cluster, p.clock, p.client, p.provider, silentRecorder{}, m.Reason())
	if err != nil {
		return nil, err
	}
	// They come in the order of a map, which for a few is nearly always the same.
	rand.Shuffle(len(candidates), func(i, j int) { candidates[i], candidates[j] = candidates[j], candidates[i] })
	commands, err := m.ComputeCommands(ctx, budgets, candidates...)
	if err != nil {
		return nil, err
	}
	var out []PlanDisruption
	for _, c := range commands {
		if c.Decision() != disruption.NoOpDecision {
			out = append(out, planDisruption(m, c))
		}
	}
	return out, nil
}

func planDisruption(m disruption.Method, c disruption.Command) PlanDisruption {
	d := PlanDisruption{Method: methodName(m), Reason: strings.ToLower(string(m.Reason())), Decision: string(c.Decision()),
		Candidates: c.SourceNodeNames()}
	savings, known := c.SourceCost(), true
	if c.Reboot {
		savings = 0
	}
	for _, n := range c.Candidates {
		d.DisruptionCost += n.DisruptionCost
		if n.TerminationGracePeriod != nil {
			d.TerminationGracePeriod = n.TerminationGracePeriod.String()
		}
	}
	for i, n := range c.Replacements {
		// Not EstimatedSavings: that prices the first type of the list, which is not always the cheapest.
		claim := planClaim(fmt.Sprintf("replacement-%d", i+1), n.NodeClaim, nil)
		if known = known && claim.Price != nil; known { // a static pool's claim names no types
			savings -= *claim.Price
		}
		d.Replacements = append(d.Replacements, claim)
	}
	if known {
		d.SavingsPerHour = &savings
	}
	return d
}
