package scenarios

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/process"
	"stowage.dev/tests/e2e/proxy"
	"stowage.dev/tests/e2e/stowage"
)

// Nodes of the size that a kubelet makes them, with their images: together 25 MiB, more than a single reply
// may have.
const (
	manyNodes = 2500
	lostNodes = 700 // more than a fifth
	nodeBytes = 10 << 10
)

// A list that shows too many nodes gone stops removals until a second one agrees, on a cluster whose nodes
// do not fit into one reply.
func TestManyNodes(t *testing.T) {
	t.Parallel()
	f := upWith(t, stowage.ClusterOptions{
		Scheduler:    patient,
		ControlPlane: controlplane.Options{Kwok: controlplane.Kwok{LabelSelector: poolLabel}}, // the others only stand there
	})
	f.step(t, "nodes that are gone at once", f.losesNodes)
}

func (f *fleet) losesNodes(t *testing.T, ctx context.Context) {
	must(t, f.createPools(ctx, pool{name: "sixteen", arch: "amd64", cpu: []string{"16"}}))
	must(t, f.Stowage.Process.Stop(process.Patience))
	must(t, each(manyNodes, func(i int) error {
		room := core.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi"), "pods": resource.MustParse("10")}
		_, err := f.Client().CoreV1().Nodes().Create(ctx, &core.Node{
			ObjectMeta: meta.ObjectMeta{Name: nodeName(i), Annotations: map[string]string{"images": strings.Repeat("x", nodeBytes)}},
			Spec:       core.NodeSpec{Unschedulable: true},
			Status:     core.NodeStatus{Capacity: room, Allocatable: room},
		}, meta.CreateOptions{})
		return err
	}))
	s, p, err := f.behind(ctx, "guarded", f.Options)
	must(t, err)
	defer p.Close()
	defer s.Kill()
	must(t, f.deploy(ctx, shape{name: "web", cpu: "1500m", memory: "1Gi"}, 2))
	must(t, f.Wait(ctx, "pods to run", f.running(2, "web")))
	must(t, f.Wait(ctx, "machines", f.settled))

	// Its watch of Nodes ends while many of them go, and has to begin with a list. The provider, whose machines
	// are Nodes, lists them too; its requests have a time-out.
	var gone, refused atomic.Bool
	var lists atomic.Int32
	p.Guard(func(r *http.Request) int {
		switch {
		case r.URL.Path != "/api/v1/nodes":
			return 0
		case !gone.Load():
			return http.StatusInternalServerError
		case r.URL.Query().Has("watch"):
			if refused.CompareAndSwap(false, true) {
				return http.StatusGone
			}
		case !r.URL.Query().Has("continue") && !r.URL.Query().Has("timeout"):
			lists.Add(1)
		}
		return 0
	})
	must(t, each(lostNodes, func(i int) error {
		return f.Client().CoreV1().Nodes().Delete(ctx, nodeName(i), meta.DeleteOptions{})
	}))
	gone.Store(true)
	must(t, f.Wait(ctx, "the guard", f.saysOf(s, fmt.Sprintf("a list showed %d of %d nodes gone; a second list is asked for", lostNodes, manyNodes+1))))
	must(t, f.remove(ctx, "web"))
	begin := time.Now()
	must(t, f.Wait(ctx, "removals to go on", f.saysOf(s, "nodes may be removed again")))
	must(t, f.Wait(ctx, "the empty node to leave", f.none))
	t.Logf("the second list ended the guard; the empty node was gone after %.1f s", time.Since(begin).Seconds())
	if lists.Load() < 2 {
		t.Errorf("the nodes were listed %d times", lists.Load())
	}
}

// saysOf is a check that the replica has written so into its log.
func (f *fleet) saysOf(s *stowage.Stowage, text string) func(context.Context) error {
	return func(context.Context) error {
		log, err := os.ReadFile(s.Log())
		if err == nil && !strings.Contains(string(log), text) {
			err = fmt.Errorf("the log of %s has no %q", s.Name(), text)
		}
		return err
	}
}

// A leader that is cut off in the middle of its writes gives them up before its Lease is over, and one that is
// deposed lets the scheduler go to its successor.
func TestDeposed(t *testing.T) {
	t.Parallel()
	f := upWith(t, stowage.ClusterOptions{Replicas: true, Scheduler: patient, Stowage: stowage.Options{Args: steadyLease}})
	f.step(t, "a leader that is cut off in mid-write", f.isCutOff)
}

func isWrite(r *http.Request) bool {
	return r.Method != http.MethodGet && !strings.HasPrefix(r.URL.Path, "/apis/events.k8s.io/")
}

func (f *fleet) isCutOff(t *testing.T, ctx context.Context) {
	must(t, f.createPools(ctx, pool{name: "sixteen", arch: "amd64", cpu: []string{"16"}}))
	must(t, f.Stowage.Process.Stop(process.Patience))
	f.Service.Remove(f.Stowage.Name())
	first, ofFirst, err := f.behind(ctx, "replica-a", f.Options)
	must(t, err)
	defer ofFirst.Close()
	defer first.Kill()
	must(t, f.Wait(ctx, "the first replica to lead", f.leads(first)))
	must(t, f.deploy(ctx, shape{name: "early", cpu: "1500m", memory: "1Gi"}, 10)) // a full machine; and the scheduler has a connection
	must(t, f.Wait(ctx, "pods to run", f.running(10, "early")))
	must(t, f.Wait(ctx, "machines", f.settled))

	// Whatever it writes from now on arrives and is never answered. What it sees is as before.
	ofFirst.Guard(func(r *http.Request) int {
		if isWrite(r) {
			return proxy.Hold
		}
		return 0
	})
	must(t, f.deploy(ctx, shape{name: "late", cpu: "1500m", memory: "1Gi"}, 20))
	must(t, f.Wait(ctx, "writes of the one that is cut off", func(context.Context) error {
		if len(kept(ofFirst.Held())) == 0 {
			return fmt.Errorf("it has sent none")
		}
		return nil
	}))
	second := f.Options
	second.Addresses, err = stowage.Reserve(f.ControlPlane)
	must(t, err)
	other, ofOther, err := f.behind(ctx, "replica-b", second)
	must(t, err)
	defer ofOther.Close()
	defer other.Kill()
	lost, err := f.lease(ctx)
	must(t, err)
	over := lost.RenewTime.Add(leaseDuration)
	must(t, f.Wait(ctx, "pods to run", f.running(20, "late")))
	must(t, f.Wait(ctx, "machines", f.settled))
	taken, err := f.lease(ctx)
	must(t, err)
	if *taken.HolderIdentity == *lost.HolderIdentity || taken.AcquireTime.Time.Before(over) {
		t.Errorf("after %v the Lease is %v", lost, taken)
	}
	for _, h := range kept(ofFirst.Held()) {
		t.Logf("%s %s: came %.1f s, was given up %.1f s before the Lease was over", h.Method, h.Path,
			over.Sub(h.Came).Seconds(), over.Sub(h.Gone).Seconds())
		if h.Gone.IsZero() || h.Gone.After(taken.AcquireTime.Time) {
			t.Errorf("%s %s outlives the Lease", h.Method, h.Path)
		}
		if !strings.Contains(h.Path, "timeout=") {
			t.Errorf("%s %s: the API server is not told when to give it up", h.Method, h.Path)
		}
	}

	ofFirst.Guard(nil)
	must(t, f.Wait(ctx, "the Service to lead to the other", f.Service.Leads(other.Name())))
	ofFirst.Begin(proxy.Strike{})
	asked := func() float64 {
		n, err := gauge(ctx, first.Metrics, `stowage_extender_requests_total{verb="filter",answer="no-opinion"}`)
		must(t, err)
		return n
	}
	before := asked()
	f.guides(t, ctx, other)
	// A connection that was opened while the Service led to both, and not used yet, takes one call.
	if n := asked() - before; n > 2 {
		t.Errorf("the scheduler asked the one that was deposed %.0f times more", n)
	}
	if writes := deeds(ofFirst); len(writes) > 0 {
		t.Errorf("the one that was deposed wrote %v", writes)
	}
	must(t, f.remove(ctx, "early", "late", "guided"))
	must(t, f.Wait(ctx, "all nodes to leave", f.none))
}

// kept are the writes among them that a leader alone may make.
func kept(held []proxy.Held) []proxy.Held {
	var all []proxy.Held
	for _, h := range held {
		if !strings.HasPrefix(h.Path, "/apis/coordination.k8s.io/") && !strings.HasPrefix(h.Path, "/api/v1/namespaces/stowage-system/pods/") {
			all = append(all, h)
		}
	}
	return all
}
