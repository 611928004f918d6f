package scenarios

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"stowage.dev/tests/e2e/process"
	"stowage.dev/tests/e2e/proxy"
	"stowage.dev/tests/e2e/stowage"
)

// An eviction is answered with 429 for one of two reasons, and each is told as what it is: a budget holds its pods
// and nobody else, a busy API server holds all that Stowage sends.
func TestRefusedEvictions(t *testing.T) {
	t.Parallel()
	f := upWith(t, stowage.ClusterOptions{Stowage: stowage.Options{Args: steadyLease}})
	must(t, f.createPools(t.Context(), pool{name: "four", arch: "amd64", cpu: []string{"4"}}))
	f.step(t, "a budget is in the way", f.isHeldByBudget)
	f.step(t, "the API server is busy", f.leavesBusyAlone)
}

const saysBusy = "the API server is busy"

// busySaid is how often Stowage has said so. An API server that has just started is.
func (f *fleet) busySaid(t *testing.T) int {
	t.Helper()
	log, err := os.ReadFile(f.Stowage.Log())
	must(t, err)
	return strings.Count(string(log), saysBusy)
}

func (f *fleet) isHeldByBudget(t *testing.T, ctx context.Context) {
	none := intstr.FromInt32(0)
	budgets := f.Client().PolicyV1().PodDisruptionBudgets("default")
	_, err := budgets.Create(ctx, &policy.PodDisruptionBudget{
		ObjectMeta: meta.ObjectMeta{Name: "never-two"},
		Spec:       policy.PodDisruptionBudgetSpec{MaxUnavailable: &none, Selector: selects("kept")},
	}, meta.CreateOptions{})
	must(t, err)
	must(t, f.deploy(ctx, shape{name: "kept", cpu: "500m", memory: "512Mi"}, 2))
	must(t, f.deploy(ctx, shape{name: "free", cpu: "500m", memory: "512Mi"}, 3))
	must(t, f.Wait(ctx, "pods to run", f.running(5, "kept", "free")))
	leaves := f.one(t, ctx)
	busy := f.busySaid(t)
	must(t, f.deleteClaims(ctx))
	must(t, f.Wait(ctx, "the others to run elsewhere", func(ctx context.Context) error {
		nodes, err := f.on(ctx, "free")
		if n := nodes[leaves.node]; err == nil && n != 0 {
			err = fmt.Errorf("%d are on %s yet", n, leaves.node)
		}
		return errors.Join(err, f.running(3, "free")(ctx))
	}))
	must(t, f.Wait(ctx, "the budget to be told", func(ctx context.Context) error {
		return errors.Join(f.drainFails(ctx, leaves.node, "PodDisruptionBudget default/never-two"),
			f.drainFails(ctx, leaves.node, "evicting pod violates a PDB (Pod=default/kept-"),
			f.saysOf(f.Stowage, "PodDisruptionBudget default/never-two")(ctx))
	}))
	nodes, err := f.on(ctx, "kept")
	must(t, err)
	if nodes[leaves.node] != 2 {
		t.Errorf("of the pods that the budget keeps %d are on %s", nodes[leaves.node], leaves.node)
	}
	if f.busySaid(t) != busy {
		t.Error("a budget is told as an API server that is busy")
	}
	must(t, budgets.Delete(ctx, "never-two", meta.DeleteOptions{}))
	must(t, f.Wait(ctx, "the node to leave", f.gone(leaves)))
	must(t, f.Wait(ctx, "the pods to run elsewhere", f.running(2, "kept")))
	f.clear(t, ctx, "kept", "free")
}

// drainFails is nil when an Event of the Node says so.
func (f *fleet) drainFails(ctx context.Context, node, text string) error {
	list, err := f.Client().EventsV1().Events("default").List(ctx, meta.ListOptions{
		FieldSelector: "reason=FailedDraining,regarding.kind=Node,regarding.name=" + node})
	if err != nil {
		return err
	}
	for _, event := range list.Items {
		if event.Type == core.EventTypeWarning && strings.Contains(event.Note, text) {
			return nil
		}
	}
	return fmt.Errorf("of %d Events of Node %s none says %q", len(list.Items), node, text)
}

// arrivals are Stowage's writes as they come, but for those of its Lease, which do not wait.
type arrivals struct {
	mu     sync.Mutex
	refuse bool // evictions
	all    []arrival
}

type arrival struct {
	at      time.Time
	request string
	refused bool
}

func (a *arrivals) gate(r *http.Request) int {
	if r.Method == http.MethodGet || strings.HasPrefix(r.URL.Path, "/apis/coordination.k8s.io/") {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	refused := a.refuse && strings.HasSuffix(r.URL.Path, "/eviction")
	a.all = append(a.all, arrival{time.Now(), r.Method + " " + r.URL.Path, refused})
	if refused {
		return proxy.Busy
	}
	return 0
}

func (a *arrivals) forgive() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refuse = false
}

// since are those from the first that was refused on.
func (a *arrivals) since() []arrival {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.all {
		if a.all[i].refused {
			return append([]arrival(nil), a.all[i:]...)
		}
	}
	return nil
}

// restless are the writes that came while the API server was to be left alone: from when what was on its way when it
// said so has come, which takes a busy machine a second, until a little before it may be asked again.
func restless(all []arrival) []string {
	var wrong []string
	for _, one := range all {
		for _, said := range all {
			if after := one.at.Sub(said.at); said.refused && after > time.Second && after < proxy.BusyFor-time.Second/5 {
				wrong = append(wrong, fmt.Sprintf("%s %.1f s after an answer that the API server is busy for %v", one.request, after.Seconds(), proxy.BusyFor))
				break
			}
		}
	}
	return wrong
}

func (f *fleet) leavesBusyAlone(t *testing.T, ctx context.Context) {
	must(t, f.Stowage.Process.Stop(process.Patience))
	s, p, err := f.behind(ctx, "refused", f.Options)
	must(t, err)
	defer p.Close()
	defer s.Kill()
	must(t, f.deploy(ctx, shape{name: "early", cpu: "500m", memory: "512Mi"}, 3))
	must(t, f.Wait(ctx, "pods to run", f.running(3, "early")))
	leaves := f.one(t, ctx)
	a := &arrivals{refuse: true}
	p.Guard(a.gate)
	must(t, f.deleteClaims(ctx))
	must(t, f.Wait(ctx, "an eviction to be refused", func(context.Context) error {
		if len(a.since()) == 0 {
			return errors.New("none was sent")
		}
		return nil
	}))
	// What there is to do meanwhile: a machine for others, who do not all fit on the one that is bought for those
	// that leave, which may be on its way already.
	must(t, f.deploy(ctx, shape{name: "late", cpu: "1500m", memory: "512Mi"}, 3))
	must(t, f.Wait(ctx, "a purchase, and evictions to be tried again", func(context.Context) error {
		bought, refused := 0, map[string]int{}
		for _, one := range a.since() {
			if one.request == "POST /apis/karpenter.sh/v1/nodeclaims" {
				bought++
			} else if one.refused {
				refused[one.request]++
			}
		}
		for request, times := range refused {
			if times > 1 && bought > 0 {
				return nil
			}
			err = fmt.Errorf("%s came %d times, %d NodeClaims were made", request, times, bought)
		}
		return err
	}))
	for _, wrong := range restless(a.since()) {
		t.Error(wrong)
	}
	must(t, f.saysOf(s, saysBusy+" (429)")(ctx))
	for _, text := range []string{"PDB", "PodDisruptionBudget"} {
		if f.drainFails(ctx, leaves.node, text) == nil {
			t.Errorf("a busy API server is told as a %s in the way", text)
		}
	}
	a.forgive()
	must(t, f.Wait(ctx, "the node to leave", f.gone(leaves)))
	must(t, f.Wait(ctx, "the pods to run", f.running(6, "early", "late")))
	f.clear(t, ctx, "early", "late")
}

func TestRestless(t *testing.T) {
	at := func(seconds float64) time.Time {
		return time.Unix(0, int64(seconds*float64(time.Second)))
	}
	for _, row := range []struct {
		label string
		all   []arrival
		wrong int
	}{
		{"what was on its way", []arrival{{at(0), "POST /a/eviction", true}, {at(0.9), "PATCH /b", false}}, 0},
		{"too soon", []arrival{{at(0), "POST /a/eviction", true}, {at(3), "PATCH /b", false}}, 1},
		{"when it may", []arrival{{at(0), "POST /a/eviction", true}, {at(4.9), "PATCH /b", false}}, 0},
		{"after the second answer", []arrival{{at(0), "POST /a/eviction", true}, {at(5), "POST /a/eviction", true}, {at(7), "PATCH /b", false}}, 1},
		{"nobody was refused", []arrival{{at(0), "POST /a/eviction", false}, {at(3), "PATCH /b", false}}, 0},
	} {
		if wrong := restless(row.all); len(wrong) != row.wrong {
			t.Errorf("%s: %v", row.label, wrong)
		}
	}
}
