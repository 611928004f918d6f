package manifests

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
)

const sample = `# a comment alone
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: stowage}
data: {a: b}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: stowage, namespace: stowage}
spec: {template: {spec: {serviceAccountName: pilot}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: stowage}
webhooks:
- name: pools.stowage.dev
  timeoutSeconds: 1
  clientConfig: {service: {namespace: stowage, name: stowage, path: /admission/validate, port: 443}}
---
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders: []
`

func load(t *testing.T, text string) (*Set, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return Load(dir)
}

func TestLocalReplacesAddressesOnlyAndSaysSo(t *testing.T) {
	set, err := load(t, sample)
	if err != nil {
		t.Fatal(err)
	}
	local, differences := set.Local("127.0.0.1:8443")
	want := []string{
		`Deployment stowage/stowage: left out, no kubelet runs it`,
		`ValidatingWebhookConfiguration stowage: webhooks[0].clientConfig.service: ` +
			`{"name":"stowage","namespace":"stowage","path":"/admission/validate","port":443} -> nothing`,
		`ValidatingWebhookConfiguration stowage: webhooks[0].clientConfig.url: ` +
			`nothing -> "https://127.0.0.1:8443/admission/validate"`,
	}
	if !slices.Equal(differences, want) {
		t.Errorf("differences are\n%s", strings.Join(differences, "\n"))
	}
	var kinds []string
	for _, o := range local.objects {
		kinds = append(kinds, o.String())
	}
	if got := strings.Join(kinds, ", "); got != "ConfigMap stowage/settings, ValidatingWebhookConfiguration stowage" {
		t.Errorf("objects to apply are %s", got)
	}
	if _, again := set.Local("127.0.0.1:8443"); len(again) != len(want) {
		t.Errorf("the set itself was changed: a second time the differences are %q", again)
	}
}

func TestWhatTheManifestsSay(t *testing.T) {
	set, err := load(t, sample)
	if err != nil {
		t.Fatal(err)
	}
	namespace, name, err := set.ServiceAccount()
	if err != nil || namespace != "stowage" || name != "pilot" {
		t.Errorf("service account is %s/%s, %v", namespace, name, err)
	}
	pod, err := set.Replica("one", "n")
	if err != nil || pod.Namespace != "stowage" || pod.Name != "one" || pod.Spec.NodeName != "n" ||
		pod.Spec.ServiceAccountName != "pilot" {
		t.Errorf("a replica is %v, %v", pod, err)
	}
	if text, err := set.ConfigText("settings", "a"); err != nil || text != "b" {
		t.Errorf("ConfigMap settings has %q, %v", text, err)
	}
	maps, err := Of[core.ConfigMap](set, "ConfigMap")
	if err != nil || len(maps) != 1 || maps[0].Name != "settings" || maps[0].Data["a"] != "b" {
		t.Errorf("ConfigMaps are %v, %v", maps, err)
	}
	for _, row := range [][2]string{{"settings", "c"}, {"others", "a"}} {
		if text, err := set.ConfigText(row[0], row[1]); err == nil {
			t.Errorf("ConfigMap %s has %q", row, text)
		}
	}
	path, err := set.SchedulerConfig()
	if err != nil || filepath.Base(path) != "a.yaml" {
		t.Errorf("scheduler configuration is in %q, %v", path, err)
	}
}

func TestObjectsByName(t *testing.T) {
	set, err := Parse("sample", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	named, err := set.ByName()
	if err != nil || len(named) != 4 || named["ConfigMap stowage/settings"]["data"] == nil {
		t.Errorf("objects are %v, %v", named, err)
	}
	if _, err := set.And(set).ByName(); err == nil || !strings.Contains(err.Error(), "stowage/settings is there twice") {
		t.Errorf("of each two: %v", err)
	}
}

// Each port of the Deployment is open to somebody by the policy, under the name that it has there, and none else.
func TestTheNetworkPolicyFitsTheDeployment(t *testing.T) {
	set, err := Load(Folder())
	if err != nil {
		t.Fatal(err)
	}
	policies, err := Of[networking.NetworkPolicy](set, "NetworkPolicy")
	if err != nil || len(policies) != 1 {
		t.Fatalf("network policies are %v, %v", policies, err)
	}
	deployments, err := Of[apps.Deployment](set, "Deployment")
	if err != nil || len(deployments) != 1 {
		t.Fatalf("deployments are %v, %v", deployments, err)
	}
	policy, template := policies[0], deployments[0].Spec.Template
	if !maps.Equal(policy.Spec.PodSelector.MatchLabels, deployments[0].Spec.Selector.MatchLabels) ||
		policy.Namespace != deployments[0].Namespace {
		t.Errorf("the policy is for %v in %s", policy.Spec.PodSelector, policy.Namespace)
	}
	var open, have []string
	for _, rule := range policy.Spec.Ingress {
		if len(rule.From) == 0 {
			t.Errorf("ports %v are open to all", rule.Ports)
		}
		for _, port := range rule.Ports {
			open = append(open, port.Port.String())
		}
	}
	for _, port := range template.Spec.Containers[0].Ports {
		have = append(have, port.Name)
	}
	slices.Sort(open)
	slices.Sort(have)
	if got := slices.Compact(open); !slices.Equal(got, have) {
		t.Errorf("open to somebody are %v, the program listens on %v", got, have)
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, row := range []struct{ label, text, want string }{
		{"a key twice", "apiVersion: v1\nkind: Pod\nkind: Node\n", `key "kind" already set`},
		{"no kind", "apiVersion: v1\n", "Kind"},
		{"no YAML", "a: [", "a.yaml"},
	} {
		_, err := load(t, row.text)
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %q", row.label, err, row.want)
		}
	}
}

func TestDifferences(t *testing.T) {
	type m = map[string]any
	for _, row := range []struct {
		label         string
		before, after any
		want          []string
	}{
		{"equal", m{"a": []any{int64(1)}}, m{"a": []any{int64(1)}}, nil},
		{"a value", m{"a": m{"b": int64(1)}}, m{"a": m{"b": int64(2)}}, []string{"a.b: 1 -> 2"}},
		{"a key more", m{}, m{"a": nil}, []string{"a: nothing -> null"}},
		{"a key less", m{"a": "x"}, m{}, []string{`a: "x" -> nothing`}},
		{"in a list", m{"a": []any{"x", "y"}}, m{"a": []any{"x", "z"}}, []string{`a[1]: "y" -> "z"`}},
		{"a longer list", m{"a": []any{}}, m{"a": []any{"z"}}, []string{`a: [] -> ["z"]`}},
		{"another type", m{"a": m{}}, m{"a": "z"}, []string{`a: {} -> "z"`}},
	} {
		if got := Differences(row.before, row.after); !slices.Equal(got, row.want) {
			t.Errorf("%s: got %q, want %q", row.label, got, row.want)
		}
	}
}
