package judge

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-helpers/storage/volume"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"stowage.dev/tests/judge/cluster"
)

// real is a real kube-scheduler (default profile) over an in-memory API holding a world.
type real struct {
	ctx    context.Context
	stop   context.CancelFunc
	client *fake.Clientset
	inf    informers.SharedInformerFactory
	sched  *scheduler.Scheduler
	fw     framework.Framework
	snap   *internalcache.Snapshot
	rv     atomic.Int64
	mu     sync.Mutex
	onBind func(pod, node string)
}

type noEvents struct{}

func (noEvents) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}
func (n noEvents) WithLogger(klog.Logger) events.EventRecorderLogger                           { return n }

func newReal(w *world, opts ...scheduler.Option) (*real, error) {
	r := &real{}
	r.ctx, r.stop = context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	r.rv.Store(1)
	var objs []runtime.Object
	for _, n := range w.nodes {
		objs = append(objs, n.DeepCopy())
	}
	for _, p := range w.bound {
		objs = append(objs, p.DeepCopy())
	}
	for _, o := range w.others {
		objs = append(objs, o.DeepCopyObject())
	}
	r.client = fake.NewSimpleClientset()
	for _, o := range objs {
		if err := r.client.Tracker().Add(o); err != nil {
			r.stop()
			return nil, fmt.Errorf("input: %w", err)
		}
	}
	// The in-memory watch panics when its channel is full: room for every pod added and bound.
	watch.DefaultChanSize = int32(4*len(w.pods) + 4096)
	watching := map[string]bool{}
	r.client.PrependWatchReactor("*", func(a clienttesting.Action) (bool, watch.Interface, error) {
		wi, err := r.client.Tracker().Watch(a.GetResource(), a.GetNamespace())
		r.mu.Lock()
		watching[a.GetResource().Resource] = true
		r.mu.Unlock()
		return true, wi, err
	})
	r.client.PrependReactor("*", "*", r.react)
	r.inf = scheduler.NewInformerFactory(r.client, 0)
	var err error
	r.sched, err = scheduler.New(r.ctx, r.client, r.inf, nil,
		func(string) events.EventRecorderLogger { return noEvents{} },
		append([]scheduler.Option{scheduler.WithParallelism(4)}, opts...)...)
	if err != nil {
		r.stop()
		return nil, err
	}
	r.fw = r.sched.Profiles[v1.DefaultSchedulerName]
	r.snap = r.fw.SnapshotSharedLister().(*internalcache.Snapshot)
	r.inf.Start(r.ctx.Done())
	r.inf.WaitForCacheSync(r.ctx.Done())
	if err := r.sched.WaitForHandlersSync(r.ctx); err != nil {
		r.stop()
		return nil, err
	}
	// The in-memory API has no resource versions: what is written between list and watch would be lost.
	for _, res := range []string{"pods", "nodes", "persistentvolumes", "persistentvolumeclaims"} {
		for i := 0; ; i++ {
			r.mu.Lock()
			ok := watching[res]
			r.mu.Unlock()
			if ok {
				break
			}
			if i > 5000 {
				r.stop()
				return nil, fmt.Errorf("no watch on %s", res)
			}
			time.Sleep(time.Millisecond)
		}
	}
	if got := r.sched.Cache.NodeCount(); got != len(w.nodes) {
		r.stop()
		return nil, fmt.Errorf("scheduler sees %d of %d nodes", got, len(w.nodes))
	}
	return r, nil
}

func (r *real) version() string { return strconv.FormatInt(r.rv.Add(1), 10) }

// react stands in for what the API server and the volume controllers do with the scheduler's writes.
func (r *real) react(a clienttesting.Action) (bool, runtime.Object, error) {
	switch a := a.(type) {
	case clienttesting.CreateActionImpl:
		if a.GetResource().Resource == "pods" && a.GetSubresource() == "binding" {
			b := a.GetObject().(*v1.Binding)
			return true, b, r.bind(b.Namespace, b.Name, b.Target.Name)
		}
	case clienttesting.PatchActionImpl:
		if a.GetResource().Resource == "pods" && a.GetSubresource() == "status" {
			return true, &v1.Pod{}, nil // conditions: nobody here reads them
		}
	case clienttesting.UpdateActionImpl:
		if a.GetSubresource() != "" {
			break
		}
		if err := r.update(a); err != nil {
			return true, nil, err
		}
		switch o := a.GetObject().(type) {
		case *v1.PersistentVolumeClaim:
			if n := o.Annotations[volume.AnnSelectedNode]; n != "" && o.Spec.VolumeName == "" {
				go r.provision(o.DeepCopy(), n)
			}
		case *v1.PersistentVolume:
			if o.Spec.ClaimRef != nil {
				go r.complete(o.Spec.ClaimRef.Namespace, o.Spec.ClaimRef.Name, o.Name)
			}
		}
		return true, a.GetObject(), nil
	}
	return false, nil, nil
}

// update stores an object as an API server does: a stale writer gets a conflict.
func (r *real) update(a clienttesting.UpdateActionImpl) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := a.GetObject().(metav1.Object)
	stored, err := r.client.Tracker().Get(a.GetResource(), a.GetNamespace(), m.GetName())
	if err != nil {
		return err
	}
	if s := stored.(metav1.Object); s.GetResourceVersion() != m.GetResourceVersion() {
		return apierrors.NewConflict(a.GetResource().GroupResource(), m.GetName(), fmt.Errorf("have version %s, got %s", s.GetResourceVersion(), m.GetResourceVersion()))
	}
	m.SetResourceVersion(r.version())
	return r.client.Tracker().Update(a.GetResource(), a.GetObject(), a.GetNamespace())
}

func (r *real) bind(ns, name, node string) error {
	gvr := v1.SchemeGroupVersion.WithResource("pods")
	obj, err := r.client.Tracker().Get(gvr, ns, name)
	if err != nil {
		return err
	}
	p := obj.(*v1.Pod).DeepCopy()
	p.Spec.NodeName = node
	p.ResourceVersion = r.version()
	if r.onBind != nil {
		r.onBind(ns+"/"+name, node)
	}
	return r.client.Tracker().Update(gvr, p, ns)
}

const awaitMost = 10 * time.Second // informers need a few milliseconds, but the machine may be busy

// provision plays the external provisioner: a CSI volume in the zone of the selected node.
func (r *real) provision(pvc *v1.PersistentVolumeClaim, node string) {
	n, err := r.inf.Core().V1().Nodes().Lister().Get(node)
	sc, err2 := r.inf.Storage().V1().StorageClasses().Lister().Get(*pvc.Spec.StorageClassName)
	if err != nil || err2 != nil || sc.Provisioner == "kubernetes.io/no-provisioner" {
		return
	}
	pv := &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pvc-" + pvc.Namespace + "-" + pvc.Name, UID: types.UID("pv/" + pvc.Namespace + "/" + pvc.Name), ResourceVersion: r.version()},
		Spec: v1.PersistentVolumeSpec{
			Capacity: pvc.Spec.Resources.Requests, AccessModes: pvc.Spec.AccessModes, StorageClassName: sc.Name, VolumeMode: pvc.Spec.VolumeMode,
			ClaimRef:               &v1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: pvc.Namespace, Name: pvc.Name, UID: pvc.UID},
			PersistentVolumeSource: v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{Driver: sc.Provisioner, VolumeHandle: pvc.Namespace + "-" + pvc.Name}},
		},
		Status: v1.PersistentVolumeStatus{Phase: v1.VolumeBound},
	}
	if z := n.Labels[cluster.Zone]; z != "" {
		pv.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
			MatchExpressions: []v1.NodeSelectorRequirement{{Key: cluster.Zone, Operator: v1.NodeSelectorOpIn, Values: []string{z}}}}}}}
	}
	if r.client.Tracker().Add(pv) == nil {
		r.complete(pvc.Namespace, pvc.Name, pv.Name)
		r.await(func() bool {
			_, err := r.inf.Core().V1().PersistentVolumes().Lister().Get(pv.Name)
			c, err2 := r.inf.Core().V1().PersistentVolumeClaims().Lister().PersistentVolumeClaims(pvc.Namespace).Get(pvc.Name)
			return err == nil && err2 == nil && c.Spec.VolumeName != ""
		})
	}
}

// await waits until the scheduler's informers show what was written: who asks it next is to be judged by that.
func (r *real) await(seen func() bool) {
	for deadline := time.Now().Add(awaitMost); !seen() && time.Now().Before(deadline) && r.ctx.Err() == nil; {
		time.Sleep(time.Millisecond)
	}
}

// complete plays the volume controller: the claim is bound to the volume.
func (r *real) complete(ns, name, pv string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	gvr := v1.SchemeGroupVersion.WithResource("persistentvolumeclaims")
	obj, err := r.client.Tracker().Get(gvr, ns, name)
	if err != nil {
		return
	}
	c := obj.(*v1.PersistentVolumeClaim).DeepCopy()
	if c.Spec.VolumeName != "" {
		return
	}
	c.Spec.VolumeName, c.Status.Phase, c.ResourceVersion = pv, v1.ClaimBound, r.version()
	metav1.SetMetaDataAnnotation(&c.ObjectMeta, volume.AnnBindCompleted, "yes")
	_ = r.client.Tracker().Update(gvr, c, ns)
}

// verdict is the first plugin that refuses the pod on the node; empty when all accept.
type verdict struct{ Plugin, Reason string }

func (v verdict) ok() bool { return v.Plugin == "" }

func refused(s *fwk.Status, fallback string) verdict {
	p := s.Plugin()
	if p == "" {
		p = fallback
	}
	return verdict{p, s.Message()}
}

// filter runs the scheduler's own PreFilter and Filter plugins for the pod on one node, as of now.
func (r *real) filter(pod *v1.Pod, node string) (verdict, fwk.CycleState) {
	if err := r.sched.Cache.UpdateSnapshot(klog.FromContext(r.ctx), r.snap); err != nil {
		return verdict{"agree", err.Error()}, nil
	}
	ni, err := r.snap.Get(node)
	if err != nil {
		return verdict{"agree", err.Error()}, nil
	}
	state := framework.NewCycleState()
	pre, st, by := r.fw.RunPreFilterPlugins(r.ctx, state, pod)
	if !st.IsSuccess() {
		return refused(st, "PreFilter"), nil
	}
	if !pre.AllNodes() && !pre.NodeNames.Has(node) {
		name := "PreFilter"
		for p := range by {
			name = p
		}
		return verdict{name, "PreFilter leaves out the node"}, nil
	}
	if st := r.fw.RunFilterPlugins(r.ctx, state, pod, ni); !st.IsSuccess() {
		return refused(st, "Filter"), nil
	}
	return verdict{}, state
}

// place assumes the pod on the node, volumes included; filter must have passed.
func (r *real) place(pod *v1.Pod, node string, state fwk.CycleState, shared map[string]bool) verdict {
	p := pod.DeepCopy()
	p.Spec.NodeName = node
	if st := r.fw.RunReservePluginsReserve(r.ctx, state, p, node); !st.IsSuccess() {
		return refused(st, "Reserve")
	}
	if err := r.sched.Cache.AssumePod(klog.FromContext(r.ctx), p); err != nil {
		return verdict{"agree", err.Error()}
	}
	for _, v := range p.Spec.Volumes {
		// A claim used by several pods is provisioned before the next one comes.
		if v.PersistentVolumeClaim == nil || !shared[p.Namespace+"/"+v.PersistentVolumeClaim.ClaimName] {
			continue
		}
		c, err := r.inf.Core().V1().PersistentVolumeClaims().Lister().PersistentVolumeClaims(p.Namespace).Get(v.PersistentVolumeClaim.ClaimName)
		if err == nil && c.Spec.VolumeName == "" {
			r.provision(c, node)
		}
	}
	return verdict{}
}
