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
		{"a pod left out", plan([]float64{1}, []string{"p"}, "q Unschedulable"), []*karpenter.Plan{one}, "pod q: ours: left out"},
		{"left out by one run too", plan([]float64{1}, []string{"p"}, "q Unschedulable"),
			[]*karpenter.Plan{one, plan([]float64{1}, []string{"p"}, "q Unschedulable")}, ""},
		{"another reason", plan([]float64{1}, []string{"p"}, "q Ignored"),
			[]*karpenter.Plan{plan([]float64{1}, []string{"p"}, "q Unschedulable")}, "pod q: ours: left out: Ignored"},
		{"a pod more than they place, on a node of its own", two,
			[]*karpenter.Plan{plan([]float64{1}, []string{"p"}, "q Unschedulable")}, ""},
		{"a pod lost", plan([]float64{1}, []string{"p"}), []*karpenter.Plan{one}, "pod q: not in our plan"},
		{"a pod from nowhere", plan([]float64{1}, []string{"p q r"}), []*karpenter.Plan{one}, "pod r: ours"},
	} {
		got := (&spread{ours: row.ours, runs: row.runs}).differences()
		if row.want == "" && len(got) > 0 || row.want != "" && (len(got) != 1 || !strings.Contains(got[0], row.want)) {
			t.Errorf("%s: %q, want %q", row.label, got, row.want)
		}
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
	rest, names := withoutListed([]client.Object{
		pod("ignores its selector", spreads(corev1.NodeInclusionPolicyIgnore, map[string]string{"zone": "a"})),
		pod("no selector", spreads(corev1.NodeInclusionPolicyIgnore, nil)),
		pod("another selector", spreads(corev1.NodeInclusionPolicyIgnore, map[string]string{"arch": "a"})),
		pod("honours", spreads(corev1.NodeInclusionPolicyHonor, map[string]string{"zone": "a"})),
		pod("shares 1", mounts("new")), pod("shares 2", mounts("new")), claim("new", ""),
		pod("alone", mounts("own")), claim("own", ""),
		pod("made 1", mounts("made")), pod("made 2", mounts("made")), claim("made", "pv"),
	})
	var kept []string
	for _, o := range rest {
		if _, ok := o.(*corev1.Pod); ok {
			kept = append(kept, o.GetName())
		}
	}
	if got := strings.Join(kept, ", "); got != "no selector, another selector, honours, alone, made 1, made 2" {
		t.Errorf("kept: %s", got)
	}
	if len(names) != 2 {
		t.Errorf("rules: %v", names)
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
