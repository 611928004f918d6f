package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

const (
	mostAway   = 40                               // pods that the budget lets be away: some more than one machine's
	priceLabel = "eks-node-viewer/instance-price" // in an hour; the provider's
)

// movement is what one consolidation was seen to do.
type movement struct {
	gone, bought  []claim
	before, after []core.Node    // machines
	evicted       map[string]int // by the Node on which they were, how many pods ended
	marked        []string
	claims        []claimChange
}

// cheaper is by how much less the machines cost in an hour.
func (m *movement) cheaper(t *testing.T) float64 {
	t.Helper()
	sum := 0.0
	for sign, machines := range map[float64][]core.Node{1: m.before, -1: m.after} {
		for i := range machines {
			price, err := strconv.ParseFloat(machines[i].Labels[priceLabel], 64)
			must(t, err)
			sum += sign * price
		}
	}
	return sum
}

// moves has one consolidation happen: while nobody is moved it leaves so many pods on those nodes, and when all is done the
// pods run on so many machines. Pods end by an eviction only, and never are more of them away than the budget lets be.
func (f *fleet) moves(t *testing.T, ctx context.Context, leave map[string]int, pods, machines int) *movement {
	t.Helper()
	must(t, f.mode(ctx, `"act, Underutilized=observe"`))
	f.thin(t, ctx, "web", func(node string, nth int) bool {
		stay, ok := leave[node]
		return !ok || nth <= stay
	})
	must(t, f.Wait(ctx, "pods to run", f.running(pods, "web")))
	must(t, f.calm(ctx))
	m := &movement{}
	claims, err := f.claims(ctx)
	must(t, err)
	m.before, err = f.machines(ctx)
	must(t, err)
	standing, err := f.pods(ctx, "web")
	must(t, err)
	ended, said, marked := f.podHistory(t, ctx), f.claimHistory(t, ctx), f.marked(t, ctx)
	must(t, f.mode(ctx, "null"))
	must(t, f.Wait(ctx, "the move", func(ctx context.Context) error {
		left := 0
		now, err := f.claims(ctx)
		for _, c := range now {
			if slices.ContainsFunc(claims, func(old claim) bool { return old.uid == c.uid }) {
				left++
			}
		}
		if err == nil && left == len(claims) {
			err = errors.New("nobody has left")
		}
		return err
	}))
	must(t, f.Wait(ctx, "machines", f.count(machines)))
	must(t, f.Wait(ctx, "pods to run", f.running(pods, "web")))
	must(t, f.calm(ctx))
	now, err := f.claims(ctx)
	must(t, err)
	m.after, err = f.machines(ctx)
	must(t, err)
	m.gone, m.bought = without(claims, now), without(now, claims)
	for _, c := range m.gone {
		must(t, f.hears(ctx, said, c.name))
		must(t, f.Wait(ctx, "marks to be heard of", func(context.Context) error {
			if !slices.Contains(marked.all(), c.node) {
				return fmt.Errorf("not of Node %s", c.node)
			}
			return nil
		}))
	}
	m.claims = said.all()
	m.marked = slices.Compact(slices.Sorted(slices.Values(marked.all())))
	m.evicted = f.keepsBudget(t, ctx, standing, ended, pods-mostAway)
	return m
}

// without are those of the first that are not among the others.
func without(claims, others []claim) []claim {
	return slices.DeleteFunc(slices.Clone(claims), func(c claim) bool {
		return slices.ContainsFunc(others, func(other claim) bool { return other.uid == c.uid })
	})
}

// keepsBudget waits until the history tells of all pods that run now, and judges it. It returns on which Node how many ended.
func (f *fleet) keepsBudget(t *testing.T, ctx context.Context, before []core.Pod, h *history[podChange], least int) map[string]int {
	t.Helper()
	now, err := f.pods(ctx, "web")
	must(t, err)
	var k *tally
	must(t, f.Wait(ctx, "the pods to be heard of", func(context.Context) error {
		k = keep(before, h.all())
		for i := range now {
			if !k.ready[now[i].UID] {
				return fmt.Errorf("not of %s", now[i].Name)
			}
		}
		if len(k.ready) != len(now) {
			return fmt.Errorf("it tells of %d that are ready, and %d are", len(k.ready), len(now))
		}
		return nil
	}))
	if k.least < least {
		t.Errorf("%d pods were ready at a time, %d are to be", k.least, least)
	}
	for _, pod := range k.lost {
		t.Errorf("pod %s was not evicted", pod)
	}
	return k.ended
}

// tally is what a history says of a Deployment's pods.
type tally struct {
	ready map[types.UID]bool // in the end
	least int                // were ready at any time
	ended map[string]int     // by their Node
	lost  []string           // ended, and not because somebody evicted them
}

// keep counts pods as whoever guards a PodDisruptionBudget does: one that has been told to go is not ready any more.
func keep(before []core.Pod, changes []podChange) *tally {
	k := &tally{ready: map[types.UID]bool{}, ended: map[string]int{}}
	for i := range before {
		if standsReady(&before[i]) {
			k.ready[before[i].UID] = true
		}
	}
	k.least = len(k.ready)
	for _, c := range changes {
		if !c.gone && standsReady(c.pod) {
			k.ready[c.pod.UID] = true
		} else {
			delete(k.ready, c.pod.UID)
		}
		k.least = min(k.least, len(k.ready))
		if !c.gone {
			continue
		}
		k.ended[c.pod.Spec.NodeName]++
		if !evictedByAPI(c.pod) {
			k.lost = append(k.lost, c.pod.Name)
		}
	}
	return k
}

func standsReady(pod *core.Pod) bool {
	return pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(c core.PodCondition) bool {
		return c.Type == core.PodReady && c.Status == core.ConditionTrue
	})
}

func TestKeep(t *testing.T) {
	pod := func(uid string, ready core.ConditionStatus, evicted bool) *core.Pod {
		p := &core.Pod{}
		p.UID, p.Name, p.Spec.NodeName = types.UID(uid), uid, "n"
		p.Status.Conditions = []core.PodCondition{{Type: core.PodReady, Status: ready}}
		if evicted {
			p.Status.Conditions = append(p.Status.Conditions, core.PodCondition{Type: core.DisruptionTarget, Reason: "EvictionByEvictionAPI"})
		}
		return p
	}
	is := func(uid string, ready core.ConditionStatus) podChange {
		return podChange{false, pod(uid, ready, false)}
	}
	ends := func(uid string, evicted bool) podChange {
		return podChange{true, pod(uid, core.ConditionTrue, evicted)}
	}
	told := podChange{false, pod("a", core.ConditionTrue, true)}
	told.pod.DeletionTimestamp = &meta.Time{}
	for _, row := range []struct {
		label              string
		changes            []podChange
		least, ready, lost int
	}{
		{"nothing happens", nil, 2, 2, 0},
		{"one after the other", []podChange{ends("a", true), is("c", core.ConditionFalse), is("c", core.ConditionTrue), ends("b", true),
			is("d", core.ConditionTrue)}, 1, 2, 0},
		{"both at once", []podChange{ends("a", true), ends("b", true), is("c", core.ConditionTrue)}, 0, 1, 0},
		{"told to go, and another one goes", []podChange{told, ends("b", true)}, 0, 0, 0},
		{"ready no more", []podChange{is("a", core.ConditionFalse)}, 1, 1, 0},
		{"deleted", []podChange{ends("a", false), is("c", core.ConditionTrue)}, 1, 2, 1},
	} {
		k := keep([]core.Pod{*pod("a", core.ConditionTrue, false), *pod("b", core.ConditionTrue, false)}, row.changes)
		if k.least != row.least || len(k.ready) != row.ready || len(k.lost) != row.lost {
			t.Errorf("%s: %+v", row.label, k)
		}
	}
}

// inPlaceOf says how one NodeClaim did not come in another's place: it names that, and it was ready for pods before that
// was told to go.
func inPlaceOf(changes []claimChange, old, next string) []error {
	var wrong []error
	initialized := false
	for _, c := range changes {
		if c.name() == next {
			initialized = initialized || claimOf(c.claim).initialized
			if says := c.claim.GetAnnotations()[replacesNote]; !strings.HasPrefix(says, "1 "+old+"/") {
				return []error{fmt.Errorf("NodeClaim %s comes in the place of %q, not of %s", next, says, old)}
			}
		}
		if c.name() == old && c.claim.GetDeletionTimestamp() != nil && !initialized {
			return []error{fmt.Errorf("NodeClaim %s was told to go before %s could take its pods", old, next)}
		}
	}
	if !initialized {
		wrong = append(wrong, fmt.Errorf("NodeClaim %s never could take pods", next))
	}
	return wrong
}

func TestInPlaceOf(t *testing.T) {
	at := func(text string) claimChange {
		o := &unstructured.Unstructured{}
		must(t, o.UnmarshalJSON([]byte(`{"apiVersion":"karpenter.sh/v1","kind":"NodeClaim",`+text+`}`)))
		return claimChange{claim: o}
	}
	comes := at(`"metadata":{"name":"b","annotations":{"` + replacesNote + `":"1 a/uid"}}`)
	ready := at(`"metadata":{"name":"b","annotations":{"` + replacesNote + `":"1 a/uid"}},"status":{"conditions":[{"type":"Initialized","status":"True"}]}`)
	nobodys := at(`"metadata":{"name":"b"},"status":{"conditions":[{"type":"Initialized","status":"True"}]}`)
	goes := at(`"metadata":{"name":"a","deletionTimestamp":"2026-01-01T00:00:30Z"}`)
	for _, row := range []struct {
		label   string
		changes []claimChange
		want    string
	}{
		{"in its place", []claimChange{comes, ready, goes}, ""},
		{"too early", []claimChange{comes, goes, ready}, "a was told to go before b"},
		{"in nobody's place", []claimChange{nobodys, goes}, `in the place of ""`},
		{"it never comes", []claimChange{comes}, "b never could"},
	} {
		err := errors.Join(inPlaceOf(row.changes, "a", "b")...)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.label, err, row.want)
		}
	}
}
