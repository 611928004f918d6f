// Package gen makes random clusters as planner input. Equal seed, profile and size give equal bytes.
package gen

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"sigs.k8s.io/yaml"

	"stowage.dev/tests/judge/cluster"
)

// Now is the clock of every generated cluster; pass it as --now.
const Now = "2026-11-20T12:00:00Z"

// AllUnbound says whether a profile's clusters are planned with --all-unbound: in `existing` who waits is the question,
// and in fleets who stands.
func AllUnbound(profile string) bool {
	_, fleet := fleets[profile]
	return profile != "existing" && !fleet
}

// PlanFlags are those with which a planner is asked about a cluster that Write put into dir. Its pods are all that
// are judged: a workload for which Write found no room stands for none.
func PlanFlags(profile, dir string) []string {
	flags := []string{"-f", filepath.Join(dir, "objects"), "--instance-types", filepath.Join(dir, "instance-types.json"), "--now", Now, "--no-expand"}
	if AllUnbound(profile) {
		flags = append(flags, "--all-unbound")
	}
	return flags
}

// Size scales the profiles huge and packing; zero means the profile's own.
type Size struct{ Pods, Nodes, Types int }

// Profiles names what Write knows, and does it.
var Profiles = map[string]func(*G){
	"tiny": tiny, "plain": plain, "constraints": constraints, "topology": topology,
	"volumes": volumes, "existing": existing, "packing": packing, "huge": huge,
	"terms":    terms,
	"reserved": kin(reserves), "attached": kin(attaches), "leaving": kin(leaves), "overrides": kin(overrides),
	"mixed": kin(mixed),
}

func init() {
	for profile, features := range fleets {
		Profiles[profile] = fleetOf(features)
	}
}

// G is one cluster in the making.
type G struct {
	*rand.Rand
	size     Size
	types    []*cluster.Type
	explicit *cluster.Explicit // instead of types, if it is there
	pools    []*cluster.NodePool
	objs     map[string][]any // by file
	zones    []string
	flags    []string // of the planner, beside PlanFlags
	uids     int
	spent    map[string]map[string]float64 // node -> resource -> requested by bound pods
}

// New generates a cluster.
func New(profile string, seed uint64, size Size) (*G, error) {
	f := Profiles[profile]
	if f == nil {
		return nil, fmt.Errorf("unknown profile %q", profile)
	}
	g := &G{Rand: rand.New(rand.NewPCG(seed, 42)), size: size, objs: map[string][]any{}, spent: map[string]map[string]float64{}}
	f(g)
	return g, nil
}

// Write puts the cluster under dir: objects/*.yaml (or .json), and beside it instance-types.json and flags, one a line.
func (g *G) Write(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "objects"), 0o755); err != nil {
		return err
	}
	if len(g.flags) > 0 {
		if err := os.WriteFile(filepath.Join(dir, "flags"), []byte(strings.Join(g.flags, "\n")+"\n"), 0o644); err != nil {
			return err
		}
	}
	asJSON := g.IntN(3) == 0 || len(g.objs["pods"]) > 2000
	for name, items := range g.objs {
		b, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]string{"resourceVersion": ""}, "items": items})
		ext := ".json"
		if err == nil && !asJSON {
			b, err = yaml.JSONToYAML(b)
			ext = ".yaml"
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "objects", name+ext), b, 0o644); err != nil {
			return err
		}
	}
	b, err := json.MarshalIndent(g.types, "", " ")
	if g.explicit != nil {
		b, err = json.MarshalIndent(g.explicit, "", " ")
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "instance-types.json"), b, 0o644)
}

func (g *G) add(file string, o any) {
	if r, ok := o.(runtime.Object); ok {
		legacyscheme.Scheme.Default(r)
	}
	g.objs[file] = append(g.objs[file], o)
}

func pick[T any](g *G, l ...T) T { return l[g.IntN(len(l))] }

func (g *G) chance(percent int) bool { return g.IntN(100) < percent }

func (g *G) uid() types.UID {
	g.uids++
	return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", g.uids))
}

func (g *G) meta(ns, name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: ns, Name: name, Labels: labels, UID: g.uid(), CreationTimestamp: g.ago(0, 48*60)}
}

// ago is a time some minutes before Now.
func (g *G) ago(from, to int) metav1.Time {
	t, err := time.Parse(time.RFC3339, Now)
	if err != nil {
		panic(err)
	}
	return metav1.NewTime(t.Add(-minutes(from + g.IntN(max(1, to-from)))))
}

func cpu(m int64) resource.Quantity { return *resource.NewMilliQuantity(m, resource.DecimalSI) }
func mib(n int64) resource.Quantity { return *resource.NewQuantity(n<<20, resource.BinarySI) }

func resources(m, mi int64) v1.ResourceList {
	return v1.ResourceList{v1.ResourceCPU: cpu(m), v1.ResourceMemory: mib(mi)}
}

// --- machines -------------------------------------------------------------------------------------------------

func (g *G) catalogue(n int, gpu bool) {
	g.zones = []string{"zone-a", "zone-b", "zone-c"}
	type family struct {
		name  string
		ratio int64
		price float64
		arch  string
		gpus  bool
	}
	fams := []family{
		{"m5", 4, 0.048, "amd64", false}, {"c5", 2, 0.0425, "amd64", false}, {"r5", 8, 0.063, "amd64", false},
		{"m6g", 4, 0.0385, "arm64", false}, {"c6a", 2, 0.0383, "amd64", false}, {"r6g", 8, 0.0504, "arm64", false}, {"t3", 4, 0.0416, "amd64", false},
	}
	if gpu {
		fams = append([]family{{"g5", 4, 0.25, "amd64", true}}, fams...)
	}
	sizes := []struct {
		name string
		cpu  int64
	}{{"large", 2}, {"xlarge", 4}, {"2xlarge", 8}, {"4xlarge", 16}, {"8xlarge", 32}, {"12xlarge", 48}, {"16xlarge", 64}, {"24xlarge", 96}}
	for i := 0; len(g.types) < n; i++ {
		f, s := fams[(i/len(sizes))%len(fams)], sizes[i%len(sizes)]
		name := f.name
		if gen := i / (len(sizes) * len(fams)); gen > 0 {
			name = fmt.Sprintf("%sv%d", f.name, gen)
		}
		t := &cluster.Type{Name: name + "." + s.name, Architecture: f.arch, OperatingSystems: []string{"linux"},
			Resources: v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(s.cpu, resource.DecimalSI), v1.ResourceMemory: mib(s.cpu * f.ratio * 1024),
				v1.ResourceEphemeralStorage: resource.MustParse("100Gi"), v1.ResourcePods: *resource.NewQuantity(min(15*s.cpu-1, 250), resource.DecimalSI)}}
		if f.gpus {
			t.Resources["nvidia.com/gpu"] = *resource.NewQuantity(max(1, s.cpu/12), resource.DecimalSI)
		}
		base := f.price * float64(s.cpu) * (0.97 + 0.06*g.Float64())
		for z, zone := range g.zones {
			if z > 0 && g.chance(7) {
				continue // not every zone has every type
			}
			for _, ct := range []string{"on-demand", "spot"} {
				price := base
				if ct == "spot" {
					price *= 0.3 + 0.4*g.Float64()
				}
				t.Offerings = append(t.Offerings, cluster.Offering{Price: float64(int(price*1e5)) / 1e5, Available: true, Requirements: []cluster.Requirement{
					{Key: cluster.CapacityType, Operator: "In", Values: []string{ct}}, {Key: cluster.Zone, Operator: "In", Values: []string{zone}}}})
			}
		}
		g.types = append(g.types, t)
	}
}

func in(key string, values ...string) cluster.Requirement {
	return cluster.Requirement{Key: key, Operator: "In", Values: values}
}

func (g *G) pool(name string, reqs ...cluster.Requirement) *cluster.NodePool {
	p := &cluster.NodePool{TypeMeta: metav1.TypeMeta{APIVersion: "karpenter.sh/v1", Kind: "NodePool"}, ObjectMeta: g.meta("", name, nil)}
	p.Generation = 1
	p.Spec.Template.Spec.Requirements = append([]cluster.Requirement{}, reqs...)
	p.Spec.Template.Spec.NodeClassRef.Group, p.Spec.Template.Spec.NodeClassRef.Kind, p.Spec.Template.Spec.NodeClassRef.Name = "karpenter.kwok.sh", "KWOKNodeClass", "default"
	p.Spec.Template.Spec.ExpireAfter = "720h"
	p.Spec.Disruption = json.RawMessage(`{"budgets":[{"nodes":"10%"}],"consolidateAfter":"30s","consolidationPolicy":"WhenEmptyOrUnderutilized"}`)
	for _, t := range []string{"ValidationSucceeded", "NodeClassReady", "Ready"} {
		p.Status.Conditions = append(p.Status.Conditions, metav1.Condition{Type: t, Status: "True", Reason: t, ObservedGeneration: 1, LastTransitionTime: g.ago(3000, 4000)})
	}
	g.pools = append(g.pools, p)
	g.add("nodepools", p)
	return p
}

func (g *G) nodeClass() {
	g.add("nodepools", map[string]any{"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass", "metadata": map[string]any{"name": "default", "uid": g.uid()}, "spec": map[string]any{}})
}

// node adds a running node with its claim; state is "", "inflight" (no Node yet), "uninitialized", "deleting", "cordoned".
func (g *G) node(pool *cluster.NodePool, t *cluster.Type, o *cluster.Offering, name, state string) *v1.Node {
	claim := &cluster.NodeClaim{TypeMeta: metav1.TypeMeta{APIVersion: "karpenter.sh/v1", Kind: "NodeClaim"}}
	labels := map[string]string{cluster.NodePoolKey: pool.Name}
	for k, v := range o.Values().With(t.Values()) {
		if len(v) == 1 {
			labels[k] = v[0]
		}
	}
	for _, q := range pool.Spec.Template.Spec.Requirements {
		if q.Operator == "In" && labels[q.Key] == "" {
			labels[q.Key] = q.Values[0]
		}
	}
	for k, v := range pool.Spec.Template.Metadata.Labels {
		labels[k] = v
	}
	claim.ObjectMeta = g.meta("", name, labels)
	claim.Spec = pool.Spec.Template.Spec
	claim.Spec.Requirements = append(append([]cluster.Requirement{}, pool.Spec.Template.Spec.Requirements...), in(cluster.InstanceType, t.Name))
	for i := range claim.Spec.Requirements {
		claim.Spec.Requirements[i].MinValues = nil
	}
	claim.Status.ProviderID = "kwok://" + name
	claim.Status.Capacity, claim.Status.Allocatable = t.Capacity(), t.Allocatable()
	conds := []string{"Launched", "Registered", "Initialized", "Ready"}
	switch state {
	case "inflight":
		conds = conds[:1]
	case "uninitialized":
		conds = conds[:2]
	}
	for _, c := range conds {
		claim.Status.Conditions = append(claim.Status.Conditions, metav1.Condition{Type: c, Status: "True", Reason: c, LastTransitionTime: g.ago(100, 2000)})
	}
	if state == "deleting" {
		d := g.ago(0, 3)
		claim.DeletionTimestamp, claim.Finalizers = &d, []string{"karpenter.sh/termination"}
	}
	if state != "inflight" {
		claim.Status.NodeName = name
	}
	g.add("nodeclaims", claim)
	nodeLabels := map[string]string{cluster.Hostname: name, "karpenter.sh/registered": "true"}
	for k, v := range labels {
		nodeLabels[k] = v
	}
	n := &v1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: g.meta("", name, nodeLabels),
		Spec: v1.NodeSpec{ProviderID: "kwok://" + name, Taints: append([]v1.Taint(nil), pool.Spec.Template.Spec.Taints...)},
		Status: v1.NodeStatus{Capacity: t.Capacity(), Allocatable: t.Allocatable(),
			Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue, Reason: "KubeletReady", LastTransitionTime: g.ago(100, 2000), LastHeartbeatTime: g.ago(0, 1)}}}}
	switch state {
	case "inflight":
		return nil
	case "uninitialized":
		n.Spec.Taints = append(append(n.Spec.Taints, pool.Spec.Template.Spec.StartupTaints...), v1.Taint{Key: v1.TaintNodeNotReady, Effect: v1.TaintEffectNoSchedule})
		n.Status.Conditions[0].Status, n.Status.Conditions[0].Reason = v1.ConditionFalse, "KubeletNotReady"
	case "deleting":
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: "karpenter.sh/disrupted", Effect: v1.TaintEffectNoSchedule})
		fallthrough
	default:
		n.Labels["karpenter.sh/initialized"] = "true"
	}
	if state == "cordoned" {
		n.Spec.Unschedulable = true
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule})
	}
	g.add("nodes", n)
	g.spent[name] = map[string]float64{}
	return n
}

// fleet adds n nodes of random pools, types and offerings and returns those that take pods.
func (g *G) fleet(n int, states ...string) []*v1.Node {
	var out []*v1.Node
	for i := 0; i < n; i++ {
		pool := pick(g, g.pools...)
		var fit []*cluster.Type
		for _, t := range g.types {
			if len(t.Compatible(pool.Reqs())) > 0 {
				if c := t.Resources[v1.ResourceCPU]; c.Value() <= 32 {
					fit = append(fit, t)
				}
			}
		}
		if len(fit) == 0 {
			continue
		}
		t := pick(g, fit...)
		state := ""
		if len(states) > 0 {
			state = pick(g, states...)
		}
		if node := g.node(pool, t, pick(g, t.Compatible(pool.Reqs())...), fmt.Sprintf("%s-%05x", pool.Name, i*7919%0xfffff), state); node != nil {
			out = append(out, node)
		}
	}
	return out
}

// --- pods -----------------------------------------------------------------------------------------------------

// workload is an owner with its pods' template.
type workload struct {
	ns, name, kind string // kind: ReplicaSet, StatefulSet, DaemonSet, "" (bare pods)
	labels         map[string]string
	spec           v1.PodSpec
	uid            types.UID
}

func (g *G) namespace(name string, labels map[string]string) {
	m := g.meta("", name, map[string]string{v1.LabelMetadataName: name})
	for k, v := range labels {
		m.Labels[k] = v
	}
	g.add("namespaces", &v1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: m})
}

func spec(req v1.ResourceList) v1.PodSpec {
	return v1.PodSpec{Containers: []v1.Container{{Name: "main", Image: "registry.example/app:1", Resources: v1.ResourceRequirements{Requests: req}}},
		Tolerations: []v1.Toleration{
			{Key: v1.TaintNodeNotReady, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute, TolerationSeconds: ptr(int64(300))},
			{Key: v1.TaintNodeUnreachable, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute, TolerationSeconds: ptr(int64(300))}}}
}

func ptr[T any](v T) *T { return &v }

// work declares the owner object.
func (g *G) work(kind, ns, name string, s v1.PodSpec, replicas int) *workload {
	w := &workload{ns: ns, name: name, kind: kind, labels: map[string]string{"app": name}, spec: s}
	sel := &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	tmpl := v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: w.labels}, Spec: s}
	m := g.meta(ns, name, nil)
	w.uid = m.UID
	switch kind {
	case "ReplicaSet":
		d := &appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: m,
			Spec: appsv1.DeploymentSpec{Replicas: ptr(int32(replicas)), Selector: sel, Template: tmpl}}
		g.add("workloads", d)
		hash := fmt.Sprintf("%x", 0x5d0000+g.uids)
		w.labels = map[string]string{"app": name, "pod-template-hash": hash}
		w.name = name + "-" + hash
		rm := g.meta(ns, w.name, w.labels)
		rm.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: name, UID: m.UID, Controller: ptr(true), BlockOwnerDeletion: ptr(true)}}
		w.uid = rm.UID
		rt := v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: w.labels}, Spec: s}
		g.add("workloads", &appsv1.ReplicaSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"}, ObjectMeta: rm,
			Spec: appsv1.ReplicaSetSpec{Replicas: ptr(int32(replicas)), Selector: &metav1.LabelSelector{MatchLabels: w.labels}, Template: rt}})
	case "StatefulSet":
		g.add("workloads", &appsv1.StatefulSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"}, ObjectMeta: m,
			Spec: appsv1.StatefulSetSpec{Replicas: ptr(int32(replicas)), Selector: sel, ServiceName: name, Template: tmpl}})
	case "DaemonSet":
		g.add("workloads", &appsv1.DaemonSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}, ObjectMeta: m,
			Spec: appsv1.DaemonSetSpec{Selector: sel, Template: tmpl}})
	}
	return w
}

// pod adds one pod; node "" means pending.
func (g *G) pod(w *workload, i int, node string) *v1.Pod {
	name := fmt.Sprintf("%s-%05x", w.name, (i*40503+g.uids)&0xfffff)
	if w.kind == "StatefulSet" || w.kind == "" {
		name = fmt.Sprintf("%s-%d", w.name, i)
	}
	p := &v1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: g.meta(w.ns, name, w.labels), Spec: *w.spec.DeepCopy()}
	for i := range p.Spec.TopologySpreadConstraints { // an API server from 1.34 on writes matchLabelKeys into the selector
		c := &p.Spec.TopologySpreadConstraints[i]
		for _, k := range c.MatchLabelKeys {
			if v, ok := w.labels[k]; ok {
				c.LabelSelector.MatchExpressions = append(c.LabelSelector.MatchExpressions, metav1.LabelSelectorRequirement{Key: k, Operator: metav1.LabelSelectorOpIn, Values: []string{v}})
			}
		}
	}
	if w.kind != "" {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: w.kind, Name: w.name, UID: w.uid, Controller: ptr(true), BlockOwnerDeletion: ptr(true)}}
	}
	if node == "" {
		p.CreationTimestamp = g.ago(0, 20)
		p.Status.Phase = v1.PodPending
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable,
			Message: "0/3 nodes are available: 3 Insufficient cpu.", LastTransitionTime: p.CreationTimestamp}}
	} else {
		p.Spec.NodeName = node
		t := g.ago(30, 3000)
		p.Status.Phase, p.Status.StartTime = v1.PodRunning, &t
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionTrue, LastTransitionTime: t}, {Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: t}}
	}
	g.add("pods", p)
	return p
}

// bind adds up to n running pods of the workload on nodes with room for them; it respects cpu, memory and pod count only,
// so use it for pods without constraints of their own.
func (g *G) bind(w *workload, n int, nodes []*v1.Node) int {
	done := 0
	for i := 0; i < n && len(nodes) > 0; i++ {
		node := pick(g, nodes...)
		s := g.spent[node.Name]
		c, m := w.spec.Containers[0].Resources.Requests.Cpu().AsApproximateFloat64(), w.spec.Containers[0].Resources.Requests.Memory().AsApproximateFloat64()
		a := node.Status.Allocatable
		if s["cpu"]+c > a.Cpu().AsApproximateFloat64()*0.9-0.3 || s["memory"]+m > a.Memory().AsApproximateFloat64()*0.9-3e8 || s["pods"]+5 > a.Pods().AsApproximateFloat64() {
			continue
		}
		s["cpu"] += c
		s["memory"] += m
		s["pods"]++
		g.pod(w, 1000+i, node.Name)
		done++
	}
	return done
}

// daemons adds DaemonSets, and their pods on the nodes given.
func (g *G) daemons(n int, nodes []*v1.Node) {
	for i := 0; i < n; i++ {
		s := spec(resources(int64(20+10*g.IntN(12)), int64(32+16*g.IntN(16))))
		switch g.IntN(5) {
		case 0:
			s.Tolerations = append(s.Tolerations, v1.Toleration{Operator: v1.TolerationOpExists})
		case 1:
			if i > 0 {
				s.NodeSelector = map[string]string{v1.LabelArchStable: "amd64"}
			}
		case 2: // nodes of one type differ by it, so that it is to be felt
			s.Containers[0].Resources.Requests = resources(int64(100*(1+g.IntN(12))), int64(64*(1+g.IntN(32))))
			if g.chance(60) {
				s.NodeSelector = map[string]string{cluster.Zone: pick(g, g.zones...)}
			} else {
				s.NodeSelector = map[string]string{cluster.CapacityType: pick(g, "spot", "on-demand")}
			}
		}
		w := g.work("DaemonSet", "kube-system", fmt.Sprintf("agent-%d", i), s, 0)
		for j, node := range nodes {
			if !selects(s.NodeSelector, node.Labels) || len(node.Spec.Taints) > 0 && s.Tolerations[len(s.Tolerations)-1].Key != "" {
				continue
			}
			g.pod(w, j, node.Name)
			g.spent[node.Name]["cpu"] += s.Containers[0].Resources.Requests.Cpu().AsApproximateFloat64()
			g.spent[node.Name]["memory"] += s.Containers[0].Resources.Requests.Memory().AsApproximateFloat64()
			g.spent[node.Name]["pods"]++
		}
	}
}

func selects(selector, labels map[string]string) bool {
	for k, v := range selector {
		if labels[k] != v {
			return false
		}
	}
	return true
}

// request is a random ordinary pod size.
func (g *G) request() v1.ResourceList {
	m := pick(g, int64(50), 100, 200, 250, 500, 750, 1000, 1500, 2000, 4000)
	return resources(m, max(64, m*int64(pick(g, 1, 2, 3, 4, 6, 8))*1024/1000/32*32))
}
