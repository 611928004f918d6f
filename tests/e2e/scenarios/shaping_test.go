package scenarios

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"stowage.dev/tests/e2e/manifests"
)

const (
	shapePool      = "stowage.dev/nodepool"
	shapeScheduler = "stowage.dev/scheduler"
	shapedBy       = "stowage.dev/shaped-by"
)

// What manifests/shaping makes of Pods, by a real API server's rules of patches and conditions: pods go to the
// machines of the pool that their namespace or they themselves name, and whatever makes the cluster is let alone.
func TestShaping(t *testing.T) {
	t.Parallel()
	f := up(t)
	var heard warnings
	config := rest.CopyConfig(f.Config())
	config.WarningHandler = &heard
	client, err := kubernetes.NewForConfig(config)
	must(t, err)
	f.step(t, "it is applied, and its caBundle comes", f.appliesShaping)
	f.step(t, "a namespace's pods keep to its pool", func(t *testing.T, ctx context.Context) { f.shapesNamespace(t, ctx, client) })
	f.step(t, "pods are shaped as they ask, and others not at all", func(t *testing.T, ctx context.Context) {
		f.shapesPods(t, ctx, client, &heard)
	})
	f.step(t, "pods are given their sides of a split while they are created", func(t *testing.T, ctx context.Context) {
		f.splitsByShape(t, ctx, client)
	})
	f.step(t, "whoever writes a NodePool is told what others make of it", func(t *testing.T, ctx context.Context) {
		f.warnsOfOthers(t, ctx, config, &heard)
	})
	f.step(t, "pods come as they are while Stowage is gone", func(t *testing.T, ctx context.Context) {
		f.Stowage.Kill()
		got, err := client.CoreV1().Pods("shop").Create(ctx, asking("late", nil), meta.CreateOptions{DryRun: []string{meta.DryRunAll}})
		must(t, err)
		if got.Spec.NodeSelector != nil {
			t.Errorf("shaped by whom? %v", got.Spec.NodeSelector)
		}
		must(t, f.Stowage.Restart())
		must(t, f.Stowage.Ready(ctx))
	})
}

// warnings are what the API server told of requests since they were looked at last.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

func (w *warnings) HandleWarningHeader(_ int, _ string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

func (w *warnings) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	texts := strings.Join(w.texts, "\n")
	w.texts = nil
	return texts
}

func (f *fleet) appliesShaping(t *testing.T, ctx context.Context) {
	ship, err := manifests.Load(filepath.Join(manifests.Folder(), "shaping"))
	must(t, err)
	local, _ := ship.Local(f.Stowage.Webhook)
	must(t, local.Apply(ctx, f.Config()))
	must(t, local.Webhooks(ctx, f.Config()))
	must(t, f.createPools(ctx, pool{name: "open", arch: "amd64", weight: 10}, pool{name: "batch", arch: "amd64", taint: "batch"}))
	must(t, f.Namespace(ctx, "shop"))
	shop, err := f.Client().CoreV1().Namespaces().Get(ctx, "shop", meta.GetOptions{})
	must(t, err)
	shop.Labels[shapePool] = "batch"
	_, err = f.Client().CoreV1().Namespaces().Update(ctx, shop, meta.UpdateOptions{})
	must(t, err)
}

// asking is a pod with those annotations.
func asking(name string, annotations map[string]string, edits ...edit) *core.Pod {
	_, template := shape{name: name, cpu: "100m", memory: "64Mi"}.template(edits...)
	template.Name, template.Annotations = name, annotations
	return &core.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
}

func toleratesBatch(pod *core.Pod) bool {
	for _, toleration := range pod.Spec.Tolerations {
		if toleration.Key == "batch" && toleration.Operator == core.TolerationOpExists && toleration.Effect == core.TaintEffectNoSchedule {
			return true
		}
	}
	return false
}

func (f *fleet) shapesNamespace(t *testing.T, ctx context.Context, client kubernetes.Interface) {
	must(t, f.Wait(ctx, "the API server and Stowage to know the namespace's label", func(ctx context.Context) error {
		got, err := client.CoreV1().Pods("shop").Create(ctx, asking("try", nil), meta.CreateOptions{DryRun: []string{meta.DryRunAll}})
		if err == nil && got.Annotations[shapedBy] != "nodepool=batch" {
			err = fmt.Errorf("it has annotations %v", got.Annotations)
		}
		return err
	}))
	for i := range 3 {
		got, err := client.CoreV1().Pods("shop").Create(ctx, asking(fmt.Sprintf("keeps-%d", i), nil), meta.CreateOptions{})
		must(t, err)
		if got.Spec.NodeSelector[poolLabel] != "batch" || !toleratesBatch(got) {
			t.Errorf("%s: node selector %v, tolerations %v", got.Name, got.Spec.NodeSelector, got.Spec.Tolerations)
		}
	}
	must(t, f.Wait(ctx, "its pods to run on machines of its pool", func(ctx context.Context) error {
		pods, err := client.CoreV1().Pods("shop").List(ctx, meta.ListOptions{})
		if err != nil {
			return err
		}
		for _, pod := range pods.Items {
			if pod.Status.Phase != core.PodRunning {
				return fmt.Errorf("%s is %s", pod.Name, pod.Status.Phase)
			}
			node, err := client.CoreV1().Nodes().Get(ctx, pod.Spec.NodeName, meta.GetOptions{})
			if err != nil {
				return err
			}
			if node.Labels[poolLabel] != "batch" {
				return fmt.Errorf("%s is on a machine of %q", pod.Name, node.Labels[poolLabel])
			}
		}
		return nil
	}))
	must(t, client.CoreV1().Pods("shop").DeleteCollection(ctx, meta.DeleteOptions{}, meta.ListOptions{}))
}

func (f *fleet) shapesPods(t *testing.T, ctx context.Context, client kubernetes.Interface, heard *warnings) {
	wants := map[string]string{shapePool: "batch"}
	selects := func(name string) edit {
		return func(s *core.PodSpec) { s.NodeSelector = map[string]string{poolLabel: name} }
	}
	beside := func(s *core.PodSpec) {
		s.NodeSelector = map[string]string{core.LabelArchStable: "amd64"}
		s.Tolerations = []core.Toleration{{Key: "other", Operator: core.TolerationOpExists}}
	}
	for _, row := range []struct {
		label, namespace string
		pod              *core.Pod
		pool, by, warns  string // the selector of the pool, the annotation; "": none
		scheduler        string // "": the default
	}{
		{label: "by itself", namespace: "default", pod: asking("a", wants), pool: "batch", by: "nodepool=batch"},
		{label: "beside what it says", namespace: "default", pod: asking("a", wants, beside), pool: "batch", by: "nodepool=batch"},
		{label: "beside what it says, by its namespace", namespace: "shop", pod: asking("a", map[string]string{"b": "c"}, beside),
			pool: "batch", by: "nodepool=batch"},
		{label: "another than its namespace's", namespace: "shop", pod: asking("a", map[string]string{shapePool: "open"}),
			pool: "open", by: "nodepool=open"},
		{label: "its own selector", namespace: "shop", pod: asking("a", nil, selects("open")), pool: "open"},
		{label: "a scheduler", namespace: "default", pod: asking("a", map[string]string{shapeScheduler: "second"}),
			by: "scheduler=second", scheduler: "second"},
		{label: "both", namespace: "shop", pod: asking("a", map[string]string{shapeScheduler: "second"}), pool: "batch",
			by: "nodepool=batch, scheduler=second", scheduler: "second"},
		{label: "its own scheduler", namespace: "default",
			pod:       asking("a", map[string]string{shapeScheduler: "second"}, func(s *core.PodSpec) { s.SchedulerName = "mine" }),
			scheduler: "mine"},
		{label: "a misspelt pool", namespace: "default", pod: asking("a", map[string]string{shapePool: "bacth"}),
			warns: `Pod a: metadata.annotations[stowage.dev/nodepool]: there is no NodePool "bacth", did you mean batch?; it is admitted without that`},
		{label: "a wrong split", namespace: "default", pod: asking("a", map[string]string{"stowage.dev/spot-percent": "half"}),
			warns: `Pod a: metadata.annotations: Pod default/a is not split between spot and on-demand: its pods' annotation ` +
				`stowage.dev/spot-percent is "half". Fix: write a whole number from 0 to 100, without a sign; it is admitted without that`},
		{label: "who asks for nothing", namespace: "default", pod: asking("a", nil)},
		{label: "the control plane's", namespace: "kube-system", pod: asking("a", wants)},
		{label: "our own", namespace: "stowage-system", pod: asking("a", wants, secured)},
		{label: "a network agent", namespace: "shop", pod: asking("a", nil, func(s *core.PodSpec) { s.HostNetwork = true })},
		{label: "a storage agent", namespace: "shop",
			pod: asking("a", nil, func(s *core.PodSpec) { s.PriorityClassName = "system-cluster-critical" })},
		{label: "one that was bound by hand", namespace: "shop", pod: asking("a", nil, func(s *core.PodSpec) { s.NodeName = "n" })},
	} {
		heard.take()
		got, err := client.CoreV1().Pods(row.namespace).Create(ctx, row.pod, meta.CreateOptions{DryRun: []string{meta.DryRunAll}})
		if err != nil {
			t.Errorf("%s: %v", row.label, err)
			continue
		}
		scheduler := "default-scheduler"
		if row.scheduler != "" {
			scheduler = row.scheduler
		}
		if got.Spec.NodeSelector[poolLabel] != row.pool || got.Annotations[shapedBy] != row.by || got.Spec.SchedulerName != scheduler ||
			toleratesBatch(got) != (row.pool == "batch") {
			t.Errorf("%s: node selector %v, tolerations %v, scheduler %s, annotations %v", row.label, got.Spec.NodeSelector,
				got.Spec.Tolerations, got.Spec.SchedulerName, got.Annotations)
		}
		if said := heard.take(); said != row.warns {
			t.Errorf("%s: the API server warns %q", row.label, said)
		}
	}
	must(t, f.keepsDaemons(ctx))
}

// splitsByShape has pods that no scheduler ever sees: what they are given is the webhook's doing alone. With one replica
// the sums are the formula's, give or take one.
func (f *fleet) splitsByShape(t *testing.T, ctx context.Context, client kubernetes.Interface) {
	s := split{shape{name: "sides", cpu: "100m", memory: "64Mi"}, 2, 50}
	given := func(pods int) func(context.Context) error {
		return func(ctx context.Context) error {
			list, err := client.CoreV1().Pods("default").List(ctx, meta.ListOptions{LabelSelector: "app=" + s.name})
			if err != nil {
				return err
			}
			spot, others := 0, 0
			for _, pod := range list.Items {
				switch by := pod.Annotations[shapedBy]; {
				case strings.HasPrefix(by, "split=spot, review=") && keepsTo(&pod, core.NodeSelectorOpIn):
					spot++
				case strings.HasPrefix(by, "split=on-demand, review=") && keepsTo(&pod, core.NodeSelectorOpNotIn):
					others++
				default:
					return fmt.Errorf("%s: annotations %v, affinity %v", pod.Name, pod.Annotations, pod.Spec.Affinity)
				}
			}
			if spot+others != pods || max(spot-s.wanted(pods), s.wanted(pods)-spot) > 1 {
				return fmt.Errorf("%d pods are for spot and %d are not, %d of %d are to be", spot, others, s.wanted(pods), pods)
			}
			return nil
		}
	}
	must(t, f.deploySplit(ctx, s, 20, func(p *core.PodSpec) { p.SchedulerName = "nobody" }))
	must(t, f.Wait(ctx, "twenty pods with their sides", given(20)))
	must(t, client.CoreV1().Pods("default").DeleteCollection(ctx, meta.DeleteOptions{}, meta.ListOptions{LabelSelector: "app=" + s.name, Limit: 7}))
	must(t, f.scale(ctx, s.name, 30))
	must(t, f.Wait(ctx, "thirty", given(30)))
	must(t, client.AppsV1().Deployments("default").Delete(ctx, s.name, meta.DeleteOptions{}))
}

func keepsTo(pod *core.Pod, op core.NodeSelectorOperator) bool {
	affinity := pod.Spec.Affinity
	if affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, e := range term.MatchExpressions {
			if e.Key == capacityKey && e.Operator == op && len(e.Values) == 1 && e.Values[0] == "spot" {
				return true
			}
		}
	}
	return false
}

// warnsOfOthers has NodePools of which types, pools and pods make little, and deletes one with machines.
func (f *fleet) warnsOfOthers(t *testing.T, ctx context.Context, config *rest.Config, heard *warnings) {
	client, err := dynamic.NewForConfig(config)
	must(t, err)
	pools := client.Resource(poolResource)
	for _, row := range []struct {
		label, warns string
		pool         pool
	}{
		{"a good one", "", pool{name: "new", arch: "arm64", weight: 3}},
		{"no such type", "NodePool new: spec.template.spec.requirements[1]: no instance type has kubernetes.io/arch In [amd46]",
			pool{name: "new", arch: "amd46", weight: 3}},
		{"two of a weight", "NodePool new: spec.weight: 10 is the weight of NodePool open, too", pool{name: "new", arch: "amd64", weight: 10}},
		{"a taint", "NodePool new: spec.template.spec.taints: no pod tolerates lonely:NoSchedule",
			pool{name: "new", arch: "arm64", weight: 3, taint: "lonely"}},
	} {
		heard.take()
		_, err := pools.Create(ctx, row.pool.object(), meta.CreateOptions{DryRun: []string{meta.DryRunAll}})
		must(t, err)
		if said := heard.take(); !strings.HasPrefix(said, row.warns) || (row.warns == "") != (said == "") {
			t.Errorf("%s: the API server warns %q", row.label, said)
		}
	}
	heard.take()
	claim := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": map[string]any{"name": "by-hand"},
		"spec": map[string]any{"requirements": []any{},
			"nodeClassRef": map[string]any{"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "nowhere-to-be-found"}}}}
	_, err = client.Resource(claimResource).Create(ctx, claim, meta.CreateOptions{DryRun: []string{meta.DryRunAll}})
	must(t, err)
	const lost = "NodeClaim by-hand: spec.nodeClassRef: there is no KWOKNodeClass nowhere-to-be-found: no node comes of the claim. Fix: create it first"
	if said := heard.take(); said != lost {
		t.Errorf("a claim of no node class: the API server warns %q", said)
	}
	must(t, f.deploy(ctx, shape{name: "stays", cpu: "100m", memory: "64Mi", on: map[string]string{poolLabel: "open"}}, 1))
	must(t, f.Wait(ctx, "a pod to run", f.running(1, "stays")))
	must(t, f.Wait(ctx, "Stowage to know where", func(ctx context.Context) error {
		heard.take()
		err := pools.Delete(ctx, "open", meta.DeleteOptions{DryRun: []string{meta.DryRunAll}})
		const want = "NodePool open: its 1 node goes with it, and the 1 pod there is evicted"
		if said := heard.take(); err == nil && said != want {
			err = fmt.Errorf("the API server warns %q", said)
		}
		return err
	}))
}

// secured is what our own namespace's Pod Security asks for.
func secured(s *core.PodSpec) {
	yes, no := true, false
	s.SecurityContext = &core.PodSecurityContext{RunAsNonRoot: &yes,
		SeccompProfile: &core.SeccompProfile{Type: core.SeccompProfileTypeRuntimeDefault}}
	s.Containers[0].SecurityContext = &core.SecurityContext{AllowPrivilegeEscalation: &no,
		Capabilities: &core.Capabilities{Drop: []core.Capability{"ALL"}}}
}

// keepsDaemons is a check that pods of a DaemonSet are as their controller made them, in a shaped namespace, too.
func (f *fleet) keepsDaemons(ctx context.Context) error {
	of := asking("agent", nil)
	of.Namespace, of.OwnerReferences = "shop", []meta.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent", UID: "u"}}
	got, err := f.Client().CoreV1().Pods("shop").Create(ctx, of, meta.CreateOptions{DryRun: []string{meta.DryRunAll}})
	if err == nil && got.Spec.NodeSelector != nil {
		err = fmt.Errorf("a DaemonSet's pod has node selector %v", got.Spec.NodeSelector)
	}
	return err
}
