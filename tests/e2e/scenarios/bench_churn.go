package scenarios

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/manifests"
	"stowage.dev/tests/e2e/stowage"
)

const (
	churnBurst  = 10               // pods that come at once, on average
	churnStay   = 20 * time.Second // at least
	churnLonger = time.Minute      // more than that, on average
	churnAfter  = 30 * time.Second // how long pods still go after the last came
	churnSlip   = 2 * time.Second  // who comes later than that has come at another time
)

// churnShapes are what pods ask for, the first ones more often.
var churnShapes = []struct {
	shape
	percent int
}{
	{shape{cpu: "100m", memory: "128Mi"}, 30},
	{shape{cpu: "250m", memory: "512Mi"}, 30},
	{shape{cpu: "500m", memory: "1Gi"}, 20},
	{shape{cpu: "1", memory: "2Gi"}, 12},
	{shape{cpu: "2", memory: "4Gi"}, 6},
	{shape{cpu: "4", memory: "8Gi"}, 2},
}

// visit is a pod that comes and goes, at times from the beginning.
type visit struct {
	shape
	come, leave time.Duration
}

// visits are who comes when, in that order: bursts of pods at random times, each of which stays for a
// while. Equal sizes have equal visits.
func visits(sizes Sizes) []visit {
	random := rand.New(rand.NewPCG(sizes.Seed, 5))
	gap := float64(time.Second) * churnBurst / sizes.Rate
	var all []visit
	var now time.Duration
	for len(all) < sizes.Pods {
		now += time.Duration(gap * random.ExpFloat64())
		for range 1 + random.IntN(2*churnBurst-1) {
			if len(all) == sizes.Pods {
				break
			}
			v := visit{shape: churnShape(random.IntN(100)), come: now}
			v.name = fmt.Sprintf("churn-%05d", len(all))
			v.leave = now + churnStay + time.Duration(random.ExpFloat64()*float64(churnLonger))
			all = append(all, v)
		}
	}
	return all
}

func churnShape(percent int) shape {
	for _, s := range churnShapes {
		if percent -= s.percent; percent < 0 {
			return s.shape
		}
	}
	return churnShapes[0].shape
}

// BenchChurn measures what loading to the plan is worth: pods that come and go in a cluster that Stowage
// gives nodes to, once with the extender in the scheduler's configuration and once without, the same
// arrivals and departures.
func BenchChurn(ctx context.Context, binary string, sizes Sizes, say func(format string, args ...any)) error {
	defaults(&sizes.Pods, 10000)
	defaults(&sizes.Rate, 20)
	defaults(&sizes.Delay, 10*time.Second)
	all := visits(sizes)
	say("churn       %d pods come in %.0f s and stay %.0f s on average; a Node comes %.0f s after its launch; seed %d",
		len(all), all[len(all)-1].come.Seconds(), (churnStay + churnLonger).Seconds(), sizes.Delay.Seconds(), sizes.Seed)
	var results [2]churned
	for i, with := range []bool{true, false} {
		name := map[bool]string{true: "with the extender", false: "without"}[with]
		got, err := churn(ctx, binary, sizes, with, all, say)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		results[i] = got
		got.print(name, say)
	}
	on, off := results[0], results[1]
	say("  with / without (goals: at most 1): p50 %.2f, p99 %.2f, mean %.2f, nodes bought %.2f, price-hours %.2f",
		ratio(milli(on.quantile(50)), milli(off.quantile(50))), ratio(milli(on.quantile(99)), milli(off.quantile(99))),
		ratio(milli(on.mean()), milli(off.mean())), ratio(on.bought, off.bought), ratio(on.priceHours, off.priceHours))
	return nil
}

func ratio(a, b float64) float64 {
	if a == b {
		return 1 // 0 of 0, too
	}
	return a / b
}

// churned is how it went.
type churned struct {
	pended     []time.Duration // from creation to bound, sorted
	waited     int             // pods that were bound to a Node that came after them
	placed     int             // of them: had a place
	unbound    int             // pods that went before they were bound
	planned    float64         // pods bound where planned
	elsewhere  float64         // pods with a place that were bound elsewhere
	ahead      float64         // of them: before their node was ready
	bought     float64         // NodeClaims
	priceHours float64
	causes     string // of divergences
	answers    string
	passed     int           // questions that the scheduler did not await an answer to
	slip       time.Duration // by how much the latest arrival or departure was late
}

func (c churned) quantile(percent int) time.Duration {
	if len(c.pended) == 0 {
		return 0
	}
	return c.pended[(len(c.pended)-1)*percent/100]
}

func (c churned) mean() time.Duration {
	var sum time.Duration
	for _, d := range c.pended {
		sum += d
	}
	return sum / time.Duration(max(1, len(c.pended)))
}

func (c churned) print(name string, say func(string, ...any)) {
	say("  %s", name)
	say("    bound where planned, of those not revised  %7.3f %% (%.0f of %.0f; goal: 99.9)",
		100*ratio(c.planned, c.planned+c.elsewhere-c.ahead), c.planned, c.planned+c.elsewhere-c.ahead)
	say("    had a place, of those that waited for a node %5.1f %% (%d of %d; goal: 95)",
		100*ratio(float64(c.placed), float64(c.waited)), c.placed, c.waited)
	say("    from pending to bound, %d pods: p50 %.0f ms, p99 %.0f ms, mean %.0f ms; %d went before they were bound",
		len(c.pended), milli(c.quantile(50)), milli(c.quantile(99)), milli(c.mean()), c.unbound)
	say("    %.0f nodes bought, %.3f price-hours; divergences: %s", c.bought, c.priceHours, c.causes)
	say("    filter, by answer: %s; the scheduler went on without one %d times", c.answers, c.passed)
	say("    arrivals and departures at most %.1f s late", c.slip.Seconds())
	if c.slip > churnSlip {
		say("    too late to be compared: this machine has too much else to do, or RATE is too high for it")
	}
}

func churn(ctx context.Context, binary string, sizes Sizes, with bool, all []visit, say func(string, ...any)) (got churned, err error) {
	c, err := stowage.Up(ctx, stowage.ClusterOptions{
		Manifests: manifests.Folder(),
		Scheduler: controlplane.Scheduler{QPS: benchQPS, NoExtenders: !with},
		Stowage:   stowage.Options{Binary: binary},
	})
	if err != nil {
		return got, err
	}
	defer func() { end(c, err, say) }()
	f, err := newFleet(c)
	if err != nil {
		return got, err
	}
	if err = f.createPools(ctx, pool{name: "general", arch: "amd64"}); err != nil {
		return got, err
	}
	if err = f.delayMachines(ctx, sizes.Delay); err != nil {
		return got, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w, err := f.attend(ctx)
	if err != nil {
		return got, err
	}
	go f.keepPlaces(ctx, w)
	price := f.meter(ctx, all[len(all)-1].come+churnAfter)
	if got.slip, err = f.play(ctx, all, w); err != nil {
		return got, err
	}
	if got.priceHours, err = price(); err != nil {
		return got, err
	}
	if err = eventually(ctx, benchLook, "the last pods to be bound", w.settled); err != nil {
		return got, err
	}
	w.sum(&got)
	if got.passed, err = f.passedOver(); err != nil {
		return got, err
	}
	return got, f.tally(ctx, w, &got)
}

// tally adds what Stowage says, once it has counted the binds that were seen here.
func (f *fleet) tally(ctx context.Context, w *visitors, got *churned) error {
	before := ""
	err := eventually(ctx, time.Second, "Stowage's counts to stand still", func(ctx context.Context) error {
		text, err := metricsOf(ctx, f.Stowage.Metrics)
		if err != nil {
			return err
		}
		now := counts("", text, "stowage_pods_bound_total", "where", "planned", "elsewhere")
		if now != before {
			before = now
			return fmt.Errorf("they are %s", now)
		}
		got.planned = sample(text, "stowage_pods_bound_total", `where="planned"`)
		got.elsewhere = sample(text, "stowage_pods_bound_total", `where="elsewhere"`)
		got.ahead = sample(text, "stowage_divergences_total", `cause="ahead"`)
		got.bought = sample(text, "karpenter_nodeclaims_created_total")
		got.causes = counts("", text, "stowage_divergences_total", "cause", "ahead", "refused", "elsewhere", "late")
		got.answers = answers("", text)
		return nil
	})
	return err
}

// visitors are the pods as they come, are bound and go, and the nodes they go to, by the clock here.
type visitors struct {
	mu     sync.Mutex
	came   map[string]time.Time
	placed map[string]bool // was ever in a plan
	bound  map[string]time.Time
	node   map[string]string
	left   map[string]bool
	nodes  map[string]time.Time // when they came
}

// attend watches pods and nodes until the context ends.
func (f *fleet) attend(ctx context.Context) (*visitors, error) {
	w := &visitors{came: map[string]time.Time{}, placed: map[string]bool{}, bound: map[string]time.Time{}, node: map[string]string{}, left: map[string]bool{}, nodes: map[string]time.Time{}}
	factory := informers.NewSharedInformerFactory(f.Client(), 0)
	pods, nodes := factory.Core().V1().Pods().Informer(), factory.Core().V1().Nodes().Informer()
	_, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { w.see(object.(*core.Pod)) },
		UpdateFunc: func(_, object any) { w.see(object.(*core.Pod)) },
	})
	if err != nil {
		return nil, err
	}
	_, err = nodes.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { w.meet(object.(*core.Node)) },
	})
	if err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), pods.HasSynced, nodes.HasSynced) {
		return nil, ctx.Err()
	}
	return w, nil
}

// keepPlaces notes who is in a plan, until the context ends. A place on a node that has to come yet lasts longer
// than it is looked away.
func (f *fleet) keepPlaces(ctx context.Context, w *visitors) {
	for ctx.Err() == nil {
		if p, err := readPlan(ctx, f.Stowage.Page); err == nil {
			w.place(p)
		}
		select {
		case <-time.After(benchLook):
		case <-ctx.Done():
		}
	}
}

func (w *visitors) place(p plan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for pod := range p.places() {
		w.placed[strings.TrimPrefix(pod, "default/")] = true
	}
}

func (w *visitors) meet(node *core.Node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nodes[node.Name] = time.Now()
}

func (w *visitors) see(pod *core.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.bound[pod.Name]; !ok && pod.Spec.NodeName != "" {
		w.bound[pod.Name] = time.Now()
		w.node[pod.Name] = pod.Spec.NodeName
	}
}

// settled is a check that every pod that came and has not gone is bound.
func (w *visitors) settled(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	waits := 0
	for name := range w.came {
		if _, ok := w.bound[name]; !ok && !w.left[name] {
			waits++
		}
	}
	if waits > 0 {
		return fmt.Errorf("%d are not", waits)
	}
	return nil
}

func (w *visitors) sum(got *churned) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, came := range w.came {
		bound, ok := w.bound[name]
		if !ok {
			got.unbound++
			continue
		}
		got.pended = append(got.pended, bound.Sub(came))
		if w.nodes[w.node[name]].After(came) {
			got.waited++
			if w.placed[name] {
				got.placed++
			}
		}
	}
	slices.Sort(got.pended)
}

// play has the pods come and go, and returns by how much the latest step was late.
func (f *fleet) play(ctx context.Context, all []visit, w *visitors) (time.Duration, error) {
	type step struct {
		at     time.Duration
		leaves bool
		visit
	}
	var steps []step
	horizon := all[len(all)-1].come + churnAfter
	for _, v := range all {
		steps = append(steps, step{v.come, false, v})
		if v.leave <= horizon {
			steps = append(steps, step{v.leave, true, v})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	var mu sync.Mutex
	var slip time.Duration
	begin := time.Now()
	err := each(len(steps), func(i int) error {
		s := steps[i]
		select {
		case <-time.After(time.Until(begin.Add(s.at))):
		case <-ctx.Done():
			return ctx.Err()
		}
		mu.Lock()
		slip = max(slip, time.Since(begin.Add(s.at)))
		mu.Unlock()
		if s.leaves {
			return f.leave(ctx, s.visit, w)
		}
		return f.come(ctx, s.visit, w)
	})
	return slip, err
}

func (f *fleet) come(ctx context.Context, v visit, w *visitors) error {
	_, template := v.template()
	w.mu.Lock()
	w.came[v.name] = time.Now()
	w.mu.Unlock()
	_, err := f.Client().CoreV1().Pods("default").Create(ctx, &core.Pod{
		ObjectMeta: meta.ObjectMeta{Name: v.name, Labels: map[string]string{"app": "churn"}}, Spec: template.Spec,
	}, meta.CreateOptions{})
	return err
}

func (f *fleet) leave(ctx context.Context, v visit, w *visitors) error {
	w.mu.Lock()
	w.left[v.name] = true
	w.mu.Unlock()
	err := f.Client().CoreV1().Pods("default").Delete(ctx, v.name, meta.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		err = nil // its node went with it
	}
	return err
}

// meter adds up the price of all nodes for so long. What it returns waits for the end, and tells the sum in
// price-hours.
func (f *fleet) meter(ctx context.Context, length time.Duration) func() (float64, error) {
	type reading struct {
		sum float64
		err error
	}
	done := make(chan reading, 1)
	go func() {
		var got reading
		last := time.Now()
		end := last.Add(length)
		for last.Before(end) && got.err == nil {
			time.Sleep(benchLook)
			var text string
			text, got.err = metricsOf(ctx, f.Stowage.Metrics)
			now := time.Now()
			got.sum += sample(text, "stowage_cluster_price_per_hour") * now.Sub(last).Hours()
			last = now
		}
		done <- got
	}()
	return func() (float64, error) {
		got := <-done
		return got.sum, got.err
	}
}
