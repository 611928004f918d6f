package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"stowage.dev/tests/judge/cluster"
)

// Missed is a pod called unschedulable for which the real scheduler would take a node.
type Missed struct {
	Pod          string `json:"pod"`
	Said         string `json:"said,omitempty"` // the plan's reason
	Node         string `json:"node,omitempty"` // a node that stands (or is planned) already
	NodePool     string `json:"nodePool,omitempty"`
	Type         string `json:"type,omitempty"`
	Zone         string `json:"zone,omitempty"`
	CapacityType string `json:"capacityType,omitempty"`
}

// Place names the node that would take the pod.
func (m *Missed) Place() string {
	if m.Node != "" {
		return "node " + m.Node
	}
	return fmt.Sprintf("a new %s of NodePool %s in %s, %s", m.Type, m.NodePool, m.Zone, m.CapacityType)
}

// missed tries every pod the plan gives up on, each on its own, against the finished world: first the nodes there are,
// then one fresh node of every NodePool, type and offering that differ in a label the scheduler could look at.
func missed(env *real, w *world, c *cluster.Cluster, cat *cluster.Catalogue, p *Plan) []Missed {
	seen := map[string]*Missed{}
	var out []Missed
	for _, u := range p.Unschedulable {
		pod := w.pods[u.Pod]
		if pod == nil {
			continue
		}
		shape := shapeOf(pod)
		m, ok := seen[shape]
		if !ok {
			m = wouldFit(env, w, c, cat, pod)
			seen[shape] = m
		}
		if m != nil {
			x := *m
			x.Pod, x.Said = u.Pod, strings.TrimSpace(u.Reason+" "+u.Message)
			out = append(out, x)
		}
	}
	return out
}

// draws are the worlds in which a missed pod must have a place.
const draws = 8

// certain drops those who have a place only as the dice fell. A planned node may become any of its types, in any zone
// and with any label that its claim leaves open, and by that it can let a pod in elsewhere (it is no domain of the pod's
// spread, say) or keep it out: no plan can promise such a place.
func certain(list []Missed, c *cluster.Cluster, cat *cluster.Catalogue, p *Plan, o Options) ([]Missed, error) {
	for seed := range uint64(draws) {
		if len(list) == 0 {
			break
		}
		r := &Report{}
		w := build(c, cat, p, Options{All: o.All, Random: true, Seed: seed}, r)
		env, err := validity(w, r.account(w, p), r)
		if err != nil {
			return nil, err
		}
		still := map[string]bool{}
		for _, m := range missed(env, w, c, cat, p) {
			still[m.Pod] = true
		}
		env.stop()
		list = slices.DeleteFunc(list, func(m Missed) bool { return !still[m.Pod] })
	}
	return list, nil
}

func shapeOf(p *v1.Pod) string {
	s := p.Spec.DeepCopy()
	s.Hostname = ""
	b, _ := json.Marshal([]any{p.Namespace, p.Labels, s})
	return string(b)
}

func wouldFit(env *real, w *world, c *cluster.Cluster, cat *cluster.Catalogue, pod *v1.Pod) *Missed {
	for _, n := range w.nodes {
		if v, _ := env.filter(pod, n.Name); v.ok() && promisable(w, n.Name, pod) {
			return &Missed{Node: n.Name}
		}
	}
	req := requests(pod)
	keys := lookedAt(w, pod)
	log := klog.FromContext(env.ctx)
	for _, pool := range c.NodePools {
		if pool.Spec.Replicas != nil || pool.DeletionTimestamp != nil || notReady(pool) {
			continue
		}
		if !enoughValues(cat, pool, pod) {
			continue
		}
		tried := map[string]bool{}
		for _, t := range cat.Types {
			alloc := amounts(t.Allocatable())
			for _, o := range t.Compatible(pool.Reqs()) {
				if overLimit(w, c, pool, t) {
					continue
				}
				n := claimNode("fresh-"+pool.Name, pool.Name, pool.Spec.Template.Spec.Requirements, defaultLabels(pool, pod), pool.Spec.Template.Spec.Taints, chosen{t, o})
				daemons := daemonPods(w.daemons, n, nil)
				free := map[string]float64{}
				addTo(free, alloc, 1)
				for _, d := range daemons {
					addTo(free, requests(d), -1)
				}
				if !fits(req, free) {
					continue
				}
				var sig strings.Builder
				for _, k := range keys {
					fmt.Fprintf(&sig, "%s=%s\n", k, n.Labels[k])
				}
				if tried[sig.String()] {
					continue
				}
				tried[sig.String()] = true
				env.sched.Cache.AddNode(log, n)
				for _, d := range daemons {
					_ = env.sched.Cache.AddPod(log, d)
				}
				v, _ := env.filter(pod, n.Name)
				for _, d := range daemons {
					_ = env.sched.Cache.RemovePod(log, d)
				}
				_ = env.sched.Cache.RemoveNode(log, n)
				if v.ok() {
					return &Missed{NodePool: pool.Name, Type: t.Name, Zone: n.Labels[cluster.Zone], CapacityType: n.Labels[cluster.CapacityType]}
				}
			}
		}
	}
	return nil
}

// promisable says whether a plan could have promised the pod the node. One that stands can be promised as it is; a
// planned one only if the listed types that would take the pod too, whichever the cloud gives, meet minValues.
func promisable(w *world, node string, pod *v1.Pod) bool {
	p, planned := w.promised[node]
	if !planned || p.Pool == nil {
		return true
	}
	affinity := nodeaffinity.GetRequiredNodeAffinity(pod)
	load := requests(pod)
	for _, key := range p.Claim.Pods {
		if beside := w.pods[key]; beside != nil {
			addTo(load, requests(beside), 1)
		}
	}
	var left []*cluster.Type
	for _, b := range p.Listed {
		for _, o := range b.Offerings {
			n := claimNode(node, p.Claim.NodePool, p.Claim.Requirements, p.Claim.Labels, p.Claim.Taints, chosen{b.Type, o})
			free := amounts(b.Type.Allocatable())
			for _, d := range daemonPods(w.daemons, n, nil) {
				addTo(free, requests(d), -1)
			}
			if ok, _ := affinity.Match(n); ok && fits(load, free) {
				left = append(left, b.Type)
				break
			}
		}
	}
	return fewValues(p.Pool, left) == nil
}

// fewValues is the first minValues of the pool that the types do not meet, nil when they meet all.
func fewValues(pool *cluster.NodePool, types []*cluster.Type) *shortage {
	for _, q := range pool.Spec.Template.Spec.Requirements {
		if q.MinValues == nil {
			continue
		}
		distinct := map[string]bool{}
		for _, t := range types {
			for _, v := range t.Values()[cluster.NormalKey(q.Key)] {
				distinct[v] = true
			}
		}
		if len(distinct) < *q.MinValues {
			return &shortage{q.Key, len(distinct), *q.MinValues}
		}
	}
	return nil
}

type shortage struct {
	Key        string
	Have, Want int
}

// enoughValues says whether the types that suit the pod meet the pool's minValues.
func enoughValues(cat *cluster.Catalogue, pool *cluster.NodePool, pod *v1.Pod) bool {
	affinity := nodeaffinity.GetRequiredNodeAffinity(pod)
	var suit []*cluster.Type
	for _, t := range cat.Types {
		for _, o := range t.Compatible(pool.Reqs()) {
			n := claimNode("fresh", pool.Name, pool.Spec.Template.Spec.Requirements, defaultLabels(pool, pod), nil, chosen{t, o})
			if ok, _ := affinity.Match(n); ok && fits(requests(pod), amounts(t.Allocatable())) {
				suit = append(suit, t)
				break
			}
		}
	}
	return fewValues(pool, suit) == nil
}

func fits(req, free map[string]float64) bool {
	for k, v := range req {
		if v > free[k]+1e-9 {
			return false
		}
	}
	return true
}

func notReady(p *cluster.NodePool) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status != "True"
		}
	}
	return false // a file written by hand has no status
}

// overLimit says whether one more node of this type would break the pool's limits.
func overLimit(w *world, c *cluster.Cluster, pool *cluster.NodePool, t *cluster.Type) bool {
	if len(pool.Spec.Limits) == 0 {
		return false
	}
	use := usage(w, pool.Name)
	addTo(use, amounts(t.Capacity()), 1)
	use["nodes"]++
	for k, lim := range pool.Spec.Limits {
		if use[string(k)] > lim.AsApproximateFloat64() {
			return true
		}
	}
	return false
}

// usage is what a pool's nodes have, planned ones included.
func usage(w *world, pool string) map[string]float64 {
	use := map[string]float64{}
	for _, n := range w.nodes {
		if n.Labels[cluster.NodePoolKey] == pool {
			addTo(use, amounts(n.Status.Capacity), 1)
			use["nodes"]++
		}
	}
	return use
}

// defaultLabels are the pool's template labels, and for a free custom requirement a value the pod would take.
func defaultLabels(pool *cluster.NodePool, pod *v1.Pod) map[string]string {
	l := map[string]string{}
	for _, q := range pool.Spec.Template.Spec.Requirements {
		if q.Operator != "In" || len(q.Values) < 2 {
			continue
		}
		l[q.Key] = q.Values[0]
		for _, v := range q.Values {
			if pod.Spec.NodeSelector[q.Key] == v || wants(pod, q.Key, v) {
				l[q.Key] = v
			}
		}
	}
	for k, v := range pool.Spec.Template.Metadata.Labels {
		l[k] = v
	}
	return l
}

func wants(pod *v1.Pod, key, value string) bool {
	for _, e := range expressions(pod) {
		if e.Key == key && e.Operator == v1.NodeSelectorOpIn {
			for _, v := range e.Values {
				if v == value {
					return true
				}
			}
		}
	}
	return false
}

func expressions(pod *v1.Pod) []v1.NodeSelectorRequirement {
	var out []v1.NodeSelectorRequirement
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			out = append(out, t.MatchExpressions...)
		}
	}
	return out
}

// lookedAt lists the node labels that can matter to the pod: its own selectors and topology keys, those of required
// anti-affinity of pods that stand, and those of volumes.
func lookedAt(w *world, pod *v1.Pod) []string {
	set := map[string]bool{cluster.Zone: len(pod.Spec.Volumes) > 0, cluster.Region: len(pod.Spec.Volumes) > 0}
	for k := range pod.Spec.NodeSelector {
		set[k] = true
	}
	for _, e := range expressions(pod) {
		set[e.Key] = true
	}
	for _, c := range pod.Spec.TopologySpreadConstraints {
		set[c.TopologyKey] = true
	}
	terms := func(p *v1.Pod, own bool) {
		if a := p.Spec.Affinity; a != nil {
			if a.PodAffinity != nil && own {
				for _, t := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
					set[t.TopologyKey] = true
				}
			}
			if a.PodAntiAffinity != nil {
				for _, t := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
					set[t.TopologyKey] = true
				}
			}
		}
	}
	terms(pod, true)
	for _, p := range w.pods {
		terms(p, false)
	}
	for _, p := range w.bound {
		terms(p, false)
	}
	for _, o := range w.others {
		if pv, ok := o.(*v1.PersistentVolume); ok && len(pod.Spec.Volumes) > 0 && pv.Spec.NodeAffinity != nil && pv.Spec.NodeAffinity.Required != nil {
			for _, t := range pv.Spec.NodeAffinity.Required.NodeSelectorTerms {
				for _, e := range t.MatchExpressions {
					set[e.Key] = true
				}
			}
		}
	}
	delete(set, cluster.Hostname)
	var out []string
	for k, on := range set {
		if on {
			out = append(out, k)
		}
	}
	sort.Strings(out)
	return out
}
