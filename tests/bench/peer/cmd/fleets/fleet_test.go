package main

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"stowage.dev/tests/bench/peer/karpenter"
)

// A move takes the nodes with their claims; of their pods those wait that come again, and they alone are counted.
func TestDo(t *testing.T) {
	pod := func(name, node, owner string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{{Kind: owner}}},
			Spec: corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	}
	over := pod("over", "a", "Job")
	over.Status.Phase = corev1.PodSucceeded
	moved, stays := pod("moved", "a", "ReplicaSet"), pod("stays", "b", "ReplicaSet")
	f := &fleet{in: &karpenter.Input{Objects: []client.Object{
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b"}},
		&v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim-a"}, Status: v1.NodeClaimStatus{NodeName: "a"}},
		moved, stays, over, pod("agent", "a", "DaemonSet"), pod("static", "a", "Node")}}}
	if err := f.do(&karpenter.PlanDisruption{Candidates: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, o := range f.in.Objects {
		left = append(left, o.GetName())
	}
	if !slices.Equal(left, []string{"b", "moved", "stays"}) {
		t.Errorf("left: %v", left)
	}
	if moved.Spec.NodeName != "" || moved.Status.Phase != corev1.PodPending || stays.Spec.NodeName != "b" || f.evicted != 1 {
		t.Errorf("moved is on %q, stays on %q, %d evicted", moved.Spec.NodeName, stays.Spec.NodeName, f.evicted)
	}
	f.bind(karpenter.PlanNode{Name: "b", Pods: []string{"/moved"}})
	if moved.Spec.NodeName != "b" || moved.Status.Phase != corev1.PodRunning {
		t.Errorf("bound to %q, %s", moved.Spec.NodeName, moved.Status.Phase)
	}
}
