package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"stowage.dev/tests/bench/peer/karpenter"
)

// a plan of nodes, each "PRICE POD POD…", and of pods left out, each "POD REASON".
func plan(nodes []float64, pods []string, out ...string) *karpenter.Plan {
	p := &karpenter.Plan{}
	for i := range nodes {
		p.NodeClaims = append(p.NodeClaims, karpenter.PlanClaim{NodePool: "default", Price: &nodes[i],
			InstanceTypes: []string{"a"}, Pods: strings.Fields(pods[i])})
	}
	for _, o := range out {
		pod, reason, _ := strings.Cut(o, " ")
		p.Unschedulable = append(p.Unschedulable, karpenter.PlanFailure{Pod: pod, Reason: reason})
	}
	return p
}

// many runs, of which each second one costs `most`, the others 1.
func many(most float64) (runs []*karpenter.Plan) {
	for i := range mostRuns {
		cost := []float64{1}
		if i%2 == 1 {
			cost[0] = most
		}
		runs = append(runs, plan(cost, []string{"p q"}))
	}
	return runs
}

// What is worse than all runs is found, what is within their range or better is not.
func TestDifferences(t *testing.T) {
	one := plan([]float64{1}, []string{"p q"})
	two := plan([]float64{1, 1}, []string{"p", "q"})
	for _, row := range []struct {
		label string
		ours  *karpenter.Plan
		runs  []*karpenter.Plan
		want  string // part of the only difference
	}{
		{"equal", one, []*karpenter.Plan{one}, ""},
		{"as the worst run", two, []*karpenter.Plan{one, two}, ""},
		{"better than all", one, []*karpenter.Plan{two, two}, ""},
		{"more nodes", two, []*karpenter.Plan{plan([]float64{2}, []string{"p q"})}, "new nodes: ours 2"},
		{"dearer", plan([]float64{1.01}, []string{"p q"}), []*karpenter.Plan{one, two, one}[:1], "price: ours 1.0100"},
		{"dearer than many that agree", plan([]float64{1.01}, []string{"p q"}), many(1), "price: ours 1.0100"},
		{"dearer by luck", plan([]float64{1.12}, []string{"p q"}), many(1.1), ""},
		{"dearer than luck can be", plan([]float64{1.13}, []string{"p q"}), many(1.1), "price: ours 1.1300"},
		{"too few runs to speak of luck", plan([]float64{1.12}, []string{"p q"}), many(1.1)[1:], "price: ours 1.1200"},
		{"a pod left out", plan([]float64{1}, []string{"p"}, "q Unschedulable"), []*karpenter.Plan{one}, "pod q: ours: left out"},
		{"left out by one run too", plan([]float64{1}, []string{"p"}, "q Unschedulable"),
			[]*karpenter.Plan{one, plan([]float64{1}, []string{"p"}, "q Unschedulable")}, ""},
		{"another reason", plan([]float64{1}, []string{"p"}, "q Ignored"),
			[]*karpenter.Plan{plan([]float64{1}, []string{"p"}, "q Unschedulable")}, "pod q: ours: left out: Ignored"},
		{"a pod lost", plan([]float64{1}, []string{"p"}), []*karpenter.Plan{one}, "pod q: not in our plan"},
		{"a pod from nowhere", plan([]float64{1}, []string{"p q r"}), []*karpenter.Plan{one}, "pod r: ours"},
	} {
		got := (&spread{ours: row.ours, runs: row.runs}).differences()
		if row.want == "" && len(got) > 0 || row.want != "" && (len(got) != 1 || !strings.Contains(got[0], row.want)) {
			t.Errorf("%s: %q, want %q", row.label, got, row.want)
		}
	}
}

// Pods that every run leaves out and we do not are named, others are not.
func TestPlacedByUsAlone(t *testing.T) {
	r := &spread{ours: plan([]float64{1}, []string{"p q r"}, "s Unschedulable"), runs: []*karpenter.Plan{
		plan([]float64{1}, []string{"p q"}, "r Unschedulable", "s Unschedulable"),
		plan([]float64{1}, []string{"p"}, "q Unschedulable", "r Unschedulable", "s Unschedulable")}}
	if got := strings.Join(keys(r.placedByUsAlone()), " "); got != "r" {
		t.Errorf("%q, want r", got)
	}
}

func pod(name string, change func(*corev1.Pod)) client.Object {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	change(p)
	return p
}

// A rule names the pods it is about, and no others.
func TestListed(t *testing.T) {
	spreads := func(policy corev1.NodeInclusionPolicy, selector map[string]string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.NodeSelector = selector
			p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: "zone", MaxSkew: 1,
				WhenUnsatisfiable: corev1.DoNotSchedule, NodeAffinityPolicy: &policy}}
		}
	}
	mounts := func(claim string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
		}
	}
	claim := func(name, volume string) client.Object {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Spec: corev1.PersistentVolumeClaimSpec{VolumeName: volume}}
	}
	asks := func(value string, terms ...corev1.NodeSelectorRequirement) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.NodeSelector = map[string]string{"size": value}
			p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
					NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: terms}}}}}
		}
	}
	apart := func(key string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: key}}}}
		}
	}
	gathers := func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": "x"}
		p.Spec.NodeSelector = map[string]string{"zone": "a"}
		p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "zone",
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}}}}}
	}
	follows := func(p *corev1.Pod) {
		gathers(p)
		p.Spec.NodeSelector = nil
	}
	objects := []client.Object{
		pod("gathers in a zone", gathers), pod("follows", follows),
		pod("a zone to itself", apart(corev1.LabelTopologyZone)), pod("a node to itself", apart(corev1.LabelHostname)),
		pod("contradicts itself", asks("9", corev1.NodeSelectorRequirement{Key: "size", Operator: "Lt", Values: []string{"6"}})),
		pod("agrees", asks("5", corev1.NodeSelectorRequirement{Key: "size", Operator: "Lt", Values: []string{"6"}})),
		pod("asks for absence of another", asks("5", corev1.NodeSelectorRequirement{Key: "gpu", Operator: "DoesNotExist"})),
		pod("ignores its selector", spreads(corev1.NodeInclusionPolicyIgnore, map[string]string{"zone": "a"})),
		pod("no selector", spreads(corev1.NodeInclusionPolicyIgnore, nil)),
		pod("another selector", spreads(corev1.NodeInclusionPolicyIgnore, map[string]string{"arch": "a"})),
		pod("honours", spreads(corev1.NodeInclusionPolicyHonor, map[string]string{"zone": "a"})),
		pod("shares 1", mounts("new")), pod("shares 2", mounts("new")), claim("new", ""),
		pod("alone", mounts("own")), claim("own", ""),
		pod("made 1", mounts("made")), pod("made 2", mounts("made")), claim("made", "pv"),
	}
	kept := func(about scope) (string, int) {
		rest, names := withoutListed(objects, about)
		var pods []string
		for _, o := range rest {
			if _, ok := o.(*corev1.Pod); ok {
				pods = append(pods, o.GetName())
			}
		}
		return strings.Join(pods, ", "), len(names)
	}
	if got, rules := kept(scope{}); rules != 4 || !strings.HasPrefix(got, "follows, a zone to itself, a node to itself, ") {
		t.Errorf("kept where a pod differs: %s, by %d rules", got, rules)
	}
	if got, rules := kept(scope{onlyPrice: true}); rules != 5 || got != "a node to itself, agrees, asks for absence of another, no selector, another selector, honours, alone, made 1, made 2" {
		t.Errorf("kept where the price differs: %s, by %d rules", got, rules)
	}
	if got, rules := kept(scope{onlyWaits: true}); rules != 5 || !strings.HasPrefix(got, "a node to itself, ") {
		t.Errorf("kept where pods wait: %s, by %d rules", got, rules)
	}
}

// Who waits for a reservation is told from all else that becomes of a pod.
func TestOfAnotherKind(t *testing.T) {
	for _, row := range []struct {
		line string
		want bool
	}{
		{"pod p: ours: left out: ReservedOfferingUnavailable: could use a reservation of pool default, and all are taken; Karpenter: a new node of default", false},
		{"pod p: ours: left out: Unschedulable: must be where q is; it also could use a reservation of pool default, and all are taken; Karpenter: a new node of default", false},
		{"pod p: ours: left out: Unschedulable: no room; Karpenter: left out: ReservedOfferingUnavailable", true},
		{"pod p: not in our plan; Karpenter: a new node of default", true},
		{"price: ours 2, Karpenter 1 to 1", false},
	} {
		if got := ofAnotherKind(row.line); got != row.want {
			t.Errorf("%s: %v", row.line, got)
		}
	}
}

// Every rule is argued for.
func TestListedIsWrittenDown(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "..", "docs", "differences.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range listed {
		if !strings.Contains(string(text), "### \""+r.name+"\"\n") {
			t.Errorf("docs/differences.md has no heading for %q", r.name)
		}
	}
}
