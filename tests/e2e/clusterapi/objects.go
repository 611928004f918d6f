package clusterapi

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Name is that of Cluster API's group.
const Name = "cluster.x-k8s.io"

const (
	group   = Name
	version = "v1beta2"

	capacityPrefix = "capacity.cluster-autoscaler.kubernetes.io/"
	boundPrefix    = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-"
	deleteMark     = "cluster.x-k8s.io/delete-machine"
	claimNote      = "stowage.dev/nodeclaim-uid"

	// Of whose Machines the cloud does something else than start them, and what: see Fate.
	fateNote = "stand-in/fate"
	// With which taint their Nodes register, as a bootstrap configuration would have it.
	taintNote = "stand-in/taint"
)

// Fate is what becomes of new machines of a group.
type Fate string

const (
	Runs   Fate = ""
	Fails  Fate = "fails"  // the cloud refuses: phase Failed
	Silent Fate = "silent" // asked for, and never there
)

// Group is a MachineDeployment, MachineSet or MachinePool that starts empty.
type Group struct {
	Kind, Name  string
	Max         int
	CPU, Memory string
	Labels      map[string]string // of its Nodes
	Fate        Fate

	Own   map[string]string // labels of the group itself
	Price string            // of a machine, dollars an hour; "": not said
	Taint string            // key of a taint of effect NoExecute with which its Nodes register; "": none
}

func resource(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: plural}
}

var (
	deployments = resource("machinedeployments")
	MachineSets = resource("machinesets")
	pools       = resource("machinepools")
	machines    = resource("machines")

	resources = map[string]schema.GroupVersionResource{
		"MachineDeployment": deployments, "MachineSet": MachineSets, "MachinePool": pools,
	}
)

// ID is the name that Stowage, as Cluster Autoscaler, has for it.
func (g Group) ID(namespace string) string { return g.Kind + "/" + namespace + "/" + g.Name }

func (g Group) object(namespace string) *unstructured.Unstructured {
	labels := ""
	for key, value := range g.Labels {
		if labels != "" {
			labels += ","
		}
		labels += key + "=" + value
	}
	annotations := map[string]any{
		boundPrefix + "min-size":  "0",
		boundPrefix + "max-size":  fmt.Sprint(g.Max),
		capacityPrefix + "cpu":    g.CPU,
		capacityPrefix + "memory": g.Memory,
		capacityPrefix + "labels": labels,
		fateNote:                  string(g.Fate),
		taintNote:                 g.Taint,
	}
	if g.Price != "" {
		annotations["stowage.dev/price"] = g.Price
	}
	own := map[string]any{}
	for key, value := range g.Own {
		own[key] = value
	}
	spec := map[string]any{
		"clusterName": "one",
		"replicas":    int64(0),
		"template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"of": g.Name}},
			"spec":     machineSpec(),
		},
	}
	if g.Kind != "MachinePool" {
		spec["selector"] = map[string]any{"matchLabels": map[string]any{"of": g.Name}}
	}
	return object(g.Kind, namespace, g.Name, annotations, own, spec)
}

func machineSpec() map[string]any {
	return map[string]any{
		"clusterName":       "one",
		"bootstrap":         map[string]any{"dataSecretName": "none"},
		"infrastructureRef": map[string]any{"apiGroup": "infrastructure." + group, "kind": "Nothing", "name": "none"},
	}
}

func object(kind, namespace, name string, annotations, labels, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/" + version, "kind": kind,
		"metadata": map[string]any{"name": name, "namespace": namespace, "annotations": annotations, "labels": labels},
		"spec":     spec,
	}}
}

func integer(o *unstructured.Unstructured, fields ...string) int64 {
	value, _, _ := unstructured.NestedInt64(o.Object, fields...)
	return value
}

func text(o *unstructured.Unstructured, fields ...string) string {
	value, _, _ := unstructured.NestedString(o.Object, fields...)
	return value
}
