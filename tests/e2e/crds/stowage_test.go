package crds

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	registration "k8s.io/api/admissionregistration/v1"
	coordination "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/stowage"
)

// What the definitions take and upstream's validation at run time calls invalid (spec api 2, V2 to V9): of the rows those
// that Stowage refuses on top.
var denied = map[string]string{
	"pool/labels well known":                                              `labels[karpenter.kwok.sh/foo]: label "karpenter.kwok.sh/foo" is restricted`,
	"pool/label key with spaces is for the webhook":                       `labels[spaces are bad]: "spaces are bad" is not a label key`,
	"pool/the same taint in both lists is for the webhook":                `startupTaints[0]: taint "a:NoSchedule" is there twice`,
	"pool/taints/the same twice is for the webhook":                       `spec.taints[1]: taint "a:NoSchedule" is there twice`,
	"pool/startupTaints/the same twice is for the webhook":                `startupTaints[1]: taint "a:NoSchedule" is there twice`,
	"pool/label with a long prefix is for the webhook":                    `aaa/test" is not a label key`,
	"pool/label with a long name is for the webhook":                      `aaa" is not a label key`,
	"pool/key with a long prefix is for the webhook":                      `aaa/test" is not a label key`,
	"pool/key with a long name is for the webhook":                        `aaa" is not a label key`,
	"pool/taints/key with a long prefix is for the webhook":               `aaa/test" is not a taint key`,
	"pool/taints/key with a long name is for the webhook":                 `aaa" is not a taint key`,
	"pool/startupTaints/key with a long prefix is for the webhook":        `aaa/test" is not a taint key`,
	"pool/startupTaints/key with a long name is for the webhook":          `aaa" is not a taint key`,
	"pool/key capacity-type with a value nobody knows is for the webhook": `"test" is not a capacity type`,
	"overlay/key with a long prefix is for the webhook":                   `aaa/test" is not a label key`,
	"overlay/key with a long name is for the webhook":                     `aaa" is not a label key`,
	"pool/key of 316": `requirements[0].key: "aaa`,
	"pool/key kwok node class is for the webhook":                    `label "karpenter.kwok.sh/kwoknodeclass" is restricted`,
	"pool/In with a value that is no label value is for the webhook": `"abc/def" is not a label value`,
	"overlay/key of 316": `requirements[0]: "aaa`,
}

// What the kinds' definitions take, refuse and fill in is the same with Stowage's own webhook, and nothing gets past that
// one: who fails is refused.
func TestWithStowage(t *testing.T) {
	s := standBy(t)
	quiet := config(t)
	quiet.WarningHandler = rest.NoWarnings{} // of most rows there is something to be said
	client, err := dynamic.NewForConfig(quiet)
	if err != nil {
		t.Fatal(err)
	}
	// What no definition can see, so that only the webhook refuses it.
	twice := `spec: {template: {spec: {taints: [{key: a, effect: NoSchedule}], startupTaints: [{key: a, effect: NoSchedule}]}}}`
	err = plane.Wait(t.Context(), "the webhook to be asked", func(context.Context) error {
		_, err := create(client, object(t, nodePoolBase, twice), true)
		if err == nil || !strings.Contains(err.Error(), "denied the request") {
			return fmt.Errorf("the answer is %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	before := reviews(t, s)
	t.Run("create", func(t *testing.T) {
		want := tryCreate(t, client, denied)
		if asked := reviews(t, s) - before; asked != want {
			t.Errorf("%d objects are taken by their definitions, and the webhook was asked about %d", want, asked)
		}
	})
	t.Run("update", func(t *testing.T) { tryUpdate(t, client) })
	t.Run("status", func(t *testing.T) { tryStatus(t, client) })
	t.Run("defaults", func(t *testing.T) { tryDefaults(t, client) })
	t.Run("apply again", func(t *testing.T) { applyAgain(t, client) })
}

// standBy starts a Stowage that reviews all of its kinds and, as another holds its Lease, does nothing else.
func standBy(t *testing.T) *stowage.Stowage {
	t.Helper()
	ctx := t.Context()
	binary := os.Getenv("STOWAGE_BINARY")
	if binary == "" {
		t.Fatal("STOWAGE_BINARY must name the stowage program")
	}
	const namespace = "stowage-system"
	now, holder, life := metav1.NowMicro(), "somebody-else", int32(24*60*60)
	leases := plane.Client().CoordinationV1().Leases(namespace)
	lease, err := leases.Create(ctx, &coordination.Lease{ObjectMeta: metav1.ObjectMeta{Name: "stowage-leader-election"},
		Spec: coordination.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &life, AcquireTime: &now, RenewTime: &now}},
		metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = leases.Delete(context.Background(), lease.Name, metav1.DeleteOptions{}) })
	addresses, err := stowage.Reserve(plane)
	if err != nil {
		t.Fatal(err)
	}
	validating(t, addresses.Webhook, registration.Fail) // first: it looks when it starts, and then twice a minute
	s, err := stowage.Launch(ctx, plane, stowage.Options{Binary: binary, Addresses: addresses,
		Account: controlplane.ServiceAccount{Namespace: namespace, Name: "stowage"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	if err := s.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

// reviews is how many it has answered.
func reviews(t *testing.T, s *stowage.Stowage) int {
	t.Helper()
	response, err := http.Get("http://" + s.Metrics + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); strings.HasPrefix(line, "stowage_webhook_reviews_total{") {
			count, err := strconv.Atoi(fields[len(fields)-1])
			if err != nil {
				t.Fatal(err)
			}
			sum += count
		}
	}
	return sum
}
