package crds

import (
	"context"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
)

// `kubectl get -o yaml | kubectl apply -f -` changes nothing: what is read back is what may be written, defaults
// included. TestWithStowage says so of Stowage's webhook, too.
func TestApplyChangesNothing(t *testing.T) { applyAgain(t, dynamicClient(t)) }

func applyAgain(t *testing.T, client dynamic.Interface) {
	ctx := context.Background()
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
				t.Fatal(err)
			}
			if _, err := plane.Kubectl(ctx, text, "apply", "-f", "-"); err != nil {
				t.Fatal(err)
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
			t.Errorf("of\n%sthere is\n%s", encode(t, before.Object), encode(t, after.Object))
		}
	}
}
