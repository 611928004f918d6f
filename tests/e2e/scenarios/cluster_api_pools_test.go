package scenarios

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"stowage.dev/tests/e2e/clusterapi"
	"stowage.dev/tests/e2e/manifests"
	"stowage.dev/tests/e2e/permissions"
	"stowage.dev/tests/e2e/proxy"
	"stowage.dev/tests/e2e/stowage"
)

const (
	pooledClass  = "ClusterAPINodeClass"
	pooledGroup  = "karpenter.cluster.x-k8s.io"
	unregistered = "karpenter.sh/unregistered"
	registered   = "karpenter.sh/registered"
)

// pooledOf is a MachineDeployment for the NodePool of the test, whose machines have four CPUs.
func pooledOf(name, machineType, zone, price string) clusterapi.Group {
	return clusterapi.Group{Kind: "MachineDeployment", Name: name, Max: 6, CPU: "4", Memory: "16Gi", Price: price, Taint: unregistered,
		Own:    map[string]string{"node.cluster.x-k8s.io/karpenter-member": "", "pool": "general"},
		Labels: map[string]string{typeLabel: machineType, zoneKey: zone}}
}

// pooledGroups are one type, to be had in each zone.
func pooledGroups() []clusterapi.Group {
	var all []clusterapi.Group
	for i, zone := range zones {
		all = append(all, pooledOf(fmt.Sprintf("m4-%c", 'a'+i), "m4", zone, "0.2"))
	}
	return all
}

// refusing is cheaper, and the cloud has none.
func refusing() clusterapi.Group {
	g := pooledOf("cheap-a", "cheap", zoneA, "0.1")
	g.Fate = clusterapi.Fails
	return g
}

// pooledFleet is a fleet whose NodePool has machines of Cluster API.
type pooledFleet struct {
	capiFleet
	parent *testing.T
}

// TestClusterAPIPools has NodePools on machines of Cluster API, with the permissions that manifests/pools-clusterapi adds.
func TestClusterAPIPools(t *testing.T) {
	t.Parallel()
	f := pooledFleet{parent: t, capiFleet: capiFleet{fleet: upWith(t, stowage.ClusterOptions{ClusterAPIPools: true, Scheduler: patient,
		Stowage: stowage.Options{Args: []string{"--cluster-api-pools", "--lease-duration=5s", "--lease-renew-deadline=4s",
			"--lease-retry-period=500ms", "--batch-idle-duration=300ms"}}})}}
	ctx := t.Context()
	must(t, f.Namespace(ctx, machinesIn))
	var err error
	f.Controllers, err = clusterapi.Start(f.Config(), machinesIn)
	must(t, err)
	t.Cleanup(f.Controllers.End)
	must(t, f.Add(ctx, pooledGroups()...))
	must(t, f.createPooled(ctx))

	f.capiStep(t, "pods get machines in their zones", f.buysMachines)
	f.capiStep(t, "killed while it buys, it buys nothing twice and loses nothing", f.diesBuying)
	f.capiStep(t, "nodes whose pods are gone leave, and the sizes are what they were", f.givesBack)
	f.capiStep(t, "where a Machine fails another MachineDeployment is taken", f.buysElsewhere)
	f.capiStep(t, "without pods there is nothing", f.givesBackAll)
	must(t, f.usedAllOf("pools-clusterapi"))
}

// createPooled makes the class and the NodePool, as docs/cluster-api.md has them.
func (f pooledFleet) createPooled(ctx context.Context) error {
	class := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": pooledGroup + "/v1alpha1", "kind": pooledClass, "metadata": map[string]any{"name": "general"},
		"spec": map[string]any{"scalableResourceSelector": map[string]any{"matchLabels": map[string]any{"pool": "general"}}},
	}}
	resource := schema.GroupVersionResource{Group: pooledGroup, Version: "v1alpha1", Resource: "clusterapinodeclasses"}
	if _, err := f.objects.Resource(resource).Create(ctx, class, meta.CreateOptions{}); err != nil {
		return err
	}
	object := pool{name: "general"}.object()
	spec, _, _ := unstructured.NestedMap(object.Object, "spec", "template", "spec")
	spec["requirements"] = []any{}
	spec["nodeClassRef"] = map[string]any{"group": pooledGroup, "kind": pooledClass, "name": "general"}
	if err := unstructured.SetNestedMap(object.Object, spec, "spec", "template", "spec"); err != nil {
		return err
	}
	if _, err := f.objects.Resource(poolResource).Create(ctx, object, meta.CreateOptions{}); err != nil {
		return err
	}
	return f.Wait(ctx, "the pool", func(ctx context.Context) error { return f.poolIs(ctx, "general", "Ready", "True") })
}

// fills has each pod take a machine for itself, and as many in each zone.
func fills(name string) (shape, edit) {
	return shape{name: name, cpu: "3", memory: "1Gi"}, spread(zoneKey, 1, name, hard)
}

// pooledAre is a check that so many Machines are there and asked for, that each is of one NodeClaim by its UID, and that
// each has a Node that is registered.
func (f pooledFleet) pooledAre(each int) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, g := range pooledGroups() {
			if size, err := f.Size(ctx, g); err != nil || size != each {
				return fmt.Errorf("%s is to have %d machines, not %d: %w", g.Name, size, each, err)
			}
		}
		claims, err := f.claims(ctx)
		if err != nil {
			return err
		}
		machines, err := f.Controllers.Machines(ctx)
		if err != nil {
			return err
		}
		var taken []core.Node
		for _, m := range machines {
			taken = append(taken, core.Node{ObjectMeta: meta.ObjectMeta{Name: m.Node, Annotations: map[string]string{claimUID: m.Claim}}})
		}
		if err := match(claims, taken); err != nil {
			return err
		}
		return f.registeredAre(ctx, each*len(pooledGroups()))
	}
}

func (f pooledFleet) registeredAre(ctx context.Context, count int) error {
	list, err := f.Client().CoreV1().Nodes().List(ctx, meta.ListOptions{LabelSelector: registered + "=true"})
	if err != nil {
		return err
	}
	if len(list.Items) != count {
		return fmt.Errorf("%d Nodes are registered, not %d", len(list.Items), count)
	}
	for _, n := range list.Items {
		if slices.ContainsFunc(n.Spec.Taints, func(taint core.Taint) bool { return taint.Key == unregistered }) {
			return fmt.Errorf("Node %s is registered and has the taint %s", n.Name, unregistered)
		}
	}
	return nil
}

// deployFilling makes pods of which each takes a machine, one in each zone.
func (f pooledFleet) deployFilling(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	s, spreads := fills(name)
	must(t, f.deploy(ctx, s, len(zones), spreads))
}

func (f pooledFleet) buysMachines(t *testing.T, ctx context.Context) {
	f.deployFilling(t, ctx, "web")
	must(t, f.Wait(ctx, "pods to run", f.running(len(zones), "web")))
	must(t, f.Wait(ctx, "machines", f.pooledAre(1)))
}

// givesBack ends the pods for which diesBuying has bought.
func (f pooledFleet) givesBack(t *testing.T, ctx context.Context) {
	before, err := f.pods(ctx, "web")
	must(t, err)
	for i := range moments {
		must(t, f.remove(ctx, burst(i)))
	}
	must(t, f.Wait(ctx, "machines", f.pooledAre(1)))
	after, err := f.pods(ctx, "web")
	must(t, err)
	if !maps.Equal(places(before), places(after)) {
		t.Errorf("pods that were to stay have moved from %v to %v", places(before), places(after))
	}
}

func places(pods []core.Pod) map[string]string {
	all := map[string]string{}
	for i := range pods {
		all[pods[i].Name] = pods[i].Spec.NodeName
	}
	return all
}

func writesSize(w proxy.Write) bool {
	path, _, _ := strings.Cut(w.Path, "?")
	return w.Method == http.MethodPatch && strings.HasSuffix(path, "/scale")
}

func takesMachine(w proxy.Write) bool {
	return w.Method == http.MethodPatch && strings.Contains(w.Path, "/machines/") && strings.Contains(string(w.Body), claimUID)
}

// moments of buying at which it is killed.
var moments = []struct {
	label string
	at    func(proxy.Write) bool
	half  proxy.Half
}{
	{"before a size is written", writesSize, proxy.Before},
	{"after a size is written", writesSize, proxy.After},
	{"before a Machine is taken", takesMachine, proxy.Before},
	{"after a Machine is taken", takesMachine, proxy.After},
}

func burst(i int) string { return fmt.Sprintf("burst-%d", i) }

func (f pooledFleet) diesBuying(t *testing.T, ctx context.Context) {
	f.Stowage.Kill()
	s, p, err := f.behind(ctx, "proxied", f.Options)
	must(t, err)
	f.parent.Cleanup(p.Close) // the steps after this one need it
	struck := &site{f.fleet, p, s, make(chan error, 1)}
	for i, row := range moments {
		made := f.Made()
		p.Begin(proxy.Strike{At: row.at, Half: row.half, Kill: struck.kill})
		f.deployFilling(t, ctx, burst(i))
		must(t, f.Wait(ctx, "pods to run", f.running(len(zones), burst(i))))
		if !p.Struck() {
			t.Fatalf("%s: nothing was struck", row.label)
		}
		must(t, <-struck.restarted)
		must(t, f.Wait(ctx, "machines", f.pooledAre(2+i)))
		for name, count := range f.Made() {
			if count != made[name]+1 {
				t.Errorf("killed %s: %d Machines of %s were made for one NodeClaim", row.label, count-made[name], name)
			}
		}
	}
}

// tries are pods for which machines are bought, one after the other, until Stowage has heard of a MachineDeployment that was
// made a moment ago.
const tries = 6

// buysElsewhere asks for a machine of which the cheapest kind fails.
func (f pooledFleet) buysElsewhere(t *testing.T, ctx context.Context) {
	must(t, f.Add(ctx, refusing()))
	must(t, f.deploy(ctx, shape{name: "one", cpu: "3", memory: "1Gi"}, 1))
	must(t, f.Wait(ctx, "the pod to run", f.running(1, "one")))
	for pods := 2; f.Made()[refusing().Name] == 0 && pods <= tries; pods++ {
		must(t, f.scale(ctx, "one", pods))
		must(t, f.Wait(ctx, "one pod more to run", f.running(pods, "one")))
	}
	if count := f.Made()[refusing().Name]; count != 1 {
		t.Errorf("%d Machines of the cheapest kind were made, 1 was to be tried", count)
	}
	must(t, f.Wait(ctx, "the failed Machine to be given back", func(ctx context.Context) error {
		size, err := f.Size(ctx, refusing())
		if err == nil && size != 0 {
			err = fmt.Errorf("its MachineDeployment is to have %d", size)
		}
		return err
	}))
}

func (f pooledFleet) givesBackAll(t *testing.T, ctx context.Context) {
	must(t, f.remove(ctx, "web", "one"))
	must(t, f.Wait(ctx, "machines to go", f.pooledAre(0)))
}

// usedAllOf says what a folder of manifests grants that was not used here, whoever used it elsewhere.
func (f pooledFleet) usedAllOf(folder string) error {
	set, err := manifests.Load(filepath.Join(manifests.Folder(), folder))
	if err != nil {
		return err
	}
	grants, err := permissions.Grants(set)
	if err != nil {
		return err
	}
	tally := permissions.NewTally(grants)
	if err := f.EachRequest(tally.Add); err != nil {
		return err
	}
	if wrong := tally.Wrong(nil); len(wrong) > 0 {
		return fmt.Errorf("manifests/%s: %s", folder, strings.Join(wrong, "; "))
	}
	return nil
}
