package controlplane

import (
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func list(cpu string) core.ResourceList { return core.ResourceList{"cpu": resource.MustParse(cpu)} }

func container(cpu string) core.Container {
	return core.Container{Resources: core.ResourceRequirements{Requests: list(cpu)}}
}

func sidecar(cpu string) core.Container {
	always := core.ContainerRestartPolicyAlways
	c := container(cpu)
	c.RestartPolicy = &always
	return c
}

func TestOverfull(t *testing.T) {
	node := core.Node{ObjectMeta: meta.ObjectMeta{Name: "n"}}
	node.Status.Allocatable = core.ResourceList{"cpu": resource.MustParse("2"), "pods": resource.MustParse("2")}
	on := func(node string, spec core.PodSpec, phase core.PodPhase) core.Pod {
		spec.NodeName = node
		return core.Pod{Spec: spec, Status: core.PodStatus{Phase: phase}}
	}
	simple := func(cpu string) core.PodSpec { return core.PodSpec{Containers: []core.Container{container(cpu)}} }

	for _, row := range []struct {
		label string
		pods  []core.Pod
		want  string // "" for none
	}{
		{"just full", []core.Pod{on("n", simple("1"), core.PodRunning), on("n", simple("1"), core.PodPending)}, ""},
		{"too much", []core.Pod{on("n", simple("1"), core.PodRunning), on("n", simple("1100m"), core.PodRunning)},
			"node n: pods ask for 2100m of cpu, 2 is allocatable"},
		{"one has ended", []core.Pod{on("n", simple("2"), core.PodRunning), on("n", simple("2"), core.PodSucceeded)}, ""},
		{"not bound, or elsewhere", []core.Pod{on("", simple("9"), core.PodPending), on("m", simple("9"), core.PodRunning)}, ""},
		{"too many", []core.Pod{on("n", simple("0"), core.PodRunning), on("n", simple("0"), core.PodRunning),
			on("n", simple("0"), core.PodRunning)}, "node n: pods ask for 3 of pods, 2 is allocatable"},
		{"overhead", []core.Pod{on("n", core.PodSpec{Containers: []core.Container{container("2")}, Overhead: list("1m")},
			core.PodRunning)}, "2001m of cpu"},
		{"an init container beside a sidecar", []core.Pod{on("n", core.PodSpec{
			InitContainers: []core.Container{sidecar("1"), container("1500m")},
			Containers:     []core.Container{container("1")},
		}, core.PodRunning)}, "2500m of cpu"},
		{"what the node does not have", []core.Pod{on("n", core.PodSpec{Containers: []core.Container{{
			Resources: core.ResourceRequirements{Requests: core.ResourceList{"x/gpu": resource.MustParse("1")}}}}},
			core.PodRunning)}, "1 of x/gpu, 0 is allocatable"},
	} {
		err := overfull([]core.Node{node}, row.pods)
		switch {
		case row.want == "" && err != nil:
			t.Errorf("%s: %v", row.label, err)
		case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)):
			t.Errorf("%s: got %v, want %q", row.label, err, row.want)
		}
	}
}
