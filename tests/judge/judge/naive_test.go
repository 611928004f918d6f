package judge

import (
	"fmt"
	"sort"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"stowage.dev/tests/judge/cluster"
)

func has(l []string, s string) bool {
	for _, x := range l {
		if x == s {
			return true
		}
	}
	return false
}

// naive is the plainest planner there is: existing nodes first, else one node per pod, the cheapest that fits.
// It asks the real filters, so that its plans are right wherever order and later nodes change nothing.
func naive(t testing.TB, c *cluster.Cluster, cat *cluster.Catalogue, all bool) *Plan {
	p := &Plan{Kind: "Plan"}
	w := build(c, cat, p, Options{All: all}, &Report{})
	env, err := newReal(w)
	if err != nil {
		t.Fatal(err)
	}
	defer env.stop()
	log := klog.FromContext(env.ctx)
	var keys []string
	uses := map[string]bool{}
	for k, pod := range w.pods {
		if w.must[k] {
			keys = append(keys, k)
		}
		for _, v := range pod.Spec.Volumes {
			if v.PersistentVolumeClaim != nil {
				uses[pod.Namespace+"/"+v.PersistentVolumeClaim.ClaimName] = true
			}
		}
	}
	sort.Slice(keys, func(i, j int) bool {
		a, b := constrained(w.pods[keys[i]]), constrained(w.pods[keys[j]])
		return a > b || a == b && keys[i] < keys[j]
	})
	type buy struct {
		pool *cluster.NodePool
		t    *cluster.Type
		o    *cluster.Offering
	}
	var buys []buy
	for _, pool := range c.NodePools {
		for _, ty := range cat.Types {
			for _, o := range ty.Compatible(pool.Reqs()) {
				buys = append(buys, buy{pool, ty, o})
			}
		}
	}
	sort.SliceStable(buys, func(i, j int) bool { return buys[i].o.Price < buys[j].o.Price })
	onOld := map[string][]string{}
next:
	for _, k := range keys {
		pod := w.pods[k]
		for _, n := range w.nodes {
			if !w.existing[n.Name] {
				continue
			}
			if v, state := env.filter(pod, n.Name); v.ok() {
				if v := env.place(pod, n.Name, state, uses); v.ok() {
					onOld[n.Name] = append(onOld[n.Name], k)
					continue next
				}
			}
		}
		name := fmt.Sprintf("naive-%d", len(p.NodeClaims))
		looks := lookedAt(w, pod)
		sig := func(n *v1.Node) string {
			s := ""
			for _, l := range append(looks, cluster.Zone, cluster.CapacityType) {
				s += l + "=" + n.Labels[l] + "\n"
			}
			return s
		}
		room := func(n *v1.Node, ty *cluster.Type) bool {
			free := amounts(ty.Allocatable())
			for _, d := range daemonPods(w.daemons, n, nil) {
				addTo(free, requests(d), -1)
			}
			return fits(requests(pod), free)
		}
		for _, b := range buys {
			tmpl := b.pool.Spec.Template
			mk := func(ty *cluster.Type, o *cluster.Offering) *v1.Node {
				return claimNode(name, b.pool.Name, tmpl.Spec.Requirements, defaultLabels(b.pool, pod), tmpl.Spec.Taints, chosen{ty, o})
			}
			n := mk(b.t, b.o)
			if !room(n, b.t) || overLimit(w, c, b.pool, b.t) {
				continue
			}
			daemons := daemonPods(w.daemons, n, nil)
			env.sched.Cache.AddNode(log, n)
			for _, d := range daemons {
				_ = env.sched.Cache.AddPod(log, d)
			}
			v, state := env.filter(pod, name)
			names := []string{}
			if v.ok() {
				for _, x := range buys { // types that do the same for the pod, in price order; a larger one could break limits
					if x.pool == b.pool && x.o.Price >= b.o.Price && (x.t == b.t || len(b.pool.Spec.Limits) == 0) && !has(names, x.t.Name) && len(names) < 6 && sig(mk(x.t, x.o)) == sig(n) && room(mk(x.t, x.o), x.t) && !overLimit(w, c, x.pool, x.t) {
						names = append(names, x.t.Name)
					}
				}
				reqs := append(append([]cluster.Requirement{}, tmpl.Spec.Requirements...),
					cluster.Requirement{Key: cluster.InstanceType, Operator: "In", Values: names},
					cluster.Requirement{Key: cluster.Zone, Operator: "In", Values: []string{n.Labels[cluster.Zone]}},
					cluster.Requirement{Key: cluster.CapacityType, Operator: "In", Values: []string{n.Labels[cluster.CapacityType]}})
				price := b.o.Price
				pc := PlannedClaim{Name: name, NodePool: b.pool.Name, Requirements: reqs, Labels: defaultLabels(b.pool, pod), Taints: tmpl.Spec.Taints, InstanceTypes: names, Price: &price, Pods: []string{k}}
				bad := false
				checkClaim(&pc, b.pool, cat, func(kind, f string, a ...any) { bad = true })
				if !bad {
					if v := env.place(pod, name, state, uses); v.ok() {
						p.NodeClaims = append(p.NodeClaims, pc)
						w.nodes = append(w.nodes, n)
						continue next
					}
				}
			}
			for _, d := range daemons {
				_ = env.sched.Cache.RemovePod(log, d)
			}
			_ = env.sched.Cache.RemoveNode(log, n)
		}
		p.Unschedulable = append(p.Unschedulable, Unschedulable{Pod: k, Reason: "NaiveFoundNone"})
	}
	for _, n := range w.nodes {
		if len(onOld[n.Name]) > 0 {
			p.ExistingNodes = append(p.ExistingNodes, PlannedNode{n.Name, onOld[n.Name]})
		}
	}
	return p
}
