package scenarios

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"stowage.dev/tests/e2e/process"
	"stowage.dev/tests/e2e/stowage"
)

// Node groups of provider kwok: three alike, one in each zone, and a large one. Timers are short.
const groupsConfig = `apiVersion: v1alpha1
readNodesFrom: configmap
nodegroups: {fromNodeLabelKey: group}
nodes: {skipTaint: true}
configmap: {name: kwok-provider-templates}
`

const groupTemplate = `- apiVersion: v1
  kind: Node
  metadata:
    name: of-%[1]s
    labels: {group: %[1]s, topology.kubernetes.io/zone: %[2]s, kubernetes.io/arch: amd64, kubernetes.io/os: linux}
    annotations: {cluster-autoscaler.kwok.nodegroup/min-count: '0', cluster-autoscaler.kwok.nodegroup/max-count: '%[4]d'}
  status:
    capacity: {cpu: '%[3]d', memory: 16Gi, pods: 110}
    allocatable: {cpu: '%[3]d', memory: 16Gi, pods: 110}
`

const (
	statusMap   = "cluster-autoscaler-status"
	learnedMap  = "stowage-node-group-templates"
	priorityMap = "cluster-autoscaler-priority-expander"
	hardTaint   = "ToBeDeletedByClusterAutoscaler"
)

// groupsUp begins with groups that ConfigMaps tell of, once they are there.
func groupsUp(t *testing.T, args ...string) *fleet {
	t.Helper()
	templates := "apiVersion: v1\nkind: List\nitems:\n"
	for i, zone := range zones {
		templates += fmt.Sprintf(groupTemplate, fmt.Sprintf("small-%c", 'a'+i), zone, 4, 6)
	}
	templates += fmt.Sprintf(groupTemplate, "large", zoneA, 16, 3)
	f := upWith(t, stowage.ClusterOptions{Groups: true, Stowage: stowage.Options{Args: append([]string{
		"--cloud-provider=kwok", "--scan-interval=2s",
		"--scale-down-unneeded-time=8s", "--scale-down-delay-after-add=4s", "--unremovable-node-recheck-timeout=5s",
		"--node-delete-delay-after-taint=1s", "--expander=priority",
	}, args...)}})
	for name, data := range map[string]map[string]string{
		"kwok-provider-templates": {"templates": templates},
		"kwok-provider-config":    {"config": groupsConfig},
	} {
		object := &core.ConfigMap{ObjectMeta: meta.ObjectMeta{Name: name}, Data: data}
		_, err := f.Client().CoreV1().ConfigMaps(meta.NamespaceSystem).Create(t.Context(), object, meta.CreateOptions{})
		must(t, err)
	}
	return f
}

// group tells how many nodes of a group there are.
func (f *fleet) group(ctx context.Context, name string) (int, error) {
	list, err := f.Client().CoreV1().Nodes().List(ctx, meta.ListOptions{LabelSelector: "group=" + name})
	if err != nil {
		return 0, err
	}
	return len(list.Items), nil
}

func (f *fleet) groupsAre(want map[string]int) func(context.Context) error {
	return func(ctx context.Context) error {
		for name, count := range want {
			if got, err := f.group(ctx, name); err != nil {
				return err
			} else if got != count {
				return fmt.Errorf("group %s has %d nodes, not %d", name, got, count)
			}
		}
		return nil
	}
}

func (f *fleet) prioritise(ctx context.Context, text string) error {
	maps := f.Client().CoreV1().ConfigMaps(meta.NamespaceSystem)
	object := &core.ConfigMap{ObjectMeta: meta.ObjectMeta{Name: priorityMap}, Data: map[string]string{"priorities": text}}
	if _, err := maps.Update(ctx, object, meta.UpdateOptions{}); err == nil {
		return nil
	}
	_, err := maps.Create(ctx, object, meta.CreateOptions{})
	return err
}

// groupStatus is what the status ConfigMap says.
func (f *fleet) groupStatus(ctx context.Context) (string, error) {
	object, err := f.Client().CoreV1().ConfigMaps(meta.NamespaceSystem).Get(ctx, statusMap, meta.GetOptions{})
	if err != nil {
		return "", err
	}
	return object.Data["status"], nil
}

func (f *fleet) groupStatusSays(texts ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		status, err := f.groupStatus(ctx)
		for _, text := range texts {
			if err == nil && !strings.Contains(status, text) {
				err = fmt.Errorf("no %q in:\n%s", text, status)
			}
		}
		return err
	}
}

// groupsTold is a check that there is an Event of a reason with a text.
func (f *fleet) groupsTold(reason, text string) func(context.Context) error {
	return func(ctx context.Context) error {
		list, err := f.Client().EventsV1().Events("").List(ctx, meta.ListOptions{})
		if err != nil {
			return err
		}
		for _, e := range list.Items {
			if e.Reason == reason && strings.Contains(e.Note, text) {
				return nil
			}
		}
		return fmt.Errorf("no Event %s %q", reason, text)
	}
}

// groupsMarked are the nodes with the taint of those that go.
func (f *fleet) groupsMarked(ctx context.Context) ([]string, error) {
	list, err := f.Client().CoreV1().Nodes().List(ctx, meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, n := range list.Items {
		for _, taint := range n.Spec.Taints {
			if taint.Key == hardTaint {
				names = append(names, n.Name)
			}
		}
	}
	return names, nil
}

// TestGroups has Stowage keep node groups as Cluster Autoscaler does.
func TestGroups(t *testing.T) {
	t.Parallel()
	f := groupsUp(t, "--balance-similar-node-groups", "--balancing-ignore-label=group", "--capacity-quotas-enabled")
	f.step(t, "groups grow from nothing, balanced over the zones", f.growsBalanced(""))
	f.step(t, "nodes that nobody needs go, and their pods before them", f.drainsGroups)
	f.step(t, "a budget in the way keeps a node, and nothing stays marked", f.keepsByBudget)
	f.step(t, "who starts anew while groups grow asks for no node twice", f.restartsInGrowth)
	f.step(t, "who starts anew in the middle of a removal ends it", f.restartsInRemoval)
	f.step(t, "priorities are read live", f.followsPriorities)
	f.step(t, "what nodes were is kept", f.learnsFromNodes)
	f.step(t, "a quota bounds a group until it goes", f.goesByQuota)
	f.step(t, "pods of NodePools grow no group", f.leavesToPools)
	f.step(t, "who ends takes the status away, and who comes next makes another", f.endsWithItsStatus)
}

// growsBalanced has groups of a provider that puts `prefix` before their names grow.
func (f *fleet) growsBalanced(prefix string) func(*testing.T, context.Context) {
	return func(t *testing.T, ctx context.Context) {
		must(t, f.prioritise(ctx, "10: ['large']\n50: ['small']\n"))
		must(t, f.deploy(ctx, shape{name: "web", cpu: "1500m", memory: "1Gi"}, 12))
		must(t, f.Wait(ctx, "pods to run", f.running(12, "web")))
		must(t, f.Wait(ctx, "two nodes a zone", f.groupsAre(map[string]int{"small-a": 2, "small-b": 2, "small-c": 2, "large": 0})))
		must(t, f.Wait(ctx, "the status", f.groupStatusSays("autoscalerStatus: Running\n", "- name: "+prefix+"small-a\n",
			"    cloudProviderTarget: 2\n    minSize: 0\n    maxSize: 6\n", "        total: 6\n        ready: 6\n")))
		must(t, f.Wait(ctx, "Events", f.groupsTold("TriggeredScaleUp", "pod triggered scale-up: [{"+prefix+"small-")))
		must(t, f.Wait(ctx, "Events", f.groupsTold("ScaledUpGroup", "Scale-up: group "+prefix+"small-b size set to 2 instead of 0 (max: 6)")))
	}
}

func (f *fleet) drainsGroups(t *testing.T, ctx context.Context) {
	must(t, f.scale(ctx, "web", 4))
	must(t, f.Wait(ctx, "two nodes to be left", func(ctx context.Context) error {
		list, err := f.Client().CoreV1().Nodes().List(ctx, meta.ListOptions{})
		if err == nil && len(list.Items) != 2 {
			err = fmt.Errorf("%d are", len(list.Items))
		}
		return err
	}))
	must(t, f.Wait(ctx, "pods to run", f.running(4, "web")))
	marked, err := f.groupsMarked(ctx)
	must(t, err)
	if len(marked) != 0 {
		t.Errorf("%v are marked", marked)
	}
	must(t, f.Wait(ctx, "Events", f.groupsTold("ScaleDown", "nodes removed by cluster autoscaler")))
}

func (f *fleet) keepsByBudget(t *testing.T, ctx context.Context) {
	one := intstr.FromInt32(1)
	_, err := f.Client().PolicyV1().PodDisruptionBudgets("default").Create(ctx, &policy.PodDisruptionBudget{
		ObjectMeta: meta.ObjectMeta{Name: "kept"},
		Spec:       policy.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: selects("kept")},
	}, meta.CreateOptions{})
	must(t, err)
	must(t, f.deploy(ctx, shape{name: "kept", cpu: "900m", memory: "1Gi"}, 1))
	must(t, f.Wait(ctx, "pods to run", f.running(1, "kept")))
	must(t, f.scale(ctx, "web", 0))
	must(t, f.Wait(ctx, "one node to be left", func(ctx context.Context) error {
		list, err := f.Client().CoreV1().Nodes().List(ctx, meta.ListOptions{})
		if err == nil && len(list.Items) != 1 {
			err = fmt.Errorf("%d are", len(list.Items))
		}
		return err
	}))
	must(t, f.Wait(ctx, "the pod to run on", f.running(1, "kept")))
	must(t, f.Client().PolicyV1().PodDisruptionBudgets("default").Delete(ctx, "kept", meta.DeleteOptions{}))
	must(t, f.remove(ctx, "kept"))
	must(t, f.Wait(ctx, "all nodes to go", f.groupsAre(map[string]int{"small-a": 0, "small-b": 0, "small-c": 0})))
}

// diesAndComesBack ends it without a word, and has another begin.
func (f *fleet) diesAndComesBack(t *testing.T, ctx context.Context) {
	f.Stowage.Kill()
	next, err := f.Launch(ctx, f.Options)
	must(t, err)
	f.Stowage = next
	must(t, f.Stowage.Ready(ctx))
}

// restartsInGrowth begins without nodes.
func (f *fleet) restartsInGrowth(t *testing.T, ctx context.Context) {
	must(t, f.scale(ctx, "web", 12))
	must(t, f.Wait(ctx, "a node to come", func(ctx context.Context) error {
		list, err := f.Client().CoreV1().Nodes().List(ctx, meta.ListOptions{})
		if err == nil && len(list.Items) == 0 {
			err = fmt.Errorf("none is there")
		}
		return err
	}))
	f.diesAndComesBack(t, ctx)
	must(t, f.Wait(ctx, "pods to run", f.running(12, "web")))
	must(t, f.groupsAre(map[string]int{"small-a": 2, "small-b": 2, "small-c": 2, "large": 0})(ctx))
}

func (f *fleet) restartsInRemoval(t *testing.T, ctx context.Context) {
	must(t, f.scale(ctx, "web", 2))
	var marked []string
	must(t, f.Wait(ctx, "a node to be marked", func(ctx context.Context) error {
		var err error
		if marked, err = f.groupsMarked(ctx); err == nil && len(marked) == 0 {
			err = fmt.Errorf("none is")
		}
		return err
	}))
	f.diesAndComesBack(t, ctx)
	must(t, f.Wait(ctx, "one node to be left, unmarked", func(ctx context.Context) error {
		list, err := f.Client().CoreV1().Nodes().List(ctx, meta.ListOptions{})
		if err != nil {
			return err
		}
		marked, err := f.groupsMarked(ctx)
		if err == nil && (len(list.Items) != 1 || len(marked) != 0 || list.Items[0].Spec.Unschedulable) {
			err = fmt.Errorf("%d are, of them marked %v", len(list.Items), marked)
		}
		return err
	}))
	must(t, f.Wait(ctx, "pods to run", f.running(2, "web")))
}

func (f *fleet) followsPriorities(t *testing.T, ctx context.Context) {
	must(t, f.prioritise(ctx, "10: ['small']\n50: ['large']\n"))
	must(t, f.scale(ctx, "web", 8))
	must(t, f.Wait(ctx, "pods to run", f.running(8, "web")))
	must(t, f.groupsAre(map[string]int{"large": 1})(ctx))
}

// learnsFromNodes waits until the large node has been ready for a minute, and gives it a label that its template lacks.
func (f *fleet) learnsFromNodes(t *testing.T, ctx context.Context) {
	says := func(text string) func(context.Context) error {
		return func(ctx context.Context) error {
			object, err := f.Client().CoreV1().ConfigMaps(meta.NamespaceSystem).Get(ctx, learnedMap, meta.GetOptions{})
			if err == nil && !strings.Contains(object.Data["templates"], text) {
				err = fmt.Errorf("no %q in:\n%s", text, object.Data["templates"])
			}
			return err
		}
	}
	must(t, f.Wait(ctx, "the node to be known", says(`large: {"providerTemplate":`)))
	list, err := f.Client().CoreV1().Nodes().List(ctx, meta.ListOptions{LabelSelector: "group=large"})
	must(t, err)
	_, err = f.Client().CoreV1().Nodes().Patch(ctx, list.Items[0].Name, types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"rack":"r1"}}}`), meta.PatchOptions{})
	must(t, err)
	must(t, f.Wait(ctx, "its label to be known", says(`"rack":"r1"`)))
}

// Cluster Autoscaler's definition of the kind, as far as it takes what is sent here, and a quota of one large node.
const (
	quotaDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: capacityquotas.autoscaling.x-k8s.io}
spec:
  group: autoscaling.x-k8s.io
  scope: Cluster
  names: {kind: CapacityQuota, listKind: CapacityQuotaList, plural: capacityquotas, singular: capacityquota, shortNames: [cq]}
  versions:
    - name: v1beta1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          required: [spec]
          properties:
            spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
            status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`
	oneLarge = `apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityQuota
metadata: {name: few}
spec: {selector: {matchLabels: {group: large}}, limits: {resources: {nodes: 1}}}
`
)

// missingKind is a check of whether Stowage lacks the definition of a kind that it would watch: 1, or 0.
func (f *fleet) missingKind(kind string, want float64) func(context.Context) error {
	return func(ctx context.Context) error {
		got, err := gauge(ctx, f.Stowage.Metrics, fmt.Sprintf(`stowage_kinds_missing{kind=%q}`, kind))
		if err == nil && got != want {
			err = fmt.Errorf("missing is %v", got)
		}
		return err
	}
}

// quotaSays is a check of the conditions of the quota, and of what it says is used.
func (f *fleet) quotaSays(want string) func(context.Context) error {
	return func(ctx context.Context) error {
		out, err := f.Kubectl(ctx, "", "get", "capacityquota", "few", "-o",
			`go-template=["{{range $i, $c := .status.conditions}}{{if $i}}","{{end}}{{$c.status}}{{end}}"] {"nodes":"{{.status.used.resources.nodes}}"}`)
		if got := strings.TrimSpace(out); err == nil && got != want {
			err = fmt.Errorf("it says %s", got)
		}
		return err
	}
}

func (f *fleet) goesByQuota(t *testing.T, ctx context.Context) {
	apply := func(text string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "object.yaml")
		must(t, os.WriteFile(file, []byte(text), 0o600))
		_, err := f.Kubectl(ctx, "", "apply", "--server-side", "-f", file)
		must(t, err)
	}
	must(t, f.Wait(ctx, "the kind to be missing", f.missingKind("CapacityQuota", 1)))
	apply(quotaDefinition)
	must(t, f.Wait(ctx, "the kind to be there", f.missingKind("CapacityQuota", 0)))
	apply(oneLarge)
	must(t, f.deploy(ctx, shape{name: "bounded", cpu: "9", memory: "1Gi", on: map[string]string{"group": "large"}}, 2))
	must(t, f.Wait(ctx, "Events", f.groupsTold("NotTriggerScaleUp", `exceeded quota: "CapacityQuota/few", resources: nodes`)))
	must(t, f.groupsAre(map[string]int{"large": 1})(ctx))
	must(t, f.Wait(ctx, "its status", f.quotaSays(`["True","True"] {"nodes":"1"}`)))
	_, err := f.Kubectl(ctx, "", "delete", "capacityquota", "few")
	must(t, err)
	must(t, f.Wait(ctx, "pods to run", f.running(2, "bounded")))
	must(t, f.remove(ctx, "bounded"))
}

func (f *fleet) leavesToPools(t *testing.T, ctx context.Context) {
	must(t, f.createPools(ctx, pool{name: "general", arch: "amd64", cpu: []string{"4"}}))
	before := f.sizes(t, ctx)
	must(t, f.deploy(ctx, shape{name: "pooled", cpu: "3", memory: "1Gi", on: map[string]string{poolLabel: "general"}}, 3))
	must(t, f.Wait(ctx, "pods to run", f.running(3, "pooled")))
	must(t, f.Wait(ctx, "machines", f.settled))
	for name, count := range f.sizes(t, ctx) {
		if count > before[name] {
			t.Errorf("group %s grew from %d to %d nodes", name, before[name], count)
		}
	}
}

func (f *fleet) endsWithItsStatus(t *testing.T, ctx context.Context) {
	must(t, f.Stowage.Process.Stop(process.Patience))
	if status, err := f.groupStatus(ctx); !errors.IsNotFound(err) {
		t.Errorf("it is still there: %v\n%s", err, status)
	}
	next, err := f.Launch(ctx, f.Options)
	must(t, err)
	f.Stowage = next
	must(t, f.Wait(ctx, "the status", f.groupStatusSays("autoscalerStatus: Running\n")))
}

func (f *fleet) sizes(t *testing.T, ctx context.Context) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, name := range []string{"small-a", "small-b", "small-c", "large"} {
		count, err := f.group(ctx, name)
		must(t, err)
		out[name] = count
	}
	return out
}
