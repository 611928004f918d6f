package karpenter

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// Timing is what repeated passes over one world took.
type Timing struct {
	Planner       string `json:"planner"`
	Repeat        int    `json:"repeat"`
	Pods          int    `json:"pods"`
	InstanceTypes int    `json:"instanceTypes"`
	NodeClaims    int    `json:"nodeClaims"`
	Unschedulable int    `json:"unschedulable"`
	PassMinNs     int64  `json:"passMinNs"` // list, validate, build the scheduler and the topology, solve
	PassMedianNs  int64  `json:"passMedianNs"`
	SolveMinNs    int64  `json:"solveMinNs"` // Scheduler.Solve alone, which is what Karpenter's own benchmark times
	SolveMedianNs int64  `json:"solveMedianNs"`
}

// Bench repeats the pass, each time with a new scheduler.
func (w *World) Bench(ctx context.Context, n int, pass Pass) (*Timing, error) {
	t := &Timing{Planner: "karpenter", Repeat: n, InstanceTypes: w.provider.catalogue.Entries}
	var whole, solve []int64
	for range n {
		runtime.GC()
		start := time.Now()
		results, took, err := w.solve(ctx, pass)
		if err != nil {
			return nil, err
		}
		whole, solve = append(whole, int64(time.Since(start))), append(solve, int64(took))
		t.NodeClaims, t.Unschedulable = len(results.NewNodeClaims), len(results.PodErrors)
		t.Pods = t.Unschedulable
		for _, c := range results.NewNodeClaims {
			t.Pods += len(c.Pods)
		}
		for _, node := range results.ExistingNodes {
			t.Pods += len(node.Pods)
		}
	}
	slices.Sort(whole)
	slices.Sort(solve)
	t.PassMinNs, t.PassMedianNs = whole[0], whole[n/2]
	t.SolveMinNs, t.SolveMedianNs = solve[0], solve[n/2]
	return t, nil
}
