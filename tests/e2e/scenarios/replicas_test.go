package scenarios

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/process"
	"stowage.dev/tests/e2e/proxy"
	"stowage.dev/tests/e2e/stowage"
)

// A Lease short enough for a test to wait for its end, and long enough that a leader on a busy machine
// keeps it.
const leaseDuration = 10 * time.Second

var steadyLease = []string{"--lease-duration=10s", "--lease-renew-deadline=9s", "--lease-retry-period=1s"}

// behind launches another Stowage that reaches the API server through a proxy of its own.
func (f *fleet) behind(ctx context.Context, name string, options stowage.Options) (*stowage.Stowage, *proxy.Proxy, error) {
	port, err := f.Port()
	if err != nil {
		return nil, nil, err
	}
	certificate, err := f.ServerCertificate()
	if err != nil {
		return nil, nil, err
	}
	p, err := proxy.Start(fmt.Sprintf("127.0.0.1:%d", port), certificate, f.Config())
	if err != nil {
		return nil, nil, err
	}
	options.Name, options.Account.Server = name, p.URL()
	s, err := f.Launch(ctx, options)
	if err != nil {
		p.Close()
		return nil, nil, err
	}
	return s, p, s.Ready(ctx)
}

// What happens to others when a Stowage dies or hangs: another replica takes over; without any, pods are
// scheduled and NodePools edited as if there had never been one. The scheduler waits for an answer for as
// long as the configuration that ships says.
func TestWithoutStowage(t *testing.T) {
	t.Parallel()
	f := upWith(t, stowage.ClusterOptions{Replicas: true, Stowage: stowage.Options{Args: steadyLease}})
	f.step(t, "of two replicas the leader acts, and then the other", f.takesOver)
	f.step(t, "while another autoscaler is at work, it observes", f.stepsBack)
	f.step(t, "dead, stopped or mute, it is in nobody's way", f.failsOpen)
}

func (f *fleet) takesOver(t *testing.T, ctx context.Context) {
	must(t, f.createPools(ctx, pool{name: "sixteen", arch: "amd64", cpu: []string{"16"}}))
	must(t, f.Stowage.Process.Stop(process.Patience))
	f.Service.Remove(f.Stowage.Name())
	first, ofFirst, err := f.behind(ctx, "replica-a", f.Options)
	must(t, err)
	defer ofFirst.Close()
	defer first.Kill()
	must(t, f.Wait(ctx, "the first replica to lead", f.leads(first)))
	must(t, f.Wait(ctx, "the Service to lead there", f.Service.Leads(first.Name())))
	second := f.Options
	second.Addresses, err = stowage.Reserve(f.ControlPlane)
	must(t, err)
	other, ofOther, err := f.behind(ctx, "replica-b", second)
	must(t, err)
	defer ofOther.Close()
	defer other.Kill()

	must(t, f.deploy(ctx, shape{name: "early", cpu: "1500m", memory: "1Gi"}, 10))
	must(t, f.Wait(ctx, "pods to run", f.running(10, "early")))
	must(t, f.Wait(ctx, "machines", f.settled))
	if writes := deeds(ofOther); len(writes) > 0 {
		t.Errorf("the replica that does not lead wrote %v", writes)
	}
	if len(deeds(ofFirst)) == 0 {
		t.Error("the leader wrote nothing")
	}

	first.Kill()
	f.Service.Remove(first.Name())
	lost, err := f.lease(ctx)
	must(t, err)
	must(t, f.deploy(ctx, shape{name: "late", cpu: "1500m", memory: "1Gi"}, 10))
	must(t, f.Wait(ctx, "the other to act", func(context.Context) error {
		if len(deeds(ofOther)) == 0 {
			return errors.New("no write")
		}
		return nil
	}))
	taken, err := f.lease(ctx)
	must(t, err)
	if *taken.HolderIdentity == *lost.HolderIdentity {
		t.Errorf("the other acts under the Lease of the one that was killed: %v", taken)
	}
	// By their own clocks, from the leader's last sign of life to the other's first; a second for the
	// next try, the rest is for a machine that has other things to do.
	between := taken.AcquireTime.Sub(lost.RenewTime.Time)
	t.Logf("the other leads %.1f s after the last sign of life of the one that was killed; the Lease lasts %v",
		between.Seconds(), leaseDuration)
	if between < leaseDuration || between > 2*leaseDuration {
		t.Errorf("the other leads after %v; the Lease lasts %v", between, leaseDuration)
	}
	must(t, f.Wait(ctx, "pods to run", f.running(10, "late")))
	must(t, f.Wait(ctx, "machines", f.settled))
	must(t, f.Wait(ctx, "the Service to lead to the other", f.Service.Leads(other.Name())))
	f.guides(t, ctx, other)
	must(t, f.sound(ctx))
	must(t, f.remove(ctx, "early", "late", "guided"))
	must(t, f.Wait(ctx, "all nodes to leave", f.none))
	must(t, other.Process.Stop(process.Patience))
	f.Service.Remove(other.Name())
	must(t, f.Stowage.Restart())
	must(t, f.Service.Add(ctx, f.Stowage.Name(), f.Stowage.Addresses))
	must(t, f.Stowage.Ready(ctx))
}

// deeds are the writes that a leader alone may make. Each replica says on its own Pod whether it leads.
func deeds(p *proxy.Proxy) []proxy.Write {
	return slices.DeleteFunc(p.Writes(), func(w proxy.Write) bool {
		return w.Method == http.MethodPatch && strings.HasPrefix(w.Path, "/api/v1/namespaces/stowage-system/pods/")
	})
}

// guides checks that the scheduler asks this replica, and that pods go where it planned them, or take no
// other's room. Equal pods may change places.
func (f *fleet) guides(t *testing.T, ctx context.Context, leader *stowage.Stowage) {
	t.Helper()
	const count = 30
	told := func() float64 {
		var sum float64
		for _, answer := range []string{"planned", "traded"} {
			count, err := gauge(ctx, leader.Metrics, `stowage_extender_requests_total{verb="filter",answer="`+answer+`"}`)
			must(t, err)
			sum += count
		}
		return sum
	}
	before := told()
	skipped := f.skipped(t)
	w, err := f.follow(ctx, leader.Page)
	must(t, err)
	must(t, f.deploy(ctx, shape{name: "guided", cpu: "1500m", memory: "1Gi"}, count))
	must(t, f.Wait(ctx, "pods to run", f.running(count, "guided")))
	must(t, f.Wait(ctx, "machines", f.settled))
	after := told()
	must(t, w.end(ctx))
	w.mu.Lock()
	defer w.mu.Unlock()
	skipped = f.skipped(t) - skipped
	t.Logf("%d pods: the new leader told the scheduler %.0f times where one was planned; %d times the scheduler did not wait for it",
		count, after-before, skipped)
	for _, err := range w.errs {
		t.Error(err)
	}
	if int(after-before) < count-skipped || after == before {
		t.Errorf("%d pods were bound, and the new leader told the place of %.0f", count, after-before)
	}
	if skipped > 0 {
		return // a pod of which the scheduler did not hear goes anywhere
	}
	for _, wrong := range w.loading.wrong {
		t.Error(wrong)
	}
}

// skipped is how often the scheduler did without an extender that did not answer within httpTimeout,
// which is what it does on a busy machine.
func (f *fleet) skipped(t *testing.T) int {
	t.Helper()
	return len(f.skips(t))
}

// skips are the scheduler's lines about that: each says why.
func (f *fleet) skips(t *testing.T) []string {
	t.Helper()
	log, err := os.ReadFile(f.Part(controlplane.SchedulerPart).Log())
	must(t, err)
	var lines []string
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, "Skipping extender as it returned error") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// lease is Stowage's own, which somebody holds or held.
func (f *fleet) lease(ctx context.Context) (coordination.LeaseSpec, error) {
	lease, err := f.Client().CoordinationV1().Leases(f.Account.Namespace).
		Get(ctx, "stowage-leader-election", meta.GetOptions{})
	if err != nil {
		return coordination.LeaseSpec{}, err
	}
	s := lease.Spec
	if s.HolderIdentity == nil || *s.HolderIdentity == "" || s.AcquireTime == nil || s.RenewTime == nil {
		return s, fmt.Errorf("nobody holds the Lease: %v", s)
	}
	return s, nil
}

// leads is a check that the replica, the only one that runs, leads: the Lease was renewed since this
// check was made.
func (f *fleet) leads(s *stowage.Stowage) func(context.Context) error {
	since := time.Now()
	return func(ctx context.Context) error {
		lease, err := f.lease(ctx)
		if err == nil && lease.RenewTime.Time.Before(since) {
			err = fmt.Errorf("%s does not renew the Lease: %v", s.Name(), lease)
		}
		return err
	}
}

// failsOpen compares how pods are scheduled and NodePools edited with a Stowage that is alive and with
// ones that are not.
func (f *fleet) failsOpen(t *testing.T, ctx context.Context) {
	must(t, f.spare(ctx))
	f.isAsked(t, ctx)
	f.goesOn(t, ctx, "alive", 200, nil)
	f.goesOn(t, ctx, "flooded", 200, func() (undo func()) { return f.flood(t, ctx) })
	f.goesOn(t, ctx, "killed", 200, func() (undo func()) {
		f.Stowage.Kill()
		return nil
	})
	f.goesOn(t, ctx, "mute", 20, func() (undo func()) {
		closers := []net.Listener{mute(t, f.Stowage.Webhook), mute(t, f.Stowage.Extender)}
		return func() {
			for _, l := range closers {
				l.Close()
			}
		}
	})
	must(t, f.Stowage.Restart())
	must(t, f.Stowage.Ready(ctx))
	f.isAsked(t, ctx)
	f.goesOn(t, ctx, "stopped", 20, func() (undo func()) {
		must(t, f.Stowage.Pause())
		return func() { must(t, f.Stowage.Continue()) }
	})
	if !f.Stowage.Running() {
		t.Errorf("stopped for a while it went on, and ended: %v", f.Stowage.Err())
	}
	f.isAsked(t, ctx)
	f.goesOn(t, ctx, "stalled", 200, func() (undo func()) { return f.stalls(t) })
	// It is back, and as good as before.
	must(t, f.deploy(ctx, shape{name: "again", cpu: "1500m", memory: "1Gi", on: map[string]string{poolLabel: "sixteen"}}, 10))
	must(t, f.Wait(ctx, "pods to run", f.running(10, "again")))
	must(t, f.Wait(ctx, "machines", f.settled))
}

// spare makes two nodes that are not Stowage's: with one alone kube-scheduler would not ask for scores.
func (f *fleet) spare(ctx context.Context) error {
	for _, name := range []string{"spare-a", "spare-b"} {
		room := core.ResourceList{"cpu": resource.MustParse("1000"), "memory": resource.MustParse("4Ti"), "pods": resource.MustParse("5000")}
		_, err := f.Client().CoreV1().Nodes().Create(ctx, &core.Node{
			ObjectMeta: meta.ObjectMeta{Name: name},
			Status:     core.NodeStatus{Capacity: room, Allocatable: room},
		}, meta.CreateOptions{})
		if err != nil {
			return err
		}
	}
	return nil
}

// flood holds 2,000 connections to each of Stowage's listeners: half of them say nothing, the others the half of a
// request, some of a large one. While they are there, no probe may be lost.
func (f *fleet) flood(t *testing.T, ctx context.Context) (undo func()) {
	t.Helper()
	const each = 2000
	large := []byte("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 8000000\r\n\r\n" +
		strings.Repeat("x", 4<<20))
	var held []net.Conn
	for _, address := range []string{f.Stowage.Webhook, f.Stowage.Extender, f.Stowage.Metrics, f.Stowage.Probes, f.Stowage.Page} {
		for i := range each {
			conn, err := net.Dial("tcp", address)
			must(t, err)
			held = append(held, conn)
			must(t, conn.SetWriteDeadline(time.Now().Add(process.Patience)))
			switch { // that it is cut on the way is what may happen
			case i%100 == 0:
				_, _ = conn.Write(large)
			case i%2 == 0:
				_, _ = conn.Write(large[:20])
			}
		}
		must(t, f.Answers("http://"+f.Stowage.Probes+"/livez")(ctx))
	}
	rss, err := gauge(ctx, f.Stowage.Metrics, "process_resident_memory_bytes")
	must(t, err)
	t.Logf("%d connections to Stowage; it has %.0f MiB resident", len(held), rss/(1<<20))
	probes, stop := make(chan error), make(chan struct{})
	go func() {
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				probes <- nil
				return
			case <-ticker.C:
			}
			if err := f.Answers("http://" + f.Stowage.Probes + "/livez")(ctx); err != nil {
				probes <- err
				return
			}
		}
	}()
	return func() {
		close(stop)
		if err := <-probes; err != nil {
			t.Errorf("a probe while the listeners were flooded: %v", err)
		}
		for _, conn := range held {
			conn.Close()
		}
	}
}

// isAsked waits until the scheduler's calls reach Stowage: it leads, and the Service knows.
func (f *fleet) isAsked(t *testing.T, ctx context.Context) {
	t.Helper()
	must(t, f.Wait(ctx, "the Lease", f.leads(f.Stowage)))
	must(t, f.Wait(ctx, "the Service to lead there", f.Service.Leads(f.Stowage.Name())))
}

// stalls holds the loops of the extender and that of the webhook: a Stowage that accepts and never answers, as a
// mute one does. It ends by itself, says why, and is started again, as a kubelet does.
func (f *fleet) stalls(t *testing.T) (undo func()) {
	t.Helper()
	must(t, f.Stowage.Stall("extender-1", "extender-2", "webhook"))
	begin := time.Now()
	restarted := make(chan error)
	go func() {
		select {
		case <-f.Stowage.Done():
		case <-t.Context().Done():
			restarted <- errors.New("three loops stood still, and Stowage ran on")
			return
		}
		t.Logf("three loops stood still; %.1f s later the process had ended: %v", time.Since(begin).Seconds(), f.Stowage.Err())
		var status *exec.ExitError
		if !errors.As(f.Stowage.Err(), &status) || status.ExitCode() != 70 {
			t.Errorf("it ended with %v, not with status 70", f.Stowage.Err())
		}
		if said := process.Tail(f.Stowage.Log(), 2000); !strings.Contains(said, "of 2 of the extender") || !strings.Contains(said, "the loop of the webhook") {
			t.Errorf("it did not say what stood still:\n%s", said)
		}
		restarted <- f.Stowage.Restart()
	}()
	return func() {
		must(t, <-restarted)
		must(t, f.Stowage.Ready(t.Context()))
	}
}

// goesOn schedules pods and edits NodePools while Stowage is in some state.
func (f *fleet) goesOn(t *testing.T, ctx context.Context, state string, pods int, enter func() (undo func())) {
	t.Helper()
	if enter != nil {
		if undo := enter(); undo != nil {
			defer undo()
		}
	}
	rate, err := f.rate(ctx, state, pods)
	must(t, err)
	slowest, err := f.edits(ctx, state)
	must(t, err)
	t.Logf("stowage %s: %.1f pods/s; NodePool created, edited and deleted, each within %.2f s", state, rate, slowest.Seconds())
	must(t, f.sound(ctx))
}

// rate creates so many pods at once and returns how many were bound a second; then they go again.
func (f *fleet) rate(ctx context.Context, name string, count int) (float64, error) {
	pods := f.Client().CoreV1().Pods("default")
	s := shape{name: name, cpu: "10m", memory: "16Mi"}
	_, template := s.template()
	begin := time.Now()
	var group sync.WaitGroup
	errs := make([]error, count)
	numbers := make(chan int)
	for range 8 {
		group.Go(func() {
			for i := range numbers {
				_, errs[i] = pods.Create(ctx, &core.Pod{
					ObjectMeta: meta.ObjectMeta{Name: name + "-" + strconv.Itoa(i), Labels: template.Labels},
					Spec:       template.Spec,
				}, meta.CreateOptions{})
			}
		})
	}
	for i := range count {
		numbers <- i
	}
	close(numbers)
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	err := f.Wait(ctx, "pods to be bound", func(ctx context.Context) error {
		list, err := f.pods(ctx, name)
		bound := 0
		for i := range list {
			if list[i].Spec.NodeName != "" {
				bound++
			}
		}
		if err == nil && bound != count {
			err = fmt.Errorf("%d of %d are", bound, count)
		}
		return err
	})
	rate := float64(count) / time.Since(begin).Seconds()
	if err != nil {
		return 0, err
	}
	// The API server gives up after a minute, for which a busy machine needs a second try.
	return rate, f.Wait(ctx, "pods to be deleted", func(ctx context.Context) error {
		return pods.DeleteCollection(ctx, meta.DeleteOptions{}, meta.ListOptions{LabelSelector: "app=" + name})
	})
}

// edits creates, changes and deletes a NodePool and returns how long the slowest of it took.
func (f *fleet) edits(ctx context.Context, name string) (time.Duration, error) {
	pools := f.objects.Resource(poolResource)
	p := pool{name: "edited-" + name, arch: "amd64"}
	var slowest time.Duration
	for _, edit := range []func() error{
		func() error { _, err := pools.Create(ctx, p.object(), meta.CreateOptions{}); return err },
		func() error {
			_, err := pools.Patch(ctx, p.name, types.MergePatchType, []byte(`{"spec":{"weight":7}}`), meta.PatchOptions{})
			return err
		},
		func() error { return pools.Delete(ctx, p.name, meta.DeleteOptions{}) },
	} {
		begin := time.Now()
		if err := edit(); err != nil {
			return 0, err
		}
		slowest = max(slowest, time.Since(begin))
	}
	// What breaks the schema is refused whoever is dead.
	p.labels = map[string]string{poolLabel: "x"}
	_, err := pools.Create(ctx, p.object(), meta.CreateOptions{})
	if err == nil || !strings.Contains(err.Error(), "is invalid") {
		return 0, fmt.Errorf("a NodePool against the schema: %v", err)
	}
	return slowest, nil
}

// mute accepts connections on the address and never says a word.
func mute(t *testing.T, address string) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	must(t, err)
	go func() {
		var held []net.Conn
		for {
			conn, err := listener.Accept()
			if err != nil {
				for _, c := range held {
					c.Close()
				}
				return
			}
			held = append(held, conn)
		}
	}()
	return listener
}
