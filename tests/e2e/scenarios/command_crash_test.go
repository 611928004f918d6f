package scenarios

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"stowage.dev/tests/e2e/process"
	"stowage.dev/tests/e2e/proxy"
)

// Stowage is killed in each state of a command, and at once started anew. Nobody is lost, nothing is bought twice, and no
// mark stays. TestCrash has the writes of buying and leaving; the states themselves are reconciler/disruption/command.h's.
func TestCommandCrash(t *testing.T) {
	t.Parallel()
	// Two control planes side by side: it is mostly waiting.
	t.Run("before it is known", func(t *testing.T) {
		t.Parallel()
		s := newMovingSite(t)
		s.step(t, "it waits", s.diesWaiting)
		s.strikes(t, []blow{
			{"it marks: a Node has its taint", proxy.After, marksNode},
			{"it marks: a NodeClaim has its reason", proxy.After, marksClaim},
			{"it readies: nothing is bought yet", proxy.Before, buys},
		})
	})
	t.Run("from then on", func(t *testing.T) {
		t.Parallel()
		newMovingSite(t).strikes(t, []blow{
			{"it readies: one has been bought", proxy.After, buys},
			{"it removes: nobody has been told", proxy.Before, removes},
			{"it removes: one has been told", proxy.After, removes},
		})
	})
}

type blow struct {
	label string
	half  proxy.Half
	at    func(proxy.Write) bool
}

func (s *site) strikes(t *testing.T, blows []blow) {
	for i, b := range blows {
		s.step(t, b.label, func(t *testing.T, ctx context.Context) {
			s.diesAt(t, ctx, fmt.Sprintf("crash-%d", i), proxy.Strike{At: b.at, Half: b.half, Kill: s.kill})
		})
	}
}

const movers = 2 * quarters

func newMovingSite(t *testing.T) *site {
	t.Helper()
	f := up(t, "--lease-duration=2s", "--lease-renew-deadline=1500ms", "--lease-retry-period=500ms",
		"--batch-idle-duration=300ms", "--consolidation-cool-down=1s")
	ctx := t.Context()
	must(t, f.createPools(ctx, pool{name: "general", arch: "amd64", cpu: []string{"4"}, policy: "WhenEmptyOrUnderutilized"}))
	must(t, f.Stowage.Process.Stop(process.Patience))
	running, p, err := f.behind(ctx, "proxied", f.Options)
	must(t, err)
	t.Cleanup(p.Close)
	must(t, f.Wait(ctx, "the Lease", f.leads(running)))
	must(t, f.deploy(ctx, quarter("web"), movers))
	must(t, f.Wait(ctx, "pods to run", f.running(movers, "web")))
	must(t, f.Wait(ctx, "machines", f.count(2)))
	return &site{f, p, running, make(chan error, 1)}
}

func isPatch(w proxy.Write, path, text string) bool {
	return w.Method == http.MethodPatch && strings.HasPrefix(w.Path, path) && bytes.Contains(w.Body, []byte(text))
}

func marksNode(w proxy.Write) bool { return isPatch(w, "/api/v1/nodes/", disruptedKey) }

func marksClaim(w proxy.Write) bool {
	return isPatch(w, "/apis/karpenter.sh/v1/nodeclaims/", "DisruptionReason")
}

func buys(w proxy.Write) bool {
	return w.Method == http.MethodPost && strings.HasPrefix(w.Path, "/apis/karpenter.sh/v1/nodeclaims?")
}

func removes(w proxy.Write) bool {
	return w.Method == http.MethodDelete && strings.HasPrefix(w.Path, "/apis/karpenter.sh/v1/nodeclaims/")
}

// Of a command that waits the API knows nothing; who leads next decides anew.
func (s *site) diesWaiting(t *testing.T, ctx context.Context) {
	begin := time.Now()
	s.proxy.Begin(proxy.Strike{})
	s.halve(t, ctx, "web")
	_, err := s.told(ctx, "ConsolidationCandidate", "Node", begin)
	must(t, err)
	s.kill()
	must(t, <-s.restarted)
	must(t, s.Wait(ctx, "one machine to stay", s.count(1)))
	must(t, s.Wait(ctx, "pods to run", s.running(movers/2, "web")))
	must(t, s.calm(ctx))
	for _, w := range s.proxy.Writes() {
		if buys(w) {
			t.Errorf("%v: nothing was to be bought", w)
		}
	}
	must(t, s.scale(ctx, "web", movers))
	must(t, s.Wait(ctx, "pods to run", s.running(movers, "web")))
	must(t, s.Wait(ctx, "machines", s.count(2)))
}

// diesAt has both machines drift, and leaves two of the new template.
func (s *site) diesAt(t *testing.T, ctx context.Context, template string, strike proxy.Strike) {
	s.proxy.Begin(strike)
	must(t, s.changeTemplate(ctx, template))
	must(t, s.Wait(ctx, "the crash", func(context.Context) error {
		if !s.proxy.Struck() {
			return fmt.Errorf("%d writes, none of them is struck", len(s.proxy.Writes()))
		}
		return nil
	}))
	must(t, <-s.restarted)
	must(t, s.Wait(ctx, "machines of the new template", s.isOf(template)))
	must(t, s.Wait(ctx, "pods to run", s.running(movers, "web")))
	must(t, s.count(2)(ctx))
	bought := 0
	for _, w := range s.proxy.Writes() {
		if buys(w) && w.Code == http.StatusCreated {
			bought++
		}
	}
	if bought != 2 {
		t.Errorf("%d NodeClaims were bought in place of two", bought)
		for _, w := range s.proxy.Writes() {
			t.Logf("  %v", w)
		}
	}
}
