package scenarios

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	helmchart "stowage.dev/tests/e2e/chart"
	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/manifests"
	"stowage.dev/tests/e2e/process"
	"stowage.dev/tests/e2e/stowage"
)

const release, releaseNamespace = "harbour", "stowage-system"

// charted is a release of manifests/chart. What helm is about to write is changed in one thing: webhooks are called by
// URL, since a Service routes nowhere on loopback.
type charted struct {
	helmchart.Helm
	namespace string
	byURL     string // a program: what helm renders → the same with URLs
}

// newCharted is for Stowage's webhook at an address, HOST:PORT.
func newCharted(c *controlplane.ControlPlane, namespace, webhook string) (*charted, error) {
	home := filepath.Join(c.Dir(), "helm")
	helm := &charted{helmchart.Helm{Home: home, Kubeconfig: c.Kubeconfig()}, namespace, filepath.Join(home, "by-url")}
	if err := os.Mkdir(helm.Home, 0o700); err != nil {
		return nil, err
	}
	// Helm sorts keys: name, namespace, path, port.
	script := "#!/bin/sh\nexec sed -E '/^ +service:$/{N;N;N;N;s|^( +)service:.*path: ([^\\n]*).*|\\1url: https://" + webhook + "\\2|}'\n"
	return helm, os.WriteFile(helm.byURL, []byte(script), 0o700)
}

// upgrade installs the release or makes it what the values say.
func (h *charted) upgrade(values string, more ...string) error {
	args := []string{"upgrade", "--install", release, helmchart.Folder(), "--namespace", h.namespace, "--create-namespace",
		"--values", "-", "--set", "kwok.enabled=true", "--post-renderer", h.byURL}
	_, err := h.Run(values, append(args, more...)...)
	return err
}

// The chart is installed by helm, and Stowage does its work under the account and permissions that come of it; upgrades
// change what values say and leave certificates alone; an uninstall leaves definitions, pools, nodes and certificates, by
// which the next installation goes on.
func TestChartInACluster(t *testing.T) {
	t.Parallel()
	var helm *charted
	f := upWith(t, stowage.ClusterOptions{
		Scheduler: patient,
		Install: func(_ context.Context, c *controlplane.ControlPlane, webhook string) (err error) {
			if helm, err = newCharted(c, releaseNamespace, webhook); err != nil {
				return err
			}
			return helm.upgrade("image: {repository: harbour/stowage}")
		},
	})
	f.step(t, "all that it has is there", func(t *testing.T, ctx context.Context) {
		text, err := helm.Run("", "get", "manifest", release, "--namespace", releaseNamespace)
		must(t, err)
		_, err = f.Kubectl(ctx, text, "get", "-f", "-")
		must(t, err)
		crds, err := helm.Run("", "show", "crds", helmchart.Folder())
		must(t, err)
		_, err = f.Kubectl(ctx, crds, "get", "-f", "-")
		must(t, err)
		notes, err := helm.Run("", "get", "notes", release, "--namespace", releaseNamespace)
		must(t, err)
		for _, want := range []string{"kube-scheduler does not ask it yet", "kubectl -n stowage-system exec deploy/stowage -- stowage check"} {
			if !strings.Contains(notes, want) {
				t.Errorf("whoever installed it is not told %q", want)
			}
		}
	})
	f.step(t, "all that it may have is right, too", func(t *testing.T, ctx context.Context) {
		must(t, f.definePrometheus(ctx))
		text, err := helm.Run(everything, "template", release, helmchart.Folder(), "--namespace", releaseNamespace,
			"--kube-version", "v1.36.0", "--values", "-", "--post-renderer", helm.byURL)
		must(t, err)
		// A dry run makes no namespace for what comes after it.
		_, err = f.Kubectl(ctx, "", "create", "namespace", stowage.SecondScheduler)
		must(t, err)
		said, err := f.Kubectl(ctx, text, "apply", "--dry-run=server", "--validate=strict", "-f", "-")
		must(t, err)
		_, err = f.Kubectl(ctx, "", "delete", "namespace", stowage.SecondScheduler, "--wait=false")
		must(t, err)
		for _, want := range []string{
			"deployment.apps/stowage-scheduler created", "role.rbac.authorization.k8s.io/stowage-groups created",
			"podmonitor.monitoring.coreos.com/stowage created", "prometheusrule.monitoring.coreos.com/stowage created",
		} {
			if !strings.Contains(said, want) {
				t.Errorf("there is no %q in %s", want, said)
			}
		}
	})
	f.step(t, "the Prometheus Operator takes what is plain, and would not take another", func(t *testing.T, ctx context.Context) {
		text, err := os.ReadFile(filepath.Join(manifests.Folder(), "prometheus", "alerts.yaml"))
		must(t, err)
		_, err = f.Kubectl(ctx, string(text), "apply", "--dry-run=server", "--validate=strict", "-f", "-")
		must(t, err)
		for _, breach := range []struct{ of, by, want string }{
			{"podMetricsEndpoints:", "podMetricEndpoints:", `unknown field "spec.podMetricEndpoints"`},
			{"for: 3m", "for: three minutes", "spec.groups[0].rules[0].for"},
		} {
			broken := strings.Replace(string(text), breach.of, breach.by, 1)
			_, err := f.Kubectl(ctx, broken, "apply", "--dry-run=server", "--validate=strict", "-f", "-")
			if broken == string(text) || err == nil || !strings.Contains(err.Error(), breach.want) {
				t.Errorf("%s: %v", breach.by, err)
			}
		}
	})
	f.step(t, "nodes are bought, pods are loaded, and bad pools are kept out", func(t *testing.T, ctx context.Context) {
		must(t, f.createPools(ctx, pool{name: "general", arch: "amd64", cpu: []string{"4"}}))
		must(t, f.deploy(ctx, shape{name: "web", cpu: "700m", memory: "1Gi"}, 8))
		must(t, f.Wait(ctx, "pods to run", f.running(8, "web")))
		must(t, f.Wait(ctx, "machines", f.settled))
		must(t, f.Wait(ctx, "a bad pool to be refused", f.keepsOut(pool{name: "bad", arch: "amd64", taint: "twice", starts: "twice"})))
		must(t, f.tryPool(ctx, oddPool))
	})
	f.step(t, "an upgrade changes what values say, and no certificates", func(t *testing.T, ctx context.Context) {
		before := f.kept(t, ctx)
		must(t, helm.upgrade("replicas: 3\nadmission: {failurePolicy: Fail, strict: true}\nfeatureGates: {PodDeletionCostManagement: true}"))
		if after := f.kept(t, ctx); after != before {
			t.Errorf("there was %s, and now is %s", before, after)
		}
		must(t, f.launchAsDeployed(ctx))
		must(t, f.Wait(ctx, "what was only warned of to be refused", f.keepsOut(oddPool)))
		must(t, f.scale(ctx, "web", 16))
		must(t, f.Wait(ctx, "pods to run", f.running(16, "web")))
		must(t, f.Wait(ctx, "machines", f.settled))
		f.Stowage.Kill()
		if err := f.tryPool(ctx, pool{name: "late", arch: "amd64"}); err == nil || !strings.Contains(err.Error(), "failed calling webhook") {
			t.Errorf("with failurePolicy Fail and nobody there: %v", err)
		}
	})
	f.step(t, "pods are kept out by the addresses that Nodes state", func(t *testing.T, ctx context.Context) {
		const name, pods = "addressed", "10.77.3.0/24"
		_, err := f.Client().CoreV1().Nodes().Create(ctx, &core.Node{
			ObjectMeta: meta.ObjectMeta{Name: name},
			Spec: core.NodeSpec{PodCIDR: pods, PodCIDRs: []string{pods},
				Taints: []core.Taint{{Key: name, Effect: core.TaintEffectNoSchedule}}},
		}, meta.CreateOptions{})
		must(t, err)
		said, err := helm.Run("", "template", release, helmchart.Folder(), "--namespace", releaseNamespace, "--dry-run=server", "--kube-version", "v1.36.0",
			"--show-only", "templates/network-policy.yaml")
		must(t, err)
		if !strings.Contains(said, "except:\n        - "+pods+"\n") {
			t.Errorf("a Node has %s for its pods, and the policy is\n%s", pods, said)
		}
		must(t, f.Client().CoreV1().Nodes().Delete(ctx, name, meta.DeleteOptions{}))
	})
	f.step(t, "an uninstall leaves definitions, pools, nodes and certificates", func(t *testing.T, ctx context.Context) {
		claims, err := f.claims(ctx)
		must(t, err)
		certificates := f.secrets(t, ctx)
		text, err := helm.Run("", "get", "manifest", release, "--namespace", releaseNamespace)
		must(t, err)
		_, err = helm.Run("", "uninstall", release, "--namespace", releaseNamespace, "--wait")
		must(t, err)
		left, err := f.Kubectl(ctx, text, "get", "-f", "-", "--ignore-not-found", "-o", "name")
		must(t, err)
		if left != "" {
			t.Errorf("of the release are left %s", left)
		}
		after, err := f.claims(ctx)
		must(t, err)
		if len(claims) == 0 || !slices.Equal(namesOf(claims), namesOf(after)) {
			t.Errorf("there were NodeClaims %v, and now are %v", namesOf(claims), namesOf(after))
		}
		must(t, f.running(16, "web")(ctx))
		if now := f.secrets(t, ctx); now != certificates {
			t.Errorf("there was %s, and now is %s", certificates, now)
		}
		must(t, f.tryPool(ctx, pool{name: "late", arch: "amd64"}))
	})
	f.step(t, "plain manifests are taken over, and the fleet as it is", func(t *testing.T, ctx context.Context) {
		claims, err := f.claims(ctx)
		must(t, err)
		certificates := f.secrets(t, ctx)
		ship, err := manifests.Load(manifests.Folder())
		must(t, err)
		local, _ := ship.Local(f.Stowage.Webhook)
		must(t, local.Apply(ctx, f.Config()))
		if err := helm.upgrade(""); err == nil || !strings.Contains(err.Error(), "invalid ownership metadata") {
			t.Errorf("without being told to take them: %v", err)
		}
		must(t, helm.upgrade("", "--take-ownership"))
		must(t, f.launchAsDeployed(ctx))
		must(t, f.scale(ctx, "web", 24))
		must(t, f.Wait(ctx, "pods to run", f.running(24, "web")))
		must(t, f.Wait(ctx, "machines", f.settled))
		after, err := f.claims(ctx)
		must(t, err)
		for _, name := range namesOf(claims) {
			if !slices.Contains(namesOf(after), name) {
				t.Errorf("NodeClaim %s is gone", name)
			}
		}
		if now := f.secrets(t, ctx); now != certificates {
			t.Errorf("there was %s, and now is %s", certificates, now)
		}
	})
}

// In a namespace of another name, which stands in permissions, certificates and the webhooks' conditions.
func TestChartInANamespace(t *testing.T) {
	t.Parallel()
	const office = "harbour-office"
	f := upWith(t, stowage.ClusterOptions{
		Nominate: true, Namespace: office,
		Install: func(_ context.Context, c *controlplane.ControlPlane, webhook string) error {
			helm, err := newCharted(c, office, webhook)
			if err != nil {
				return err
			}
			tellsWhatIsLeftToDo(t, helm)
			return helm.upgrade("placement: nominate\nshaping: {enabled: true}")
		},
	})
	f.step(t, "nodes are bought, and bad pools are kept out", func(t *testing.T, ctx context.Context) {
		must(t, f.createPools(ctx, pool{name: "general", arch: "amd64", cpu: []string{"4"}}))
		must(t, f.deploy(ctx, shape{name: "web", cpu: "1500m", memory: "1Gi"}, 6))
		must(t, f.Wait(ctx, "pods to run", f.running(6, "web")))
		must(t, f.Wait(ctx, "machines", f.settled))
		must(t, f.keepsOut(pool{name: "bad", arch: "amd64", taint: "twice", starts: "twice"})(ctx))
	})
	f.step(t, "nothing is left to find fault with", func(t *testing.T, ctx context.Context) {
		found, status, err := f.check(ctx, "--kubeconfig="+f.Kubeconfig(), "--placement=nominate",
			"--namespace="+office, "--account="+office+"/stowage")
		must(t, err)
		must(t, judged(found, status, 0))
	})
}

// tellsWhatIsLeftToDo looks at what helm says to whoever installs it so, in a cluster that has nothing of it yet.
func tellsWhatIsLeftToDo(t *testing.T, helm *charted) {
	t.Helper()
	const itself = "Give it a namespace of its own"
	for _, row := range []struct{ namespace, values, want string }{
		{"harbour", "", "kube-scheduler does not ask it yet"},
		{"harbour", "placement: second-scheduler", "Pods that say `schedulerName: stowage` are loaded to the plan."},
		{"harbour", "placement: nominate", "Pods are nominated for the nodes that are planned for them."},
		{"harbour", "admission: {failurePolicy: Fail}", "NodePools cannot be written while no replica answers"},
		{"harbour", "", "The network policy lets all pods in"},
		{"kube-system", "", itself},
		{"default", "", itself},
	} {
		said, err := helm.Run(row.values, "install", release, helmchart.Folder(), "--namespace", row.namespace, "--values", "-",
			"--dry-run=server")
		must(t, err)
		_, notes, _ := strings.Cut(said, "\nNOTES:\n")
		if !strings.Contains(notes, row.want) {
			t.Errorf("in %s with %q: there is no %q in\n%s", row.namespace, row.values, row.want, notes)
		}
		for line := range strings.Lines(notes) {
			if len(line) > 81 {
				t.Errorf("a line of %d: %s", len(line)-1, line)
			}
		}
		if row.want != itself && strings.Contains(notes, itself) {
			t.Errorf("%s is one of its own", row.namespace)
		}
	}
}

// definePrometheus makes the two kinds that the chart may have objects of as the Prometheus Operator itself defines them.
func (f *fleet) definePrometheus(ctx context.Context) error {
	crds := exec.CommandContext(ctx, filepath.Join(manifests.Folder(), "..", "tests", "prometheus-operator", "crds"))
	crds.Stderr = os.Stderr
	folder, err := crds.Output()
	if err != nil {
		return fmt.Errorf("tests/prometheus-operator/crds: %w", err)
	}
	for _, kind := range []string{"podmonitors", "prometheusrules"} {
		name := filepath.Join(strings.TrimSpace(string(folder)), "monitoring.coreos.com_"+kind+".yaml")
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		set, err := manifests.Parse(name, text)
		if err != nil {
			return err
		}
		if err := set.Apply(ctx, f.Config()); err != nil {
			return err
		}
	}
	return nil
}

// everything is all that a chart may have.
const everything = `
placement: second-scheduler
clusterAPIPools: true
nodeGroups: {provider: clusterapi}
kwok: {enabled: true}
shaping: {enabled: true}
featureGates: {PodDeletionCostManagement: true}
networkPolicy: {enabled: true, podCIDRs: [10.244.0.0/16, 'fd00:10:244::/56']}
grafana: {dashboard: true}
prometheus: {podMonitor: true, alerts: true, labels: {release: main}}
imagePullSecrets: [{name: key}]
nodeSelector: {disk: ssd}
podAnnotations: {a: b}
env: [{name: STOWAGE_LOG_LEVEL, value: debug}]
volumes: [{name: tls, secret: {secretName: tls}}]
volumeMounts: [{name: tls, mountPath: /tls}]
`

// oddPool is taken with a warning, or refused where admission is strict.
var oddPool = pool{name: "odd", arch: "amd64", limit: "-1"}

// tryPool asks whether a pool would be taken.
func (f *fleet) tryPool(ctx context.Context, p pool) error {
	_, err := f.objects.Resource(poolResource).Create(ctx, p.object(), meta.CreateOptions{DryRun: []string{meta.DryRunAll}})
	return err
}

func (f *fleet) keepsOut(p pool) func(context.Context) error {
	return func(ctx context.Context) error {
		err := f.tryPool(ctx, p)
		if err == nil || !strings.Contains(err.Error(), "admission webhook \""+webhookName+"\" denied the request") {
			return fmt.Errorf("the answer is %v", err)
		}
		return nil
	}
}

// launchAsDeployed has a Stowage go on with the flags that the Deployment's Pods have.
func (f *fleet) launchAsDeployed(ctx context.Context) error {
	if f.Stowage.Running() {
		if err := f.Stowage.Stop(process.Patience); err != nil {
			return err
		}
	}
	deployment, err := f.Client().AppsV1().Deployments(releaseNamespace).Get(ctx, "stowage", meta.GetOptions{})
	if err != nil {
		return err
	}
	options := f.Options
	options.Name = fmt.Sprintf("stowage-%d", deployment.Generation)
	options.Args = deployment.Spec.Template.Spec.Containers[0].Args[1:] // behind `serve`
	if f.Stowage, err = f.Launch(ctx, options); err != nil {
		return err
	}
	return f.Stowage.Ready(ctx)
}

// secrets tells the Secrets with certificates from others under their names, and from what was in them.
func (f *fleet) secrets(t *testing.T, ctx context.Context) string {
	t.Helper()
	var all []string
	for _, name := range []string{certSecret, stowage.ClientSecret} {
		secret, err := f.Client().CoreV1().Secrets(releaseNamespace).Get(ctx, name, meta.GetOptions{})
		must(t, err)
		all = append(all, fmt.Sprintf("Secret %s (%s, with %x)", name, secret.UID, sha256.Sum256(fmt.Append(nil, secret.Data))))
	}
	return strings.Join(all, ", ")
}

// kept is what an upgrade has to leave alone.
func (f *fleet) kept(t *testing.T, ctx context.Context) string {
	t.Helper()
	configuration, err := f.objects.Resource(webhookResource).Get(ctx, "stowage", meta.GetOptions{})
	must(t, err)
	webhooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	must(t, err)
	text := f.secrets(t, ctx)
	for _, webhook := range webhooks {
		bundle, _, err := unstructured.NestedString(webhook.(map[string]any), "clientConfig", "caBundle")
		must(t, err)
		if bundle == "" {
			t.Errorf("a webhook has no caBundle: %v", webhook)
		}
		text += ", caBundle " + bundle
	}
	return text
}

func namesOf(claims []claim) []string {
	var all []string
	for _, c := range claims {
		all = append(all, c.name)
	}
	slices.Sort(all)
	return all
}
