package crds

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"

	admission "k8s.io/api/admission/v1"
	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// What is asked of the webhook, and what never waits for it.
func TestWebhookIsNarrow(t *testing.T) {
	ctx := t.Context()
	asked := register(t, ctx)

	client := dynamicClient(t)
	ourselves := config(t)
	ourselves.Impersonate = rest.ImpersonationConfig{UserName: account}
	own, err := dynamic.NewForConfig(ourselves)
	if err != nil {
		t.Fatal(err)
	}
	pools := client.Resource(resources["NodePool"])
	patch := func(client dynamic.Interface, text string, subresources ...string) func() error {
		return func() error {
			_, err := client.Resource(resources["NodePool"]).Patch(ctx, "webhook", types.MergePatchType,
				[]byte(text), metav1.PatchOptions{}, subresources...)
			return err
		}
	}
	claims, classes := client.Resource(resources["NodeClaim"]), client.Resource(resources["KWOKNodeClass"])
	heldClaim := `metadata: {name: webhook, finalizers: [stowage.dev/test]}`
	claim := func(client dynamic.Interface, text string, subresources ...string) func() error {
		return func() error {
			_, err := client.Resource(resources["NodeClaim"]).Patch(ctx, "webhook", types.MergePatchType,
				[]byte(text), metav1.PatchOptions{}, subresources...)
			return err
		}
	}
	class := func(text string) func() error {
		return func() error {
			_, err := classes.Patch(ctx, "webhook", types.MergePatchType, []byte(text), metav1.PatchOptions{})
			return err
		}
	}
	for _, r := range []struct {
		label string
		do    func() error
		want  bool
	}{
		{"a new pool", func() error {
			_, err := create(client, object(t, nodePoolBase, `metadata: {name: webhook, finalizers: [stowage.dev/test]}`), false)
			return err
		}, true},
		{"a changed spec", patch(client, `{"spec":{"weight":7}}`), true},
		{"a first annotation", patch(client, `{"metadata":{"annotations":{"a":"b"}}}`), true},
		{"a changed one", patch(client, `{"metadata":{"annotations":{"a":"c"}}}`), true},
		{"no annotation any more", patch(client, `{"metadata":{"annotations":null}}`), true},
		{"our own annotation", patch(own, `{"metadata":{"annotations":{"a":"d"}}}`), false},
		{"a changed label of the pool itself", patch(client, `{"metadata":{"labels":{"a":"b"}}}`), false},
		{"status", patch(client, `{"status":{"nodes":1}}`, "status"), false},
		{"our own write", patch(own, `{"spec":{"weight":8}}`), false},
		{"a claim by hand", func() error { _, err := create(client, object(t, nodeClaimBase, heldClaim), false); return err }, true},
		{"its first annotation", claim(client, `{"metadata":{"annotations":{"a":"b"}}}`), true},
		{"its label", claim(client, `{"metadata":{"labels":{"a":"b"}}}`), false},
		{"its status", claim(client, `{"status":{"nodeName":"n"}}`, "status"), false},
		{"its finalizer", claim(client, `{"metadata":{"finalizers":["stowage.dev/test","stowage.dev/too"]}}`), false},
		{"our own annotation of it", claim(own, `{"metadata":{"annotations":{"a":"c"}}}`), false},
		{"its deletion", func() error { return claims.Delete(ctx, "webhook", metav1.DeleteOptions{}) }, false},
		{"an annotation while it goes", claim(client, `{"metadata":{"annotations":{"a":"d"}}}`), false},
		{"its finalizers that come off", claim(client, `{"metadata":{"finalizers":null}}`), false},
		{"a claim of ours", func() error { _, err := create(own, object(t, nodeClaimBase, ``), true); return err }, false},
		{"a node class", func() error {
			_, err := create(client, object(t, kwokNodeClassBase, `metadata: {name: webhook}`), false)
			return err
		}, true},
		{"its delay", class(`{"spec":{"nodeRegistrationDelay":"1s"}}`), true},
		{"no spec any more", class(`{"spec":null}`), true},
		{"its label too", class(`{"metadata":{"labels":{"a":"b"}}}`), false},
		{"its deletion too", func() error { return classes.Delete(ctx, "webhook", metav1.DeleteOptions{}) }, false},
		{"deletion", func() error { return pools.Delete(ctx, "webhook", metav1.DeleteOptions{}) }, true},
		{"deletion of what goes", func() error { return pools.Delete(ctx, "webhook", metav1.DeleteOptions{}) }, false},
		{"a spec that changes while it goes", patch(client, `{"spec":{"weight":9}}`), false},
		{"the finalizer that comes off", patch(client, `{"metadata":{"finalizers":null}}`), false},
	} {
		asked() // forget what came before
		if err := r.do(); err != nil {
			t.Fatalf("%s: %v", r.label, err)
		}
		if got := asked(); got != r.want {
			t.Errorf("%s: asked is %v, want %v", r.label, got, r.want)
		}
	}
}

// register applies webhooks.yaml with the address of a webhook that allows everything, waits until
// the API server calls it, and returns a function that says whether it was called since last asked.
func register(t *testing.T, ctx context.Context) func() bool {
	t.Helper()
	var mu sync.Mutex
	called := false
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admission.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
			http.Error(w, "no review", http.StatusBadRequest)
			return
		}
		review.Response = &admission.AdmissionResponse{UID: review.Request.UID, Allowed: true}
		review.Request = nil
		mu.Lock()
		called = true
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(server.Close)
	asked := func() bool {
		mu.Lock()
		defer mu.Unlock()
		was := called
		called = false
		return was
	}

	text, err := os.ReadFile(manifest("webhooks.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var configuration registration.ValidatingWebhookConfiguration
	if err := yaml.UnmarshalStrict(text, &configuration); err != nil {
		t.Fatal(err)
	}
	for i := range configuration.Webhooks {
		url := server.URL + *configuration.Webhooks[i].ClientConfig.Service.Path
		configuration.Webhooks[i].ClientConfig = registration.WebhookClientConfig{
			URL:      &url,
			CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		}
	}
	webhooks := plane.Client().AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if _, err := webhooks.Create(ctx, &configuration, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = webhooks.Delete(context.Background(), configuration.Name, metav1.DeleteOptions{}) })

	client := dynamicClient(t)
	err = plane.Wait(ctx, "the webhook to be called", func(context.Context) error {
		if _, err := create(client, object(t, nodePoolBase, ``), true); err != nil {
			return err
		}
		if !asked() {
			return errors.New("not yet")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return asked
}
