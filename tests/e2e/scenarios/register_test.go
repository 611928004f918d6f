package scenarios

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	api "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/process"
	"stowage.dev/tests/e2e/stowage"
)

var webhookResource = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1",
	Resource: "validatingwebhookconfigurations"}

// With --register-webhooks in place of webhooks.yaml, Stowage says which permission it lacks under the RBAC that
// ships; with the one that manifests/README.md grants it, the configuration is there and keeps bad pools out.
func TestRegister(t *testing.T) {
	t.Parallel()
	f := upWith(t, stowage.ClusterOptions{Refused: func(r controlplane.Request) bool {
		return strings.Contains(r.URI, "/validatingwebhookconfigurations")
	}})
	webhooks := f.objects.Resource(webhookResource)
	f.step(t, "without the permission the log says so", func(t *testing.T, ctx context.Context) {
		must(t, f.Stowage.Process.Stop(process.Patience))
		must(t, webhooks.Delete(ctx, "stowage", meta.DeleteOptions{}))
		options := f.Options
		options.Name = "registers"
		options.Args = append(slices.Clone(options.Args), "--register-webhooks", "--webhook-url=https://"+f.Stowage.Webhook)
		s, err := f.Launch(ctx, options)
		must(t, err)
		must(t, s.Ready(ctx))
		must(t, f.Wait(ctx, "the log", func(context.Context) error {
			log, err := os.ReadFile(s.Log())
			if err != nil {
				return err
			}
			for _, want := range []string{"writing ValidatingWebhookConfiguration stowage: ", "cannot create resource"} {
				if !strings.Contains(string(log), want) {
					return fmt.Errorf("it does not say %q", want)
				}
			}
			return nil
		}))
		if _, err := webhooks.Get(ctx, "stowage", meta.GetOptions{}); !api.IsNotFound(err) {
			t.Errorf("the configuration: %v", err)
		}
	})
	f.step(t, "with it bad pools are kept out", func(t *testing.T, ctx context.Context) {
		must(t, f.grantRegistering(ctx))
		must(t, f.Wait(ctx, "the configuration", func(ctx context.Context) error {
			_, err := webhooks.Get(ctx, "stowage", meta.GetOptions{})
			return err
		}))
		// The definition of the kind lets it through: only the webhook looks at both lists of taints.
		must(t, f.Wait(ctx, "a bad pool to be refused", func(ctx context.Context) error {
			_, err := f.objects.Resource(poolResource).Create(ctx, pool{name: "bad", arch: "amd64", taint: "twice", starts: "twice"}.object(),
				meta.CreateOptions{DryRun: []string{meta.DryRunAll}})
			if err == nil || !strings.Contains(err.Error(), "admission webhook \""+webhookName+"\" denied the request") {
				return fmt.Errorf("the answer is %v", err)
			}
			return nil
		}))
		must(t, f.createPools(ctx, pool{name: "good", arch: "amd64"}))
	})
}

// grantRegistering does what manifests/README.md says.
func (f *fleet) grantRegistering(ctx context.Context) error {
	const name = "stowage-register-webhooks"
	for resource, object := range map[string]map[string]any{
		"clusterroles": {"rules": []any{map[string]any{"apiGroups": []any{webhookResource.Group},
			"resources": []any{webhookResource.Resource}, "verbs": []any{"create"}}}},
		"clusterrolebindings": {
			"roleRef": map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
			"subjects": []any{map[string]any{"kind": "ServiceAccount", "namespace": f.Account.Namespace,
				"name": f.Account.Name}}},
	} {
		kind := map[string]string{"clusterroles": "ClusterRole", "clusterrolebindings": "ClusterRoleBinding"}[resource]
		object["apiVersion"], object["kind"] = "rbac.authorization.k8s.io/v1", kind
		object["metadata"] = map[string]any{"name": name}
		_, err := f.objects.Resource(schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1",
			Resource: resource}).Create(ctx, &unstructured.Unstructured{Object: object}, meta.CreateOptions{})
		if err != nil {
			return err
		}
	}
	return nil
}
