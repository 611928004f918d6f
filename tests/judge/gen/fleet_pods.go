package gen

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"stowage.dev/tests/judge/cluster"
)

// workloads fills a part of the nodes, each a little.
func (f *fleet) workloads() {
	var open []*v1.Node
	for _, n := range f.nodes {
		if len(n.Spec.Taints) == 0 && !(f.has(empties) && f.chance(40)) {
			open = append(open, n)
		}
	}
	apps := 2 + f.IntN(2+len(f.nodes))
	for i := range apps {
		name := fmt.Sprintf("app-%d", i)
		s := spec(f.small())
		if f.often(places, 55) {
			f.look(&s, name, apps)
		}
		if f.often(choices, 20) {
			s.Tolerations = append(s.Tolerations, v1.Toleration{Key: "dedicated", Operator: v1.TolerationOpExists})
		}
		if f.chance(8) {
			s.NodeSelector = map[string]string{cluster.Zone: pick(f.G, f.zones...)}
		}
		if f.often(spots|reserved, 10) {
			s.NodeSelector = map[string]string{cluster.CapacityType: pick(f.G, "spot", "on-demand")}
		}
		if f.often(weighed, 30) {
			s.Priority = ptr(pick(f.G, int32(-1000000), 1000, 50000000, 1000000000))
		}
		w := f.work(pick(f.G, "ReplicaSet", "ReplicaSet", "ReplicaSet", "StatefulSet", ""), pick(f.G, "shop", "shop", "data"), name, s, 3)
		f.stand(w, open)
		if f.often(guards, 45) {
			f.protect(w, name)
		}
		if f.often(leaving|places, 20) {
			for j := range 1 + f.IntN(2) {
				f.pod(w, j, "")
			}
		}
	}
	if f.often(empties|guards|weighed, 40) {
		f.mirrors()
	}
}

// small is the size of a pod that leaves most of its node free.
func (f *fleet) small() v1.ResourceList {
	m := pick(f.G, int64(50), 100, 100, 250, 500, 500, 1000, 2000)
	return resources(m, m*int64(pick(f.G, 1, 2, 4)))
}

// stand binds some pods of the workload where it may go, and makes them what pods on a node are.
func (f *fleet) stand(w *workload, open []*v1.Node) {
	var fit []*v1.Node
	for _, n := range open {
		if selects(w.spec.NodeSelector, n.Labels) {
			fit = append(fit, n)
		}
	}
	apart := w.spec.Affinity != nil && w.spec.Affinity.PodAntiAffinity != nil
	for range 1 + f.IntN(5) {
		if len(fit) == 0 {
			return
		}
		at := f.IntN(len(fit))
		before := len(f.objs["pods"])
		if f.bind(w, 1, fit[at:at+1]) == 0 {
			continue
		}
		p := f.objs["pods"][before].(*v1.Pod)
		p.Name = fmt.Sprintf("%s-%d", p.Name, before)
		f.fate(p)
		if apart { // where one is, no other can have come
			fit = append(fit[:at:at], fit[at+1:]...)
		}
	}
}

// fate is what becomes of a pod on a node, beside running.
func (f *fleet) fate(p *v1.Pod) {
	annotate := func(key, value string) {
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		p.Annotations[key] = value
	}
	if f.often(guards, 12) {
		annotate("karpenter.sh/do-not-disrupt", pick(f.G, "true", "true", "true", "false", "10m", "100h", "1.5h", "-5m", "1d", "TRUE"))
		if f.chance(15) {
			p.Status.StartTime = nil
		}
	}
	if f.often(weighed, 35) {
		annotate("controller.kubernetes.io/pod-deletion-cost", f.deletionCost())
	}
	if f.often(weighed, 20) {
		annotate("karpenter.sh/disruption-cost", pick(f.G, f.deletionCost(), "1.5", "2147483648", "x", "+5", "007", "")) // nobody validates it
	}
	if f.often(empties, 25) {
		annotate("controller.kubernetes.io/pod-deletion-cost", "-2147483648")
	}
	if f.often(guards, 15) {
		p.Status.Conditions[1].Status = pick(f.G, v1.ConditionFalse, v1.ConditionFalse, v1.ConditionUnknown) // Ready
	}
	if f.often(empties|leaving|guards, 15) {
		if f.chance(60) {
			when := f.ago(-1, 3)
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &when, ptr(int64(30))
		} else {
			p.Status.Phase = pick(f.G, v1.PodSucceeded, v1.PodFailed)
		}
	}
	if f.often(guards, 4) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: "karpenter.sh/disrupted", Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule})
	}
}

func (f *fleet) deletionCost() string {
	return pick(f.G, "100", "-100", "134217728", "2147483647", "-2147483648", "-134217728")
}

// look gives a pod terms about where others are.
func (f *fleet) look(s *v1.PodSpec, name string, apps int) {
	other := pick(f.G, name, name, fmt.Sprintf("app-%d", f.IntN(apps)))
	key := pick(f.G, cluster.Hostname, cluster.Hostname, cluster.Zone)
	weighted := []v1.WeightedPodAffinityTerm{{Weight: int32(1 + f.IntN(100)), PodAffinityTerm: term(key, other)}}
	switch f.IntN(7) {
	case 0, 1:
		s.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term(cluster.Hostname, name)}}}
	case 2:
		s.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: weighted}}
	case 3:
		s.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term(key, name)}}}
	case 4:
		s.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: weighted}}
	default:
		c := spread(key, name, int32(1+f.IntN(2)))
		if f.chance(50) {
			c.WhenUnsatisfiable = v1.ScheduleAnyway
		}
		s.TopologySpreadConstraints = []v1.TopologySpreadConstraint{c}
	}
}

// protect gives the workload a PodDisruptionBudget, or two.
func (f *fleet) protect(w *workload, name string) {
	for i := range pick(f.G, 1, 1, 1, 1, 2) {
		b := &policyv1.PodDisruptionBudget{TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
			ObjectMeta: f.meta(w.ns, fmt.Sprintf("%s-%d", name, i), nil)}
		b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
		switch f.IntN(12) {
		case 0:
			b.Spec.Selector = &metav1.LabelSelector{} // everybody
		case 1:
			b.Spec.Selector = nil // nobody
		}
		b.Status.DisruptionsAllowed = int32(f.IntN(3))
		if f.chance(50) {
			limit := pick(f.G, intstr.FromInt32(0), intstr.FromInt32(1), intstr.FromString("0%"), intstr.FromString("50%"))
			b.Spec.MaxUnavailable = &limit
			if limit == intstr.FromInt32(0) || limit == intstr.FromString("0%") {
				b.Status.DisruptionsAllowed = 0
			}
		} else {
			limit := pick(f.G, intstr.FromInt32(1), intstr.FromInt32(9), intstr.FromString("100%"), intstr.FromString("50%"))
			b.Spec.MinAvailable = &limit
		}
		if f.chance(25) {
			b.Spec.UnhealthyPodEvictionPolicy = ptr(pick(f.G, policyv1.AlwaysAllow, policyv1.AlwaysAllow, policyv1.IfHealthyBudget))
		}
		f.add("workloads", b)
	}
}

// mirrors are pods that a node's kubelet runs by itself.
func (f *fleet) mirrors() {
	w := &workload{ns: "kube-system", name: "static", labels: map[string]string{"app": "static"}, spec: spec(resources(50, 64))}
	for _, n := range f.nodes {
		if !f.chance(30) {
			continue
		}
		p := f.pod(w, len(f.objs["pods"]), n.Name)
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID, Controller: ptr(true)}}
		if f.often(guards, 20) {
			p.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "true"}
		}
	}
}
