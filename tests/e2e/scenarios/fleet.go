// Package scenarios has Stowage live through what happens to a cluster: pods come and go, programs die
// or hang, and after each step the cluster is as it ought to be. See the tests.
package scenarios

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"stowage.dev/tests/e2e/stowage"
)

const (
	poolLabel   = "karpenter.sh/nodepool"
	capacityKey = "karpenter.sh/capacity-type"
	typeLabel   = "node.kubernetes.io/instance-type"
	claimUID    = "stowage.dev/nodeclaim-uid"
	plannedNote = "stowage.dev/planned"
)

var (
	poolResource  = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}
	claimResource = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}
	classResource = schema.GroupVersionResource{Group: "karpenter.kwok.sh", Version: "v1alpha1", Resource: "kwoknodeclasses"}
)

// fleet is a wired control plane as its administrator sees it.
type fleet struct {
	*stowage.Cluster
	objects dynamic.Interface
}

func newFleet(c *stowage.Cluster) (*fleet, error) {
	objects, err := dynamic.NewForConfig(c.Config())
	return &fleet{c, objects}, err
}

// pool is a NodePool of the tests: Linux machines, all of which may leave at once and as soon as they are empty.
type pool struct {
	name   string
	arch   string
	cpu    []string // of machines; nil: up to 32
	weight int
	labels map[string]string // of the machines
	zones  []string          // nil: all
	taint  string            // key of a taint that keeps pods off; "": none
	starts string            // key of a taint that keeps them off until somebody takes it away; "": none
	limit  string            // CPUs of all its machines; "": no limit
	spot   bool              // spot machines, too

	after        string // consolidateAfter; "": 0s
	policy       string // consolidationPolicy; "": WhenEmpty
	budget       string // how many of its nodes may be disrupted at once; "": 100%
	expires      string // expireAfter; "": as it is by default
	keepsDrifted bool   // no node leaves because it has drifted

	replicas *int64 // nil: as many as pods need
}

func (p pool) object() *unstructured.Unstructured {
	in := func(key string, values ...string) any {
		list := make([]any, len(values))
		for i, value := range values {
			list[i] = value
		}
		return map[string]any{"key": key, "operator": "In", "values": list}
	}
	capacity := []string{"on-demand"}
	if p.spot {
		capacity = append(capacity, "spot")
	}
	requirements := []any{
		in("kubernetes.io/os", "linux"),
		in("kubernetes.io/arch", p.arch),
		in(capacityKey, capacity...),
	}
	if p.cpu != nil {
		requirements = append(requirements, in("karpenter.kwok.sh/instance-cpu", p.cpu...))
	} else {
		requirements = append(requirements, map[string]any{
			"key": "karpenter.kwok.sh/instance-cpu", "operator": "Lt", "values": []any{"33"}})
	}
	if p.zones != nil {
		requirements = append(requirements, in(core.LabelTopologyZone, p.zones...))
	}
	labels := map[string]any{}
	for key, value := range p.labels {
		labels[key] = value
	}
	machine := map[string]any{
		"nodeClassRef": map[string]any{"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
		"requirements": requirements,
	}
	if p.taint != "" {
		machine["taints"] = []any{map[string]any{"key": p.taint, "effect": "NoSchedule"}}
	}
	if p.starts != "" {
		machine["startupTaints"] = []any{map[string]any{"key": p.starts, "effect": "NoSchedule"}}
	}
	budgets := []any{map[string]any{"nodes": cmp.Or(p.budget, "100%")}}
	if p.keepsDrifted {
		budgets = append(budgets, map[string]any{"nodes": "0", "reasons": []any{"Drifted"}})
	}
	spec := map[string]any{
		"template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec":     machine,
		},
		"disruption": map[string]any{
			"consolidateAfter": cmp.Or(p.after, "0s"), "consolidationPolicy": cmp.Or(p.policy, "WhenEmpty"),
			"budgets": budgets,
		},
	}
	if p.expires != "" {
		machine["expireAfter"] = p.expires
	}
	if p.replicas != nil {
		spec["replicas"] = *p.replicas
	}
	if p.weight != 0 {
		spec["weight"] = int64(p.weight)
	}
	if p.limit != "" {
		spec["limits"] = map[string]any{"cpu": p.limit}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool",
		"metadata": map[string]any{"name": p.name}, "spec": spec,
	}}
}

func class() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass",
		"metadata": map[string]any{"name": "default"},
	}}
}

// createPools makes the node class and the pools and waits until Stowage calls each pool Ready.
func (f *fleet) createPools(ctx context.Context, pools ...pool) error {
	if _, err := f.objects.Resource(classResource).Create(ctx, class(), meta.CreateOptions{}); err != nil {
		return err
	}
	return f.addPools(ctx, pools...)
}

// addPools makes pools of the class that is there already.
func (f *fleet) addPools(ctx context.Context, pools ...pool) error {
	for _, p := range pools {
		if _, err := f.objects.Resource(poolResource).Create(ctx, p.object(), meta.CreateOptions{}); err != nil {
			return err
		}
	}
	for _, p := range pools {
		err := f.Wait(ctx, "pool "+p.name, func(ctx context.Context) error {
			return f.poolIs(ctx, p.name, "Ready", "True")
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// poolIs says how a pool's condition differs from the wanted status; nil: it does not. The condition
// must be about the pool as it is now.
func (f *fleet) poolIs(ctx context.Context, name, condition, status string) error {
	got, err := f.objects.Resource(poolResource).Get(ctx, name, meta.GetOptions{})
	if err != nil {
		return err
	}
	c := conditionOf(got, condition)
	if c["status"] != status || c["observedGeneration"] != got.GetGeneration() {
		return fmt.Errorf("NodePool %s of generation %d has %s %v", name, got.GetGeneration(), condition, c)
	}
	return nil
}

func conditionOf(object *unstructured.Unstructured, name string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, condition := range conditions {
		if c, ok := condition.(map[string]any); ok && c["type"] == name {
			return c
		}
	}
	return nil
}

// shape is what equal pods ask for.
type shape struct {
	name        string
	cpu, memory string
	on          map[string]string // node selector
}

func (s shape) spec() core.PodSpec {
	grace := int64(0)
	return core.PodSpec{
		NodeSelector:                  s.on,
		TerminationGracePeriodSeconds: &grace,
		Containers: []core.Container{{
			Name: "main", Image: "none",
			Resources: core.ResourceRequirements{Requests: core.ResourceList{
				core.ResourceCPU: resource.MustParse(s.cpu), core.ResourceMemory: resource.MustParse(s.memory),
			}},
		}},
	}
}

// edit changes what pods ask for.
type edit func(*core.PodSpec)

func (s shape) template(edits ...edit) (*meta.LabelSelector, core.PodTemplateSpec) {
	labels := map[string]string{"app": s.name}
	spec := s.spec()
	for _, change := range edits {
		change(&spec)
	}
	return &meta.LabelSelector{MatchLabels: labels},
		core.PodTemplateSpec{ObjectMeta: meta.ObjectMeta{Labels: labels}, Spec: spec}
}

// deploy makes a Deployment in namespace default.
func (f *fleet) deploy(ctx context.Context, s shape, replicas int, edits ...edit) error {
	count := int32(replicas)
	selector, template := s.template(edits...)
	_, err := f.Client().AppsV1().Deployments("default").Create(ctx, &apps.Deployment{
		ObjectMeta: meta.ObjectMeta{Name: s.name, Labels: map[string]string{"by": "scenario"}},
		Spec:       apps.DeploymentSpec{Replicas: &count, Selector: selector, Template: template},
	}, meta.CreateOptions{})
	return err
}

// daemons makes a DaemonSet in namespace default that runs on every node of a pool that lets it.
func (f *fleet) daemons(ctx context.Context, s shape, edits ...edit) error {
	selector, template := s.template(edits...)
	template.Spec.Affinity = &core.Affinity{NodeAffinity: &core.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &core.NodeSelector{NodeSelectorTerms: []core.NodeSelectorTerm{{
			MatchExpressions: []core.NodeSelectorRequirement{{Key: poolLabel, Operator: core.NodeSelectorOpExists}},
		}}},
	}}
	_, err := f.Client().AppsV1().DaemonSets("default").Create(ctx, &apps.DaemonSet{
		ObjectMeta: meta.ObjectMeta{Name: s.name},
		Spec:       apps.DaemonSetSpec{Selector: selector, Template: template},
	}, meta.CreateOptions{})
	return err
}

// scale sets the replicas of a Deployment.
func (f *fleet) scale(ctx context.Context, name string, replicas int) error {
	patch := fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas)
	_, err := f.Client().AppsV1().Deployments("default").
		Patch(ctx, name, types.MergePatchType, []byte(patch), meta.PatchOptions{})
	return err
}

// remove deletes Deployments and waits until none of their pods is left.
func (f *fleet) remove(ctx context.Context, names ...string) error {
	background := meta.DeletePropagationBackground
	for _, name := range names {
		err := f.Client().AppsV1().Deployments("default").
			Delete(ctx, name, meta.DeleteOptions{PropagationPolicy: &background})
		if err != nil {
			return err
		}
	}
	return f.Wait(ctx, "end of the pods", func(ctx context.Context) error {
		pods, err := f.pods(ctx, names...)
		if err == nil && len(pods) > 0 {
			err = fmt.Errorf("%d pods are left", len(pods))
		}
		return err
	})
}

// pods are those of the named Deployments in namespace default.
func (f *fleet) pods(ctx context.Context, names ...string) ([]core.Pod, error) {
	list, err := f.Client().CoreV1().Pods("default").List(ctx, meta.ListOptions{
		LabelSelector: "app in (" + strings.Join(names, ",") + ")",
	})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// waiting returns a check that so many pods of the Deployments were looked at by the scheduler, in vain.
func (f *fleet) waiting(count int, names ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		pods, err := f.pods(ctx, names...)
		if err != nil {
			return err
		}
		refused := 0
		for i := range pods {
			if unschedulable(&pods[i]) {
				refused++
			}
		}
		if refused != count {
			return fmt.Errorf("%d of %d pods are unschedulable, %d are to be", refused, len(pods), count)
		}
		return nil
	}
}

func unschedulable(pod *core.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == core.PodScheduled && c.Status == core.ConditionFalse && c.Reason == core.PodReasonUnschedulable {
			return true
		}
	}
	return false
}

// running returns a check that so many pods of the Deployments run, and that there are no more.
func (f *fleet) running(count int, names ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		pods, err := f.pods(ctx, names...)
		if err != nil {
			return err
		}
		runs := 0
		for _, pod := range pods {
			if pod.Spec.NodeName != "" && pod.Status.Phase == core.PodRunning && pod.DeletionTimestamp == nil {
				runs++
			}
		}
		if runs != count || len(pods) != count {
			return fmt.Errorf("%d of %d pods run, %d are to", runs, len(pods), count)
		}
		return nil
	}
}

// claim is what the tests read of a NodeClaim.
type claim struct {
	name, uid, pool, node, planned string
	deleting, initialized          bool
	awaits                         string // why it is not initialized
}

func (f *fleet) claims(ctx context.Context) ([]claim, error) {
	list, err := f.objects.Resource(claimResource).List(ctx, meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	var claims []claim
	for i := range list.Items {
		claims = append(claims, claimOf(&list.Items[i]))
	}
	return claims, nil
}

func claimOf(object *unstructured.Unstructured) claim {
	node, _, _ := unstructured.NestedString(object.Object, "status", "nodeName")
	initialized := conditionOf(object, "Initialized")
	return claim{
		name: object.GetName(), uid: string(object.GetUID()), node: node,
		pool:        object.GetLabels()[poolLabel],
		planned:     object.GetAnnotations()[plannedNote],
		deleting:    object.GetDeletionTimestamp() != nil,
		initialized: initialized["status"] == "True",
		awaits:      fmt.Sprint(initialized["reason"], ": ", initialized["message"]),
	}
}

// deleteClaims deletes all NodeClaims, and waits for nothing more.
func (f *fleet) deleteClaims(ctx context.Context) error {
	return f.Wait(ctx, "NodeClaims to be deleted", func(ctx context.Context) error {
		return f.objects.Resource(claimResource).DeleteCollection(ctx, meta.DeleteOptions{}, meta.ListOptions{})
	})
}

// machines are the Nodes that Stowage made.
func (f *fleet) machines(ctx context.Context) ([]core.Node, error) {
	list, err := f.Client().CoreV1().Nodes().List(ctx, meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(n core.Node) bool { return n.Annotations[claimUID] == "" }), nil
}

// settled is a check that each NodeClaim is initialised and has one machine, and each machine has its
// NodeClaim: nothing is on its way, nothing is orphaned.
func (f *fleet) settled(ctx context.Context) error {
	claims, err := f.claims(ctx)
	if err != nil {
		return err
	}
	machines, err := f.machines(ctx)
	if err != nil {
		return err
	}
	return match(claims, machines)
}

func match(claims []claim, machines []core.Node) error {
	var wrong []error
	byUID := map[string]claim{}
	for _, c := range claims {
		byUID[c.uid] = c
		if !c.initialized || c.deleting || c.node == "" {
			wrong = append(wrong, fmt.Errorf("NodeClaim %s: initialized %v (%s), deleting %v, node %q",
				c.name, c.initialized, c.awaits, c.deleting, c.node))
		}
	}
	seen := map[string]string{}
	for _, n := range machines {
		uid := n.Annotations[claimUID]
		switch c, ok := byUID[uid]; {
		case !ok:
			wrong = append(wrong, fmt.Errorf("Node %s is an orphan: there is no NodeClaim %s", n.Name, uid))
		case seen[uid] != "":
			wrong = append(wrong, fmt.Errorf("Nodes %s and %s are of one NodeClaim, %s", seen[uid], n.Name, c.name))
		case c.node != n.Name:
			wrong = append(wrong, fmt.Errorf("Node %s is of NodeClaim %s, which has node %q", n.Name, c.name, c.node))
		}
		seen[uid] = n.Name
	}
	for _, c := range claims {
		if seen[c.uid] == "" {
			wrong = append(wrong, fmt.Errorf("NodeClaim %s has no Node", c.name))
		}
	}
	return errors.Join(wrong...)
}

// none is a check that no NodeClaim and no machine is left.
func (f *fleet) none(ctx context.Context) error {
	claims, err := f.claims(ctx)
	if err != nil {
		return err
	}
	machines, err := f.machines(ctx)
	if err != nil {
		return err
	}
	if len(claims)+len(machines) > 0 {
		return fmt.Errorf("%d NodeClaims and %d Nodes are left", len(claims), len(machines))
	}
	return nil
}

// noneEmpty is a check that on each machine something stands that is not a DaemonSet's.
func (f *fleet) noneEmpty(ctx context.Context) error {
	machines, err := f.machines(ctx)
	if err != nil {
		return err
	}
	pods, err := f.Client().CoreV1().Pods("").List(ctx, meta.ListOptions{})
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, pod := range pods.Items {
		if owner := meta.GetControllerOf(&pod); owner == nil || owner.Kind != "DaemonSet" {
			used[pod.Spec.NodeName] = true
		}
	}
	for _, n := range machines {
		if !used[n.Name] {
			return fmt.Errorf("Node %s is empty", n.Name)
		}
	}
	return nil
}

// sound is what must hold after each step.
func (f *fleet) sound(ctx context.Context) error {
	forbidden, err := f.Forbidden()
	if err != nil {
		return err
	}
	if len(forbidden) > 0 {
		return fmt.Errorf("not permitted by the RBAC of manifests/: %v", forbidden)
	}
	return f.Overfull(ctx)
}
