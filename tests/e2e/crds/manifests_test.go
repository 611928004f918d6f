package crds

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	registration "k8s.io/api/admissionregistration/v1"
	authorization "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const account = "system:serviceaccount:stowage-system:stowage"

// The API server takes what the other tests do not apply. Not for good: calls to a webhook that no
// Service routes to would cost each NodePool of the other tests its timeout.
func TestManifestsAreValid(t *testing.T) {
	ctx := context.Background()
	// A dry run makes no namespace for what comes after it in the file.
	if _, err := plane.Kubectl(ctx, "", "create", "namespace", "stowage-scheduler"); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = plane.Kubectl(ctx, "", "delete", "namespace", "stowage-scheduler", "--wait=false") }()
	for _, name := range []string{"deployment.yaml", "webhooks.yaml", "second-scheduler/scheduler.yaml",
		"pod-deletion-cost/rbac.yaml", "kwok/rbac.yaml", "shaping/rbac.yaml", "shaping/webhooks.yaml", "network-policy.yaml"} {
		if _, err := plane.Kubectl(ctx, "",
			"apply", "--server-side", "--force-conflicts", "--validate=strict", "--dry-run=server", "-f", manifest(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Stowage that is dead or slow holds up nobody, and the namespaces of what makes the cluster are never asked about.
func TestWebhooksFailOpen(t *testing.T) {
	var mutating registration.MutatingWebhookConfiguration
	read(t, "shaping/webhooks.yaml", &mutating)
	for _, w := range mutating.Webhooks {
		if *w.FailurePolicy != registration.Ignore || *w.TimeoutSeconds != 1 {
			t.Errorf("%s: failurePolicy %s, timeoutSeconds %d", w.Name, *w.FailurePolicy, *w.TimeoutSeconds)
		}
		selector, err := metav1.LabelSelectorAsSelector(w.NamespaceSelector)
		if err != nil {
			t.Fatal(err)
		}
		for _, namespace := range []string{"kube-system", "kube-public", "kube-node-lease", "stowage-system", "shop"} {
			for _, set := range []labels.Set{{}, {"stowage.dev/nodepool": "batch"}} {
				set["kubernetes.io/metadata.name"] = namespace
				own := set["stowage.dev/nodepool"] != "" == (w.Name == "namespaces.webhook.stowage.dev")
				if got := selector.Matches(set); got != (own && namespace == "shop") {
					t.Errorf("%s: namespace %s with labels %v: asked is %v", w.Name, namespace, set, got)
				}
			}
		}
	}
	var validating registration.ValidatingWebhookConfiguration
	read(t, "webhooks.yaml", &validating)
	for _, w := range validating.Webhooks {
		if *w.FailurePolicy != registration.Ignore || *w.TimeoutSeconds != 1 {
			t.Errorf("%s: failurePolicy %s, timeoutSeconds %d", w.Name, *w.FailurePolicy, *w.TimeoutSeconds)
		}
	}
	if len(mutating.Webhooks) != 2 || len(validating.Webhooks) != 4 {
		t.Errorf("there are %d and %d webhooks", len(mutating.Webhooks), len(validating.Webhooks))
	}
}

// With the permission to patch its webhook configurations the service account changes caBundle, and nothing else.
func TestPolicyKeepsToTheBundle(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"admission-policy.yaml", "shaping/rbac.yaml", "webhooks.yaml", "shaping/webhooks.yaml"} {
		if _, err := plane.Kubectl(ctx, "", "apply", "--server-side", "--validate=strict", "-f", manifest(name)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		defer func() { _, _ = plane.Kubectl(ctx, "", "delete", "--ignore-not-found", "-f", manifest(name)) }()
	}
	c := config(t)
	c.Impersonate = rest.ImpersonationConfig{UserName: account}
	client, err := kubernetes.NewForConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	validating := func(patch string) error {
		_, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().
			Patch(ctx, "stowage", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	}
	mutating := func(patch string) error {
		_, err := client.AdmissionregistrationV1().MutatingWebhookConfigurations().
			Patch(ctx, "stowage-shaping", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	}
	const pools, namespaces = "nodepools.webhook.stowage.dev", "namespaces.webhook.stowage.dev"
	one := func(name, rest string) string { return `{"webhooks":[{"name":"` + name + `",` + rest + `}]}` }
	kept := func(err error) bool { return err != nil && strings.Contains(err.Error(), "stowage-webhooks") }
	// The API server hears of a new policy after a moment.
	if err := plane.Wait(ctx, "the policy", func(context.Context) error {
		if err := validating(`{"metadata":{"labels":{"a":"b"}}}`); !kept(err) {
			return fmt.Errorf("a label: %v", err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	bundle := `"clientConfig":{"caBundle":"` + base64.StdEncoding.EncodeToString(c.CAData) + `"}`
	for _, row := range []struct {
		label, patch string
		write        func(string) error
	}{
		{"an URL", one(pools, `"clientConfig":{"url":"https://example.com/a","service":null}`), validating},
		{"another Service", one(pools, `"clientConfig":{"service":{"name":"other","namespace":"default"}}`), validating},
		{"closed when it is down", one(pools, `"failurePolicy":"Fail"`), validating},
		{"all namespaces", one(namespaces, `"namespaceSelector":null`), mutating},
		{"all Pods", one(namespaces, `"matchConditions":[{"name":"not-critical","$patch":"delete"}]`), mutating},
		{"more objects", one(namespaces, `"rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["secrets"],"operations":["CREATE"]}]`),
			mutating},
		{"one more", one("more.webhook.stowage.dev", `"clientConfig":{"url":"https://example.com/a"},"sideEffects":"None","admissionReviewVersions":["v1"]`),
			mutating},
		{"one less", `{"webhooks":[{"name":"` + namespaces + `","$patch":"delete"}]}`, mutating},
		{"a reinvocation", one(namespaces, `"reinvocationPolicy":"IfNeeded"`), mutating},
	} {
		if err := row.write(row.patch); !kept(err) {
			t.Errorf("%s: %v", row.label, err)
		}
	}
	for label, err := range map[string]error{"validating": validating(one(pools, bundle)), "mutating": mutating(one(namespaces, bundle))} {
		if err != nil {
			t.Errorf("caBundle, %s: %v", label, err)
		}
	}
}

// What the service account may do where a slip would be dear, and what it may not.
func TestPermissions(t *testing.T) {
	type attributes = authorization.ResourceAttributes
	const own = "stowage-system"
	for _, r := range []struct {
		label string
		ask   attributes
		want  bool
	}{
		{"evicts pods", attributes{Verb: "create", Resource: "pods", Subresource: "eviction", Namespace: "a"}, true},
		{"deletes pods", attributes{Verb: "delete", Resource: "pods", Namespace: "a"}, true},
		{"never creates pods", attributes{Verb: "create", Resource: "pods", Namespace: "a"}, false},
		{"labels its own pod", attributes{Verb: "patch", Resource: "pods", Namespace: own}, true},
		{"changes no other pod", attributes{Verb: "patch", Resource: "pods", Namespace: "a"}, false},
		{"binds nothing", attributes{Verb: "create", Resource: "pods", Subresource: "binding", Namespace: "a"}, false},
		{"makes no nodes", attributes{Verb: "create", Resource: "nodes"}, false},
		{"leaves node status to kubelets", attributes{Verb: "patch", Resource: "nodes", Subresource: "status"}, false},
		{"makes claims", attributes{Verb: "create", Group: "karpenter.sh", Resource: "nodeclaims"}, true},
		{"writes claim status", attributes{Verb: "patch", Group: "karpenter.sh", Resource: "nodeclaims", Subresource: "status"}, true},
		{"never makes pools", attributes{Verb: "create", Group: "karpenter.sh", Resource: "nodepools"}, false},
		{"never deletes pools", attributes{Verb: "delete", Group: "karpenter.sh", Resource: "nodepools"}, false},
		{"blocks the owner's deletion", attributes{Verb: "update", Group: "karpenter.sh", Resource: "nodepools", Subresource: "finalizers"}, true},
		{"writes overlay status", attributes{Verb: "patch", Group: "karpenter.sh", Resource: "nodeoverlays", Subresource: "status"}, true},
		{"changes no overlay", attributes{Verb: "patch", Group: "karpenter.sh", Resource: "nodeoverlays"}, false},
		{"watches buffers", attributes{Verb: "watch", Group: "autoscaling.x-k8s.io", Resource: "capacitybuffers"}, true},
		{"writes buffer status", attributes{Verb: "patch", Group: "autoscaling.x-k8s.io", Resource: "capacitybuffers", Subresource: "status", Namespace: "a"}, true},
		{"changes no buffer", attributes{Verb: "patch", Group: "autoscaling.x-k8s.io", Resource: "capacitybuffers", Namespace: "a"}, false},
		{"watches templates", attributes{Verb: "watch", Resource: "podtemplates"}, true},
		{"watches deployments", attributes{Verb: "watch", Group: "apps", Resource: "deployments"}, true},
		{"changes no deployment", attributes{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "a"}, false},
		{"writes events", attributes{Verb: "create", Group: "events.k8s.io", Resource: "events", Namespace: "a"}, true},
		{"reads its certificates", attributes{Verb: "get", Resource: "secrets", Namespace: own, Name: "stowage-certs"}, true},
		{"writes the scheduler's", attributes{Verb: "patch", Resource: "secrets", Namespace: own, Name: "stowage-scheduler-client"}, true},
		{"reads no other secret", attributes{Verb: "get", Resource: "secrets", Namespace: own, Name: "other"}, false},
		{"lists no secrets", attributes{Verb: "list", Resource: "secrets", Namespace: own}, false},
		{"reads no secret elsewhere", attributes{Verb: "get", Resource: "secrets", Namespace: "kube-system", Name: "stowage-certs"}, false},
		{"makes no secret elsewhere", attributes{Verb: "create", Resource: "secrets", Namespace: "kube-system"}, false},
		{"holds its lease", attributes{Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: own, Name: "stowage-leader-election"}, true},
		{"takes no other lease", attributes{Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: own, Name: "karpenter-leader-election"}, false},
		{"takes no lease elsewhere", attributes{Verb: "create", Group: "coordination.k8s.io", Resource: "leases", Namespace: "kube-system"}, false},
		{"fills in its webhook", attributes{Verb: "patch", Group: "admissionregistration.k8s.io", Resource: "validatingwebhookconfigurations", Name: "stowage"}, true},
		{"sees whether shaping is there", attributes{Verb: "get", Group: "admissionregistration.k8s.io", Resource: "mutatingwebhookconfigurations", Name: "stowage-shaping"}, true},
		{"changes nothing of shaping", attributes{Verb: "patch", Group: "admissionregistration.k8s.io", Resource: "mutatingwebhookconfigurations", Name: "stowage-shaping"}, false},
		{"makes no webhook of Pods", attributes{Verb: "create", Group: "admissionregistration.k8s.io", Resource: "mutatingwebhookconfigurations"}, false},
		{"touches no other webhook", attributes{Verb: "patch", Group: "admissionregistration.k8s.io", Resource: "validatingwebhookconfigurations", Name: "other"}, false},
	} {
		review := &authorization.SubjectAccessReview{
			Spec: authorization.SubjectAccessReviewSpec{User: account, ResourceAttributes: &r.ask},
		}
		got, err := plane.Client().AuthorizationV1().SubjectAccessReviews().
			Create(context.Background(), review, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Status.Allowed != r.want {
			t.Errorf("%s: allowed is %v, want %v", r.label, got.Status.Allowed, r.want)
		}
	}
}

// Other autoscalers' Leases: seen in every namespace by name, and nothing besides.
func TestLeasesOfOthers(t *testing.T) {
	c := config(t)
	c.Impersonate = rest.ImpersonationConfig{UserName: account}
	client, err := kubernetes.NewForConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	list := func(selector string) error {
		_, err := client.CoordinationV1().Leases("").List(context.Background(), metav1.ListOptions{FieldSelector: selector})
		return err
	}
	for _, name := range []string{"karpenter-leader-election", "cluster-autoscaler"} {
		if err := list("metadata.name=" + name); err != nil {
			t.Errorf("list of %s in all namespaces: %v", name, err)
		}
	}
	for _, selector := range []string{"", "metadata.name=kube-scheduler"} {
		if err := list(selector); !errors.IsForbidden(err) {
			t.Errorf("list with selector %q: %v; want it forbidden", selector, err)
		}
	}
}
