package main

import (
	"fmt"
	"math"
	"math/rand"
)

type obj = map[string]any

const (
	zoneKey     = "topology.kubernetes.io/zone"
	capacityKey = "karpenter.sh/capacity-type"
	hostKey     = "kubernetes.io/hostname"
	poolKey     = "example.com/cell"
	gpu         = "nvidia.com/gpu"
)

// family is a kind of cluster. Families that differ in their constraints alone have the same pods for the same seed.
type family struct {
	name  string
	bind  func(spec obj, app string, i int) // constraints of the workload with this number
	draw  func(r *rand.Rand) size
	pods  int       // 0: 661
	zones []float64 // what a machine costs in each, as a factor; nil: four of one price
	fleet bool      // beside nodes of which 60 % are taken
	aws   bool      // its catalogue
	gpus  bool      // types that have them are for sale
}

type size struct{ milli, mebi, gpus int }

const (
	usualPods = 661
	workloads = 15
)

var families = []family{
	{name: "none", bind: each(1)},
	{name: "zone", bind: each(1, spread(zoneKey, 1))},
	{name: "zone-third", bind: each(3, spread(zoneKey, 1))},
	{name: "zone-skew3", bind: each(1, spread(zoneKey, 3))},
	{name: "zone-third-skew3", bind: each(3, spread(zoneKey, 3))},
	{name: "capacity", bind: each(1, spread(capacityKey, 1))},
	{name: "zone-capacity", bind: each(2, spread(zoneKey, 1), spread(capacityKey, 1))},
	{name: "host", bind: each(1, spread(hostKey, 2))},
	{name: "anti", bind: each(5, apart)},
	{name: "pool-label", bind: each(1, spread(poolKey, 1))},
	{name: "zone-host", bind: each(1, spread(zoneKey, 1), spread(hostKey, 2))},
	{name: "mixture", bind: mixture},
	{name: "small", bind: each(3, spread(zoneKey, 1)), draw: small, pods: 2000},
	{name: "large", bind: each(3, spread(zoneKey, 1)), draw: large, pods: 120},
	{name: "memory", bind: each(3, spread(zoneKey, 1)), draw: memory},
	{name: "gpu", bind: each(3, spread(zoneKey, 1)), draw: someGPUs, gpus: true},
	{name: "zones-3", bind: each(3, spread(zoneKey, 1)), zones: []float64{1, 1, 1}},
	{name: "zones-3-unequal", bind: each(3, spread(zoneKey, 1)), zones: []float64{1, 1.1, 1.25}},
	{name: "zones-4-unequal", bind: each(3, spread(zoneKey, 1)), zones: []float64{1, 1.05, 1.1, 1.25}},
	{name: "mixture-unequal", bind: mixture, zones: []float64{1, 1.05, 1.1, 1.25}},
	{name: "fleet", bind: each(1), fleet: true},
	{name: "fleet-mixture", bind: mixture, fleet: true},
	{name: "aws", bind: each(1), aws: true},
	{name: "aws-mixture", bind: mixture, aws: true},
	{name: "10000", bind: each(3, spread(zoneKey, 1)), pods: 10000},
}

type constraint func(spec obj, app string)

// each gives the constraints to every so-many-eth workload.
func each(nth int, all ...constraint) func(obj, string, int) {
	return func(spec obj, app string, i int) {
		for _, add := range all {
			if i%nth == 0 {
				add(spec, app)
			}
		}
	}
}

// mixture has something of every family, on four workloads of five.
func mixture(spec obj, app string, i int) {
	kinds := [][]constraint{{spread(zoneKey, 1)}, {spread(hostKey, 2)}, {spread(capacityKey, 1)}, {},
		{apart}, {spread(zoneKey, 3)}, {spread(zoneKey, 1), spread(capacityKey, 1)}, {},
		{spread(poolKey, 1)}, {spread(zoneKey, 1), spread(hostKey, 2)}}
	for _, add := range kinds[i%len(kinds)] {
		add(spec, app)
	}
}

func selector(app string) obj { return obj{"matchLabels": obj{"app": app}} }

func spread(key string, skew int) constraint {
	return func(spec obj, app string) {
		all, _ := spec["topologySpreadConstraints"].([]obj)
		spec["topologySpreadConstraints"] = append(all, obj{"maxSkew": skew, "topologyKey": key,
			"whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector(app)})
	}
}

func apart(spec obj, app string) {
	spec["affinity"] = obj{"podAntiAffinity": obj{"requiredDuringSchedulingIgnoredDuringExecution": []obj{
		{"topologyKey": hostKey, "labelSelector": selector(app)}}}}
}

func one(r *rand.Rand, of ...int) int { return of[r.Intn(len(of))] }

func usual(r *rand.Rand) size {
	return size{one(r, 100, 200, 250, 500, 750, 1000, 1500, 2000, 4000), one(r, 128, 256, 512, 1024, 2048, 4096, 8192, 12288), 0}
}

func small(r *rand.Rand) size {
	return size{one(r, 10, 25, 50, 100, 150, 200), one(r, 32, 64, 128, 192, 256), 0}
}

func large(r *rand.Rand) size {
	return size{one(r, 2000, 4000, 6000, 7500, 12000, 15000), one(r, 4096, 8192, 15360, 30720, 49152), 0}
}

func memory(r *rand.Rand) size {
	return size{one(r, 100, 200, 250, 500, 1000), one(r, 2048, 4096, 6144, 8192, 12288, 16384), 0}
}

func someGPUs(r *rand.Rand) size {
	s := usual(r)
	s.gpus = one(r, 0, 0, 0, 1, 2)
	return s
}

// counts deals the pods to workloads, to some of them far more than to others.
func counts(r *rand.Rand, pods int) []int {
	weights, sum := make([]float64, workloads), 0.0
	for i := range weights {
		weights[i] = math.Pow(r.Float64(), 2) + 0.05
		sum += weights[i]
	}
	out, left := make([]int, workloads), pods
	for i := workloads - 1; i > 0; i-- {
		out[i] = max(2, int(float64(pods)*weights[i]/sum))
		left -= out[i]
	}
	out[0] = max(2, left)
	return out
}

// mix is the objects of a family for a seed.
func (f *family) mix(seed int64) obj {
	r := rand.New(rand.NewSource(seed))
	draw, pods := f.draw, f.pods
	if draw == nil {
		draw = usual
	}
	if pods == 0 {
		pods = usualPods
	}
	items := []obj{f.pool()}
	for i, n := range counts(r, pods) {
		s, app := draw(r), fmt.Sprintf("app-%02d", i)
		for k := range n {
			p := pod(fmt.Sprintf("%s-%05d", app, k), app, s)
			f.bind(p["spec"].(obj), app, i)
			items = append(items, p)
		}
	}
	if f.fleet {
		items = append(items, standing(r)...)
	}
	return obj{"apiVersion": "v1", "kind": "List", "items": items}
}

func pod(name, app string, s size) obj {
	requests := obj{"cpu": fmt.Sprintf("%dm", s.milli), "memory": fmt.Sprintf("%dMi", s.mebi)}
	resources := obj{"requests": requests}
	if s.gpus > 0 {
		requests[gpu] = fmt.Sprint(s.gpus)
		resources["limits"] = obj{gpu: fmt.Sprint(s.gpus)}
	}
	return obj{"apiVersion": "v1", "kind": "Pod",
		"metadata": obj{"name": name, "namespace": "default", "labels": obj{"app": app}, "uid": "uid-" + name,
			"ownerReferences": []obj{{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": app, "uid": "uid-" + app, "controller": true}}},
		"spec":   obj{"containers": []obj{{"name": "main", "image": "registry.example/app:1", "resources": resources}}},
		"status": obj{"phase": "Pending", "conditions": []obj{{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}}}}
}

func in(key string, values ...string) obj { return obj{"key": key, "operator": "In", "values": values} }

func zoneNames(n int) []string {
	return []string{"test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"}[:n]
}

func class() obj {
	return obj{"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
}

func (f *family) pool() obj {
	requirements := []obj{in(capacityKey, "spot", "on-demand"), in(poolKey, "x", "y", "z"), in("kubernetes.io/os", "linux")}
	if f.zones != nil {
		requirements = append(requirements, in(zoneKey, zoneNames(len(f.zones))...))
	}
	return obj{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": obj{"name": "default"},
		"spec": obj{"template": obj{"spec": obj{"requirements": requirements, "expireAfter": "Never", "nodeClassRef": class()}}}}
}

// standing is 24 nodes of 8 CPUs in four zones, and pods on them that take six tenths of their CPUs or memory.
func standing(r *rand.Rand) []obj {
	const nodes, draws, milli, mebi = 24, 40, 8000 * 6 / 10, 32768 * 6 / 10
	var items []obj
	for i := range nodes {
		name := fmt.Sprintf("node-%02d", i)
		items = append(items, node(name, zoneNames(4)[i%4])...)
		left := size{milli, mebi, 0}
		for k := range draws {
			s := usual(r)
			if s.milli > left.milli || s.mebi > left.mebi {
				continue
			}
			left.milli, left.mebi = left.milli-s.milli, left.mebi-s.mebi
			p := pod(fmt.Sprintf("stands-%s-%d", name, k), "stands", s)
			p["spec"].(obj)["nodeName"], p["status"] = name, obj{"phase": "Running"}
			items = append(items, p)
		}
	}
	return items
}

func node(name, zone string) []obj {
	labels := obj{"karpenter.sh/nodepool": "default", "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true",
		capacityKey: "spot", "node.kubernetes.io/instance-type": "s-8x-amd64-linux", zoneKey: zone,
		"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", hostKey: name, poolKey: "x"}
	room := obj{"cpu": "8", "memory": "32Gi", "pods": "128", "ephemeral-storage": "20Gi"}
	return []obj{
		{"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": obj{"name": name, "labels": labels},
			"spec":   obj{"requirements": []obj{}, "nodeClassRef": class(), "expireAfter": "Never"},
			"status": obj{"providerID": "kwok://" + name, "nodeName": name, "capacity": room, "allocatable": room}},
		{"apiVersion": "v1", "kind": "Node", "metadata": obj{"name": name, "labels": labels},
			"spec":   obj{"providerID": "kwok://" + name},
			"status": obj{"capacity": room, "allocatable": room, "conditions": []obj{{"type": "Ready", "status": "True"}}}},
	}
}

// catalogue has the shape of the one built in (144 types by formula), in zones of these prices; nil when the one built
// in will do. With GPUs, there are machines of 1, 2, 4 and 8 of them besides.
func (f *family) catalogue() []obj {
	if f.zones == nil && !f.gpus {
		return nil
	}
	zones := f.zones
	if zones == nil {
		zones = []float64{1, 1, 1, 1}
	}
	var types []obj
	for _, cpus := range []int{1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256} {
		for i, letter := range []string{"c", "s", "m"} {
			for _, arch := range []string{"amd64", "arm64"} {
				types = append(types, instance(fmt.Sprintf("%s-%dx-%s-linux", letter, cpus, arch), arch, cpus, cpus*(2<<i), 0, zones))
			}
		}
	}
	for n := 1; f.gpus && n <= 8; n *= 2 {
		types = append(types, instance(fmt.Sprintf("g-%dx-amd64-linux", n), "amd64", 8*n, 32*n, n, zones))
	}
	return types
}

func instance(name, arch string, cpus, gib, gpus int, zones []float64) obj {
	price := 0.025*float64(cpus) + 0.001*float64(gib)*(1<<30)/1e9 + 0.5*float64(gpus)
	var offerings []obj
	for i, factor := range zones {
		for _, capacity := range []string{"spot", "on-demand"} {
			at := price * factor
			if capacity == "spot" {
				at *= 0.7
			}
			offerings = append(offerings, obj{"price": at, "available": true,
				"requirements": []obj{in(capacityKey, capacity), in(zoneKey, zoneNames(4)[i])}})
		}
	}
	resources := obj{"cpu": fmt.Sprint(cpus), "memory": fmt.Sprintf("%dGi", gib), "pods": fmt.Sprint(min(16*cpus, 1024)), "ephemeral-storage": "20Gi"}
	if gpus > 0 {
		resources[gpu] = fmt.Sprint(gpus)
	}
	return obj{"name": name, "resources": resources, "offerings": offerings, "requirements": []obj{
		in("node.kubernetes.io/instance-type", name), in("kubernetes.io/arch", arch), in("kubernetes.io/os", "linux"),
		in(zoneKey, zoneNames(len(zones))...), in(capacityKey, "spot", "on-demand")}}
}
