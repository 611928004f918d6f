package scenarios

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	coordination "k8s.io/api/coordination/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// rival is another autoscaler, of which there is only the Lease.
type rival struct {
	leases  coordinationclient.LeaseInterface
	lease   *coordination.Lease
	stop    context.CancelFunc
	stopped chan error
}

const (
	rivalName     = "karpenter-leader-election"
	rivalHolder   = "karpenter-7f9"
	rivalDuration = 30 * time.Second // longer than any pause of a busy machine between two renewals
)

func (f *fleet) startRival(ctx context.Context) (*rival, error) {
	r := &rival{leases: f.Client().CoordinationV1().Leases("kube-system"), stopped: make(chan error, 1)}
	holder, seconds := rivalHolder, int32(rivalDuration/time.Second)
	var err error
	r.lease, err = r.leases.Create(ctx, &coordination.Lease{
		ObjectMeta: meta.ObjectMeta{Name: rivalName},
		Spec: coordination.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds,
			AcquireTime: &meta.MicroTime{Time: time.Now()}, RenewTime: &meta.MicroTime{Time: time.Now()}},
	}, meta.CreateOptions{})
	if err != nil {
		return nil, err
	}
	ctx, r.stop = context.WithCancel(ctx)
	go r.renew(ctx)
	return r, nil
}

func (r *rival) renew(ctx context.Context) {
	ticker := time.NewTicker(2 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			r.stopped <- nil
			return
		}
		lease := r.lease.DeepCopy()
		lease.Spec.RenewTime = &meta.MicroTime{Time: time.Now()}
		// Not with the context: that a renewal has been sent must be known.
		renewed, err := r.leases.Update(context.WithoutCancel(ctx), lease, meta.UpdateOptions{})
		if err != nil {
			r.stopped <- err
			return
		}
		r.lease = renewed
	}
}

// dies ends the renewals and returns when the last was.
func (r *rival) dies() (time.Time, error) {
	r.stop()
	err := <-r.stopped
	return r.lease.Spec.RenewTime.Time, err
}

// Another autoscaler's Lease is held and renewed: Stowage writes nothing, and says why. It acts when that
// Lease has aged out.
func (f *fleet) stepsBack(t *testing.T, ctx context.Context) {
	must(t, f.Wait(ctx, "the Lease", f.leads(f.Stowage)))
	must(t, f.Wait(ctx, "stowage to act", f.observing(0)))
	other, err := f.startRival(ctx)
	must(t, err)
	defer other.stop()
	must(t, f.Wait(ctx, "stowage to observe", f.observing(1)))
	since := time.Now()
	must(t, f.deploy(ctx, shape{name: "patient", cpu: "1500m", memory: "1Gi"}, 10))
	must(t, f.Wait(ctx, "pods to wait", f.waiting(10, "patient")))
	must(t, f.Wait(ctx, "an Event about Stowage's own Lease", f.saysWhy))
	log, err := os.ReadFile(f.Stowage.Log())
	must(t, err)
	if want := "Lease kube-system/" + rivalName + ", held by " + rivalHolder; !strings.Contains(string(log), want) {
		t.Errorf("the log does not say %q", want)
	}
	// It looks every 10 s. Twice is time for many batches of pods.
	waiting := time.Now()
	must(t, f.Wait(ctx, "stowage to look at the Lease again", f.looked(waiting, 2)))
	last, err := other.dies()
	must(t, err)
	must(t, f.wroteNothing(since, last))

	must(t, f.Wait(ctx, "pods to run", f.running(10, "patient")))
	must(t, f.observing(0)(ctx))
	claims, err := f.objects.Resource(claimResource).List(ctx, meta.ListOptions{})
	must(t, err)
	for _, c := range claims.Items {
		// Times of objects are cut to seconds.
		if early := last.Add(rivalDuration).Truncate(time.Second); c.GetCreationTimestamp().Time.Before(early) {
			t.Errorf("NodeClaim %s came at %v; the Lease aged out at %v", c.GetName(), c.GetCreationTimestamp(), early)
		}
	}
	must(t, other.leases.Delete(ctx, rivalName, meta.DeleteOptions{}))
	f.clear(t, ctx, "patient")
}

// observing is a check of the metric that says whether Stowage only observes.
func (f *fleet) observing(want float64) func(context.Context) error {
	return func(ctx context.Context) error {
		got, err := gauge(ctx, f.Stowage.Metrics, "stowage_observing")
		if err == nil && got != want {
			err = fmt.Errorf("stowage_observing is %v", got)
		}
		return err
	}
}

// saysWhy is a check that an Event of Stowage's own Lease names the rival's.
func (f *fleet) saysWhy(ctx context.Context) error {
	list, err := f.Client().EventsV1().Events(f.Account.Namespace).List(ctx, meta.ListOptions{})
	if err != nil {
		return err
	}
	for _, e := range list.Items {
		if e.Reason == "OnlyObserving" && e.Regarding.Kind == "Lease" && e.Regarding.Name == "stowage-leader-election" &&
			strings.Contains(e.Note, rivalName) && strings.Contains(e.Note, rivalHolder) {
			return nil
		}
	}
	return fmt.Errorf("none among %d Events", len(list.Items))
}

// looked is a check that Stowage has listed the rival's Lease so often since.
func (f *fleet) looked(since time.Time, times int) func(context.Context) error {
	return func(context.Context) error {
		requests, err := f.Requests()
		if err != nil {
			return err
		}
		seen := 0
		for _, r := range requests {
			if r.Verb == "list" && r.Code == http.StatusOK && r.At.After(since) && strings.Contains(r.URI, rivalName) {
				seen++
			}
		}
		if seen < times {
			return fmt.Errorf("it did so %d times, %d are waited for", seen, times)
		}
		return nil
	}
}

// ours are the paths of what Stowage writes whether it acts or not: Lease, Events, the label on its Pod.
var ours = regexp.MustCompile(`^/apis/(coordination|events)\.k8s\.io/|^/api/v1/namespaces/stowage-system/pods/`)

// wroteNothing says what else Stowage wrote in a time.
func (f *fleet) wroteNothing(from, to time.Time) error {
	requests, err := f.Requests()
	if err != nil {
		return err
	}
	var wrong []error
	for _, r := range requests {
		reads := r.Verb == "get" || r.Verb == "list" || r.Verb == "watch"
		if !reads && !ours.MatchString(r.URI) && r.At.After(from) && r.At.Before(to) {
			wrong = append(wrong, fmt.Errorf("while another is at work: %v", r))
		}
	}
	return errors.Join(wrong...)
}
