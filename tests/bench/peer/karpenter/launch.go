package karpenter

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// Launch makes the NodeClaim and the Node that a planned claim becomes if it is bought the cheapest way: ready, and
// there for a while, so that its pool's consolidateAfter has passed.
func (c *Catalogue) Launch(claim *PlanClaim, pool *v1.NodePool, name string, now time.Time) (*v1.NodeClaim, *corev1.Node, error) {
	var it *cloudprovider.InstanceType
	var at *cloudprovider.Offering
	best := math.MaxFloat64
	reqs := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Requirements...)
	for _, x := range c.of(pool.Name) {
		if !slices.Contains(claim.InstanceTypes, x.Name) {
			continue
		}
		for _, o := range x.Offerings.Available().Compatible(reqs) {
			if o.Launchable() && o.Price < best {
				best, it, at = o.Price, x, o
			}
		}
	}
	if it == nil {
		return nil, nil, fmt.Errorf("%s: nothing of %v can be bought", name, claim.InstanceTypes)
	}
	labels := map[string]string{}
	for _, from := range []map[string]string{settled(it.Requirements), settled(at.Requirements), settled(reqs), claim.Labels,
		{v1.NodePoolLabelKey: pool.Name, corev1.LabelInstanceTypeStable: it.Name, corev1.LabelHostname: name,
			v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true"}} {
		maps.Copy(labels, from)
	}
	then := metav1.NewTime(now.Add(-24 * time.Hour))
	meta := metav1.ObjectMeta{Name: name, Labels: labels, CreationTimestamp: then}
	node := &corev1.Node{ObjectMeta: *meta.DeepCopy(), Spec: corev1.NodeSpec{ProviderID: "kwok://" + name, Taints: claim.Taints},
		Status: corev1.NodeStatus{Capacity: it.Capacity, Allocatable: it.Allocatable(),
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: then}}}}
	nc := &v1.NodeClaim{ObjectMeta: meta, Spec: v1.NodeClaimSpec{Requirements: claim.Requirements,
		NodeClassRef: pool.Spec.Template.Spec.NodeClassRef, ExpireAfter: pool.Spec.Template.Spec.ExpireAfter, Taints: claim.Taints}}
	nc.Status = v1.NodeClaimStatus{NodeName: name, ProviderID: node.Spec.ProviderID, Capacity: it.Capacity, Allocatable: it.Allocatable()}
	for _, condition := range []string{v1.ConditionTypeLaunched, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized, v1.ConditionTypeConsolidatable} {
		nc.StatusConditions().SetTrue(condition)
	}
	for i := range nc.Status.Conditions {
		nc.Status.Conditions[i].LastTransitionTime = then
	}
	return nc, node, nil
}

// settled are the labels of which one value is left.
func settled(reqs scheduling.Requirements) map[string]string {
	labels := map[string]string{}
	for key, r := range reqs {
		if r.Operator() == corev1.NodeSelectorOpIn && r.Len() == 1 {
			labels[key] = r.Any()
		}
	}
	return labels
}
