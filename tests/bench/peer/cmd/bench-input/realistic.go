package main

import "fmt"

const (
	workloads  = 60
	daemonSets = 20
)

var zones = []string{"us-west-2a", "us-west-2b", "us-west-2c"}

// realistic writes a fleet: daemons, nodes, then pods of all workloads in turns, the first of them bound.
func (w *workload) realistic(pods, nodes, bound int) {
	for i := range daemonSets {
		labels := obj{"app": fmt.Sprintf("agent-%d", i)}
		w.list.add(obj{"apiVersion": "apps/v1", "kind": "DaemonSet",
			"metadata": obj{"name": labels["app"], "namespace": "kube-system"},
			"spec": obj{"selector": obj{"matchLabels": labels}, "template": obj{"metadata": obj{"labels": labels},
				"spec": obj{"tolerations": []obj{{"operator": "Exists"}}, "containers": container("10m", "32Mi")}}}})
	}
	for i := range nodes {
		w.node(i)
	}
	shapes := w.shapes()
	for i := range pods {
		spec, node := shapes[i%workloads], ""
		if nodes > 0 && i < pods*bound/100 {
			node = nodeName(i % nodes)
		}
		w.member(spec, i, node)
	}
}

type shape struct {
	name        string
	cpu, memory string
	spread      bool // over zones
}

// shapes are drawn so that a node of 16 CPUs holds some 30 pods. Every fifth workload is spread.
func (w *workload) shapes() []shape {
	out := make([]shape, workloads)
	for i := range out {
		cpu := 50 + 25*w.rnd.Intn(30)
		out[i] = shape{fmt.Sprintf("app-%02d", i), fmt.Sprintf("%dm", cpu), fmt.Sprintf("%dMi", cpu*(1+w.rnd.Intn(4))), i%5 == 4}
	}
	return out
}

func container(cpu, memory string) []obj {
	return []obj{{"name": "main", "image": "registry.example/app:1", "resources": obj{"requests": obj{"cpu": cpu, "memory": memory}}}}
}

func (w *workload) member(s shape, i int, node string) {
	labels := obj{"app": s.name}
	spec := obj{"containers": container(s.cpu, s.memory)}
	if s.spread {
		spec["topologySpreadConstraints"] = []obj{{"maxSkew": 5, "topologyKey": "topology.kubernetes.io/zone",
			"whenUnsatisfiable": "DoNotSchedule", "labelSelector": obj{"matchLabels": labels}}}
	}
	status := obj{"phase": "Pending", "conditions": []obj{{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}}}
	if node != "" {
		spec["nodeName"], status = node, obj{"phase": "Running"}
	}
	w.list.add(obj{"apiVersion": "v1", "kind": "Pod", "spec": spec, "status": status,
		"metadata": obj{"name": fmt.Sprintf("%s-%07d", s.name, i), "namespace": "default", "labels": labels,
			"uid": fmt.Sprintf("00000000-0000-4000-8000-%012d", i)}})
}

func nodeName(i int) string { return fmt.Sprintf("node-%06d", i) }

// node writes a node that stands, with its NodeClaim: the m5.4xlarge of the AWS catalogue.
func (w *workload) node(i int) {
	name := nodeName(i)
	labels := obj{"karpenter.sh/nodepool": "default", "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true",
		"karpenter.sh/capacity-type": "on-demand", "node.kubernetes.io/instance-type": "m5.4xlarge",
		"topology.kubernetes.io/zone": zones[i%len(zones)], "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
		"kubernetes.io/hostname": name}
	room := obj{"cpu": "15900m", "memory": "63Gi", "pods": "234"}
	class := obj{"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
	w.list.add(obj{"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": obj{"name": name, "labels": labels},
		"spec":   obj{"requirements": []obj{}, "nodeClassRef": class, "expireAfter": "Never"},
		"status": obj{"providerID": "kwok://" + name, "nodeName": name, "capacity": room, "allocatable": room}})
	w.list.add(obj{"apiVersion": "v1", "kind": "Node", "metadata": obj{"name": name, "labels": labels},
		"spec":   obj{"providerID": "kwok://" + name},
		"status": obj{"capacity": room, "allocatable": room, "conditions": []obj{{"type": "Ready", "status": "True"}}}})
}
