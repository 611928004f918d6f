package judge

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/controller/daemon"

	"stowage.dev/tests/judge/cluster"
)

// Options say how the plan becomes nodes, and what is asked beyond the plan's validity.
type Options struct {
	All    bool   // the plan must answer for every unbound pod (--all-unbound)
	Random bool   // the cloud picks any listed type and offering; else the cheapest
	Seed   uint64 // for random types and for the order of pods in the runs
	Runs   bool   // also the free and the guided run
}

// world is the cluster after the plan was carried out, before any planned pod is placed.
type world struct {
	nodes    []*v1.Node
	bound    []*v1.Pod // daemon pods that will be there included
	daemons  []*appsv1.DaemonSet
	others   []runtime.Object
	pods     map[string]*v1.Pod // every pod a planner may place, by key, unbound
	never    map[string]string  // unbound pods no scheduler will ever take up as they are, and why
	must     map[string]bool    // ... and those it must answer for
	existing map[string]bool
	deleting map[string]bool
	planned  map[string]chosen // by claim name
	promised map[string]promise
}

// chosen is what the cloud gave for a planned claim.
type chosen struct {
	Type     *cluster.Type
	Offering *cluster.Offering
}

// promise is what a planned claim may still become, of which the cloud chose one.
type promise struct {
	Claim  *PlannedClaim
	Pool   *cluster.NodePool // nil: none of this name
	Listed []buyable
}

var ephemeral = []v1.Taint{
	{Key: v1.TaintNodeNotReady, Effect: v1.TaintEffectNoSchedule},
	{Key: v1.TaintNodeNotReady, Effect: v1.TaintEffectNoExecute},
	{Key: v1.TaintNodeUnreachable, Effect: v1.TaintEffectNoSchedule},
	{Key: "node.cloudprovider.kubernetes.io/uninitialized", Effect: v1.TaintEffectNoSchedule},
	{Key: "karpenter.sh/unregistered", Effect: v1.TaintEffectNoExecute},
}

func without(taints []v1.Taint, gone ...v1.Taint) []v1.Taint {
	var out []v1.Taint
next:
	for _, t := range taints {
		if strings.HasPrefix(t.Key, "readiness.k8s.io/") {
			continue
		}
		for _, g := range gone {
			if t.Key == g.Key && t.Effect == g.Effect {
				continue next
			}
		}
		out = append(out, t)
	}
	return out
}

// build materialises input and plan. Everything wrong with the plan itself goes to r.PlanErrors.
func build(c *cluster.Cluster, cat *cluster.Catalogue, p *Plan, o Options, r *Report) *world {
	w := &world{pods: map[string]*v1.Pod{}, never: map[string]string{}, must: map[string]bool{}, existing: map[string]bool{},
		deleting: map[string]bool{}, planned: map[string]chosen{}, promised: map[string]promise{}, daemons: c.DaemonSets}
	for _, x := range c.Other {
		w.others = append(w.others, x.DeepCopyObject())
	}
	for _, d := range c.DaemonSets {
		w.others = append(w.others, d.DeepCopy())
	}
	w.addExisting(c)
	w.addPods(c, o)
	w.addPlanned(c, cat, p, o, r)
	w.addDaemons()
	return w
}

func isTrue(conds []metav1.Condition, t string) bool {
	for _, c := range conds {
		if c.Type == t {
			return c.Status == metav1.ConditionTrue
		}
	}
	return false
}

// addExisting adds the fleet as the scheduler will see it once in-flight nodes are ready.
func (w *world) addExisting(c *cluster.Cluster) {
	claimOf := map[string]*cluster.NodeClaim{}
	for _, nc := range c.NodeClaims {
		if nc.Status.ProviderID != "" {
			claimOf[nc.Status.ProviderID] = nc
		}
		if nc.Status.NodeName != "" {
			claimOf["name/"+nc.Status.NodeName] = nc
		}
	}
	hasNode := map[*cluster.NodeClaim]bool{}
	add := func(n *v1.Node, deleting bool) {
		if deleting {
			w.deleting[n.Name] = true // gone by the time the planned nodes are there
			return
		}
		w.existing[n.Name] = true
		w.nodes = append(w.nodes, n)
	}
	for _, in := range c.Nodes {
		n := in.DeepCopy()
		nc := claimOf[n.Spec.ProviderID]
		if nc == nil {
			nc = claimOf["name/"+n.Name]
		}
		deleting := n.DeletionTimestamp != nil && nc == nil
		if nc != nil {
			hasNode[nc] = true
			deleting = nc.DeletionTimestamp != nil || isTrue(nc.Status.Conditions, "InstanceTerminating")
			if n.Labels["karpenter.sh/initialized"] != "true" {
				n.Spec.Taints = without(n.Spec.Taints, append(append([]v1.Taint(nil), ephemeral...), nc.Spec.StartupTaints...)...)
				if n.Labels["karpenter.sh/registered"] != "true" {
					for k, v := range nc.Labels {
						metav1.SetMetaDataLabel(&n.ObjectMeta, k, v)
					}
					n.Spec.Taints = without(append(n.Spec.Taints, nc.Spec.Taints...))
				}
				fill(&n.Status.Allocatable, nc.Status.Allocatable)
				fill(&n.Status.Capacity, nc.Status.Capacity)
			}
		}
		n.DeletionTimestamp, n.Finalizers = nil, nil
		add(n, deleting)
	}
	for _, nc := range c.NodeClaims {
		if hasNode[nc] || nc.Status.ProviderID == "" {
			continue // not launched: nobody can plan on it
		}
		n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: nc.Name, UID: types.UID("node/" + nc.Name), ResourceVersion: "1", Labels: map[string]string{}}}
		for k, v := range nc.Labels {
			n.Labels[k] = v
		}
		if n.Labels[cluster.Hostname] == "" {
			n.Labels[cluster.Hostname] = nc.Name
		}
		n.Spec.Taints = nc.Spec.Taints
		n.Status.Capacity, n.Status.Allocatable = nc.Status.Capacity, nc.Status.Allocatable
		add(n, nc.DeletionTimestamp != nil || isTrue(nc.Status.Conditions, "InstanceTerminating"))
	}
}

func fill(dst *v1.ResourceList, src v1.ResourceList) {
	if *dst == nil {
		*dst = v1.ResourceList{}
	}
	for k, q := range src {
		if have, ok := (*dst)[k]; !ok || have.IsZero() {
			(*dst)[k] = q
		}
	}
}

func (w *world) addPods(c *cluster.Cluster, o Options) {
	for _, in := range c.Pods {
		key := cluster.Key(in)
		pod := in.DeepCopy()
		pod.Status.Conditions = nil
		switch {
		case pod.Spec.NodeName == "" && cluster.Terminal(pod):
			w.never[key] = "phase " + string(pod.Status.Phase)
		case pod.Spec.NodeName == "" && pod.DeletionTimestamp != nil:
			w.never[key] = "terminating"
		case pod.Spec.NodeName == "" && len(pod.Spec.SchedulingGates) > 0:
			w.never[key] = "gated"
		case cluster.Terminal(pod):
		case pod.Spec.NodeName == "":
			if !cluster.OwnedBy(pod, "apps/v1", "DaemonSet") && !cluster.OwnedBy(pod, "v1", "Node") {
				w.pods[key] = pod
				w.must[key] = cluster.Pending(in, o.All)
			}
		case w.deleting[pod.Spec.NodeName] && !cluster.OwnedBy(pod, "apps/v1", "DaemonSet") && !cluster.OwnedBy(pod, "v1", "Node"):
			// Its successor is what gets planned.
			pod.Spec.NodeName, pod.Status = "", v1.PodStatus{}
			pod.DeletionTimestamp, pod.Finalizers = nil, nil
			w.pods[key] = pod
		case w.existing[pod.Spec.NodeName]:
			w.bound = append(w.bound, pod)
		}
	}
}

// addPlanned makes a Node of every claim, as the kwok provider would, startup taints gone.
func (w *world) addPlanned(c *cluster.Cluster, cat *cluster.Catalogue, p *Plan, o Options, r *Report) {
	pools := map[string]*cluster.NodePool{}
	for _, np := range c.NodePools {
		pools[np.Name] = np
	}
	rng := rand.New(rand.NewPCG(o.Seed, 7))
	for i := range p.NodeClaims {
		pc := &p.NodeClaims[i]
		fail := func(kind, format string, a ...any) { r.planError(kind, pc.Name, fmt.Sprintf(format, a...)) }
		if pc.Name == "" || w.existing[pc.Name] || w.planned[pc.Name].Type != nil {
			fail("ClaimName", "nodeClaim %d: name %q is empty or taken", i, pc.Name)
			continue
		}
		if len(pc.Pods) == 0 {
			fail("EmptyClaim", "no pods")
		}
		pool := pools[pc.NodePool]
		if pool == nil {
			fail("NodePool", "unknown NodePool %q", pc.NodePool)
		}
		got := checkClaim(pc, pool, cat, fail)
		if len(got) == 0 {
			fail("InstanceTypes", "no listed type can be bought under the claim's requirements")
			continue
		}
		pick := choose(got, o.Random, rng)
		w.planned[pc.Name] = pick
		w.promised[pc.Name] = promise{pc, pool, got}
		labels := settled(pc, o.Random, rng)
		w.nodes = append(w.nodes, claimNode(pc.Name, pc.NodePool, pc.Requirements, labels, pc.Taints, pick))
	}
}

// buyable is a listed type with the offerings that satisfy the claim.
type buyable struct {
	Type      *cluster.Type
	Offerings []*cluster.Offering
}

// checkClaim holds a claim against its pool and the catalogue.
func checkClaim(pc *PlannedClaim, pool *cluster.NodePool, cat *cluster.Catalogue, fail func(kind, format string, a ...any)) []buyable {
	reqs := append([]cluster.Requirement(nil), pc.Requirements...)
	if pool != nil {
		reqs = append(reqs, pool.Reqs()...)
		if missing := lacking(pc.Taints, pool.Spec.Template.Spec.Taints); missing != "" {
			fail("Taints", "differ from NodePool %s: %s", pool.Name, missing)
		}
		for k, v := range pool.Spec.Template.Metadata.Labels {
			if have, ok := pc.Labels[k]; ok && have != v {
				fail("Labels", "%s=%s but NodePool %s says %s", k, have, pool.Name, v)
			}
		}
		for k, v := range pc.Labels { // a label must not contradict the pool either
			for _, q := range pool.Reqs() {
				if cluster.NormalKey(q.Key) == k && !q.Admits(v, true) {
					fail("Labels", "%s=%s violates NodePool %s: %s %s %v", k, v, pool.Name, q.Key, q.Operator, q.Values)
				}
			}
		}
	}
	var out []buyable
	prices := []float64{}
	seen := map[string]bool{}
	for _, name := range pc.InstanceTypes {
		t := cat.Get(name)
		if t == nil {
			fail("InstanceTypes", "unknown instance type %q", name)
			continue
		}
		if seen[name] {
			fail("InstanceTypes", "%s is listed twice", name)
			continue
		}
		seen[name] = true
		os := t.Compatible(reqs)
		if len(os) == 0 {
			fail("InstanceTypes", "%s has no offering under the claim's and the NodePool's requirements", name)
			continue
		}
		out = append(out, buyable{t, os})
		prices = append(prices, cluster.Cheapest(os).Price)
	}
	if len(out) == 0 {
		return nil
	}
	if !sort.Float64sAreSorted(prices) {
		fail("InstanceTypes", "not ordered cheapest first")
	}
	low := prices[0]
	for _, x := range prices {
		low = min(low, x)
	}
	if pc.Price == nil {
		fail("Price", "absent")
	} else if d := *pc.Price - low; d > 1e-9*max(1, low) || d < -1e-9*max(1, low) {
		fail("Price", "plan says %v, cheapest listed offering costs %v", *pc.Price, low)
	}
	if pool != nil {
		var types []*cluster.Type
		for _, b := range out {
			types = append(types, b.Type)
		}
		if few := fewValues(pool, types); few != nil {
			fail("MinValues", "%s has %d distinct values, NodePool wants %d", few.Key, few.Have, few.Want)
		}
	}
	return out
}

func lacking(have, want []v1.Taint) string {
	set := func(l []v1.Taint) map[string]bool {
		m := map[string]bool{}
		for _, t := range l {
			m[t.ToString()] = true
		}
		return m
	}
	h, w := set(have), set(want)
	for k := range w {
		if !h[k] {
			return "missing " + k
		}
	}
	for k := range h {
		if !w[k] {
			return "unexpected " + k
		}
	}
	return ""
}

func choose(got []buyable, random bool, rng *rand.Rand) chosen {
	if random {
		i := rng.IntN(len(got))
		return chosen{got[i].Type, got[i].Offerings[rng.IntN(len(got[i].Offerings))]}
	}
	best := got[0]
	for _, b := range got {
		if cluster.Cheapest(b.Offerings).Price < cluster.Cheapest(best.Offerings).Price {
			best = b
		}
	}
	return chosen{best.Type, cluster.Cheapest(best.Offerings)}
}

// settled are the claim's labels and, for a requirement that leaves a label several values, one of them: the launched
// claim gets it as a label, and its node with it.
func settled(pc *PlannedClaim, random bool, rng *rand.Rand) map[string]string {
	l := map[string]string{}
	for _, q := range pc.Requirements {
		if q.Operator != "In" || len(q.Values) < 2 {
			continue
		}
		l[cluster.NormalKey(q.Key)] = q.Values[0]
		if random {
			l[cluster.NormalKey(q.Key)] = q.Values[rng.IntN(len(q.Values))]
		}
	}
	for k, v := range pc.Labels {
		l[k] = v
	}
	return l
}

// claimNode is the Node that registers for a claim.
func claimNode(name, pool string, reqs []cluster.Requirement, labels map[string]string, taints []v1.Taint, pick chosen) *v1.Node {
	l := map[string]string{}
	for k, v := range labels {
		l[k] = v
	}
	for _, q := range reqs {
		if q.Operator == "In" && len(q.Values) == 1 {
			l[cluster.NormalKey(q.Key)] = q.Values[0]
		}
	}
	values := pick.Offering.Values().With(pick.Type.Values())
	keys := make([]string, 0, len(values))
	for k := range values {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		if len(values[k]) == 1 {
			l[k] = values[k][0]
		}
	}
	l[cluster.NodePoolKey], l[cluster.Hostname] = pool, name
	l["karpenter.sh/registered"], l["karpenter.sh/initialized"] = "true", "true"
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("node/" + name), ResourceVersion: "1", Labels: l},
		Spec:       v1.NodeSpec{Taints: taints, ProviderID: "kwok://" + name},
		Status: v1.NodeStatus{Capacity: pick.Type.Capacity(), Allocatable: pick.Type.Allocatable(),
			Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}},
	}
}

// addDaemons puts a pod of every DaemonSet on every node where the DaemonSet controller would and none is yet.
func (w *world) addDaemons() {
	has := map[string]bool{}
	for _, p := range w.bound {
		for _, o := range p.OwnerReferences {
			if o.APIVersion == "apps/v1" && o.Kind == "DaemonSet" {
				has[p.Namespace+"/"+o.Name+"@"+p.Spec.NodeName] = true
			}
		}
	}
	for _, n := range w.nodes {
		w.bound = append(w.bound, daemonPods(w.daemons, n, has)...)
	}
}

func daemonPods(sets []*appsv1.DaemonSet, n *v1.Node, has map[string]bool) []*v1.Pod {
	var out []*v1.Pod
	for _, ds := range sets {
		if has[ds.Namespace+"/"+ds.Name+"@"+n.Name] {
			continue
		}
		if run, _ := daemon.NodeShouldRunDaemonPod(klog.Background(), n, ds); !run {
			continue
		}
		p := daemon.NewPod(ds.DeepCopy(), n.Name)
		p.Name = ds.Name + "-" + n.Name
		p.UID = types.UID("ds/" + p.Namespace + "/" + p.Name)
		p.ResourceVersion = "1"
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: ds.Name, UID: ds.UID}}
		legacyscheme.Scheme.Default(p)
		out = append(out, p)
	}
	return out
}
