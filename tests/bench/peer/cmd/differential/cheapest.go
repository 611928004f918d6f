package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"stowage.dev/tests/bench/peer/karpenter"
)

// enough clusters for a mean of price ratios to be held against 1.
const enough = 10

// worseThanGreedy says in which respect *cheapest* breaks its promise: it never places fewer of the highest
// priority at which the two differ, and for the same pods it is never dearer.
func worseThanGreedy(cheapest, greedy *karpenter.Plan, objects []client.Object) (lines []string) {
	more := map[int32]int{}
	priorities := priorityOf(objects)
	for pod := range placed(cheapest) {
		more[priorities[pod]]++
	}
	for pod := range placed(greedy) {
		more[priorities[pod]]--
	}
	for _, priority := range slices.Backward(slices.Sorted(maps.Keys(more))) {
		if more[priority] < 0 {
			lines = append(lines, fmt.Sprintf("cheapest places %d pods of priority %d fewer than greedy", -more[priority], priority))
		}
		if more[priority] != 0 {
			return lines
		}
	}
	ours, floor := price(cheapest), price(greedy)
	if maps.Equal(placed(cheapest), placed(greedy)) && ours > floor*(1+1e-9) {
		lines = append(lines, fmt.Sprintf("price: cheapest %.4f, greedy %.4f for the same pods", ours, floor))
	}
	return lines
}

// ratio is the price of the plan to the mean of those runs of Karpenter that place the same pods; 0: none does, or
// they buy nothing.
func (r *spread) ratio(cheapest *karpenter.Plan) float64 {
	same, sum := 0, 0.0
	for _, p := range r.runs {
		if maps.Equal(placed(p), placed(cheapest)) {
			same++
			sum += price(p)
		}
	}
	if sum == 0 {
		return 0
	}
	return price(cheapest) * float64(same) / sum
}

func placed(p *karpenter.Plan) map[string]bool {
	out := map[string]bool{}
	for pod, place := range places(p) {
		if !strings.HasPrefix(place, leftOut) {
			out[pod] = true
		}
	}
	return out
}

func priorityOf(objects []client.Object) map[string]int32 {
	out := map[string]int32{}
	for _, o := range objects {
		if pod, ok := o.(*corev1.Pod); ok && pod.Spec.Priority != nil {
			out[podKey(o)] = *pod.Spec.Priority
		}
	}
	return out
}

// meanRatio is that of the clusters that have one, and how many do.
func meanRatio(outcomes []*outcome) (mean float64, count int) {
	for _, o := range outcomes {
		if o.ratio > 0 {
			mean += o.ratio
			count++
		}
	}
	return mean / float64(max(count, 1)), count
}

// notCheaper says whether *cheapest* is not, on average, strictly cheaper than Karpenter.
func notCheaper(outcomes []*outcome) bool {
	mean, count := meanRatio(outcomes)
	return count >= enough && mean >= 1
}
