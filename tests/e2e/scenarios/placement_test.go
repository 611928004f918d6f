package scenarios

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	scheduling "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/stowage"
)

// A pod of which ten fill a machine of the pool "sixteen".
const (
	tenthCPU    = "1500m"
	tenthMemory = "1Gi"
	tenths      = 10
)

func tenth(name string) shape { return shape{name: name, cpu: tenthCPU, memory: tenthMemory} }

// What is planned is kept for whom it was planned for, whatever comes between: others who would fit there,
// others of higher priority, late DaemonSets, another plan, and the death of everybody who decides. That
// scheduling goes on without Stowage is TestWithoutStowage.
func TestPlacement(t *testing.T) {
	t.Parallel()
	f := upWith(t, stowage.ClusterOptions{
		Replicas: true,
		ControlPlane: controlplane.Options{
			// The test is the controller of DaemonSets: its pods come when the test says so.
			Controllers: []string{"*", "-node-ipam-controller", "-daemonset-controller"},
		},
		Scheduler: patient,
		Stowage:   stowage.Options{Args: steadyLease},
	})
	ctx := t.Context()
	must(t, f.createPools(ctx, pool{name: "sixteen", arch: "amd64", cpu: []string{"16"}},
		pool{name: slowPool, arch: "amd64", cpu: []string{"16"}, taint: slowKey, starts: startingKey}))
	must(t, f.Wait(ctx, "the Service to lead to Stowage", f.Service.Leads(f.Stowage.Name())))
	f.step(t, "a thief of the same second gets no planned room", f.refusesThief)
	f.step(t, "room for DaemonSet pods waits for those that are late", f.awaitsDaemons)
	f.step(t, "beside reservations nobody is evicted in vain", f.evictsForSomebody)
	f.step(t, "the scheduler restarts with pods in flight", f.loadsOn)
	f.step(t, "the plan is replaced with pods in flight", f.loadsAnew)
	f.step(t, "the next leader keeps 500 places", f.inherits)
}

// bought returns a check that so many NodeClaims are there.
func (f *fleet) bought(count int) func(context.Context) error {
	return func(ctx context.Context) error {
		claims, err := f.claims(ctx)
		if err == nil && len(claims) < count {
			err = fmt.Errorf("%d NodeClaims, %d are to be", len(claims), count)
		}
		return err
	}
}

// following follows plan and binds until the step ends; the first call that it returns judges the binds.
func (f *fleet) following(t *testing.T, ctx context.Context) (judge func() *loading) {
	t.Helper()
	w, err := f.follow(ctx, f.Stowage.Page)
	must(t, err)
	return func() *loading {
		t.Helper()
		must(t, w.end(ctx))
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, err := range w.errs {
			t.Error(err)
		}
		for _, wrong := range w.loading.wrong {
			t.Error(wrong)
		}
		t.Logf("%d pods bound, %d of them elsewhere than planned", len(w.loading.on), len(w.loading.strayed))
		return w.loading
	}
}

// on tells how many pods of a Deployment stand on each node.
func (f *fleet) on(ctx context.Context, name string) (map[string]int, error) {
	pods, err := f.pods(ctx, name)
	nodes := map[string]int{}
	for i := range pods {
		nodes[pods[i].Spec.NodeName]++
	}
	return nodes, err
}

// clear takes Deployments and nodes away for the next step. It tells the nodes to leave: of their own they would
// only after the 20 s for which one is kept that pods were planned for.
func (f *fleet) clear(t *testing.T, ctx context.Context, names ...string) {
	t.Helper()
	must(t, f.remove(ctx, names...))
	must(t, f.deleteClaims(ctx))
	must(t, f.Wait(ctx, "all nodes to leave", f.none))
}

// Pods of one shape, so that each thief fits into any place of an owner. The owners have been refused by
// the scheduler and wait out its back-off when their nodes come; the thieves have not.
func (f *fleet) refusesThief(t *testing.T, ctx context.Context) {
	const nodes = 3
	judge := f.following(t, ctx)
	must(t, f.deploy(ctx, tenth("owner"), nodes*tenths))
	must(t, f.Wait(ctx, "NodeClaims", f.bought(nodes)))
	claims, err := f.claims(ctx)
	must(t, err)
	must(t, f.deploy(ctx, tenth("thief"), nodes*tenths))
	must(t, f.Wait(ctx, "pods to run", f.running(2*nodes*tenths, "owner", "thief")))
	must(t, f.Wait(ctx, "machines", f.settled))
	judge()
	thieves, err := f.on(ctx, "thief")
	must(t, err)
	for _, c := range claims {
		if thieves[c.name] != 0 {
			t.Errorf("%d thieves are on %s, which was bought for %d owners", thieves[c.name], c.name, tenths)
		}
	}
	f.clear(t, ctx, "owner", "thief")
}

// late is a DaemonSet whose pod leaves no room for a tenth pod more on a machine that ten fill.
var late = shape{name: "late", cpu: "700m", memory: "64Mi"}

// runDaemons makes the DaemonSet's pods as its controller would, one for each machine.
func (f *fleet) runDaemons(ctx context.Context, set *apps.DaemonSet) error {
	machines, err := f.machines(ctx)
	if err != nil {
		return err
	}
	for _, node := range machines {
		spec := set.Spec.Template.Spec.DeepCopy()
		spec.Affinity = &core.Affinity{NodeAffinity: &core.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &core.NodeSelector{NodeSelectorTerms: []core.NodeSelectorTerm{{
				MatchFields: []core.NodeSelectorRequirement{
					{Key: meta.ObjectNameField, Operator: core.NodeSelectorOpIn, Values: []string{node.Name}}}}}}}}
		_, err := f.Client().CoreV1().Pods("default").Create(ctx, &core.Pod{
			ObjectMeta: meta.ObjectMeta{
				GenerateName: set.Name + "-", Labels: set.Spec.Template.Labels,
				OwnerReferences: []meta.OwnerReference{*meta.NewControllerRef(set, apps.SchemeGroupVersion.WithKind("DaemonSet"))},
			},
			Spec: *spec,
		}, meta.CreateOptions{})
		if err != nil {
			return err
		}
	}
	return nil
}

// The machines are full but for the room of the late pods, and others come who would fit there.
func (f *fleet) awaitsDaemons(t *testing.T, ctx context.Context) {
	const nodes = 2
	must(t, f.daemons(ctx, late))
	set, err := f.Client().AppsV1().DaemonSets("default").Get(ctx, late.name, meta.GetOptions{})
	must(t, err)
	must(t, f.deploy(ctx, tenth("owner"), nodes*tenths))
	must(t, f.Wait(ctx, "pods to run", f.running(nodes*tenths, "owner")))
	must(t, f.Wait(ctx, "machines", f.settled))
	first, err := f.claims(ctx)
	must(t, err)
	if len(first) != nodes {
		t.Errorf("%d NodeClaims for %d pods, of which %d fill one beside a DaemonSet's", len(first), nodes*tenths, tenths)
	}
	must(t, f.deploy(ctx, shape{name: "filler", cpu: "600m", memory: "64Mi"}, 2*nodes))
	must(t, f.Wait(ctx, "the fillers to run", f.running(2*nodes, "filler")))
	must(t, f.Wait(ctx, "machines", f.settled))
	fillers, err := f.on(ctx, "filler")
	must(t, err)
	for _, c := range first {
		if fillers[c.name] != 0 {
			t.Errorf("%d fillers are in the room of a DaemonSet's pod on %s", fillers[c.name], c.name)
		}
	}
	must(t, f.runDaemons(ctx, set))
	all, err := f.claims(ctx)
	must(t, err)
	must(t, f.Wait(ctx, "the DaemonSet's pods to run", f.running(len(all), late.name)))
	must(t, f.Client().AppsV1().DaemonSets("default").Delete(ctx, late.name, meta.DeleteOptions{}))
	f.clear(t, ctx, "owner", "filler")
	must(t, f.Wait(ctx, "end of the DaemonSet's pods", f.running(0, late.name)))
}

// evicted counts by node the pods that the scheduler has told to go, until the context ends.
func (f *fleet) evicted(t *testing.T, ctx context.Context, name string) (counts func() map[string]int) {
	t.Helper()
	selector := "app=" + name
	list, err := f.Client().CoreV1().Pods("default").List(ctx, meta.ListOptions{LabelSelector: selector})
	must(t, err)
	events, err := f.podEvents(ctx, list.ResourceVersion, selector)
	must(t, err)
	nodes := map[string]string{} // of pods
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range events.ResultChan() {
			pod, ok := event.Object.(*core.Pod)
			if !ok || event.Type == watch.Added {
				continue
			}
			for _, c := range pod.Status.Conditions {
				if c.Type == core.DisruptionTarget && c.Reason == core.PodReasonPreemptionByScheduler {
					nodes[pod.Name] = pod.Spec.NodeName
				}
			}
		}
	}()
	return func() map[string]int {
		events.Stop()
		<-done
		counts := map[string]int{}
		for _, node := range nodes {
			counts[node]++
		}
		return counts
	}
}

func (f *fleet) createPriority(ctx context.Context, name string, policy core.PreemptionPolicy) error {
	_, err := f.Client().SchedulingV1().PriorityClasses().Create(ctx, &scheduling.PriorityClass{
		ObjectMeta: meta.ObjectMeta{Name: name}, Value: 1000, PreemptionPolicy: &policy}, meta.CreateOptions{})
	return err
}

func hasPriority(class string) edit {
	return func(s *core.PodSpec) { s.PriorityClassName = class }
}

// remind has a pod go, as pods do in any cluster, while one of that name waits for a node that it is nominated for. Who
// has others evicted is not tried again before a pod goes, and kube-scheduler v1.36 may see the last of them go before it
// is ready to: then it forgets the pod until another goes, or for ever (kubernetes/kubernetes#141694).
func (f *fleet) remind(ctx context.Context, name, node string) error {
	list, err := f.pods(ctx, name)
	if err != nil {
		return err
	}
	waits := func(p core.Pod) bool { return p.Spec.NodeName == "" && p.Status.NominatedNodeName != "" }
	if !slices.ContainsFunc(list, waits) {
		return nil
	}
	pods := f.Client().CoreV1().Pods("default")
	passer, err := pods.Create(ctx, &core.Pod{
		ObjectMeta: meta.ObjectMeta{GenerateName: "passer-by-"},
		Spec:       core.PodSpec{NodeName: node, Containers: []core.Container{{Name: "c", Image: "i"}}},
	}, meta.CreateOptions{})
	if err != nil {
		return err
	}
	now := int64(0)
	return pods.Delete(ctx, passer.Name, meta.DeleteOptions{GracePeriodSeconds: &now})
}

// Urgent pods find full nodes, where they may evict others, and room that is kept for pods as urgent as
// they are. Wherever somebody had to go, one of them stands.
func (f *fleet) evictsForSomebody(t *testing.T, ctx context.Context) {
	const nodes, urgents = 2, 8
	must(t, f.createPriority(ctx, "urgent", core.PreemptLowerPriority))
	must(t, f.createPriority(ctx, "patient", core.PreemptNever))
	must(t, f.deploy(ctx, tenth("lowly"), nodes*tenths))
	must(t, f.Wait(ctx, "pods to run", f.running(nodes*tenths, "lowly")))
	must(t, f.Wait(ctx, "machines", f.settled))
	full, err := f.claims(ctx)
	must(t, err)
	victims := f.evicted(t, ctx, "lowly")
	// Who may not evict has places on new nodes; who may comes while those are on their way.
	must(t, f.deploy(ctx, tenth("patient"), nodes*tenths, hasPriority("patient")))
	must(t, f.Wait(ctx, "NodeClaims", f.bought(len(full)+nodes)))
	must(t, f.deploy(ctx, tenth("urgent"), urgents, hasPriority("urgent")))
	must(t, f.Wait(ctx, "pods to run", func(ctx context.Context) error {
		err := f.running(2*nodes*tenths+urgents, "lowly", "patient", "urgent")(ctx)
		if err != nil {
			err = errors.Join(err, f.remind(ctx, "urgent", full[0].name))
		}
		return err
	}))
	must(t, f.Wait(ctx, "machines", f.settled))
	gone := victims()
	came, err := f.on(ctx, "urgent")
	must(t, err)
	t.Logf("evicted on %v; the urgent stand on %v", gone, came)
	for _, err := range inVain(gone, came) {
		t.Error(err)
	}
	f.clear(t, ctx, "lowly", "patient", "urgent")
}

// inVain says what is wrong with who had to go, by node, for those who came. That nobody had to is wrong, too: then
// nothing was tried.
func inVain(gone, came map[string]int) []error {
	if len(gone) == 0 {
		return []error{errors.New("nobody had to go for the urgent")}
	}
	var wrong []error
	for node, count := range gone {
		if count > came[node] {
			wrong = append(wrong, fmt.Errorf("%d pods had to go from %s, where %d urgent ones stand", count, node, came[node]))
		}
	}
	return wrong
}

func TestInVain(t *testing.T) {
	for _, row := range []struct {
		label      string
		gone, came map[string]int
		wrong      int
	}{
		{"one for one", map[string]int{"a": 2, "b": 1}, map[string]int{"a": 2, "b": 3}, 0},
		{"one too many", map[string]int{"a": 2, "b": 1}, map[string]int{"a": 1, "b": 1}, 1},
		{"nobody came", map[string]int{"a": 1}, nil, 1},
		{"nobody had to go", map[string]int{}, map[string]int{"a": 8}, 1},
	} {
		if wrong := inVain(row.gone, row.came); len(wrong) != row.wrong {
			t.Errorf("%s: %v", row.label, wrong)
		}
	}
}

func (f *fleet) loadsOn(t *testing.T, ctx context.Context) {
	const nodes = 4
	judge := f.following(t, ctx)
	must(t, f.deploy(ctx, tenth("owner"), nodes*tenths))
	must(t, f.Wait(ctx, "NodeClaims", f.bought(nodes)))
	f.Part(controlplane.SchedulerPart).Kill()
	must(t, f.deploy(ctx, tenth("thief"), nodes*tenths))
	must(t, f.Restart(ctx, controlplane.SchedulerPart))
	must(t, f.Wait(ctx, "pods to run", f.running(2*nodes*tenths, "owner", "thief")))
	must(t, f.Wait(ctx, "machines", f.settled))
	judge()
	if claims, err := f.claims(ctx); err != nil || len(claims) != 2*nodes {
		t.Errorf("%d NodeClaims for %d pods, of which %d fill one (%v)", len(claims), 2*nodes*tenths, tenths, err)
	}
	f.clear(t, ctx, "owner", "thief")
}

// Of those who were planned some are gone, others have come. Machines take their time, so that the next plan has
// all of those: a pod that comes when nodes are there may be let onto one before a plan that counts on its room, and
// in the order of binds that looks like theft.
func (f *fleet) loadsAnew(t *testing.T, ctx context.Context) {
	const nodes = 4
	judge := f.following(t, ctx)
	must(t, f.delayMachines(ctx, 20*time.Second))
	must(t, f.deploy(ctx, tenth("first"), nodes*tenths))
	must(t, f.Wait(ctx, "NodeClaims", f.bought(nodes)))
	must(t, f.scale(ctx, "first", nodes*tenths/2))
	must(t, f.deploy(ctx, shape{name: "next", cpu: "3", memory: "2Gi"}, nodes*tenths/4))
	must(t, f.Wait(ctx, "the next to wait", f.waiting(nodes*tenths/4, "next")))
	must(t, f.Wait(ctx, "pods to run", func(ctx context.Context) error {
		return errors.Join(f.running(nodes*tenths/2, "first")(ctx), f.running(nodes*tenths/4, "next")(ctx))
	}))
	must(t, f.Wait(ctx, "machines", f.settled))
	judge()
	must(t, f.delayMachines(ctx, 0))
	f.clear(t, ctx, "first", "next")
}

// Nodes of the slow pool take only pods that tolerate them, and those not before the test says so.
const (
	slowPool    = "slow"
	slowKey     = "scenarios.stowage.dev/slow"
	startingKey = "scenarios.stowage.dev/starting"
	spareKey    = "scenarios.stowage.dev/spare"
)

// spare is a node that is nobody's but a pod's that names it.
const spare = "spare"

func (f *fleet) createSpare(ctx context.Context) error {
	room := core.ResourceList{"cpu": resource.MustParse("8"), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("100")}
	_, err := f.Client().CoreV1().Nodes().Create(ctx, &core.Node{
		ObjectMeta: meta.ObjectMeta{Name: spare, Labels: map[string]string{hostKey: spare}},
		Spec:       core.NodeSpec{Taints: []core.Taint{{Key: spareKey, Effect: core.TaintEffectNoSchedule}}},
		Status:     core.NodeStatus{Capacity: room, Allocatable: room},
	}, meta.CreateOptions{})
	return err
}

// bindSpare makes pods that only the spare node takes, and waits until they are bound there.
func (f *fleet) bindSpare(ctx context.Context, name string, count int) error {
	s := shape{name: name, cpu: "100m", memory: "64Mi", on: map[string]string{hostKey: spare}}
	if err := f.deploy(ctx, s, count, tolerates(spareKey)); err != nil {
		return err
	}
	return f.Wait(ctx, "pods to be bound to the spare node", func(ctx context.Context) error {
		nodes, err := f.on(ctx, name)
		if err == nil && nodes[spare] != count {
			err = fmt.Errorf("%d of %d are", nodes[spare], count)
		}
		return err
	})
}

// byClass tells how many pods of each Deployment have their place on each node.
func byClass(places map[string]string, shapes []shape) map[string]int {
	counts := map[string]int{}
	for pod, node := range places {
		for _, s := range shapes {
			if strings.HasPrefix(pod, "default/"+s.name+"-") {
				counts[s.name+" on "+node]++
			}
		}
	}
	return counts
}

// keepsPlaces is a check that a page tells these places, and no NodeClaim beyond those there were.
func (f *fleet) keepsPlaces(page string, want map[string]int, claims int, shapes []shape) func(context.Context) error {
	return func(ctx context.Context) error {
		p, err := readPlan(ctx, page)
		if err != nil {
			return err
		}
		if got := byClass(p.places(), shapes); !maps.Equal(got, want) {
			return fmt.Errorf("places of %d classes and nodes, %d were: %v, they were %v", len(got), len(want), got, want)
		}
		all, err := f.claims(ctx)
		if err == nil && len(all) != claims {
			err = fmt.Errorf("%d NodeClaims, there were %d", len(all), claims)
		}
		return err
	}
}

// Their nodes are there but not started, so that all stay in flight. They come in two waves, so that some are
// planned onto claims that were made for others.
func (f *fleet) inherits(t *testing.T, ctx context.Context) {
	const each = 100
	slow := map[string]string{poolLabel: slowPool}
	five := []shape{
		{name: "tiny", cpu: "100m", memory: "128Mi", on: slow}, {name: "fat", cpu: "250m", memory: "1Gi", on: slow},
		{name: "web", cpu: "500m", memory: "512Mi", on: slow}, {name: "cruncher", cpu: "1", memory: "1Gi", on: slow},
		{name: "database", cpu: "1500m", memory: "6Gi", on: slow},
	}
	count := each * len(five)
	must(t, f.createSpare(ctx))
	must(t, f.bindSpare(ctx, "before", 2))
	must(t, f.Stowage.Pause())
	for _, s := range five {
		must(t, f.deploy(ctx, s, each/2, tolerates(slowKey)))
	}
	first := f.planned(t, ctx, five, count/2)
	must(t, f.Stowage.Pause())
	for _, s := range five {
		must(t, f.scale(ctx, s.name, each))
	}
	want := f.planned(t, ctx, five, count)
	if !joined(first, want) {
		t.Error("none of the second wave has its place on a claim of the first")
	}
	claims, err := f.claims(ctx)
	must(t, err)

	lost := f.Stowage
	lost.Kill()
	f.Service.Remove(lost.Name())
	must(t, f.bindSpare(ctx, "gap", 20))
	options := f.Options
	options.Name = "next"
	options.Addresses, err = stowage.Reserve(f.ControlPlane)
	must(t, err)
	next, err := f.Launch(ctx, options)
	must(t, err)
	must(t, f.Wait(ctx, "the Service to lead to the next", f.Service.Leads(next.Name())))
	must(t, f.Wait(ctx, "the next to keep all places", f.keepsPlaces(next.Page, want, len(claims), five)))

	started := map[string]bool{}
	must(t, f.Wait(ctx, "pods to run", func(ctx context.Context) error {
		return errors.Join(f.start(ctx, started), f.running(count, names(five)...)(ctx))
	}))
	must(t, f.Wait(ctx, "machines", func(ctx context.Context) error {
		return errors.Join(f.start(ctx, started), f.settled(ctx))
	}))
	for _, c := range claims {
		delete(started, c.name)
	}
	if len(started) != 0 {
		t.Errorf("NodeClaims that the first leader had not: %v", slices.Sorted(maps.Keys(started)))
	}
}

// start lets the machines start that have not, and notes them by name. There are none but the first leader's; a
// machine more is told as what it is, and does not wait for ever.
func (f *fleet) start(ctx context.Context, started map[string]bool) error {
	machines, err := f.machines(ctx)
	for _, node := range machines {
		awaits := slices.ContainsFunc(node.Spec.Taints, func(t core.Taint) bool { return t.Key == startingKey })
		if err == nil && awaits && !started[node.Name] {
			_, err = f.Kubectl(ctx, "", "taint", "nodes", node.Name, startingKey+"-")
			started[node.Name] = err == nil
		}
	}
	return err
}

// planned lets a paused Stowage go on, and waits until so many pods have a place on a machine that is registered.
func (f *fleet) planned(t *testing.T, ctx context.Context, shapes []shape, count int) map[string]int {
	t.Helper()
	must(t, f.Wait(ctx, "pods to wait", f.waiting(count, names(shapes)...)))
	must(t, f.Stowage.Continue())
	var places map[string]int
	must(t, f.Wait(ctx, "machines for all", func(ctx context.Context) error {
		p, err := readPlan(ctx, f.Stowage.Page)
		if err != nil {
			return err
		}
		places = byClass(p.places(), shapes)
		if sum := total(places); sum != count {
			return fmt.Errorf("%d of %d pods have a place", sum, count)
		}
		return f.launched(ctx, places)
	}))
	return places
}

// joined tells whether pods of the second wave have their place where pods of the first have theirs.
func joined(first, both map[string]int) bool {
	nodes := map[string]bool{}
	for place := range first {
		_, node, _ := strings.Cut(place, " on ")
		nodes[node] = true
	}
	for place, n := range both {
		if _, node, _ := strings.Cut(place, " on "); nodes[node] && n > first[place] {
			return true
		}
	}
	return false
}

func total(counts map[string]int) int {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return sum
}

// launched says which place is on a node that is not registered.
func (f *fleet) launched(ctx context.Context, places map[string]int) error {
	machines, err := f.machines(ctx)
	if err != nil {
		return err
	}
	var nodes []string
	for i := range machines {
		// Before it is registered its taints are not what they are to be.
		if machines[i].Labels["karpenter.sh/registered"] == "true" {
			nodes = append(nodes, machines[i].Name)
		}
	}
	for _, place := range slices.Sorted(maps.Keys(places)) {
		if _, node, _ := strings.Cut(place, " on "); !slices.Contains(nodes, node) {
			return fmt.Errorf("no registered machine for %s", place)
		}
	}
	return nil
}
