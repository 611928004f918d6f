package main

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// rule is one difference that is argued for in docs/differences.md, under a heading with its name. It names the
// waiting pods, or the DaemonSets, that Stowage treats otherwise; a difference that stays without those is not
// explained by it.
type rule struct {
	name  string
	price bool // explains more or dearer nodes only, never what becomes of a pod
	waits bool // explains that pods wait for a reservation, and nothing else of a pod
	bound bool // names pods that stand, too
	cost  bool // explains what a disruption is said to cost, and nothing else
	names func(pod *corev1.Pod, all []client.Object) bool
	sets  func(set *appsv1.DaemonSet) bool
}

var listed = []rule{
	{name: "spread over all zones", names: spreadsBeyondItsSelector},
	{name: "a shared volume to be made", names: sharesVolumeToBeMade},
	{name: "a pod that contradicts itself", names: contradictsItself},
	{name: "the first of pods that want to be together", names: wantsItsKind},
	{name: "a reservation in another zone", waits: true, names: looksAtOthersInADomain},
	{name: "a zone settled with its first pod", price: true, bound: true, names: settlesAZone},
	{name: "a DaemonSet of some zones", price: true, sets: selectsByOffering},
	{name: "a pod that is over", cost: true, bound: true, names: isOver},
}

// applies says whether the rule names the object.
func (r *rule) applies(o client.Object, all []client.Object) bool {
	switch x := o.(type) {
	case *corev1.Pod:
		return r.names != nil && (x.Spec.NodeName == "" || r.bound) && r.names(x, all)
	case *appsv1.DaemonSet:
		return r.sets != nil && r.sets(x)
	}
	return false
}

// scope is what a difference is about.
type scope struct{ onlyPrice, onlyWaits, onlyCost bool }

// withoutListed returns the objects without those that some rule names, and the names of those rules;
// rules about the price, about who waits or about what a disruption costs only if the difference is of that.
func withoutListed(objects []client.Object, about scope) (rest []client.Object, names []string) {
	for _, o := range objects {
		drop := false
		for _, r := range listed {
			if (about.onlyPrice || !r.price) && (about.onlyWaits || !r.waits) && (about.onlyCost || !r.cost) && r.applies(o, objects) {
				drop = true
				if !slices.Contains(names, r.name) {
					names = append(names, r.name)
				}
			}
		}
		if !drop {
			rest = append(rest, o)
		}
	}
	return rest, names
}

// isOver: it has run, and its object is still there.
func isOver(pod *corev1.Pod, _ []client.Object) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// selectsByOffering: its pods come to a node of a type in some of the type's offerings only. Where Stowage has more
// room on a node than Karpenter, it fills nodes otherwise.
func selectsByOffering(set *appsv1.DaemonSet) bool {
	selector := set.Spec.Template.Spec.NodeSelector
	return selector[corev1.LabelTopologyZone] != "" || selector[v1.CapacityTypeLabelKey] != ""
}

// spreadsBeyondItsSelector: a hard spread that counts the domains of all nodes, though the pod may only go to some.
func spreadsBeyondItsSelector(pod *corev1.Pod, _ []client.Object) bool {
	return slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable == corev1.DoNotSchedule &&
			c.NodeAffinityPolicy != nil && *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyIgnore &&
			selectsBy(pod, c.TopologyKey)
	})
}

// selectsBy says whether the pod asks for values of a node label.
func selectsBy(pod *corev1.Pod, key string) bool {
	if _, ok := pod.Spec.NodeSelector[key]; ok {
		return true
	}
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		if slices.ContainsFunc(term.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool { return e.Key == key }) {
			return true
		}
	}
	return false
}

// contradictsItself: what the pod asks of one label, in its selector and a term of its affinity together, no value
// meets. In Karpenter's algebra that is the same as asking that the label be absent.
func contradictsItself(pod *corev1.Pod, _ []client.Object) bool {
	var terms []corev1.NodeSelectorTerm
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		if required := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
			terms = append(terms, required.NodeSelectorTerms...)
		}
		for _, preferred := range a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			terms = append(terms, preferred.Preference)
		}
	}
	// Karpenter joins the selector, one required term and one preference.
	for i := range terms {
		for j := range terms[:i+1] {
			asked := slices.Concat(terms[i].MatchExpressions, terms[j].MatchExpressions)
			absent := scheduling.NewLabelRequirements(pod.Spec.NodeSelector)
			absent.Add(scheduling.NewNodeSelectorRequirements(asked...).Values()...)
			for key, r := range absent {
				if r.Operator() == corev1.NodeSelectorOpDoesNotExist && asksForPresence(pod, asked, key) {
					return true
				}
			}
		}
	}
	return false
}

func asksForPresence(pod *corev1.Pod, asked []corev1.NodeSelectorRequirement, key string) bool {
	_, selected := pod.Spec.NodeSelector[key]
	return selected || slices.ContainsFunc(asked, func(e corev1.NodeSelectorRequirement) bool {
		return e.Key == key && e.Operator != corev1.NodeSelectorOpNotIn && e.Operator != corev1.NodeSelectorOpDoesNotExist
	})
}

// wantsItsKind: a pod that must be near pods with its own labels, and is told where by its selector.
func wantsItsKind(pod *corev1.Pod, _ []client.Object) bool {
	a := pod.Spec.Affinity
	if a == nil || a.PodAffinity == nil {
		return false
	}
	return slices.ContainsFunc(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, func(t corev1.PodAffinityTerm) bool {
		own, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
		return err == nil && own.Matches(labels.Set(pod.Labels)) && selectsBy(pod, t.TopologyKey)
	})
}

// settlesAZone: it looks at others there; or it stands and is spread, which counts for who comes.
func settlesAZone(pod *corev1.Pod, all []client.Object) bool {
	return looksAtOthersInADomain(pod, all) || pod.Spec.NodeName != "" &&
		slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool { return c.TopologyKey != corev1.LabelHostname })
}

// looksAtOthersInADomain: affinity or anti-affinity, required or preferred, over something larger than a node.
func looksAtOthersInADomain(pod *corev1.Pod, _ []client.Object) bool {
	var terms []corev1.PodAffinityTerm
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		terms = append(terms, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
		for _, preferred := range a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			terms = append(terms, preferred.PodAffinityTerm)
		}
	}
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		terms = append(terms, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
		for _, preferred := range a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			terms = append(terms, preferred.PodAffinityTerm)
		}
	}
	return slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool { return t.TopologyKey != corev1.LabelHostname })
}

// sharesVolumeToBeMade: one of several pods with a claim that has no volume yet.
func sharesVolumeToBeMade(pod *corev1.Pod, all []client.Object) bool {
	for _, name := range claimsOf(pod) {
		if users(pod.Namespace, name, all) > 1 && !bound(pod.Namespace, name, all) {
			return true
		}
	}
	return false
}

func claimsOf(pod *corev1.Pod) (names []string) {
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		}
	}
	return names
}

func users(namespace, claim string, all []client.Object) int {
	n := 0
	for _, o := range all {
		if pod, ok := o.(*corev1.Pod); ok && pod.Namespace == namespace && slices.Contains(claimsOf(pod), claim) {
			n++
		}
	}
	return n
}

func bound(namespace, claim string, all []client.Object) bool {
	return slices.ContainsFunc(all, func(o client.Object) bool {
		c, ok := o.(*corev1.PersistentVolumeClaim)
		return ok && c.Namespace == namespace && c.Name == claim && c.Spec.VolumeName != ""
	})
}
