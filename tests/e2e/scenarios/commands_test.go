package scenarios

import (
	"context"
	"errors"
	"fmt"
	"html"
	"slices"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
)

// What stops a command: a budget that holds its drain, a cluster that has overtaken it while it waits, a replacement
// that never comes. Four of the pods fill a machine.
func TestCommands(t *testing.T) {
	t.Parallel()
	f := up(t, append([]string{"--consolidation-cool-down=1s"}, steadyLease...)...)
	must(t, f.createPools(t.Context(), pool{name: "general", arch: "amd64", cpu: []string{"4"}, starts: readyKey,
		policy: "WhenEmptyOrUnderutilized"}))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	must(t, f.readies(ctx))
	f.step(t, "a consolidation that is overtaken while it waits is dropped", f.isOvertaken)
	f.step(t, "what a pool only wants to be told is not done", f.recommends)
	// It ends with a consolidation, as a try of the first step does that comes too late: a third would be of a circle.
	f.step(t, "a consolidation whose drain a budget holds is not begun", f.awaitsBudget)
	stop() // from now on machines become ready when the test says so
	f.step(t, "a budget that closes while a replacement comes holds the drain", f.holdsDrain)
	f.step(t, "a replacement that never registers is given up", f.givesUp)
}

const (
	readyKey     = "scenarios.stowage.dev/not-ready" // a startup taint
	quarters     = 4                                 // pods on a machine
	waitsFor     = 15 * time.Second                  // a consolidation, before it is judged again
	registration = 15 * time.Minute                  // a machine may take to register
)

func quarter(name string) shape { return shape{name: name, cpu: "900m", memory: "512Mi"} }

// readies takes the startup taint off every machine that comes, until the context ends.
func (f *fleet) readies(ctx context.Context) error {
	_, err := f.nodeEvents(ctx, func(event watch.EventType, n *core.Node) {
		if event != watch.Deleted && hasTaint(n, readyKey) {
			_ = f.ready(ctx, n.Name) // the Node may have changed meanwhile: then it is heard of again
		}
	})
	return err
}

func (f *fleet) ready(ctx context.Context, name string) error {
	nodes := f.Client().CoreV1().Nodes()
	n, err := nodes.Get(ctx, name, meta.GetOptions{})
	if err != nil {
		return err
	}
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(taint core.Taint) bool { return taint.Key == readyKey })
	_, err = nodes.Update(ctx, n, meta.UpdateOptions{})
	return err
}

func hasTaint(n *core.Node, key string) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(taint core.Taint) bool { return taint.Key == key })
}

// nodeEvents tells of all Nodes that are there, and of what happens to them, in order.
func (f *fleet) nodeEvents(ctx context.Context, tell func(watch.EventType, *core.Node)) (*core.NodeList, error) {
	nodes := f.Client().CoreV1().Nodes()
	list, err := nodes.List(ctx, meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	events, err := toolswatch.NewRetryWatcherWithContext(ctx, list.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: nodes.Watch})
	if err != nil {
		return nil, err
	}
	go func() {
		for i := range list.Items {
			tell(watch.Added, &list.Items[i])
		}
		for event := range events.ResultChan() {
			if n, ok := event.Object.(*core.Node); ok {
				tell(event.Type, n)
			}
		}
	}()
	return list, nil
}

// marked are the Nodes that are marked as leaving, now or at any time since it was called.
func (f *fleet) marked(t *testing.T, ctx context.Context) *history[string] {
	t.Helper()
	h := &history[string]{}
	_, err := f.nodeEvents(ctx, func(_ watch.EventType, n *core.Node) {
		if hasTaint(n, disruptedKey) {
			h.add(n.Name)
		}
	})
	must(t, err)
	return h
}

func (f *fleet) uids(t *testing.T, ctx context.Context, names ...string) []types.UID {
	t.Helper()
	pods, err := f.pods(ctx, names...)
	must(t, err)
	var all []types.UID
	for i := range pods {
		all = append(all, pods[i].UID)
	}
	slices.Sort(all)
	return all
}

// halves leaves two machines of which each is half empty.
func (f *fleet) halves(t *testing.T, ctx context.Context) {
	t.Helper()
	must(t, f.deploy(ctx, quarter("web"), 2*quarters))
	must(t, f.Wait(ctx, "pods to run", f.running(2*quarters, "web")))
	must(t, f.Wait(ctx, "machines", f.count(2)))
	f.halve(t, ctx, "web")
	must(t, f.Wait(ctx, "pods to go", f.running(quarters, "web")))
}

const costNote = "controller.kubernetes.io/pod-deletion-cost"

// halve scales the Deployment so that every second pod of each machine goes.
func (f *fleet) halve(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	f.thin(t, ctx, name, func(_ string, nth int) bool { return nth%2 == 1 })
}

// thin scales the Deployment so that of the pods of each node, the first being number 1, those go that do not stay. Left to
// itself the ReplicaSet's controller takes those first that became ready last, which may be all of one machine.
func (f *fleet) thin(t *testing.T, ctx context.Context, name string, stays func(node string, nth int) bool) {
	t.Helper()
	pods, err := f.pods(ctx, name)
	must(t, err)
	seen, stay := map[string]int{}, len(pods)
	for i := range pods {
		seen[pods[i].Spec.NodeName]++
		if stays(pods[i].Spec.NodeName, seen[pods[i].Spec.NodeName]) {
			continue
		}
		stay--
		_, err := f.Client().CoreV1().Pods("default").Patch(ctx, pods[i].Name, types.MergePatchType,
			[]byte(`{"metadata":{"annotations":{"`+costNote+`":"-1"}}}`), meta.PatchOptions{})
		must(t, err)
	}
	must(t, f.scale(ctx, name, stay))
	must(t, f.Wait(ctx, "those to go that were to", func(ctx context.Context) error {
		pods, err := f.pods(ctx, name)
		for i := range pods {
			if pods[i].Annotations[costNote] != "" {
				err = fmt.Errorf("%s is still there", pods[i].Name)
			}
		}
		return err
	}))
}

// budget lets so many pods of the Deployment be away.
func (f *fleet) budget(ctx context.Context, name string, away int32) error {
	most := intstr.FromInt32(away)
	_, err := f.Client().PolicyV1().PodDisruptionBudgets("default").Create(ctx, &policy.PodDisruptionBudget{
		ObjectMeta: meta.ObjectMeta{Name: name},
		Spec:       policy.PodDisruptionBudgetSpec{MaxUnavailable: &most, Selector: selects(name)},
	}, meta.CreateOptions{})
	return err
}

func (f *fleet) openBudget(ctx context.Context, name string) error {
	_, err := f.Client().PolicyV1().PodDisruptionBudgets("default").Patch(ctx, name, types.MergePatchType,
		[]byte(`{"spec":{"maxUnavailable":1}}`), meta.PatchOptions{})
	return err
}

// told waits for an Event about an object of the kind whose note holds each of the texts, and returns the first.
func (f *fleet) told(ctx context.Context, reason, kind string, since time.Time, texts ...string) (found time.Time, err error) {
	err = f.Wait(ctx, "Event "+reason, func(ctx context.Context) error {
		list, err := f.Client().EventsV1().Events("").List(ctx, meta.ListOptions{
			FieldSelector: "reason=" + reason + ",regarding.kind=" + kind})
		if err != nil {
			return err
		}
		for _, event := range list.Items {
			all := event.EventTime.After(since)
			for _, text := range texts {
				all = all && strings.Contains(event.Note, text)
			}
			if all {
				found = event.EventTime.Time
				return nil
			}
		}
		return fmt.Errorf("none of %d holds all of %q", len(list.Items), texts)
	})
	return found, err
}

// held are the texts by which somebody knows what to do about a budget that holds one of these pods.
func (f *fleet) held(t *testing.T, ctx context.Context, name string) []string {
	t.Helper()
	pods, err := f.pods(ctx, name)
	must(t, err)
	owner := meta.GetControllerOf(&pods[0])
	return []string{"PodDisruptionBudget=[default/" + name + "]", "Pod=default/" + name + "-", owner.Kind + "=" + owner.Name}
}

func (f *fleet) awaitsBudget(t *testing.T, ctx context.Context) {
	begin := time.Now()
	must(t, f.budget(ctx, "web", 0))
	f.halves(t, ctx)
	before, marked := f.uids(t, ctx, "web"), f.marked(t, ctx)
	texts := f.held(t, ctx, "web")
	for _, kind := range []string{"Node", "NodeClaim"} {
		_, err := f.told(ctx, "DisruptionBlocked", kind, begin, texts...)
		must(t, err)
	}

	if names := marked.all(); len(names) > 0 || !slices.Equal(before, f.uids(t, ctx, "web")) {
		t.Errorf("a drain was begun that cannot end: of %v", names)
	}
	must(t, f.openBudget(ctx, "web"))
	must(t, f.Wait(ctx, "one machine to stay", f.count(1)))
	must(t, f.Wait(ctx, "pods to run", f.running(quarters, "web")))
	must(t, f.Client().PolicyV1().PodDisruptionBudgets("default").Delete(ctx, "web", meta.DeleteOptions{}))
	f.clear(t, ctx, "web")
}

// mode sets what the pool says of moves, in JSON.
func (f *fleet) mode(ctx context.Context, mode string) error {
	_, err := f.objects.Resource(poolResource).Patch(ctx, "general", types.MergePatchType,
		[]byte(fmt.Sprintf(`{"metadata":{"annotations":{"stowage.dev/mode":%s}}}`, mode)), meta.PatchOptions{})
	return err
}

// hasMove is a check that GET /plan tells of a move in this state, with what it saves and when it has paid for itself, and
// that the page has a line for it.
func (f *fleet) hasMove(state, line string) func(context.Context) error {
	return func(ctx context.Context) error {
		p, err := readPlan(ctx, f.Stowage.Page)
		if err != nil {
			return err
		}
		for _, m := range p.Moves {
			if m.State != state || len(m.Candidates) == 0 {
				continue
			}
			if m.SavingsPerHour <= 0 || !strings.Contains(m.Message, fmt.Sprintf("saves $%.4f/h", m.SavingsPerHour)) ||
				!strings.Contains(m.Message, "pays back ") {
				return fmt.Errorf("it says $%v an hour and %q", m.SavingsPerHour, m.Message)
			}
			return f.shows(ctx, line, html.EscapeString(m.Message), `"#node/`+m.Candidates[0]+`"`)
		}
		return fmt.Errorf("none of %v is %s", p.Moves, state)
	}
}

// shows is a check that the page has all of the texts.
func (f *fleet) shows(ctx context.Context, texts ...string) error {
	page, err := textOf(ctx, "http://"+f.Stowage.Page+"/")
	for _, text := range texts {
		if err == nil && !strings.Contains(page, text) {
			err = fmt.Errorf("the page has no %q", text)
		}
	}
	return err
}

func (f *fleet) recommends(t *testing.T, ctx context.Context) {
	begin := time.Now()
	must(t, f.mode(ctx, `"act, Underutilized=recommend"`))
	f.halves(t, ctx)
	before, marked := f.uids(t, ctx, "web"), f.marked(t, ctx)
	for _, kind := range []string{"Node", "NodeClaim"} {
		_, err := f.told(ctx, "DisruptionRecommended", kind, begin, "stowage.dev/mode", "remove general-", "saves $")
		must(t, err)
	}
	must(t, f.Wait(ctx, "GET /plan", f.hasMove("recommended", "recommended, not made")))
	must(t, f.Wait(ctx, "the log", f.saysOf(f.Stowage, "recommended, not made: remove general-")))
	if names := marked.all(); len(names) > 0 || !slices.Equal(before, f.uids(t, ctx, "web")) {
		t.Errorf("it was not only recommended: of %v", names)
	}
	f.clear(t, ctx, "web")
	must(t, f.mode(ctx, "null"))
	must(t, f.Wait(ctx, "it to be withdrawn", f.saysOf(f.Stowage, "recommended no more: remove general-")))
}

// A test on a busy machine may itself be too late, and the command have been carried out. Then it tries again.
func (f *fleet) isOvertaken(t *testing.T, ctx context.Context) {
	for tries := 3; tries > 0; tries-- {
		if f.overtakes(t, ctx) {
			return
		}
		t.Log("the pods came too late")
	}
	t.Error("no pod came in time")
}

func (f *fleet) overtakes(t *testing.T, ctx context.Context) bool {
	begin := time.Now()
	marked := f.marked(t, ctx)
	f.halves(t, ctx)
	defer f.clear(t, ctx, "web", "late")
	before, said := f.uids(t, ctx, "web"), f.claimHistory(t, ctx)
	since, err := f.told(ctx, "ConsolidationCandidate", "Node", begin)
	must(t, err)
	must(t, f.deploy(ctx, quarter("late"), quarters))
	must(t, f.Wait(ctx, "the latecomers", f.running(quarters, "late")))
	if last := f.lastBound(t, ctx, "late"); last.Sub(since) > waitsFor*2/3 {
		must(t, f.Wait(ctx, "nothing to be on its way", f.calm))
		return false
	}
	for _, kind := range []string{"Node", "NodeClaim"} {
		_, err = f.told(ctx, "ConsolidationRejected", kind, begin, "Consolidation rejected: ", "reason: ")
		must(t, err)
	}
	must(t, f.Wait(ctx, "the log", f.rejected))
	must(t, f.count(2)(ctx))
	if names := marked.all(); len(names) > 0 || !slices.Equal(before, f.uids(t, ctx, "web")) {
		t.Errorf("somebody was evicted, or marked: %v", names)
	}
	for _, c := range said.all() {
		if reason := conditionOf(c.claim, "DisruptionReason"); c.gone || reason["status"] == "True" {
			t.Errorf("NodeClaim %s is gone (%v), or was to leave: %v", c.name(), c.gone, reason)
		}
	}
	return true
}

// rejected is a check that the log says why a consolidation was dropped. The latecomers stand where its pods were to go, or
// are about to: it finds no room for them, or nodes that others are meant for, or nodes that are no candidates any more.
func (f *fleet) rejected(ctx context.Context) error {
	for _, reason := range []string{"scheduling", "budget", "churn"} {
		if f.saysOf(f.Stowage, "dropped, it does not stand after its wait ("+reason+"): remove general-")(ctx) == nil {
			return nil
		}
	}
	return errors.New("it gives no reason")
}

func (f *fleet) lastBound(t *testing.T, ctx context.Context, name string) time.Time {
	t.Helper()
	pods, err := f.pods(ctx, name)
	must(t, err)
	var last time.Time
	for i := range pods {
		for _, c := range pods[i].Status.Conditions {
			if c.Type == core.PodScheduled && c.LastTransitionTime.After(last) {
				last = c.LastTransitionTime.Time
			}
		}
	}
	return last
}

// replacement waits for the only NodeClaim that was bought in another's place, until it is as the check says.
func (f *fleet) replacement(ctx context.Context, what string, check func(claim, *core.Node) error) (claim, error) {
	var found claim
	return found, f.Wait(ctx, what, func(ctx context.Context) error {
		list, err := f.objects.Resource(claimResource).List(ctx, meta.ListOptions{})
		if err != nil {
			return err
		}
		machines, err := f.machines(ctx)
		for i := range list.Items {
			if list.Items[i].GetAnnotations()[replacesNote] == "" || list.Items[i].GetDeletionTimestamp() != nil {
				continue
			}
			found = claimOf(&list.Items[i])
			var its *core.Node
			for k := range machines {
				if machines[k].Annotations[claimUID] == found.uid {
					its = &machines[k]
					found.node = its.Name // the NodeClaim, which was read before it, may not say so yet
				}
			}
			return errors.Join(err, check(found, its))
		}
		return errors.Join(err, errors.New("there is none"))
	})
}

// grown is a cluster of one machine that is full, all of whose pods run.
func (f *fleet) grown(t *testing.T, ctx context.Context) claim {
	t.Helper()
	must(t, f.deploy(ctx, quarter("web"), quarters))
	must(t, f.Wait(ctx, "a machine", func(ctx context.Context) error {
		machines, err := f.machines(ctx)
		if err != nil || len(machines) == 0 || machines[0].Labels["karpenter.sh/registered"] == "" {
			return errors.Join(err, errors.New("none is registered"))
		}
		return f.ready(ctx, machines[0].Name)
	}))
	must(t, f.Wait(ctx, "pods to run", f.running(quarters, "web")))
	return f.one(t, ctx)
}

func (f *fleet) holdsDrain(t *testing.T, ctx context.Context) {
	begin := time.Now()
	old := f.grown(t, ctx)
	before, texts := f.uids(t, ctx, "web"), f.held(t, ctx, "web")
	must(t, f.changeTemplate(ctx, "two"))
	next, err := f.replacement(ctx, "a replacement to register", func(_ claim, n *core.Node) error {
		if n == nil || n.Labels["karpenter.sh/registered"] == "" {
			return errors.New("it is not")
		}
		return nil
	})
	must(t, err)
	must(t, f.budget(ctx, "web", 0))
	must(t, f.Wait(ctx, "the budget to be closed", func(ctx context.Context) error {
		b, err := f.Client().PolicyV1().PodDisruptionBudgets("default").Get(ctx, "web", meta.GetOptions{})
		if err == nil && (b.Status.ObservedGeneration != b.Generation || b.Status.ExpectedPods != quarters) {
			err = fmt.Errorf("its status is %+v", b.Status)
		}
		return err
	}))
	must(t, f.Wait(ctx, "the replacement to be made ready", func(ctx context.Context) error { return f.ready(ctx, next.node) }))
	must(t, f.Wait(ctx, "the log", f.saysOf(f.Stowage, old.name+" is not drained yet: ")))
	for _, text := range texts {
		must(t, f.saysOf(f.Stowage, text)(ctx))
	}
	_, err = f.told(ctx, "DisruptionBlocked", "Node", begin, texts...)
	must(t, err)
	if !slices.Equal(before, f.uids(t, ctx, "web")) {
		t.Error("a pod was evicted that a budget holds")
	}
	must(t, f.count(2)(ctx))
	must(t, f.openBudget(ctx, "web"))
	must(t, f.Wait(ctx, "the old machine to leave", f.gone(old)))
	must(t, f.Wait(ctx, "pods to run", f.running(quarters, "web")))
	must(t, f.Wait(ctx, "machines", f.count(1)))
	must(t, f.calm(ctx))
	must(t, f.Client().PolicyV1().PodDisruptionBudgets("default").Delete(ctx, "web", meta.DeleteOptions{}))
	f.clear(t, ctx, "web")
}

// registersAfter is how long after their launch machines come.
func (f *fleet) registersAfter(ctx context.Context, delay string) error {
	_, err := f.objects.Resource(classResource).Patch(ctx, "default", types.MergePatchType,
		[]byte(fmt.Sprintf(`{"spec":{"nodeRegistrationDelay":%q}}`, delay)), meta.PatchOptions{})
	return err
}

// Nobody waits for the quarter of an hour that a machine may take: the test dates back since when it has been awaited.
func (f *fleet) givesUp(t *testing.T, ctx context.Context) {
	old := f.grown(t, ctx)
	before := f.uids(t, ctx, "web")
	must(t, f.registersAfter(ctx, "24h"))
	must(t, f.changeTemplate(ctx, "three"))
	next, err := f.replacement(ctx, "a replacement to be launched", func(c claim, _ *core.Node) error {
		object, err := f.objects.Resource(claimResource).Get(ctx, c.name, meta.GetOptions{})
		if err == nil && conditionOf(object, "Launched")["status"] != "True" {
			err = errors.New("it is not")
		}
		return err
	})
	must(t, err)
	must(t, f.Wait(ctx, "the old one to be marked", func(ctx context.Context) error {
		n, err := f.Client().CoreV1().Nodes().Get(ctx, old.node, meta.GetOptions{})
		if err == nil && !hasTaint(n, disruptedKey) {
			err = errors.New("it is not")
		}
		return err
	}))
	must(t, f.Wait(ctx, "time to be over", func(ctx context.Context) error { return f.dateBack(ctx, next.name) }))
	must(t, f.Wait(ctx, "the replacement to be given up", f.gone(next)))
	must(t, f.changeTemplate(ctx, "two")) // nobody is to leave any more
	must(t, f.Wait(ctx, "the log", f.saysOf(f.Stowage, "taken back, its replacement could not be had: ")))
	must(t, f.Wait(ctx, "marks to be taken back", f.calm))
	if now := f.one(t, ctx); now.uid != old.uid || !slices.Equal(before, f.uids(t, ctx, "web")) {
		t.Errorf("NodeClaim %s was to keep its pods", old.name)
	}
	must(t, f.registersAfter(ctx, "0s"))
}

// dateBack says that the machine of a NodeClaim has been awaited for long.
func (f *fleet) dateBack(ctx context.Context, name string) error {
	claims := f.objects.Resource(claimResource)
	object, err := claims.Get(ctx, name, meta.GetOptions{})
	if err != nil {
		return err
	}
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range conditions {
		if c := c.(map[string]any); c["type"] == "Registered" {
			c["lastTransitionTime"] = time.Now().Add(-registration).UTC().Format(time.RFC3339)
		}
	}
	if err := unstructured.SetNestedSlice(object.Object, conditions, "status", "conditions"); err != nil {
		return err
	}
	_, err = claims.UpdateStatus(ctx, object, meta.UpdateOptions{})
	return err
}
