package judge

import (
	"math/rand/v2"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// FreeRun is what a live scheduler made of the planned pods.
type FreeRun struct {
	Pods         int      `json:"pods"`
	Bound        int      `json:"bound"`
	AsPlanned    int      `json:"asPlanned"`
	Pending      int      `json:"pending"`
	PendingPods  []string `json:"pendingPods,omitempty"` // at most ten
	Unplanned    int      `json:"unplannedBound"`        // pods the plan calls unschedulable, bound all the same
	EmptyNodes   int      `json:"emptyNodes"`            // planned nodes that got none of the pods
	Preempted    int      `json:"preempted"`
	Asked        int64    `json:"extenderAsked,omitempty"` // guided: calls of the extender, and those whose
	NotOffered   int64    `json:"notOffered,omitempty"`    // candidates lacked the planned node (sampling, order)
	MilliSeconds int64    `json:"milliseconds"`
}

// freeRun starts the real queue and scheduling cycle on the finished fleet and adds the pods in random order.
// With guided, an extender lets each pod only to its planned node, through the path a real extender takes.
func freeRun(w *world, plan []Placement, guided bool, seed uint64) (*FreeRun, error) {
	start := time.Now()
	env, err := newReal(w, scheduler.WithPodInitialBackoffSeconds(0), scheduler.WithPodMaxBackoffSeconds(0))
	if err != nil {
		return nil, err
	}
	defer env.stop()
	want := map[string]string{}
	var ext *guide
	for _, p := range plan {
		want[p.Pod] = p.Node
	}
	if guided {
		ext = &guide{want: want}
		env.sched.Extenders = []fwk.Extender{ext}
	}
	var mu sync.Mutex
	got := map[string]string{}
	last := time.Now()
	env.onBind = func(pod, node string) {
		mu.Lock()
		got[pod] = node
		last = time.Now()
		mu.Unlock()
	}
	go env.sched.Run(env.ctx)

	keys := []string{}
	for k := range w.pods {
		if want[k] != "" || w.must[k] {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	rng := rand.New(rand.NewPCG(seed, 11))
	rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for _, k := range keys {
		p := w.pods[k].DeepCopy()
		p.Spec.SchedulerName = v1.DefaultSchedulerName
		p.ResourceVersion = env.version()
		if err := env.client.Tracker().Add(p); err != nil {
			return nil, err
		}
	}
	limit := time.Now().Add(time.Minute)
	kicks, before := 0, -1
	for time.Now().Before(limit) {
		time.Sleep(20 * time.Millisecond)
		mu.Lock()
		n, quiet := len(got), time.Since(last)
		mu.Unlock()
		if n == len(keys) {
			break
		}
		if quiet < 150*time.Millisecond || env.busy() {
			continue
		}
		// Quiet: do what the queue does by itself every five minutes, until that helps no more.
		if n == before {
			if kicks++; kicks >= 2 {
				break
			}
		} else {
			kicks = 0
		}
		before = n
		mu.Lock()
		last = time.Now()
		mu.Unlock()
		env.sched.SchedulingQueue.MoveAllToActiveOrBackoffQueue(klog.FromContext(env.ctx), framework.EventUnschedulableTimeout, nil, nil, nil)
	}
	mu.Lock()
	defer mu.Unlock()
	f := &FreeRun{Pods: len(want), MilliSeconds: time.Since(start).Milliseconds()}
	used := map[string]bool{}
	for pod, node := range got {
		used[node] = true
		if want[pod] == "" {
			f.Unplanned++
		}
	}
	for _, p := range plan {
		switch got[p.Pod] {
		case "":
			f.Pending++
			if len(f.PendingPods) < 10 {
				f.PendingPods = append(f.PendingPods, p.Pod)
			}
		case p.Node:
			f.Bound++
			f.AsPlanned++
		default:
			f.Bound++
		}
	}
	for n := range w.planned {
		if !used[n] {
			f.EmptyNodes++
		}
	}
	f.Preempted = env.deletions()
	if ext != nil {
		f.Asked, f.NotOffered = ext.asked.Load(), ext.absent.Load()
	}
	return f, nil
}

// busy says whether any pod is queued, being scheduled or being bound.
func (r *real) busy() bool {
	q := r.sched.SchedulingQueue
	return len(q.PodsInActiveQ())+len(q.PodsInBackoffQ())+len(q.InFlightPods()) > 0 || len(r.sched.Cache.Dump().AssumedPods) > 0
}

// deletions counts the pods the scheduler evicted for others.
func (r *real) deletions() int {
	n := 0
	for _, a := range r.client.Actions() {
		if a.GetVerb() == "delete" && a.GetResource().Resource == "pods" {
			n++
		}
	}
	return n
}

// guide is the extender: only the planned node passes.
type guide struct {
	want          map[string]string
	asked, absent atomic.Int64
}

func (*guide) Name() string              { return "guide" }
func (*guide) Bind(*v1.Binding) error    { return nil }
func (*guide) IsBinder() bool            { return false }
func (*guide) IsInterested(*v1.Pod) bool { return true }
func (*guide) IsPrioritizer() bool       { return false }
func (*guide) IsFilter() bool            { return true }
func (*guide) SupportsPreemption() bool  { return false }
func (*guide) IsIgnorable() bool         { return true }
func (*guide) Prioritize(*v1.Pod, []fwk.NodeInfo) (*extenderv1.HostPriorityList, int64, error) {
	return &extenderv1.HostPriorityList{}, 0, nil
}
func (*guide) ProcessPreemption(_ *v1.Pod, v map[string]*extenderv1.Victims, _ fwk.NodeInfoLister) (map[string]*extenderv1.Victims, error) {
	return v, nil
}
func (g *guide) Filter(p *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodeInfo, extenderv1.FailedNodesMap, extenderv1.FailedNodesMap, error) {
	failed := extenderv1.FailedNodesMap{}
	var out []fwk.NodeInfo
	for _, n := range nodes {
		if n.Node().Name == g.want[p.Namespace+"/"+p.Name] {
			out = append(out, n)
		} else {
			failed[n.Node().Name] = "held by the plan"
		}
	}
	if g.asked.Add(1); len(out) == 0 && g.want[p.Namespace+"/"+p.Name] != "" {
		g.absent.Add(1)
	}
	return out, failed, extenderv1.FailedNodesMap{}, nil
}
