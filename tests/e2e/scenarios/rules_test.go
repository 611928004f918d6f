package scenarios

import (
	"errors"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func nodeIn(name, zone string) *core.Node {
	return &core.Node{ObjectMeta: meta.ObjectMeta{Name: name, Labels: map[string]string{hostKey: name, zoneKey: zone}}}
}

// on is a pod that is bound to a node. Its app is its name up to a slash.
func on(node, name string, edits ...edit) core.Pod {
	app, _, _ := strings.Cut(name, "/")
	_, template := shape{name: app, cpu: "1", memory: "1Gi"}.template(edits...)
	template.Spec.NodeName = node
	return core.Pod{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name, Labels: template.Labels}, Spec: template.Spec}
}

// Each rule: what keeps to it, and what breaks it.
func TestBroken(t *testing.T) {
	bound := core.PersistentVolumeClaim{Spec: core.PersistentVolumeClaimSpec{VolumeName: "v"}}
	bound.Status.Phase = core.ClaimBound
	inZoneA := core.PersistentVolume{Spec: core.PersistentVolumeSpec{NodeAffinity: &core.VolumeNodeAffinity{
		Required: &core.NodeSelector{NodeSelectorTerms: []core.NodeSelectorTerm{{
			MatchExpressions: []core.NodeSelectorRequirement{{Key: zoneKey, Operator: core.NodeSelectorOpIn, Values: []string{zoneA}}}}}}}}}
	selected := func(zone string) edit {
		return func(s *core.PodSpec) { s.NodeSelector = map[string]string{zoneKey: zone} }
	}
	zonal := spread(zoneKey, 1, "p", hard)
	for _, row := range []struct {
		label string
		pods  []core.Pod
		want  string // "" for none
	}{
		{"nothing asked for", []core.Pod{on("a1", "p"), on("a1", "q")}, ""},
		{"a node that is gone", []core.Pod{on("x", "p")}, "not there"},
		{"the selected zone", []core.Pod{on("a1", "p", selected(zoneA))}, ""},
		{"another zone", []core.Pod{on("a1", "p", selected(zoneB))}, "node selector"},
		{"a taint that is tolerated", []core.Pod{on("tainted", "p", tolerates(dedicatedKey))}, ""},
		{"a taint that is not", []core.Pod{on("tainted", "p")}, "taint"},
		{"a spread", []core.Pod{on("a1", "p/1", zonal), on("b", "p/2", zonal)}, ""},
		{"a skewed one", []core.Pod{on("a1", "p/1", zonal), on("a2", "p/2", zonal)}, "skew 2 of at most 1"},
		{"a soft one", []core.Pod{on("a1", "p/1", spread(zoneKey, 1, "p", soft)), on("a2", "p/2", spread(zoneKey, 1, "p", soft))}, ""},
		{"over the zones that it selects", []core.Pod{on("a1", "p/1", zonal, selected(zoneA)), on("a2", "p/2", zonal, selected(zoneA))}, ""},
		{"too few zones", []core.Pod{on("a1", "p/1", zonal, minDomains(2), selected(zoneA)), on("a2", "p/2", zonal, minDomains(2), selected(zoneA))}, "skew 2"},
		{"together in a zone", []core.Pod{on("a1", "p/1", near(zoneKey, "p")), on("a2", "p/2", near(zoneKey, "p"))}, ""},
		{"not on one node", []core.Pod{on("a1", "p/1", near(hostKey, "p")), on("a2", "p/2", near(hostKey, "p"))}, "affinity"},
		{"two by two", []core.Pod{on("a1", "p/1", near(hostKey, "p")), on("a1", "p/2", near(hostKey, "p")),
			on("b", "p/3", near(hostKey, "p")), on("b", "p/4", near(hostKey, "p"))}, "affinity"},
		{"near another", []core.Pod{on("a1", "p", near(zoneKey, "q")), on("a2", "q"), on("b", "q/2")}, ""},
		{"far from it", []core.Pod{on("b", "p", near(zoneKey, "q")), on("a2", "q")}, "affinity"},
		{"apart", []core.Pod{on("a1", "p/1", apart(hostKey, "p")), on("a2", "p/2", apart(hostKey, "p"))}, ""},
		{"not apart", []core.Pod{on("a1", "p/1", apart(zoneKey, "p")), on("a2", "p/2", apart(zoneKey, "p"))}, "anti-affinity"},
		{"whom another bars", []core.Pod{on("a1", "p"), on("a1", "q", apart(hostKey, "p"))}, "anti-affinity"},
		{"ports on two nodes", []core.Pod{on("a1", "p/1", hostPort(80)), on("a2", "p/2", hostPort(80))}, ""},
		{"two ports", []core.Pod{on("a1", "p/1", hostPort(80)), on("a1", "p/2", hostPort(81))}, ""},
		{"one port twice", []core.Pod{on("a1", "p/1", hostPort(80)), on("a1", "p/2", hostPort(80))}, "port"},
		{"a volume of its zone", []core.Pod{on("a1", "p", mounts("bound"))}, ""},
		{"a volume of another zone", []core.Pod{on("b", "p", mounts("bound"))}, "volume v"},
		{"a claim that waits", []core.Pod{on("a1", "p", mounts("pending"))}, "not bound"},
		{"a claim of its own", []core.Pod{on("a1", "p", mountsOwn("class"))}, "claim p-data"},
	} {
		tainted := nodeIn("tainted", zoneA)
		tainted.Spec.Taints = []core.Taint{{Key: dedicatedKey, Effect: core.TaintEffectNoSchedule}}
		p := placement{
			nodes: map[string]*core.Node{"a1": nodeIn("a1", zoneA), "a2": nodeIn("a2", zoneA), "b": nodeIn("b", zoneB),
				"tainted": tainted},
			pods:    row.pods,
			claims:  map[string]core.PersistentVolumeClaim{"bound": bound, "pending": {}},
			volumes: map[string]core.PersistentVolume{"v": inZoneA},
		}
		got := errors.Join(p.broken()...)
		switch {
		case row.want == "" && got != nil:
			t.Errorf("%s: %v", row.label, got)
		case row.want != "" && (got == nil || !strings.Contains(got.Error(), row.want)):
			t.Errorf("%s: got %v, want %q", row.label, got, row.want)
		}
	}
}

func TestWithin(t *testing.T) {
	p := placement{nodes: map[string]*core.Node{"a": nodeIn("a", zoneA), "b": nodeIn("b", zoneB), "other": nodeIn("other", zoneA)}}
	for name, node := range p.nodes {
		node.Status.Capacity = core.ResourceList{core.ResourceCPU: resource.MustParse("32")}
		if name != "other" {
			node.Labels[poolLabel] = "p"
		}
	}
	must(t, p.within("p", "64"))
	if err := p.within("p", "63"); err == nil {
		t.Error("64 CPUs are within a limit of 63")
	}
}
