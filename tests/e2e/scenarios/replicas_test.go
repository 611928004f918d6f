package scenarios

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"stowage.dev/tests/e2e/proxy"
	"stowage.dev/tests/e2e/stowage"
)

// A Lease short enough for a test to wait for its end.
const leaseDuration = 2 * time.Second

var shortLease = []string{"--lease-duration=2s", "--lease-renew-deadline=1500ms", "--lease-retry-period=500ms"}

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
	s, err := stowage.Launch(ctx, f.ControlPlane, options)
	if err != nil {
		p.Close()
		return nil, nil, err
	}
	return s, p, s.Ready(ctx)
}

// What happens to others when a Stowage dies or hangs: another replica takes over; without any, pods
// are scheduled and NodePools edited as if there had never been one.
func TestWithoutStowage(t *testing.T) {
	t.Parallel()
	f := up(t, shortLease...)
	f.step(t, "of two replicas the leader acts, and then the other", f.takesOver)
	f.step(t, "dead, stopped or mute, it is in nobody's way", f.failsOpen)
}

func (f *fleet) takesOver(t *testing.T, ctx context.Context) {
	must(t, f.createPools(ctx, pool{name: "sixteen", arch: "amd64", cpu: []string{"16"}}))
	must(t, f.Stowage.Process.Stop(15*time.Second))
	first, ofFirst, err := f.behind(ctx, "replica-a", f.Options)
	must(t, err)
	defer ofFirst.Close()
	defer first.Kill()
	must(t, f.until(ctx, 30*time.Second, "the first replica to lead", f.leads(first)))
	second := f.Options
	second.Addresses, err = stowage.Reserve(f.ControlPlane)
	must(t, err)
	other, ofOther, err := f.behind(ctx, "replica-b", second)
	must(t, err)
	defer ofOther.Close()
	defer other.Kill()

	must(t, f.deploy(ctx, shape{name: "early", cpu: "1500m", memory: "1Gi"}, 10))
	must(t, f.until(ctx, time.Minute, "pods to run", f.running(10, "early")))
	must(t, f.until(ctx, time.Minute, "machines", f.settled))
	if writes := ofOther.Writes(); len(writes) > 0 {
		t.Errorf("the replica that does not lead wrote %v", writes)
	}
	before := len(ofFirst.Writes())
	if before == 0 {
		t.Error("the leader wrote nothing")
	}

	begin := time.Now()
	first.Kill()
	must(t, f.deploy(ctx, shape{name: "late", cpu: "1500m", memory: "1Gi"}, 10))
	must(t, f.until(ctx, 30*time.Second, "the other to act", func(context.Context) error {
		if len(ofOther.Writes()) == 0 {
			return errors.New("no write")
		}
		return nil
	}))
	took := time.Since(begin)
	t.Logf("the leader killed, the other's first write came after %.1f s; the Lease lasts %v", took.Seconds(), leaseDuration)
	// The Lease's end is noticed at the next try, and then a batch of pods has to end; the rest is for a
	// machine that has other things to do.
	if limit := leaseDuration + 2*time.Second + 6*time.Second; took > limit {
		t.Errorf("it took %v, more than %v", took, limit)
	}
	must(t, f.until(ctx, time.Minute, "pods to run", f.running(10, "late")))
	must(t, f.until(ctx, time.Minute, "machines", f.settled))
	must(t, f.sound(ctx))
	must(t, f.remove(ctx, "early", "late"))
	must(t, f.until(ctx, 2*time.Minute, "all nodes to leave", f.none))
	must(t, other.Process.Stop(15*time.Second))
	must(t, f.Stowage.Restart())
	must(t, f.Stowage.Ready(ctx))
}

// leads is a check that the replica has acted as a leader does: there is a holder of the Lease, and of
// all replicas this one alone runs.
func (f *fleet) leads(s *stowage.Stowage) func(context.Context) error {
	return func(ctx context.Context) error {
		lease, err := f.Client().CoordinationV1().Leases(f.Account.Namespace).
			Get(ctx, "stowage-leader-election", meta.GetOptions{})
		if err != nil {
			return err
		}
		holder, renewed := lease.Spec.HolderIdentity, lease.Spec.RenewTime
		if holder == nil || *holder == "" || renewed == nil || time.Since(renewed.Time) > leaseDuration {
			return fmt.Errorf("%s does not hold the Lease: %v", s.Name(), lease.Spec)
		}
		return nil
	}
}

// failsOpen compares how pods are scheduled and NodePools edited with a Stowage that is alive and with
// ones that are not.
func (f *fleet) failsOpen(t *testing.T, ctx context.Context) {
	// Two nodes that are not Stowage's: with one alone kube-scheduler would not ask for scores.
	for _, name := range []string{"spare-a", "spare-b"} {
		room := core.ResourceList{"cpu": resource.MustParse("1000"), "memory": resource.MustParse("4Ti"), "pods": resource.MustParse("5000")}
		_, err := f.Client().CoreV1().Nodes().Create(ctx, &core.Node{
			ObjectMeta: meta.ObjectMeta{Name: name},
			Status:     core.NodeStatus{Capacity: room, Allocatable: room},
		}, meta.CreateOptions{})
		must(t, err)
	}
	must(t, f.until(ctx, 30*time.Second, "the Lease", f.leads(f.Stowage)))
	f.goesOn(t, ctx, "alive", 200, nil)
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
	f.goesOn(t, ctx, "stopped", 20, func() (undo func()) {
		must(t, f.Stowage.Pause())
		return func() { must(t, f.Stowage.Continue()) }
	})
	// It is back, and as good as before.
	must(t, f.deploy(ctx, shape{name: "again", cpu: "1500m", memory: "1Gi", on: map[string]string{poolLabel: "sixteen"}}, 10))
	must(t, f.until(ctx, time.Minute, "pods to run", f.running(10, "again")))
	must(t, f.until(ctx, time.Minute, "machines", f.settled))
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
	err := f.until(ctx, 2*time.Minute, "pods to be bound", func(ctx context.Context) error {
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
	return rate, pods.DeleteCollection(ctx, meta.DeleteOptions{}, meta.ListOptions{LabelSelector: "app=" + name})
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
