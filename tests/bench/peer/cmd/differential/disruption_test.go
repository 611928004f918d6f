package main

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"stowage.dev/tests/bench/peer/karpenter"
)

// command is a replace of two nodes, as changed.
func command(change func(*karpenter.PlanDisruption)) karpenter.PlanDisruption {
	savings, price := 0.3, 0.1
	c := karpenter.PlanDisruption{Method: "MultiNodeConsolidation", Reason: "underutilized", Decision: "replace", Candidates: []string{"a", "b"},
		SavingsPerHour: &savings, DisruptionCost: 2, Replacements: []karpenter.PlanClaim{{NodePool: "default", Price: &price, InstanceTypes: []string{"small", "large"},
			Requirements: []v1.NodeSelectorRequirementWithMinValues{{Key: "zone", Operator: "In", Values: []string{"a", "b"}}}, Pods: []string{"default/p"}}}}
	change(&c)
	return c
}

// of one method's answers, ours and those of as many runs.
func answers(method string, ours []karpenter.PlanDisruption, runs ...[]karpenter.PlanDisruption) *methods {
	m := &methods{all: ours, first: ours}
	for _, commands := range runs {
		m.runs = append(m.runs, []karpenter.Answer{{Method: method, Commands: commands}})
	}
	return m
}

// Whatever is otherwise in an answer is found; the order of what has none, and rounding, are not.
func TestDisruptionDifferences(t *testing.T) {
	theirs := []karpenter.PlanDisruption{command(func(*karpenter.PlanDisruption) {})}
	for _, row := range []struct {
		label  string
		change func(*karpenter.PlanDisruption)
		same   bool
	}{
		{"equal", func(*karpenter.PlanDisruption) {}, true},
		{"candidates in another order", func(c *karpenter.PlanDisruption) { c.Candidates = []string{"b", "a"} }, true},
		{"rounded otherwise", func(c *karpenter.PlanDisruption) { *c.SavingsPerHour += 1e-12 }, true},
		{"values in another order", func(c *karpenter.PlanDisruption) { c.Replacements[0].Requirements[0].Values = []string{"b", "a"} }, true},
		{"a candidate less", func(c *karpenter.PlanDisruption) { c.Candidates = []string{"a"} }, false},
		{"another candidate", func(c *karpenter.PlanDisruption) { c.Candidates = []string{"a", "c"} }, false},
		{"another decision", func(c *karpenter.PlanDisruption) { c.Decision = "delete" }, false},
		{"another reason", func(c *karpenter.PlanDisruption) { c.Reason = "drifted" }, false},
		{"no replacement", func(c *karpenter.PlanDisruption) { c.Replacements = nil }, false},
		{"a replacement more", func(c *karpenter.PlanDisruption) { c.Replacements = append(c.Replacements, c.Replacements[0]) }, false},
		{"other types", func(c *karpenter.PlanDisruption) { c.Replacements[0].InstanceTypes = []string{"small"} }, false},
		{"types in another order", func(c *karpenter.PlanDisruption) { c.Replacements[0].InstanceTypes = []string{"large", "small"} }, false},
		{"another pool", func(c *karpenter.PlanDisruption) { c.Replacements[0].NodePool = "other" }, false},
		{"other requirements", func(c *karpenter.PlanDisruption) { c.Replacements[0].Requirements[0].Values = []string{"a"} }, false},
		{"another price", func(c *karpenter.PlanDisruption) { *c.Replacements[0].Price = 0.2 }, false},
		{"other pods", func(c *karpenter.PlanDisruption) { c.Replacements[0].Pods = nil }, false},
		{"other savings", func(c *karpenter.PlanDisruption) { *c.SavingsPerHour = 0.31 }, false},
		{"savings not known", func(c *karpenter.PlanDisruption) { c.SavingsPerHour = nil }, false},
		{"another cost", func(c *karpenter.PlanDisruption) { c.DisruptionCost = 3 }, false},
		{"a bound", func(c *karpenter.PlanDisruption) { c.TerminationGracePeriod = "5m" }, false},
	} {
		m := answers("MultiNodeConsolidation", []karpenter.PlanDisruption{command(row.change)}, theirs)
		if got := m.differences(); row.same != (len(got) == 0) {
			t.Errorf("%s: %q", row.label, got)
		}
	}
}

func TestDisruptionAnswers(t *testing.T) {
	one := command(func(*karpenter.PlanDisruption) {})
	other := command(func(c *karpenter.PlanDisruption) { c.Candidates = []string{"c"} })
	drift := func(node string) karpenter.PlanDisruption {
		return command(func(c *karpenter.PlanDisruption) { c.Method, c.Candidates = "StaticDrift", []string{node} })
	}
	list := func(c ...karpenter.PlanDisruption) []karpenter.PlanDisruption { return c }
	failed := answers("MultiNodeConsolidation", nil, nil)
	failed.runs[0][0].Err = errors.New("no pools")
	acts := answers("MultiNodeConsolidation", list(one), nil)
	acts.runs[0][0].Err = errors.New("no pools")
	otherFirst := answers("MultiNodeConsolidation", list(one), list(one))
	otherFirst.first = list(other)
	for _, row := range []struct {
		label string
		m     *methods
		want  string // the beginning of the first line
	}{
		{"both do nothing", answers("Emptiness", nil, nil), ""},
		{"as the last run", answers("MultiNodeConsolidation", list(one), list(other), nil, list(one)), ""},
		{"as no run", answers("MultiNodeConsolidation", list(one), list(other), nil), "MultiNodeConsolidation: ours replace a,b"},
		{"nothing, where all act", answers("MultiNodeConsolidation", nil, list(one)), "MultiNodeConsolidation: ours nothing"},
		{"acts, where none does", answers("MultiNodeConsolidation", list(one), nil), "MultiNodeConsolidation: ours replace"},
		{"a method that is not asked", answers("Emptiness", list(one), nil), "MultiNodeConsolidation: ours replace a,b"},
		{"it fails, and we do nothing", failed, ""},
		{"it fails, and we act", acts, "MultiNodeConsolidation: ours replace"},
		{"the first is another", otherFirst, "--disruption: replace c"},
		{"other nodes of a static pool", answers("StaticDrift", list(drift("a"), drift("b")), list(drift("a"), drift("c")), list(drift("c"), drift("b"))), ""},
		{"a node that none takes", answers("StaticDrift", list(drift("a"), drift("x")), list(drift("a"), drift("c"))), "StaticDrift: ours"},
		{"fewer of a static pool", answers("StaticDrift", list(drift("a")), list(drift("a"), drift("c"))), "StaticDrift: ours"},
		{"one node of it twice", answers("StaticDrift", list(drift("a"), drift("a")), list(drift("a"), drift("c"))), "StaticDrift: ours"},
		{"one of them twice", answers("MultiNodeConsolidation", list(one, one), list(one, other)), "MultiNodeConsolidation: ours"},
	} {
		got := strings.Join(row.m.differences(), "\n")
		if row.want == "" && got != "" || !strings.HasPrefix(got, row.want) {
			t.Errorf("%s: %q, want %q", row.label, got, row.want)
		}
	}
}

// A difference of cost alone is told from others, which a rule about costs does not explain.
func TestOnlyCosts(t *testing.T) {
	theirs := []karpenter.PlanDisruption{command(func(*karpenter.PlanDisruption) {})}
	dearer := command(func(c *karpenter.PlanDisruption) { c.DisruptionCost++ })
	other := command(func(c *karpenter.PlanDisruption) { c.DisruptionCost++; *c.SavingsPerHour++ })
	if !answers("MultiNodeConsolidation", []karpenter.PlanDisruption{dearer}, theirs).onlyCosts() {
		t.Error("another cost is taken for more than that")
	}
	if answers("MultiNodeConsolidation", []karpenter.PlanDisruption{other}, theirs).onlyCosts() {
		t.Error("other savings are taken for a cost")
	}
	objects := []client.Object{pod("runs", func(*corev1.Pod) {}), pod("over", func(p *corev1.Pod) { p.Status.Phase, p.Spec.NodeName = corev1.PodFailed, "n" })}
	if rest, names := withoutListed(objects, scope{onlyCost: true}); len(rest) != 1 || len(names) != 1 {
		t.Errorf("by cost: %v by %v", rest, names)
	}
	if rest, _ := withoutListed(objects, scope{onlyPrice: true, onlyWaits: true}); len(rest) != 2 {
		t.Errorf("by others: %v", rest)
	}
}

func TestWithout(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Status: v1.NodeClaimStatus{NodeName: "n"}}
	on := pod("on it", func(p *corev1.Pod) { p.Spec.NodeName = "n" })
	objects := []client.Object{node, claim, on, pod("elsewhere", func(p *corev1.Pod) { p.Spec.NodeName = "m" })}
	if got := without(objects, node); len(got) != 1 || got[0].GetName() != "elsewhere" {
		t.Errorf("without its node: %v", got)
	}
	if got := without(objects, on); len(got) != 3 {
		t.Errorf("without one pod: %v", got)
	}
}
