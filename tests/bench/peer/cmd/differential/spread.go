package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"stowage.dev/tests/bench/peer/karpenter"
)

// spread is our plan beside those of several runs of Karpenter.
type spread struct {
	ours *karpenter.Plan
	runs []*karpenter.Plan
}

// differences says in which respect our plan is worse than every run; none: it is within their range or better.
func (r *spread) differences() (lines []string) {
	lines = append(lines, r.pods()...)
	nodes, prices := []float64{}, []float64{}
	for _, p := range r.runs {
		nodes = append(nodes, float64(len(p.NodeClaims)))
		prices = append(prices, price(p))
	}
	if n := float64(len(r.ours.NodeClaims)); n > slices.Max(nodes) {
		lines = append(lines, fmt.Sprintf("new nodes: ours %v, Karpenter %v to %v", n, slices.Min(nodes), slices.Max(nodes)))
	}
	if x := price(r.ours); x > slices.Max(prices)*(1+1e-9) && x > r.byLuck(prices) {
		lines = append(lines, fmt.Sprintf("price: ours %.4f, Karpenter %.4f to %.4f", x, slices.Min(prices), slices.Max(prices)))
	}
	return lines
}

// byLuck is the price that the order of equals alone may come to; 0 when too few runs tell. It differs from run to run,
// and ours is one draw more: of thousands of clusters in some it is dearer than the dearest, by a part of their range.
func (r *spread) byLuck(prices []float64) float64 {
	if len(prices) < mostRuns {
		return 0
	}
	most := slices.Max(prices)
	return most + (most-slices.Min(prices))/4
}

// pods compares what becomes of each pod: left out only if some run leaves it out too, and for a reason that
// some run gives; answered for if Karpenter answers for it, and only then.
func (r *spread) pods() (lines []string) {
	ours := places(r.ours)
	theirs := map[string][]string{}
	for _, p := range r.runs {
		for pod, place := range places(p) {
			theirs[pod] = append(theirs[pod], place)
		}
	}
	for _, pod := range keys(theirs) {
		place, ok := ours[pod]
		switch {
		case !ok:
			lines = append(lines, fmt.Sprintf("pod %s: not in our plan; Karpenter: %s", pod, theirs[pod][0]))
		case strings.HasPrefix(place, leftOut) && !slices.Contains(theirs[pod], place):
			lines = append(lines, fmt.Sprintf("pod %s: ours: %s: %s; Karpenter: %s", pod, place, message(r.ours, pod), theirs[pod][0]))
		}
	}
	for _, pod := range keys(ours) {
		if _, ok := theirs[pod]; !ok {
			lines = append(lines, fmt.Sprintf("pod %s: ours: %s; not in Karpenter's plan", pod, ours[pod]))
		}
	}
	return lines
}

// aboutPod says whether a line of differences is about what becomes of a pod.
func aboutPod(line string) bool { return strings.HasPrefix(line, "pod ") }

// ofAnotherKind says whether a line is about what becomes of a pod, other than that it waits for a reservation, or for a
// pod that does.
func ofAnotherKind(line string) bool {
	ours, _, _ := strings.Cut(line, "; Karpenter: ")
	return aboutPod(line) && !strings.Contains(ours, "could use a reservation of pool ")
}

// placedByUsAlone are the pods that we place and every run leaves out.
func (r *spread) placedByUsAlone() map[string]bool {
	alone := map[string]bool{}
	for pod, place := range places(r.ours) {
		alone[pod] = !strings.HasPrefix(place, leftOut)
	}
	for _, p := range r.runs {
		theirs := places(p)
		maps.DeleteFunc(alone, func(pod string, placed bool) bool {
			return !placed || !strings.HasPrefix(theirs[pod], leftOut)
		})
	}
	return alone
}

func (r *spread) meanPrice() float64 {
	sum := 0.0
	for _, p := range r.runs {
		sum += price(p)
	}
	return sum / float64(len(r.runs))
}

// nearest is the run that has most claims in common with ours.
func (r *spread) nearest() *karpenter.Plan {
	ours, best, most := claims(r.ours), r.runs[0], -1
	for _, p := range r.runs {
		same := 0
		for line, n := range claims(p) {
			same += min(n, ours[line])
		}
		if same > most {
			best, most = p, same
		}
	}
	return best
}

// explain lists the claims that only one of ours and the nearest run has.
func (r *spread) explain() (lines []string) {
	ours, theirs := claims(r.ours), claims(r.nearest())
	for _, line := range keys(ours) {
		if n := ours[line] - theirs[line]; n > 0 {
			lines = append(lines, fmt.Sprintf("only ours:      %d × %s", n, line))
		}
	}
	for _, line := range keys(theirs) {
		if n := theirs[line] - ours[line]; n > 0 {
			lines = append(lines, fmt.Sprintf("only Karpenter: %d × %s", n, line))
		}
	}
	return lines
}

// claims describes a plan's nodes, each by all that matters, with how many there are of a kind.
func claims(p *karpenter.Plan) map[string]int {
	out := map[string]int{}
	describe := func(name string, pods []string) {
		pods = slices.Clone(pods)
		sort.Strings(pods)
		out[fmt.Sprintf("%s: %d pods %s", name, len(pods), strings.Join(pods, " "))]++
	}
	for _, c := range p.NodeClaims {
		first := "no type"
		if len(c.InstanceTypes) > 0 {
			first = fmt.Sprintf("%s and %d more", c.InstanceTypes[0], len(c.InstanceTypes)-1)
		}
		cost := math.NaN()
		if c.Price != nil {
			cost = *c.Price
		}
		describe(fmt.Sprintf("%s %s at %.4f", c.NodePool, first, cost), c.Pods)
	}
	for _, n := range p.ExistingNodes {
		describe("node "+n.Name, n.Pods)
	}
	return out
}

const leftOut = "left out: "

// places says for each pod of a plan where it goes, or why not.
func places(p *karpenter.Plan) map[string]string {
	at := map[string]string{}
	for _, c := range p.NodeClaims {
		for _, pod := range c.Pods {
			at[pod] = "a new node of " + c.NodePool
		}
	}
	for _, n := range p.ExistingNodes {
		for _, pod := range n.Pods {
			at[pod] = "node " + n.Name
		}
	}
	for _, u := range p.Unschedulable {
		at[u.Pod] = leftOut + u.Reason
	}
	return at
}

func message(p *karpenter.Plan, pod string) string {
	for _, u := range p.Unschedulable {
		if u.Pod == pod {
			return u.Message
		}
	}
	return ""
}

func price(p *karpenter.Plan) float64 {
	sum := 0.0
	for _, c := range p.NodeClaims {
		if c.Price != nil {
			sum += *c.Price
		}
	}
	return sum
}

func keys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
