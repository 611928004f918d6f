package scenarios

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
	resources "k8s.io/component-helpers/resource"
)

// plan is what the tests read of the answer of GET /plan: the plan that is in force.
type plan struct {
	NodeClaims []struct {
		Name string
		Pods []string
	}
	ExistingNodes []struct {
		Name string
		Pods []string
	}
	Unschedulable []struct{ Pod, Reason, Message string }
	Moves         []struct {
		State, Message string
		Candidates     []string
		SavingsPerHour float64
	}
}

// places tells for each pod, as namespace/name, which node it is meant for. A Node has the name of its
// NodeClaim.
func (p plan) places() map[string]string {
	places := map[string]string{}
	for _, c := range p.NodeClaims {
		for _, pod := range c.Pods {
			places[pod] = c.Name
		}
	}
	for _, n := range p.ExistingNodes {
		for _, pod := range n.Pods {
			places[pod] = n.Name
		}
	}
	return places
}

// loading checks, bind by bind, that a pod goes to its planned node, or takes room that no other pod
// was planned for. Pods of one template are equal: where one goes to the place of another, that one has its
// place. It knows nothing of time: what counts is the order of binds.
type loading struct {
	meant   map[string]string            // pod → the node it was last planned to
	asks    map[string]core.ResourceList // pod → its requests
	of      map[string]string            // pod → its template
	on      map[string]string            // pod → the node it is bound to
	room    map[string]core.ResourceList // node → allocatable
	strayed []string                     // pods that were bound elsewhere than planned
	wrong   []string                     // binds that took others' room
}

func newLoading() *loading {
	return &loading{meant: map[string]string{}, asks: map[string]core.ResourceList{}, of: map[string]string{},
		on: map[string]string{}, room: map[string]core.ResourceList{}}
}

// bind tells of a pod that was bound to a node whose room is known.
func (l *loading) bind(pod, node string) {
	l.on[pod] = node
	if l.meant[pod] != node {
		l.trade(pod, node)
	}
	if l.meant[pod] == node {
		return
	}
	l.strayed = append(l.strayed, pod)
	sum := core.ResourceList{}
	for other, asks := range l.asks {
		bound := l.on[other]
		if bound == node || (bound == "" && l.meant[other] == node) {
			for name, quantity := range asks {
				total := sum[name]
				total.Add(quantity)
				sum[name] = total
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sum)) {
		needed, room := sum[name], l.room[node][name]
		if needed.Cmp(room) > 0 {
			l.wrong = append(l.wrong, fmt.Sprintf("%s was planned for %q and bound to %s, where %s of %s is taken or planned for others, and %s is allocatable",
				pod, l.meant[pod], node, needed.String(), name, room.String()))
		}
	}
}

// trade gives the pod the place on the node of an equal one that still waits, and that one its own.
func (l *loading) trade(pod, node string) {
	if l.of[pod] == "" || l.meant[pod] == "" {
		return
	}
	for other, meant := range l.meant {
		if meant == node && l.of[other] == l.of[pod] && l.on[other] == "" && l.asks[other] != nil {
			l.meant[pod], l.meant[other] = node, l.meant[pod]
			return
		}
	}
}

// follower keeps a loading up with a cluster.
type follower struct {
	f    *fleet
	page string
	stop context.CancelFunc

	mu      sync.Mutex
	loading *loading
	first   *plan           // the first that buys anything for a pod that was not bound when it began
	before  map[string]bool // pods that were
	errs    []error
}

// follow starts to follow the plan on Stowage's page and the binds of namespace default, until it or
// the context is ended. The pods that wait must be there already; those that are bound already are not judged.
func (f *fleet) follow(ctx context.Context, page string) (*follower, error) {
	ctx, stop := context.WithCancel(ctx)
	w := &follower{f: f, page: page, stop: stop, loading: newLoading(), before: map[string]bool{}}
	list, err := f.Client().CoreV1().Pods("default").List(ctx, meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		pod := &list.Items[i]
		w.loading.on[pod.Namespace+"/"+pod.Name] = pod.Spec.NodeName
		w.before[pod.Namespace+"/"+pod.Name] = pod.Spec.NodeName != ""
		w.see(ctx, pod)
	}
	events, err := f.podEvents(ctx, list.ResourceVersion, "")
	if err != nil {
		return nil, err
	}
	go func() {
		for event := range events.ResultChan() {
			pod, ok := event.Object.(*core.Pod)
			switch {
			case !ok:
				w.fail(ctx, fmt.Errorf("the watch of pods: %v", event.Object))
			case event.Type == watch.Deleted:
				w.forget(pod.Namespace + "/" + pod.Name)
			default:
				w.see(ctx, pod)
			}
		}
	}()
	go w.poll(ctx)
	return w, nil
}

// podEvents are all that happens to pods of namespace default after the version, in order. A bare watch ends without a
// word when the API server takes its reader for too slow, and an informer tells of what happens to one pod at a time:
// that another has gone before may come later.
func (f *fleet) podEvents(ctx context.Context, version, selector string) (watch.Interface, error) {
	return toolswatch.NewRetryWatcherWithContext(ctx, version, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options meta.ListOptions) (watch.Interface, error) {
			options.LabelSelector = selector
			return f.Client().CoreV1().Pods("default").Watch(ctx, options)
		}})
}

// end waits until it has seen what is bound by now, and ends it.
func (w *follower) end(ctx context.Context) error {
	defer w.stop()
	list, err := w.f.Client().CoreV1().Pods("default").List(ctx, meta.ListOptions{})
	if err != nil {
		return err
	}
	return w.f.Wait(ctx, "the follower", func(context.Context) error { return w.behind(list.Items) })
}

// behind names a pod of whose bind it has not heard.
func (w *follower) behind(pods []core.Pod) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.errs) > 0 {
		return nil // it will not hear of all
	}
	for i := range pods {
		name, node := pods[i].Namespace+"/"+pods[i].Name, pods[i].Spec.NodeName
		if node != "" && w.loading.on[name] == "" {
			return fmt.Errorf("it has not heard that %s is bound to %s", name, node)
		}
	}
	return nil
}

// fail notes what went wrong, unless it did because nobody follows any more.
func (w *follower) fail(ctx context.Context, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() == nil {
		w.errs = append(w.errs, err)
	}
}

// forget is about a pod that is gone: it takes no room, and none is kept for it.
func (w *follower) forget(pod string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.loading.asks, pod)
}

func (w *follower) see(ctx context.Context, pod *core.Pod) {
	name, node := pod.Namespace+"/"+pod.Name, pod.Spec.NodeName
	daemon := ofDaemonSet(pod)
	// A node that nobody else needs leaves with its daemons, maybe before their binds are heard of.
	if node != "" && !daemon {
		if err := w.learn(ctx, node); err != nil {
			w.fail(ctx, err)
			return
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.loading.asks[name] == nil {
		asks := resources.PodRequests(pod, resources.PodResourcesOptions{})
		asks[core.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
		w.loading.asks[name] = asks
	}
	if owner := meta.GetControllerOf(pod); owner != nil {
		w.loading.of[name] = string(owner.UID)
	}
	switch {
	case node == "" || w.loading.on[name] != "":
	case daemon: // its place is nobody's plan but the node's own
		w.loading.on[name] = node
	default:
		w.loading.bind(name, node)
	}
}

// learn asks for a node's room once.
func (w *follower) learn(ctx context.Context, node string) error {
	w.mu.Lock()
	known := w.loading.room[node] != nil
	w.mu.Unlock()
	if known {
		return nil
	}
	got, err := w.f.Client().CoreV1().Nodes().Get(ctx, node, meta.GetOptions{})
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.loading.room[node] = got.Status.Allocatable
	w.mu.Unlock()
	return nil
}

// poll reads the plan often enough to see each: between two plans lies a batch of a second.
func (w *follower) poll(ctx context.Context) {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		p, err := readPlan(ctx, w.page)
		if err != nil {
			w.fail(ctx, err)
			return
		}
		w.mu.Lock()
		maps.Copy(w.loading.meant, p.places())
		if w.first == nil && w.buysAnew(p) {
			w.first = &p
		}
		w.mu.Unlock()
	}
}

// buysAnew tells a plan from one that was on the page before.
func (w *follower) buysAnew(p plan) bool {
	for _, c := range p.NodeClaims {
		for _, pod := range c.Pods {
			if !w.before[pod] {
				return true
			}
		}
	}
	return false
}

func readPlan(ctx context.Context, page string) (plan, error) {
	var p plan
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+page+"/plan", nil)
	if err != nil {
		return p, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return p, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		return p, fmt.Errorf("GET /plan: %s, %s", response.Status, response.Header.Get("Content-Type"))
	}
	return p, json.NewDecoder(response.Body).Decode(&p)
}
