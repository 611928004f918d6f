package crds

import (
	"context"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// `kubectl get -o yaml | kubectl apply -f -` changes nothing: what is read back is what may be written, defaults
// included, with a webhook that is asked and without one.
func TestApplyChangesNothing(t *testing.T) {
	ctx := context.Background()
	client := dynamicClient(t)
	try := func(when string) {
		for kind, base := range map[string]string{"nodepool": nodePoolBase, "nodeclaim": nodeClaimBase,
			"kwoknodeclass": kwokNodeClassBase, "nodeoverlay": nodeOverlayBase, "capacitybuffer": capacityBufferBase} {
			before := mustCreate(t, client, object(t, base, `metadata: {name: again, annotations: {a: b}}`))
			arguments := []string{"get", kind, "again", "-o", "yaml"}
			if before.GetNamespace() != "" {
				arguments = append(arguments, "-n", before.GetNamespace())
			}
			for range 2 {
				text, err := plane.Kubectl(ctx, "", arguments...)
				if err != nil {
					t.Fatalf("%s: %v", when, err)
				}
				if _, err := plane.Kubectl(ctx, text, "apply", "-f", "-"); err != nil {
					t.Fatalf("%s: %v", when, err)
				}
			}
			after, err := objects(client, before).Get(ctx, "again", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			annotations := after.GetAnnotations()
			delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
			if after.GetUID() != before.GetUID() || after.GetGeneration() != before.GetGeneration() ||
				!reflect.DeepEqual(after.Object["spec"], before.Object["spec"]) ||
				!reflect.DeepEqual(after.Object["status"], before.Object["status"]) ||
				!reflect.DeepEqual(annotations, before.GetAnnotations()) {
				t.Errorf("%s: of\n%sthere is\n%s", when, encode(t, before.Object), encode(t, after.Object))
			}
			if err := objects(client, before).Delete(ctx, "again", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	try("without a webhook")
	asked := register(t, ctx)
	asked()
	try("with one")
	if !asked() {
		t.Error("the webhook was not asked")
	}
}
