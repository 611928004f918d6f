package clusterapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// period is how often the controllers look. They have no watches: what they keep is small.
const period = 300 * time.Millisecond

// Controllers keep the groups of one namespace as Cluster API's do, as far as an autoscaler sees it: a MachineDeployment
// has one MachineSet of its size, a MachineSet so many Machines, of which those go first that have the annotation
// delete-machine, then those without a Node, then the newest; a Machine becomes a Node, which leaves with it; a
// MachinePool has Nodes without Machines, of which the newest goes first. Each tells its replicas in status, so that
// `scale` has them.
type Controllers struct {
	namespace string
	objects   dynamic.Interface
	client    kubernetes.Interface
	cancel    context.CancelFunc
	done      sync.WaitGroup

	mu      sync.Mutex
	names   int
	made    map[string]int // Machines of each group, so far
	blind   []string       // Machines that had a Node and ended though nobody had chosen them
	trouble error          // the last look's
}

// Start begins to keep the groups of a namespace; End ends that.
func Start(config *rest.Config, namespace string) (*Controllers, error) {
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &Controllers{namespace: namespace, objects: objects, client: client, cancel: cancel, made: map[string]int{}}
	c.done.Go(func() {
		for ctx.Err() == nil {
			err := c.keep(ctx)
			c.mu.Lock()
			c.trouble = err
			c.mu.Unlock()
			select {
			case <-ctx.Done():
			case <-time.After(period):
			}
		}
	})
	return c, nil
}

// End returns when nothing is done any more.
func (c *Controllers) End() {
	c.cancel()
	c.done.Wait()
}

// Add creates groups.
func (c *Controllers) Add(ctx context.Context, groups ...Group) error {
	for _, g := range groups {
		_, err := c.objects.Resource(resources[g.Kind]).Namespace(c.namespace).
			Create(ctx, g.object(c.namespace), meta.CreateOptions{})
		if err != nil {
			return fmt.Errorf("%s: %w", g.ID(c.namespace), err)
		}
	}
	return nil
}

// Size is how many machines a group is to have.
func (c *Controllers) Size(ctx context.Context, g Group) (int, error) {
	got, err := c.objects.Resource(resources[g.Kind]).Namespace(c.namespace).Get(ctx, g.Name, meta.GetOptions{})
	if err != nil {
		return 0, err
	}
	return int(integer(got, "spec", "replicas")), nil
}

// Made is how many Machines each MachineDeployment has had made, those that are gone among them.
func (c *Controllers) Made() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.made)
}

// Machine is one that is there, for whoever it is.
type Machine struct {
	Name, Node, Claim string // Claim: the UID of the NodeClaim that has taken it; "": none has
}

// Machines are all of the namespace, those that are being deleted among them.
func (c *Controllers) Machines(ctx context.Context) ([]Machine, error) {
	list, err := c.list(ctx, machines)
	var all []Machine
	for i := range list {
		all = append(all, Machine{list[i].GetName(), text(&list[i], "status", "nodeRef", "name"), list[i].GetAnnotations()[claimNote]})
	}
	return all, err
}

// Sound says what is wrong: the controllers cannot work, a Node was ended that nobody had chosen, or a mark is left on a
// Machine that stays.
func (c *Controllers) Sound(ctx context.Context) error {
	c.mu.Lock()
	blind, trouble := c.blind, c.trouble
	c.mu.Unlock()
	if trouble != nil {
		return fmt.Errorf("Cluster API's stand-in: %w", trouble)
	}
	if len(blind) > 0 {
		return fmt.Errorf("ended without being chosen: %v", blind)
	}
	list, err := c.list(ctx, machines)
	for i := range list {
		if list[i].GetAnnotations()[deleteMark] != "" && list[i].GetDeletionTimestamp() == nil && err == nil {
			err = fmt.Errorf("Machine %s stays, and is marked", list[i].GetName())
		}
	}
	return err
}

func (c *Controllers) list(ctx context.Context, of schema.GroupVersionResource) ([]unstructured.Unstructured, error) {
	list, err := c.objects.Resource(of).Namespace(c.namespace).List(ctx, meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

func (c *Controllers) keep(ctx context.Context) error {
	for _, step := range []func(context.Context) error{c.keepDeployments, c.keepSets, c.keepPools, c.keepMachines} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// patch writes a merge patch to an object or its subresource; whoever is gone needs none.
func (c *Controllers) patch(ctx context.Context, of schema.GroupVersionResource, name string, change map[string]any,
	subresource ...string) error {
	body, err := json.Marshal(change)
	if err != nil {
		return err
	}
	_, err = c.objects.Resource(of).Namespace(c.namespace).
		Patch(ctx, name, types.MergePatchType, body, meta.PatchOptions{}, subresource...)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// tellReplicas writes status only when it changed: each write is a version that a lock on `scale` loses against.
func (c *Controllers) tellReplicas(ctx context.Context, of schema.GroupVersionResource, o *unstructured.Unstructured,
	count int, selector string) error {
	if _, told, _ := unstructured.NestedInt64(o.Object, "status", "replicas"); told && integer(o, "status", "replicas") == int64(count) {
		return nil
	}
	status := map[string]any{"replicas": count}
	if selector != "" {
		status["selector"] = selector
	}
	return c.patch(ctx, of, o.GetName(), map[string]any{"status": status}, "status")
}

func ownerOf(o *unstructured.Unstructured) []any {
	return []any{map[string]any{"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "name": o.GetName(),
		"uid": string(o.GetUID()), "controller": true}}
}

func ownedBy(all []unstructured.Unstructured, owner *unstructured.Unstructured) []*unstructured.Unstructured {
	var own []*unstructured.Unstructured
	for i := range all {
		if meta.IsControlledBy(&all[i], owner) {
			own = append(own, &all[i])
		}
	}
	return own
}

func annotationsOf(o *unstructured.Unstructured) map[string]any {
	all := map[string]any{}
	for key, value := range o.GetAnnotations() {
		all[key] = value
	}
	return all
}

// ---- MachineDeployments ----

func (c *Controllers) keepDeployments(ctx context.Context) error {
	all, err := c.list(ctx, deployments)
	if err != nil {
		return err
	}
	existing, err := c.list(ctx, MachineSets)
	if err != nil {
		return err
	}
	for i := range all {
		d := &all[i]
		size := integer(d, "spec", "replicas")
		own := ownedBy(existing, d)
		if len(own) == 0 {
			if err := c.addSet(ctx, d); err != nil {
				return err
			}
			continue
		}
		if integer(own[0], "spec", "replicas") != size {
			if err := c.patch(ctx, MachineSets, own[0].GetName(), map[string]any{"spec": map[string]any{"replicas": size}}); err != nil {
				return err
			}
		}
		if err := c.tellReplicas(ctx, deployments, d, int(integer(own[0], "status", "replicas")), "of="+d.GetName()); err != nil {
			return err
		}
	}
	return nil
}

// addSet makes the MachineSet of a MachineDeployment, with its annotations, as Cluster API does.
func (c *Controllers) addSet(ctx context.Context, d *unstructured.Unstructured) error {
	annotations := annotationsOf(d)
	annotations["machinedeployment.clusters.x-k8s.io/revision"] = "1"
	spec, _, _ := unstructured.NestedMap(d.Object, "spec")
	set := object("MachineSet", c.namespace, d.GetName()+"-1", annotations,
		map[string]any{group + "/deployment-name": d.GetName(), "of": d.GetName()}, map[string]any{
			"clusterName": spec["clusterName"], "replicas": spec["replicas"], "selector": spec["selector"], "template": spec["template"]})
	unstructured.SetNestedSlice(set.Object, ownerOf(d), "metadata", "ownerReferences")
	_, err := c.objects.Resource(MachineSets).Namespace(c.namespace).Create(ctx, set, meta.CreateOptions{})
	return err
}

// ---- MachineSets ----

func (c *Controllers) keepSets(ctx context.Context) error {
	all, err := c.list(ctx, MachineSets)
	if err != nil {
		return err
	}
	existing, err := c.list(ctx, machines)
	if err != nil {
		return err
	}
	for i := range all {
		s := &all[i]
		own := ownedBy(existing, s)
		stay := slices.DeleteFunc(slices.Clone(own), func(m *unstructured.Unstructured) bool { return m.GetDeletionTimestamp() != nil })
		for more := int(integer(s, "spec", "replicas")) - len(stay); more > 0; more-- {
			if err := c.addMachine(ctx, s); err != nil {
				return err
			}
		}
		slices.SortFunc(stay, byWorth)
		for i := 0; i < len(stay)-int(integer(s, "spec", "replicas")); i++ {
			if err := c.endMachine(ctx, stay[i]); err != nil {
				return err
			}
		}
		if err := c.tellReplicas(ctx, MachineSets, s, len(own), "of="+s.GetLabels()["of"]); err != nil {
			return err
		}
	}
	return nil
}

// byWorth puts those first that go first.
func byWorth(a, b *unstructured.Unstructured) int {
	worth := func(m *unstructured.Unstructured) int {
		switch {
		case m.GetAnnotations()[deleteMark] != "":
			return 0
		case text(m, "status", "nodeRef", "name") == "":
			return 1
		}
		return 2
	}
	return cmp.Or(worth(a)-worth(b), b.GetCreationTimestamp().Compare(a.GetCreationTimestamp().Time), strings.Compare(a.GetName(), b.GetName()))
}

func (c *Controllers) addMachine(ctx context.Context, s *unstructured.Unstructured) error {
	c.names++
	labels, _, _ := unstructured.NestedMap(s.Object, "spec", "template", "metadata", "labels")
	annotations := annotationsOf(s)
	delete(annotations, boundPrefix+"min-size")
	delete(annotations, boundPrefix+"max-size")
	spec, _, _ := unstructured.NestedMap(s.Object, "spec", "template", "spec")
	m := object("Machine", c.namespace, fmt.Sprintf("%s-m%d", s.GetName(), c.names), annotations, labels, spec)
	m.SetFinalizers([]string{"machine." + group})
	unstructured.SetNestedSlice(m.Object, ownerOf(s), "metadata", "ownerReferences")
	if _, err := c.objects.Resource(machines).Namespace(c.namespace).Create(ctx, m, meta.CreateOptions{}); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made[s.GetLabels()["of"]]++
	return nil
}

func (c *Controllers) endMachine(ctx context.Context, m *unstructured.Unstructured) error {
	if m.GetAnnotations()[deleteMark] == "" && text(m, "status", "nodeRef", "name") != "" {
		c.mu.Lock()
		c.blind = append(c.blind, m.GetName())
		c.mu.Unlock()
	}
	err := c.objects.Resource(machines).Namespace(c.namespace).Delete(ctx, m.GetName(), meta.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// ---- Machines ----

func (c *Controllers) keepMachines(ctx context.Context) error {
	all, err := c.list(ctx, machines)
	if err != nil {
		return err
	}
	for i := range all {
		if err := c.keepMachine(ctx, &all[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *Controllers) keepMachine(ctx context.Context, m *unstructured.Unstructured) error {
	name := m.GetName()
	if m.GetDeletionTimestamp() != nil {
		if err := c.dropNode(ctx, name); err != nil {
			return err
		}
		return c.patch(ctx, machines, name, map[string]any{"metadata": map[string]any{"finalizers": nil}})
	}
	if text(m, "status", "phase") != "" {
		return nil
	}
	status := map[string]any{}
	switch Fate(m.GetAnnotations()[fateNote]) {
	case Fails:
		status["phase"] = "Failed"
		status["deprecated"] = map[string]any{"v1beta1": map[string]any{"failureMessage": "the cloud has none of these"}}
	case Silent:
		status["phase"] = "Provisioning"
	default:
		if err := c.addNode(ctx, name, m); err != nil {
			return err
		}
		if err := c.patch(ctx, machines, name, map[string]any{"spec": map[string]any{"providerID": providerID(name)}}); err != nil {
			return err
		}
		status["phase"] = "Running"
		status["nodeRef"] = map[string]any{"name": name}
	}
	return c.patch(ctx, machines, name, map[string]any{"status": status}, "status")
}

func providerID(name string) string { return "stand-in:///" + name }

// addNode makes the Node of a machine, of the shape that the annotations tell.
func (c *Controllers) addNode(ctx context.Context, name string, of *unstructured.Unstructured) error {
	notes := of.GetAnnotations()
	labels := map[string]string{core.LabelHostname: name, core.LabelArchStable: "amd64", core.LabelOSStable: "linux"}
	for _, pair := range strings.Split(notes[capacityPrefix+"labels"], ",") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			labels[key] = value
		}
	}
	room := core.ResourceList{
		core.ResourceCPU:    quantity.MustParse(notes[capacityPrefix+"cpu"]),
		core.ResourceMemory: quantity.MustParse(notes[capacityPrefix+"memory"]),
		core.ResourcePods:   quantity.MustParse("110"),
	}
	spec := core.NodeSpec{ProviderID: providerID(name)}
	if key := notes[taintNote]; key != "" {
		spec.Taints = []core.Taint{{Key: key, Effect: core.TaintEffectNoExecute}}
	}
	_, err := c.client.CoreV1().Nodes().Create(ctx, &core.Node{
		ObjectMeta: meta.ObjectMeta{Name: name, Labels: labels},
		Spec:       spec,
		Status:     core.NodeStatus{Capacity: room, Allocatable: room},
	}, meta.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (c *Controllers) dropNode(ctx context.Context, name string) error {
	err := c.client.CoreV1().Nodes().Delete(ctx, name, meta.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// ---- MachinePools ----

func (c *Controllers) keepPools(ctx context.Context) error {
	all, err := c.list(ctx, pools)
	if err != nil {
		return err
	}
	for i := range all {
		p := &all[i]
		size := int(integer(p, "spec", "replicas"))
		ids, _, _ := unstructured.NestedStringSlice(p.Object, "spec", "providerIDList")
		if len(ids) != size {
			if err := c.resizePool(ctx, p, ids, size); err != nil {
				return err
			}
		}
		if err := c.tellReplicas(ctx, pools, p, size, ""); err != nil {
			return err
		}
	}
	return nil
}

func (c *Controllers) resizePool(ctx context.Context, p *unstructured.Unstructured, ids []string, size int) error {
	list := []string{}
	for i := range max(size, len(ids)) {
		name := fmt.Sprintf("%s-%d", p.GetName(), i)
		if i >= size {
			if err := c.dropNode(ctx, name); err != nil {
				return err
			}
			continue
		}
		if err := c.addNode(ctx, name, p); err != nil {
			return err
		}
		list = append(list, providerID(name))
	}
	return c.patch(ctx, pools, p.GetName(), map[string]any{"spec": map[string]any{"providerIDList": list}})
}
