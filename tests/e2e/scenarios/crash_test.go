package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	core "k8s.io/api/core/v1"

	"stowage.dev/tests/e2e/process"
	"stowage.dev/tests/e2e/proxy"
	"stowage.dev/tests/e2e/stowage"
)

// The crash test. Pods come, get machines and go again, and Stowage is killed at one of its writes on
// the way and started anew: before the write reaches the API server, or after it was applied but before
// Stowage hears so. Whichever write it was, the cluster ends up the same.
//
//	STOWAGE_CRASH=all   every write, both halves; otherwise crashTrials of them
//	STOWAGE_SEED=N      choose them as the run did that printed N

const (
	crashTrials = 24
	crashSites  = 4  // control planes side by side: a trial is mostly waiting
	crashPods   = 30 // of which ten fill a machine
	crashNodes  = 3
)

type trial struct {
	number int // of the write; 0: no crash
	half   proxy.Half
}

func (t trial) String() string {
	if t.number == 0 {
		return "no crash"
	}
	return fmt.Sprintf("%v write %d", t.half, t.number)
}

// choose picks trials out of all, or all of them.
func choose(writes int, all bool, seed uint64) []trial {
	var trials []trial
	for number := 1; number <= writes; number++ {
		trials = append(trials, trial{number, proxy.Before}, trial{number, proxy.After})
	}
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(len(trials), func(i, j int) { trials[i], trials[j] = trials[j], trials[i] })
	if !all {
		trials = trials[:min(crashTrials, len(trials))]
	}
	return trials
}

func TestChoose(t *testing.T) {
	all := choose(40, true, 1)
	seen := map[trial]bool{}
	for _, one := range all {
		seen[one] = true
	}
	if len(all) != 80 || len(seen) != 80 || seen[trial{}] {
		t.Errorf("all of 40 writes are %d trials, %d different", len(all), len(seen))
	}
	if some := choose(40, false, 1); len(some) != crashTrials || !slices.Equal(some, choose(40, false, 1)) ||
		slices.Equal(some, choose(40, false, 2)) {
		t.Errorf("by seed: %v", some)
	}
	if few := choose(3, false, 1); len(few) != 6 {
		t.Errorf("of 3 writes: %v", few)
	}
}

// site is a cluster in which one trial after the other is made.
type site struct {
	*fleet
	proxy     *proxy.Proxy
	s         *stowage.Stowage
	restarted chan error
}

// work is what the sites share: the first to be ready finds out how many writes there are.
type work struct {
	once   sync.Once
	trials chan trial
}

func TestCrash(t *testing.T) {
	t.Parallel()
	var shared work
	for i := range crashSites {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			shared.once.Do(func() { shared.fill(t, s) })
			for one := range shared.trials {
				s.strike(t, one)
			}
		})
	}
}

// fill makes the list of trials. It is empty if the run without a crash fails.
func (w *work) fill(t *testing.T, s *site) {
	w.trials = make(chan trial)
	close(w.trials)
	writes := s.try(t, trial{})
	if t.Failed() {
		return
	}
	seed := uint64(time.Now().UnixNano()) % 1e6
	if text := os.Getenv("STOWAGE_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		must(t, err)
	}
	trials := choose(writes, os.Getenv("STOWAGE_CRASH") == "all", seed)
	t.Logf("%d writes without a crash; %d trials of %d, STOWAGE_SEED=%d", writes, len(trials), 2*writes, seed)
	w.trials = make(chan trial, len(trials))
	for _, one := range trials {
		w.trials <- one
	}
	close(w.trials)
}

func newSite(t *testing.T) *site {
	t.Helper()
	f := up(t, "--lease-duration=2s", "--lease-renew-deadline=1500ms", "--lease-retry-period=500ms",
		"--batch-idle-duration=300ms")
	ctx := t.Context()
	must(t, f.createPools(ctx, pool{name: "sixteen", arch: "amd64", cpu: []string{"16"}}))
	must(t, f.Stowage.Process.Stop(process.Patience))
	s, p, err := f.behind(ctx, "proxied", f.Options)
	must(t, err)
	t.Cleanup(p.Close)
	must(t, f.Wait(ctx, "the Lease", f.leads(s)))
	return &site{f, p, s, make(chan error, 1)}
}

// kill is the crash. Nobody is told, and somebody starts it again.
func (s *site) kill() {
	s.s.Kill()
	s.restarted <- s.s.Restart()
}

// strike makes a trial until it strikes.
func (s *site) strike(t *testing.T, one trial) {
	t.Helper()
	err := untilStruck(one, func(one trial) (writes int, struck bool) {
		writes = s.try(t, one)
		return writes, s.proxy.Struck()
	})
	if err != nil {
		t.Error(err)
	}
}

// untilStruck makes a trial until it strikes. A run may have fewer writes than the one that the trial was chosen from;
// then an earlier write of those that it had is struck. A trial that never strikes has tried nothing.
func untilStruck(one trial, try func(trial) (writes int, struck bool)) error {
	for tries := 3; tries > 0; tries-- {
		writes, struck := try(one)
		if struck {
			return nil
		}
		one.number = 1 + writes/2
	}
	return fmt.Errorf("no run came to its write; the last was to come to %d", one.number)
}

func TestUntilStruck(t *testing.T) {
	for _, row := range []struct {
		label string
		of    []int // writes of each run
		tried []int // numbers that were to be struck
		wrong bool
	}{
		{"at once", []int{40}, []int{30}, false},
		{"a run that was shorter", []int{20, 20}, []int{30, 11}, false},
		{"twice", []int{20, 4, 4}, []int{30, 11, 3}, false},
		{"never", []int{20, 4, 0}, []int{30, 11, 3}, true},
	} {
		var tried []int
		err := untilStruck(trial{30, proxy.After}, func(one trial) (int, bool) {
			writes := row.of[len(tried)]
			tried = append(tried, one.number)
			return writes, one.number <= writes && one.half == proxy.After
		})
		if (err != nil) != row.wrong || !slices.Equal(tried, row.tried) {
			t.Errorf("%s: %v, tried %v", row.label, err, tried)
		}
	}
}

// try makes a trial and returns how many writes there were.
func (s *site) try(t *testing.T, one trial) int {
	t.Helper()
	begin := time.Now()
	s.proxy.Begin(proxy.Strike{Number: one.number, Half: one.half, Kill: s.kill})
	err := s.live(t.Context(), one.number%3 != 0)
	writes := s.proxy.Writes()
	err = errors.Join(err, twice(writes))
	struck := "never came to it"
	if s.proxy.Struck() {
		err = errors.Join(err, <-s.restarted)
		struck = writes[one.number-1].String()
	}
	if one.number == 0 {
		struck = "as it should be"
	}
	t.Logf("%v: %s; %d writes, %.1f s", one, struck, len(writes), time.Since(begin).Seconds())
	if err != nil {
		for _, w := range writes {
			t.Logf("  %v", w)
		}
		t.Fatalf("%v: %v", one, err)
	}
	return len(writes)
}

// live has the pods come and go, and returns how the cluster then is not as it ought to be. Nodes have to be empty for
// a while until Stowage removes them: with hasten they are removed at once when the crash has been by then.
func (s *site) live(ctx context.Context, hasten bool) error {
	const name = "thirty"
	if err := s.deploy(ctx, shape{name: name, cpu: "1500m", memory: "1Gi"}, crashPods); err != nil {
		return err
	}
	if err := s.Wait(ctx, "pods to run", s.running(crashPods, name)); err != nil {
		return err
	}
	if err := s.Wait(ctx, "machines", s.settled); err != nil {
		return err
	}
	pods, err := s.pods(ctx, name)
	if err != nil {
		return err
	}
	if err := errors.Join(loads(pods), s.sound(ctx)); err != nil {
		return err
	}
	if err := s.remove(ctx, name); err != nil {
		return err
	}
	if hasten && s.proxy.Struck() {
		if err := s.deleteClaims(ctx); err != nil {
			return err
		}
	}
	if err := s.Wait(ctx, "all nodes to leave", s.none); err != nil {
		return err
	}
	return s.sound(ctx)
}

// loads checks that the pods stand where they stand without a crash: ten on each of three nodes.
func loads(pods []core.Pod) error {
	on := map[string]int{}
	for i := range pods {
		on[pods[i].Spec.NodeName]++
	}
	var counts []int
	for _, count := range on {
		counts = append(counts, count)
	}
	if len(counts) != crashNodes || slices.Min(counts) != crashPods/crashNodes || slices.Max(counts) != crashPods/crashNodes {
		return fmt.Errorf("pods on nodes: %v", on)
	}
	return nil
}

// twice says what was made more often than it should have been: NodeClaims beyond what the pods need,
// machines of one NodeClaim.
func twice(writes []proxy.Write) error {
	claims := 0
	made := map[string]int{}
	for _, w := range writes {
		if w.Method != http.MethodPost || w.Code != http.StatusCreated {
			continue
		}
		switch path, _, _ := strings.Cut(w.Path, "?"); path {
		case "/apis/karpenter.sh/v1/nodeclaims":
			claims++
		case "/api/v1/nodes":
			var n core.Node
			if err := json.Unmarshal(w.Body, &n); err != nil {
				return fmt.Errorf("%v: %w", w, err)
			}
			made[n.Annotations[claimUID]]++
		}
	}
	var wrong []error
	if claims != crashNodes {
		wrong = append(wrong, fmt.Errorf("%d NodeClaims were created, %d are needed", claims, crashNodes))
	}
	for uid, count := range made {
		if uid == "" || count != 1 {
			wrong = append(wrong, fmt.Errorf("%d machines were made for NodeClaim %q", count, uid))
		}
	}
	return errors.Join(wrong...)
}

func TestTwice(t *testing.T) {
	claim := proxy.Write{Method: "POST", Path: "/apis/karpenter.sh/v1/nodeclaims?fieldManager=a", Code: 201}
	refused := claim
	refused.Code = 409
	machine := func(uid string) proxy.Write {
		return proxy.Write{Method: "POST", Path: "/api/v1/nodes", Code: 201,
			Body: []byte(`{"metadata":{"annotations":{"` + claimUID + `":"` + uid + `"}}}`)}
	}
	for _, row := range []struct {
		label  string
		writes []proxy.Write
		want   string
	}{
		{"as it should be", []proxy.Write{claim, claim, refused, claim, machine("1"), machine("2"), machine("3")}, ""},
		{"a claim too many", []proxy.Write{claim, claim, claim, claim}, "4 NodeClaims"},
		{"launched twice", []proxy.Write{claim, claim, claim, machine("1"), machine("1")}, `2 machines were made for NodeClaim "1"`},
		{"nobody's machine", []proxy.Write{claim, claim, claim, machine("")}, `NodeClaim ""`},
	} {
		err := twice(row.writes)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.label, err, row.want)
		}
	}
}
