package karpenter

import (
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// What is written is read as it was: a pool without budgets has none, not the ones of a pool that says nothing.
func TestWriteList(t *testing.T) {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: v1.NodePoolSpec{Template: v1.NodeClaimTemplate{
		Spec: v1.NodeClaimTemplateSpec{NodeClassRef: &v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"},
			ExpireAfter: v1.MustParseNillableDuration("720h")}}}}
	file, in := filepath.Join(t.TempDir(), "list.json"), &Input{}
	if err := WriteList(file, []client.Object{pool}); err != nil {
		t.Fatal(err)
	}
	if err := in.Read(file); err != nil {
		t.Fatal(err)
	}
	if got := in.Objects[0].(*v1.NodePool); got.Name != "p" || got.Spec.Disruption.Budgets == nil || got.Spec.Template.Spec.ExpireAfter.Duration.Hours() != 720 {
		t.Errorf("%s with budgets %v, expires after %v", got.Name, got.Spec.Disruption.Budgets, got.Spec.Template.Spec.ExpireAfter)
	}
}
