package scenarios

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/stowage"
)

// How nodes end, and when. Every step judges the order in which things happened, or what the API server wrote
// down of when: how quick the machine is does not matter.
func TestLeaving(t *testing.T) {
	t.Parallel()
	f := upWith(t, stowage.ClusterOptions{
		// The test attaches and detaches volumes.
		ControlPlane: controlplane.Options{
			Controllers: []string{"*", "-node-ipam-controller", "-persistentvolume-attach-detach-controller"}},
		Stowage: stowage.Options{Args: append([]string{"--feature-gates=StaticCapacity=true"}, steadyLease...)},
	})
	must(t, f.createPools(t.Context(), pool{name: "four", arch: "amd64", cpu: []string{"4"}}))
	f.step(t, "pods leave in turns", f.drainsInTurns)
	f.step(t, "volumes are waited for", f.awaitsVolumes)
	f.step(t, "a NodeClaim becomes as old as it may", f.expires)
	f.step(t, "empty nodes wait their time and their turn", f.leavesOneByOne)
	f.step(t, "a NodePool with replicas has so many nodes", f.keepsReplicas)
}

// history is all that happened to some objects, in the API server's order.
type history[T any] struct {
	mu   sync.Mutex
	seen []T
}

func (h *history[T]) add(one T) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, one)
}

func (h *history[T]) all() []T {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]T(nil), h.seen...)
}

type podChange struct {
	gone bool
	pod  *core.Pod
}

// podHistory begins now and ends with the context.
func (f *fleet) podHistory(t *testing.T, ctx context.Context) *history[podChange] {
	t.Helper()
	list, err := f.Client().CoreV1().Pods("default").List(ctx, meta.ListOptions{})
	must(t, err)
	events, err := f.podEvents(ctx, list.ResourceVersion, "")
	must(t, err)
	h := &history[podChange]{}
	go func() {
		for event := range events.ResultChan() {
			if pod, ok := event.Object.(*core.Pod); ok {
				h.add(podChange{event.Type == watch.Deleted, pod})
			}
		}
	}()
	return h
}

type claimChange struct {
	gone  bool
	claim *unstructured.Unstructured
}

func (c claimChange) name() string { return c.claim.GetName() }

// ending says that it was told to go and that its machine is still there.
func (c claimChange) ending() bool {
	return !c.gone && c.claim.GetDeletionTimestamp() != nil && conditionOf(c.claim, "InstanceTerminating")["status"] != "True"
}

// claimHistory begins now and ends with the context.
func (f *fleet) claimHistory(t *testing.T, ctx context.Context) *history[claimChange] {
	t.Helper()
	claims := f.objects.Resource(claimResource)
	list, err := claims.List(ctx, meta.ListOptions{})
	must(t, err)
	events, err := toolswatch.NewRetryWatcherWithContext(ctx, list.GetResourceVersion(), &cache.ListWatch{
		WatchFuncWithContext: claims.Watch})
	must(t, err)
	h := &history[claimChange]{}
	go func() {
		for event := range events.ResultChan() {
			if claim, ok := event.Object.(*unstructured.Unstructured); ok {
				h.add(claimChange{event.Type == watch.Deleted, claim})
			}
		}
	}()
	return h
}

// hears waits until the history tells of the end of each of these NodeClaims.
func (f *fleet) hears(ctx context.Context, h *history[claimChange], names ...string) error {
	return f.Wait(ctx, "the end of NodeClaims to be heard of", func(context.Context) error {
		ended := map[string]bool{}
		for _, c := range h.all() {
			ended[c.name()] = ended[c.name()] || c.gone
		}
		for _, name := range names {
			if !ended[name] {
				return fmt.Errorf("not of NodeClaim %s", name)
			}
		}
		return nil
	})
}

// one is the only NodeClaim there is.
func (f *fleet) one(t *testing.T, ctx context.Context) claim {
	t.Helper()
	must(t, f.Wait(ctx, "machines", f.settled))
	claims, err := f.claims(ctx)
	must(t, err)
	if len(claims) != 1 {
		t.Fatalf("%d NodeClaims, one is needed", len(claims))
	}
	return claims[0]
}

// gone is a check that neither the NodeClaim nor its Node is there.
func (f *fleet) gone(c claim) func(context.Context) error {
	return func(ctx context.Context) error {
		claims, err := f.claims(ctx)
		if err != nil {
			return err
		}
		machines, err := f.machines(ctx)
		for _, other := range claims {
			if other.uid == c.uid {
				err = errors.Join(err, fmt.Errorf("NodeClaim %s is there", c.name))
			}
		}
		for i := range machines {
			if machines[i].Annotations[claimUID] == c.uid {
				err = errors.Join(err, fmt.Errorf("Node %s is there", machines[i].Name))
			}
		}
		return err
	}
}

func graceful(s *core.PodSpec) {
	grace := int64(30)
	s.TerminationGracePeriodSeconds = &grace
}

// turns are the Deployments and DaemonSets of a node in the order in which their pods go. Their names, by which
// the API server lists them, say the contrary.
var turns = []string{"d-plain", "c-daemon", "b-critical", "a-critical-daemon"}

// Pods have a grace, so that between being told and being gone there is time for others to be told.
func (f *fleet) drainsInTurns(t *testing.T, ctx context.Context) {
	const each = 3
	small := func(name string) shape { return shape{name: name, cpu: "100m", memory: "64Mi"} }
	must(t, f.daemons(ctx, small(turns[1]), graceful))
	must(t, f.daemons(ctx, small(turns[3]), graceful, hasPriority("system-node-critical")))
	must(t, f.deploy(ctx, small(turns[0]), each, graceful))
	must(t, f.deploy(ctx, small(turns[2]), each, graceful, hasPriority("system-cluster-critical")))
	must(t, f.Wait(ctx, "pods to run", f.running(2*each+2, turns...)))
	leaves := f.one(t, ctx)
	pods, err := f.pods(ctx, turns...)
	must(t, err)
	turnOf := map[types.UID]int{}
	for _, pod := range pods {
		for i, name := range turns {
			if pod.Labels["app"] == name && pod.Spec.NodeName == leaves.node {
				turnOf[pod.UID] = i
			}
		}
	}
	if len(turnOf) != 2*each+2 {
		t.Fatalf("%d of %d pods are on %s", len(turnOf), 2*each+2, leaves.node)
	}
	h := f.podHistory(t, ctx)
	must(t, f.deleteClaims(ctx))
	must(t, f.Wait(ctx, "the node to leave", f.gone(leaves)))
	must(t, f.Wait(ctx, "the end of the pods to be heard of", func(context.Context) error {
		return drained(h.all(), turnOf, nil)
	}))
	must(t, drained(h.all(), turnOf, func(err error) { t.Error(err) }))
	for _, name := range []string{turns[1], turns[3]} {
		must(t, f.Client().AppsV1().DaemonSets("default").Delete(ctx, name, meta.DeleteOptions{}))
	}
	f.clear(t, ctx, turns[0], turns[2])
	must(t, f.Wait(ctx, "end of the DaemonSets' pods", f.running(0, turns...)))
}

// drained says whom it has not seen the end of; `wrong` hears of each pod that was told to go while a pod of an
// earlier turn was there, or by somebody else than the eviction API.
func drained(changes []podChange, turnOf map[types.UID]int, wrong func(error)) error {
	left, told := map[types.UID]bool{}, map[types.UID]bool{}
	for uid := range turnOf {
		left[uid] = true
	}
	for _, c := range changes {
		turn, ours := turnOf[c.pod.UID]
		if !ours {
			continue
		}
		if c.gone {
			delete(left, c.pod.UID)
		}
		if told[c.pod.UID] || (!c.gone && c.pod.DeletionTimestamp == nil) {
			continue
		}
		told[c.pod.UID] = true
		if wrong == nil {
			continue
		}
		if !evictedByAPI(c.pod) {
			wrong(fmt.Errorf("pod %s was not evicted", c.pod.Name))
		}
		for other := range left {
			if turnOf[other] < turn {
				wrong(fmt.Errorf("pod %s was told to go while pods of %s were there", c.pod.Name, turns[turnOf[other]]))
				break
			}
		}
	}
	if len(left) != 0 {
		return fmt.Errorf("%d pods are left", len(left))
	}
	return nil
}

func evictedByAPI(pod *core.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == core.DisruptionTarget && c.Reason == "EvictionByEvictionAPI" {
			return true
		}
	}
	return false
}

func TestDrained(t *testing.T) {
	turnOf := map[types.UID]int{"p": 0, "d": 1}
	pod := func(uid string) *core.Pod {
		p := &core.Pod{}
		p.UID, p.Name = types.UID(uid), uid
		p.Status.Conditions = []core.PodCondition{{Type: core.DisruptionTarget, Reason: "EvictionByEvictionAPI"}}
		return p
	}
	told := func(uid string) podChange {
		p := pod(uid)
		p.DeletionTimestamp = &meta.Time{}
		return podChange{false, p}
	}
	gone := func(uid string) podChange { return podChange{true, pod(uid)} }
	collected := gone("d")
	collected.pod.Status.Conditions = nil
	for _, row := range []struct {
		label   string
		changes []podChange
		want    string
	}{
		{"in turns", []podChange{{false, pod("d")}, told("p"), gone("p"), told("d"), gone("d"), gone("other")}, ""},
		{"too early", []podChange{told("p"), told("d"), gone("p"), gone("d")}, "pod d was told to go while pods of d-plain"},
		{"gone at once", []podChange{told("p"), gone("d"), gone("p")}, "pod d was told to go while pods of d-plain"},
		{"by the collector", []podChange{gone("p"), collected}, "pod d was not evicted"},
		{"not yet", []podChange{gone("p"), told("d")}, "1 pods are left"},
	} {
		var wrong []error
		err := drained(row.changes, turnOf, func(err error) { wrong = append(wrong, err) })
		if err = errors.Join(append(wrong, err)...); (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.label, err, row.want)
		}
	}
}

// The pod is long gone when its volume is detached, and the machine has waited.
func (f *fleet) awaitsVolumes(t *testing.T, ctx context.Context) {
	must(t, f.deploy(ctx, shape{name: "web", cpu: "500m", memory: "512Mi"}, 1))
	must(t, f.Wait(ctx, "the pod to run", f.running(1, "web")))
	leaves := f.one(t, ctx)
	volume := "pv-of-web"
	attachments := f.Client().StorageV1().VolumeAttachments()
	_, err := attachments.Create(ctx, &storage.VolumeAttachment{
		ObjectMeta: meta.ObjectMeta{Name: "csi-web"},
		Spec: storage.VolumeAttachmentSpec{Attacher: "scenarios.stowage.dev", NodeName: leaves.node,
			Source: storage.VolumeAttachmentSource{PersistentVolumeName: &volume}},
	}, meta.CreateOptions{})
	must(t, err)
	must(t, f.deleteClaims(ctx))
	is := func(condition, want string) func(context.Context) error {
		return f.conditionIs(claimResource, "", leaves.name, condition, want)
	}
	must(t, f.Wait(ctx, "the volume to be waited for", is("VolumesDetached", "Unknown AwaitingVolumeDetachment")))
	must(t, is("Drained", "True Drained")(ctx))
	must(t, f.Wait(ctx, "the pod to run elsewhere", f.running(1, "web")))
	nodes, err := f.on(ctx, "web")
	must(t, err)
	if nodes[leaves.node] != 0 {
		t.Errorf("the pod is on %s, which leaves", leaves.node)
	}
	_, err = f.Client().CoreV1().Nodes().Get(ctx, leaves.node, meta.GetOptions{})
	must(t, err)
	must(t, is("InstanceTerminating", "<nil> <nil>")(ctx))
	must(t, attachments.Delete(ctx, "csi-web", meta.DeleteOptions{}))
	must(t, f.Wait(ctx, "the node to leave", f.gone(leaves)))
	f.clear(t, ctx, "web")
}

// The claim has it from its pool when it is made, and keeps it whatever the pool says later.
func (f *fleet) expires(t *testing.T, ctx context.Context) {
	const age = 20 * time.Second
	// With another template its first NodeClaim has drifted; that is not what it is to leave for.
	must(t, f.addPools(ctx, pool{name: "brief", arch: "amd64", cpu: []string{"4"}, expires: age.String(), keepsDrifted: true}))
	h, pods := f.claimHistory(t, ctx), f.podHistory(t, ctx)
	must(t, f.deploy(ctx, shape{name: "lasting", cpu: "500m", memory: "512Mi", on: map[string]string{poolLabel: "brief"}}, 2))
	must(t, f.Wait(ctx, "a NodeClaim", f.bought(1)))
	_, err := f.objects.Resource(poolResource).Patch(ctx, "brief", types.MergePatchType,
		[]byte(`{"spec":{"template":{"spec":{"expireAfter":"Never"}}}}`), meta.PatchOptions{})
	must(t, err)
	first := h.first(ctx, f, t)
	must(t, f.Wait(ctx, "the pods to run elsewhere", func(ctx context.Context) error {
		return errors.Join(f.gone(claim{name: first.GetName(), uid: string(first.GetUID())})(ctx), f.running(2, "lasting")(ctx), f.settled(ctx))
	}))
	must(t, f.hears(ctx, h, first.GetName()))
	for _, c := range h.all() {
		if ended := c.claim.GetDeletionTimestamp(); c.claim.GetUID() == first.GetUID() && ended != nil {
			if lived := ended.Sub(c.claim.GetCreationTimestamp().Time); lived < age {
				t.Errorf("NodeClaim %s was to live for %v, and was deleted after %v", c.name(), age, lived)
			}
		}
	}
	var k *tally
	must(t, f.Wait(ctx, "the end of its two pods to be heard of", func(context.Context) error {
		if k = keep(nil, pods.all()); k.ended[first.GetName()] != 2 {
			return fmt.Errorf("of those that ended %v were there", k.ended)
		}
		return nil
	}))
	if len(k.lost) != 0 {
		t.Errorf("not evicted: %v", k.lost)
	}
	must(t, f.allOf(ctx, "brief"))
	f.clear(t, ctx, "lasting")
	must(t, f.objects.Resource(poolResource).Delete(ctx, "brief", meta.DeleteOptions{}))
}

// first is the first NodeClaim of a history.
func (h *history[T]) first(ctx context.Context, f *fleet, t *testing.T) *unstructured.Unstructured {
	t.Helper()
	var found *unstructured.Unstructured
	must(t, f.Wait(ctx, "a NodeClaim to be heard of", func(context.Context) error {
		for _, one := range h.all() {
			if c, ok := any(one).(claimChange); ok {
				found = c.claim
				return nil
			}
		}
		return errors.New("none yet")
	}))
	return found
}

// Three nodes are empty at once, and one may go at a time.
func (f *fleet) leavesOneByOne(t *testing.T, ctx context.Context) {
	const after = 25 * time.Second // longer than the time for which a candidate is looked at anyway
	must(t, f.addPools(ctx, pool{name: "slowly", arch: "amd64", cpu: []string{"4"}, after: after.String(), budget: "1"}))
	for i, zone := range zones {
		must(t, f.deploy(ctx, shape{name: fmt.Sprintf("in-%d", i), cpu: "500m", memory: "512Mi",
			on: map[string]string{poolLabel: "slowly", zoneKey: zone}}, 1))
	}
	must(t, f.Wait(ctx, "pods to run", f.running(3, "in-0", "in-1", "in-2")))
	must(t, f.Wait(ctx, "machines", f.count(3)))
	claims, err := f.claims(ctx)
	must(t, err)
	h := f.claimHistory(t, ctx)
	must(t, f.remove(ctx, "in-0", "in-1", "in-2"))
	must(t, f.Wait(ctx, "all nodes to leave", f.none))
	must(t, f.hears(ctx, h, claims[0].name, claims[1].name, claims[2].name))
	for _, err := range inTurn(h.all(), 1) {
		t.Error(err)
	}
	for _, err := range waited(h.all(), after) {
		t.Error(err)
	}
	must(t, f.objects.Resource(poolResource).Delete(ctx, "slowly", meta.DeleteOptions{}))
}

// inTurn says when more NodeClaims were ending at once than may.
func inTurn(changes []claimChange, most int) []error {
	var wrong []error
	ending := map[string]bool{}
	for _, c := range changes {
		delete(ending, c.name())
		if c.ending() {
			ending[c.name()] = true
		}
		if len(ending) > most {
			wrong = append(wrong, fmt.Errorf("%d NodeClaims are ending at once, %d may: %v", len(ending), most, ending))
		}
	}
	return wrong
}

// waited says which NodeClaim was deleted sooner after its last pod came or went. Times in the API are whole seconds,
// and a NodeClaim is consolidatable by those.
func waited(changes []claimChange, after time.Duration) []error {
	var wrong []error
	for _, c := range changes {
		text, _, _ := unstructured.NestedString(c.claim.Object, "status", "lastPodEventTime")
		last, err := time.Parse(time.RFC3339, text)
		if ended := c.claim.GetDeletionTimestamp(); ended != nil && (err != nil || ended.Sub(last) < after) {
			wrong = append(wrong, fmt.Errorf("NodeClaim %s was deleted at %v, %v after its last pod event at %q were to pass (%v)",
				c.name(), ended, after, text, err))
		}
	}
	return wrong
}

func TestInTurn(t *testing.T) {
	at := func(name string, fields string) claimChange {
		o := &unstructured.Unstructured{}
		text := `{"apiVersion":"karpenter.sh/v1","kind":"NodeClaim","metadata":{"name":"` + name + `"` + fields + `}`
		must(t, o.UnmarshalJSON([]byte(text)))
		return claimChange{claim: o}
	}
	lives := func(name string) claimChange { return at(name, "}") }
	ends := func(name string) claimChange { return at(name, `,"deletionTimestamp":"2026-01-01T00:00:30Z"}`) }
	over := func(name string) claimChange {
		return at(name, `,"deletionTimestamp":"2026-01-01T00:00:30Z"},"status":{"conditions":[{"type":"InstanceTerminating","status":"True"}]}`)
	}
	gone := ends("a")
	gone.gone = true
	for _, row := range []struct {
		label   string
		changes []claimChange
		wrong   int
	}{
		{"one after the other", []claimChange{lives("a"), ends("a"), over("a"), ends("b"), gone}, 0},
		{"the first is gone", []claimChange{ends("a"), gone, ends("b")}, 0},
		{"at once", []claimChange{ends("a"), ends("b"), over("a")}, 1},
	} {
		if wrong := inTurn(row.changes, 1); len(wrong) != row.wrong {
			t.Errorf("%s: %v", row.label, wrong)
		}
	}
	since := at("a", `,"deletionTimestamp":"2026-01-01T00:00:30Z"},"status":{"lastPodEventTime":"2026-01-01T00:00:10Z"}`)
	if len(waited([]claimChange{since, lives("b")}, 20*time.Second)) != 0 || len(waited([]claimChange{since}, 21*time.Second)) != 1 ||
		len(waited([]claimChange{ends("a")}, time.Second)) != 1 {
		t.Error("what has waited long enough is not told from what has not")
	}
}

// Its nodes need no pods. Pods may come, and buy none.
func (f *fleet) keepsReplicas(t *testing.T, ctx context.Context) {
	pools := f.objects.Resource(poolResource)
	two := int64(2)
	must(t, f.addPools(ctx, pool{name: "static", arch: "amd64", cpu: []string{"4"}, replicas: &two}))
	must(t, f.Wait(ctx, "two machines", f.count(2)))
	must(t, f.deploy(ctx, shape{name: "guest", cpu: "500m", memory: "512Mi", on: map[string]string{poolLabel: "static"}}, 2))
	must(t, f.Wait(ctx, "the guests to run", f.running(2, "guest")))
	must(t, f.count(2)(ctx))
	_, err := f.Kubectl(ctx, "", "scale", "nodepool/static", "--replicas=3")
	must(t, err)
	must(t, f.Wait(ctx, "a third machine", f.count(3)))
	_, err = f.Kubectl(ctx, "", "scale", "nodepool/static", "--replicas=1")
	must(t, err)
	must(t, f.Wait(ctx, "one machine to stay", f.count(1)))
	must(t, f.Wait(ctx, "the guests to run there", f.running(2, "guest")))
	must(t, f.remove(ctx, "guest"))
	must(t, f.count(1)(ctx))
	// As many as there may be.
	_, err = pools.Patch(ctx, "static", types.MergePatchType, []byte(`{"spec":{"limits":{"nodes":"2"},"replicas":3}}`), meta.PatchOptions{})
	must(t, err)
	must(t, f.Wait(ctx, "the limit to be told", func(ctx context.Context) error {
		held, err := gauge(ctx, f.Stowage.Metrics, `stowage_purchases_held_total{reason="limit"}`)
		if err == nil && held == 0 {
			err = errors.New("nothing was held back")
		}
		return err
	}))
	must(t, f.Wait(ctx, "two machines", f.count(2)))
	must(t, f.allOf(ctx, "static"))
	must(t, pools.Delete(ctx, "static", meta.DeleteOptions{}))
	must(t, f.Wait(ctx, "all nodes to leave", f.none))
}
