package main

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"stowage.dev/tests/bench/peer/karpenter"
)

func TestWorseThanGreedy(t *testing.T) {
	high := int32(1000)
	objects := []client.Object{pod("low", func(*corev1.Pod) {}), pod("low2", func(*corev1.Pod) {}),
		pod("high", func(p *corev1.Pod) { p.Spec.Priority = &high })}
	low, all := []string{"default/low default/low2"}, []string{"default/low default/low2 default/high"}
	urgent := []string{"default/high"}
	for _, row := range []struct {
		label            string
		cheapest, greedy *karpenter.Plan
		want             string // part of the only line
	}{
		{"equal", plan([]float64{1}, all), plan([]float64{1}, all), ""},
		{"cheaper", plan([]float64{1}, all), plan([]float64{2}, all), ""},
		{"dearer", plan([]float64{1.01}, all), plan([]float64{1}, all), "price: cheapest 1.0100"},
		{"dearer, with more pods", plan([]float64{2}, all), plan([]float64{1}, low), ""},
		{"cheaper, with fewer", plan([]float64{1}, low), plan([]float64{2}, all), "1 pods of priority 1000 fewer"},
		{"others of higher priority", plan([]float64{9}, urgent, "default/low X"), plan([]float64{1}, low, "default/high X"), ""},
		{"others of lower priority", plan([]float64{1}, low, "default/high X"), plan([]float64{9}, urgent), "1 pods of priority 1000"},
		{"fewer of the lowest", plan([]float64{1}, urgent), plan([]float64{9}, all), "2 pods of priority 0 fewer"},
		{"one of them left out for another", plan([]float64{2}, []string{"default/low"}), plan([]float64{1}, []string{"default/low2"}), ""},
	} {
		got := worseThanGreedy(row.cheapest, row.greedy, objects)
		if row.want == "" && len(got) > 0 || row.want != "" && (len(got) != 1 || !strings.Contains(got[0], row.want)) {
			t.Errorf("%s: %q, want %q", row.label, got, row.want)
		}
	}
}

// Only runs that place the same pods are compared, and a mean of few clusters says nothing.
func TestRatio(t *testing.T) {
	r := &spread{runs: []*karpenter.Plan{plan([]float64{1}, []string{"p q"}), plan([]float64{3}, []string{"p q"}),
		plan([]float64{9}, []string{"p"}, "q X")}}
	for _, row := range []struct {
		label    string
		cheapest *karpenter.Plan
		want     float64
	}{
		{"half the mean", plan([]float64{1}, []string{"p q"}), 0.5},
		{"as one run", plan([]float64{4.5}, []string{"p"}, "q X"), 0.5},
		{"nobody places them", plan([]float64{1}, []string{"q"}, "p X"), 0},
	} {
		if got := r.ratio(row.cheapest); got != row.want {
			t.Errorf("%s: %v, want %v", row.label, got, row.want)
		}
	}
	for _, row := range []struct {
		label string
		count int
		ratio float64
		want  bool
	}{
		{"cheaper", enough, 0.99, false}, {"equal", enough, 1, true}, {"dearer", enough, 1.01, true},
		{"too few", enough - 1, 1.01, false},
	} {
		outcomes := []*outcome{{}} // without a ratio
		for range row.count {
			outcomes = append(outcomes, &outcome{ratio: row.ratio})
		}
		if got := notCheaper(outcomes); got != row.want {
			t.Errorf("%s: %v", row.label, got)
		}
	}
}
