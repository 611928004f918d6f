package scenarios

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	listers "k8s.io/client-go/listers/core/v1"

	"stowage.dev/tests/e2e/stowage"
)

// mixedPods is how many pods come at once when STOWAGE_MIXED does not say it.
const mixedPods = 2000

// Pods of every kind come at once, for several pools: each is bound, every hard rule holds, and no
// machine is left without pods.
func TestMixed(t *testing.T) {
	t.Parallel()
	count := mixedPods
	if text, ok := os.LookupEnv("STOWAGE_MIXED"); ok {
		var err error
		count, err = strconv.Atoi(text)
		must(t, err)
	}
	if count < unitPods || count%unitPods != 0 {
		t.Fatalf("%d pods are not a multiple of %d", count, unitPods)
	}
	f := upWith(t, stowage.ClusterOptions{
		Scheduler: patient,
		// Its Lease outlasts the time that it looks away. The first plan is of all pods that came meanwhile: on a busy
		// machine Stowage may take longer than usual to hear of them.
		Stowage: stowage.Options{Args: []string{"--lease-duration=900s", "--lease-renew-deadline=840s",
			"--batch-idle-duration=5s", "--batch-max-duration=60s"}},
	})
	c := f.census(t)
	f.step(t, "a machine in each zone", f.settlesZones)
	f.step(t, fmt.Sprintf("%d mixed pods are bound", count), func(t *testing.T, ctx context.Context) {
		f.mixes(t, ctx, c, count/unitPods)
	})
}

// firstLimit is how many CPUs the pool may have that goes first.
const firstLimit = "64"

// settlesZones makes the pools, and in each zone a machine that the mixed pods may not use. From then on
// the scheduler knows the zones: it measures spread over those of which it has seen a node.
func (f *fleet) settlesZones(t *testing.T, ctx context.Context) {
	const anchorKey = "scenarios.stowage.dev/anchor"
	must(t, f.createPools(ctx,
		pool{name: "anchor", arch: "amd64", zones: zones, taint: anchorKey},
		pool{name: "first", arch: "amd64", zones: zones, weight: 50, limit: firstLimit},
		pool{name: "general", arch: "amd64", zones: zones, weight: 10},
		pool{name: "arm", arch: "arm64", zones: zones},
		pool{name: "dedicated", arch: "amd64", zones: []string{zoneA, zoneB}, taint: dedicatedKey}))
	must(t, f.daemons(ctx, shape{name: "agent", cpu: "50m", memory: "64Mi"}))
	must(t, f.daemons(ctx, shape{name: "driver", cpu: "100m", memory: "128Mi", on: map[string]string{poolLabel: "dedicated"}},
		tolerates(dedicatedKey)))
	anchor := shape{name: "anchor", cpu: "500m", memory: "512Mi", on: map[string]string{poolLabel: "anchor"}}
	must(t, f.deploy(ctx, anchor, len(zones), tolerates(anchorKey),
		spread(zoneKey, 1, "anchor", hard), minDomains(int32(len(zones)))))
	must(t, f.Wait(ctx, "the anchors to run", f.running(len(zones), "anchor")))
	must(t, f.Wait(ctx, "machines", f.settled))
}

func (f *fleet) mixes(t *testing.T, ctx context.Context, c *census, units int) {
	anchors, err := c.pods()
	must(t, err)
	count := len(anchors) + units*unitPods
	must(t, f.createStorageClasses(ctx))
	var bound []string
	for i := range units {
		names, err := f.createVolumes(ctx, i)
		must(t, err)
		bound = append(bound, names...)
	}
	must(t, f.Wait(ctx, "claims to be bound", f.claimsBound(bound)))
	// As in grows: they are to be one batch.
	must(t, f.Stowage.Pause())
	for i := range units {
		for _, w := range unit(i) {
			must(t, f.deploy(ctx, w.shape, w.replicas, w.edits...))
		}
	}
	must(t, f.Wait(ctx, "pods to wait", c.wait(units*unitPods)))
	before, err := f.claims(ctx)
	must(t, err)
	w, err := f.follow(ctx, f.Stowage.Page)
	must(t, err)
	begin := time.Now()
	must(t, f.Stowage.Continue())
	must(t, f.Wait(ctx, "all pods to be bound", c.bound(count)))
	took := time.Since(begin)
	must(t, f.Wait(ctx, "machines", f.settled))
	must(t, w.end(ctx))
	all, err := f.claims(ctx)
	must(t, err)
	text, err := metricsOf(ctx, f.Stowage.Metrics)
	must(t, err)
	t.Logf("filter, by answer: %s", answers("", text))
	passed, err := f.passedOver()
	must(t, err)
	// Nobody holds back whom the scheduler places without an answer.
	unheld := passed + int(sample(text, "stowage_extender_requests_total", `verb="filter"`, `answer="no-opinion"`))
	strays := w.share(t, units*unitPods, len(all), took)
	if len(strays) > unheld {
		t.Errorf("%d pods took room that was planned for others, the scheduler had no answer %d times: %v", len(strays), unheld,
			strings.Join(strays, "\n"))
	}

	must(t, f.Wait(ctx, "empty nodes to leave", func(ctx context.Context) error {
		return errors.Join(f.noneEmpty(ctx), f.settled(ctx))
	}))
	left, err := f.claims(ctx)
	must(t, err)
	planned, seen := len(before)+len(w.first.NodeClaims), len(w.first.places())+len(w.first.Unschedulable)
	t.Logf("%d nodes stay, %d were planned; the last empty one left %.1f s after the begin", len(left), planned,
		time.Since(begin).Seconds())
	if seen != units*unitPods {
		t.Errorf("the first plan is of %d pods of %d", seen, units*unitPods)
	}
	// A place that was taken or refused may cost one more.
	refused := int(sample(text, "stowage_divergences_total", `cause="refused"`))
	if most := planned + len(w.first.Unschedulable) + len(strays) + refused; len(left) > most {
		t.Errorf("%d nodes are needed, the first plan had %d and %d may have come", len(left), planned, most-planned)
	}
	must(t, c.bound(count)(ctx))
	p, err := f.placed(ctx)
	must(t, err)
	if len(p.pods) != count {
		t.Errorf("%d pods were judged, %d are there", len(p.pods), count)
	}
	for _, err := range p.broken() {
		t.Error(err)
	}
	must(t, p.within("first", firstLimit))
}

// share tells how many pods went where they were planned, and returns the binds that took room planned for others.
func (w *follower) share(t *testing.T, pods, claims int, took time.Duration) (wrong []string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, err := range w.errs {
		t.Error(err)
	}
	there := pods - len(w.loading.strayed)
	t.Logf("%d mixed pods bound after %.1f s on %d NodeClaims: %d (%.1f %%) where planned, %d elsewhere, %d of those in room planned for others",
		pods, took.Seconds(), claims, there, 100*float64(there)/float64(pods), len(w.loading.strayed), len(w.loading.wrong))
	if w.first == nil {
		t.Fatal("no plan was seen on the page")
	}
	return w.loading.wrong
}

// census knows the pods of namespace default from a watch: to list so many over and over would keep the
// API server from its work. DaemonSets' pods are not counted.
type census struct{ all listers.PodNamespaceLister }

func (f *fleet) census(t *testing.T) *census {
	factory := informers.NewSharedInformerFactoryWithOptions(f.Client(), 0, informers.WithNamespace("default"))
	c := &census{factory.Core().V1().Pods().Lister().Pods("default")}
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	return c
}

func (c *census) pods() ([]*core.Pod, error) {
	all, err := c.all.List(labels.Everything())
	var pods []*core.Pod
	for _, pod := range all {
		if !ofDaemonSet(pod) {
			pods = append(pods, pod)
		}
	}
	return pods, err
}

// wait returns a check that so many pods were looked at by the scheduler, in vain.
func (c *census) wait(count int) func(context.Context) error {
	return func(context.Context) error {
		pods, err := c.pods()
		refused := 0
		for _, pod := range pods {
			if pod.Spec.NodeName == "" && unschedulable(pod) {
				refused++
			}
		}
		if err == nil && refused != count {
			err = fmt.Errorf("%d of %d pods are unschedulable, %d are to be", refused, len(pods), count)
		}
		return err
	}
}

// bound returns a check that so many pods are bound, and that there are no more. It names one that is not.
func (c *census) bound(count int) func(context.Context) error {
	return func(context.Context) error {
		pods, err := c.pods()
		if err != nil {
			return err
		}
		bound, missing := 0, ""
		for _, pod := range pods {
			if pod.Spec.NodeName != "" {
				bound++
				continue
			}
			for _, condition := range pod.Status.Conditions {
				if condition.Type == core.PodScheduled {
					missing = fmt.Sprintf("; pod %s: %s", pod.Name, condition.Message)
				}
			}
		}
		if bound != count || len(pods) != count {
			return fmt.Errorf("%d of %d pods are bound, %d are to be%s", bound, len(pods), count, missing)
		}
		return nil
	}
}
