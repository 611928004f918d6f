package scenarios

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"stowage.dev/tests/e2e/manifests"
)

var (
	overlayResource = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1alpha1", Resource: "nodeoverlays"}
	bufferResource  = schema.GroupVersionResource{Group: "autoscaling.x-k8s.io", Version: "v1beta1", Resource: "capacitybuffers"}
)

// What stands behind settings: kinds that a cluster may lack, room that is kept free, other prices, and the
// workloads that default spread constraints are about, which nobody watches otherwise.
func TestGates(t *testing.T) {
	t.Parallel()
	f := up(t, "--feature-gates=NodeOverlay=true,CapacityBuffer=true,PodDeletionCostManagement=true",
		`--scheduler-config={"podTopologySpread":{"defaultConstraints":[{"maxSkew":5,`+
			`"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"ScheduleAnyway"}]}}`)
	f.step(t, "without the definitions Stowage goes on", f.lacksKinds)
	f.step(t, "the definitions come", f.getsKinds)
	f.step(t, "room is kept free, and taken", f.keepsRoom)
	f.step(t, "NodeOverlays say whether they count", f.overlays)
	f.step(t, "pods say which of them go first", f.ranksPods)
}

func definitions(kind string) string {
	return filepath.Join(manifests.Folder(), "crds", kind+".yaml")
}

// missing is a check that Stowage says of both kinds whether the cluster lacks them.
func (f *fleet) missing(want float64) func(context.Context) error {
	return func(ctx context.Context) error {
		var wrong []error
		for _, kind := range []string{"NodeOverlay", "CapacityBuffer"} {
			got, err := gauge(ctx, f.Stowage.Metrics, `stowage_kinds_missing{kind="`+kind+`"}`)
			if err == nil && got != want {
				err = fmt.Errorf("%s: missing is %v", kind, got)
			}
			wrong = append(wrong, err)
		}
		return errors.Join(wrong...)
	}
}

func (f *fleet) lacksKinds(t *testing.T, ctx context.Context) {
	_, err := f.Kubectl(ctx, "", "apply", "-f", filepath.Join(manifests.Folder(), "pod-deletion-cost"))
	must(t, err)
	f.Stowage.Kill()
	must(t, f.Client().CoordinationV1().Leases(f.Account.Namespace).Delete(ctx, "stowage-leader-election", meta.DeleteOptions{}))
	_, err = f.Kubectl(ctx, "", "delete", "-f", definitions("nodeoverlays"), "-f", definitions("capacitybuffers"))
	must(t, err)
	must(t, f.Stowage.Restart())
	must(t, f.Stowage.Ready(ctx))
	must(t, f.Wait(ctx, "what is missing", f.missing(1)))
	must(t, f.createPools(ctx, pool{name: "four", arch: "amd64", cpu: []string{"4"}}))
	must(t, f.deploy(ctx, shape{name: "early", cpu: "1", memory: "1Gi"}, 2))
	must(t, f.Wait(ctx, "pods to run", f.running(2, "early")))
	f.clear(t, ctx, "early")
}

func (f *fleet) getsKinds(t *testing.T, ctx context.Context) {
	_, err := f.Kubectl(ctx, "", "apply", "--server-side", "-f", definitions("nodeoverlays"), "-f", definitions("capacitybuffers"))
	must(t, err)
	must(t, f.Wait(ctx, "nothing to be missing", f.missing(0)))
}

func object(apiVersion, kind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "spec": spec}}
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// conditionIs is a check of one condition of an object: its status and reason.
func (f *fleet) conditionIs(gvr schema.GroupVersionResource, namespace, name, condition, want string) func(context.Context) error {
	return func(ctx context.Context) error {
		got, err := f.objects.Resource(gvr).Namespace(namespace).Get(ctx, name, meta.GetOptions{})
		if err != nil {
			return err
		}
		c := conditionOf(got, condition)
		if says := fmt.Sprint(c["status"], " ", c["reason"]); says != want {
			return fmt.Errorf("%s %s is %s: %v", name, condition, says, c["message"])
		}
		return nil
	}
}

// A machine of 4 CPUs holds three of the pods.
func (f *fleet) keepsRoom(t *testing.T, ctx context.Context) {
	each := shape{name: "web", cpu: "1200m", memory: "1Gi"}
	_, template := each.template()
	_, err := f.Client().CoreV1().PodTemplates("default").Create(ctx, &core.PodTemplate{
		ObjectMeta: meta.ObjectMeta{Name: "web"}, Template: template}, meta.CreateOptions{})
	must(t, err)
	buffers := f.objects.Resource(bufferResource).Namespace("default")
	_, err = buffers.Create(ctx, object("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", "default", "room",
		map[string]any{"podTemplateRef": map[string]any{"name": "web"}, "replicas": int64(3)}), meta.CreateOptions{})
	must(t, err)
	is := func(condition, want string) func(context.Context) error {
		return f.conditionIs(bufferResource, "default", "room", condition, want)
	}
	must(t, f.Wait(ctx, "the buffer", is("ReadyForProvisioning", "True Resolved")))
	must(t, f.Wait(ctx, "its room", is("Provisioning", "True FitsExistingCapacity")))
	must(t, f.Wait(ctx, "machines", f.settled))
	before, err := f.claims(ctx)
	must(t, err)
	if len(before) != 1 {
		t.Fatalf("%d NodeClaims for three virtual pods", len(before))
	}

	must(t, f.deploy(ctx, each, 3))
	must(t, f.Wait(ctx, "pods to run", f.running(3, "web")))
	pods, err := f.pods(ctx, "web")
	must(t, err)
	for _, pod := range pods {
		if pod.Spec.NodeName != before[0].node {
			t.Errorf("pod %s went to %s; room was kept on %s", pod.Name, pod.Spec.NodeName, before[0].node)
		}
	}
	// Then there is new room; without the pods, one of the two is enough, and the other stays.
	must(t, f.Wait(ctx, "new room", f.count(2)))
	must(t, f.Wait(ctx, "new room to be told of", is("Provisioning", "True FitsExistingCapacity")))
	must(t, f.remove(ctx, "web"))
	must(t, f.Wait(ctx, "one machine to leave", f.count(1)))
	must(t, is("Provisioning", "True FitsExistingCapacity")(ctx))

	must(t, buffers.Delete(ctx, "room", meta.DeleteOptions{}))
	must(t, f.Wait(ctx, "all nodes to leave", f.none))
}

// count is a check that there are so many NodeClaims, each with its machine, and none leaves.
func (f *fleet) count(want int) func(context.Context) error {
	return func(ctx context.Context) error {
		claims, err := f.claims(ctx)
		if err == nil && len(claims) != want {
			err = fmt.Errorf("%d NodeClaims, %d are to be", len(claims), want)
		}
		return errors.Join(err, f.settled(ctx))
	}
}

func (f *fleet) overlays(t *testing.T, ctx context.Context) {
	for name, spec := range map[string]map[string]any{
		"second": {"requirements": []any{}, "priceAdjustment": "+10%"},
		"first":  {"requirements": []any{}, "price": "0.5"},
	} {
		_, err := f.objects.Resource(overlayResource).Create(ctx,
			object("karpenter.sh/v1alpha1", "NodeOverlay", "", name, spec), meta.CreateOptions{})
		must(t, err)
	}
	_, err := f.objects.Resource(overlayResource).Create(ctx, object("karpenter.sh/v1alpha1", "NodeOverlay", "", "wrong",
		map[string]any{"requirements": []any{map[string]any{"key": "karpenter.kwok.sh/odd", "operator": "Exists"}}, "price": "1"}),
		meta.CreateOptions{})
	if err == nil || !strings.Contains(err.Error(), `denied the request: spec.requirements[0]: `) {
		t.Errorf("an overlay that no controller uses: %v", err)
	}
	is := func(name, condition, want string) func(context.Context) error {
		return f.conditionIs(overlayResource, "", name, condition, want)
	}
	must(t, f.Wait(ctx, "the one in the way", is("first", "ValidationSucceeded", "False Conflict")))
	must(t, f.Wait(ctx, "the other", is("second", "Ready", "True Ready")))
	must(t, f.objects.Resource(overlayResource).Delete(ctx, "second", meta.DeleteOptions{}))
	must(t, f.Wait(ctx, "the way to be free", is("first", "Ready", "True Ready")))
}

// Two pods that fill a node each, of which one has the lower rank: it goes when one is to go. A look a minute.
func (f *fleet) ranksPods(t *testing.T, ctx context.Context) {
	must(t, f.deploy(ctx, shape{name: "ranked", cpu: "3", memory: "1Gi"}, 2))
	must(t, f.Wait(ctx, "pods to run", f.running(2, "ranked")))
	var stays string
	must(t, f.Wait(ctx, "ranks", func(ctx context.Context) error {
		pods, err := f.pods(ctx, "ranked")
		if err != nil {
			return err
		}
		have := map[string]string{}
		for _, pod := range pods {
			have[pod.Annotations[costNote]] = pod.Name
		}
		if have["-2"] == "" || have["-1"] == "" {
			return fmt.Errorf("ranks are %v", have)
		}
		stays = have["-1"]
		return nil
	}))
	must(t, f.scale(ctx, "ranked", 1))
	must(t, f.Wait(ctx, "one pod to go", f.running(1, "ranked")))
	pods, err := f.pods(ctx, "ranked")
	must(t, err)
	for _, pod := range pods {
		if pod.DeletionTimestamp == nil && pod.Name != stays {
			t.Errorf("%s stays, %s was to", pod.Name, stays)
		}
	}
	f.clear(t, ctx, "ranked")
}
