// Package karpenter runs Karpenter's own provisioner, scheduler and disruption methods behind the contract of `stowage plan`.
package karpenter

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/awslabs/operatorpkg/status"
	"github.com/go-logr/logr"
	"github.com/google/uuid"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/dynamicresources/deviceallocation"
	"sigs.k8s.io/karpenter/pkg/controllers/node/health"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/state/virtualpods"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"
)

// World is Karpenter's view of the input: its cluster state and its provisioner.
type World struct {
	client      *memClient
	provider    *provider
	clock       planClock
	cluster     *state.Cluster
	provisioner *provisioning.Provisioner
	warnings    []string
	rebooted    map[types.UID]int // by NodeClaim
}

// Context carries what Karpenter's code looks for in one: its options, a logger that says nothing.
func Context(ctx context.Context, settings *options.Options) context.Context {
	ctx = log.IntoContext(ctx, logr.Discard())
	return options.ToContext(injection.WithControllerName(ctx, "provisioner"), settings)
}

func uidFor(kind string, o client.Object) types.UID {
	sum := sha256.Sum256([]byte(kind + "/" + o.GetNamespace() + "/" + o.GetName()))
	return types.UID(uuid.Must(uuid.FromBytes(sum[:16])).String())
}

// NewWorld builds the state from copies of the objects; the input stays as it is.
func NewWorld(ctx context.Context, in *Input, cat *Catalogue, now time.Time, allUnbound bool) (*World, error) {
	wellKnown.RLock()
	defer wellKnown.RUnlock()
	objects := make([]client.Object, len(in.Objects))
	for i, o := range in.Objects {
		objects[i] = o.DeepCopyObject().(client.Object)
		if err := complete(objects[i], allUnbound); err != nil {
			return nil, err
		}
	}
	c, err := newMemClient(objects)
	if err != nil {
		return nil, err
	}
	w := &World{client: c, provider: newProvider(cat, objects), clock: planClock{clocktesting.NewFakeClock(now)}, warnings: in.warnings}
	policies, err := health.NewRepairPolicyMatcher(ctx, w.provider)
	if err != nil {
		return nil, err
	}
	w.cluster = state.NewCluster(w.clock, c, w.provider, state.WithRepairPolicyMatcher(policies))
	w.provisioner = provisioning.NewProvisioner(c, silentRecorder{}, w.provider, w.cluster, w.clock,
		deviceallocation.NewController(c), virtualpods.NewVirtualPodCache(c))
	return w, w.learn(ctx, objects)
}

// complete gives an object what Karpenter's controllers would have given it before a pass.
func complete(o client.Object, allUnbound bool) error {
	switch o := o.(type) {
	case *corev1.Pod:
		if allUnbound && o.Spec.NodeName == "" {
			o.Status.Conditions = append(o.Status.Conditions, corev1.PodCondition{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable})
			o.Status.NominatedNodeName = ""
		}
	case *v1.NodePool:
		// A file written by hand has no status; only a Ready condition that is there can say no.
		if !slices.ContainsFunc(o.Status.Conditions, func(c status.Condition) bool { return c.Type == status.ConditionReady }) {
			o.StatusConditions().SetTrue(v1.ConditionTypeValidationSucceeded)
			o.StatusConditions().SetTrue(v1.ConditionTypeNodeClassReady)
		}
		if o.Spec.Template.Spec.NodeClassRef == nil {
			return fmt.Errorf("NodePool %s: spec.template.spec.nodeClassRef must be set", o.Name)
		}
	}
	return nil
}

// learn tells the cluster state what its informers would: claims, nodes, then what stands on them.
func (w *World) learn(ctx context.Context, objects []client.Object) error {
	for _, o := range objects {
		if nc, ok := o.(*v1.NodeClaim); ok {
			w.cluster.UpdateNodeClaim(nc)
		}
	}
	for _, o := range objects {
		if n, ok := o.(*corev1.Node); ok {
			if err := w.cluster.UpdateNode(ctx, n); err != nil {
				return fmt.Errorf("Node %s: %w", n.Name, err)
			}
		}
	}
	for _, o := range objects {
		switch o := o.(type) {
		case *corev1.Pod:
			if err := w.cluster.UpdatePod(ctx, o); apierrors.IsNotFound(err) {
				w.warnings = append(w.warnings, fmt.Sprintf("Pod %s/%s: %v", o.Namespace, o.Name, err))
			} else if err != nil {
				return fmt.Errorf("Pod %s/%s: %w", o.Namespace, o.Name, err)
			}
		case *appsv1.DaemonSet:
			if err := w.cluster.UpdateDaemonSet(ctx, o); err != nil {
				return fmt.Errorf("DaemonSet %s/%s: %w", o.Namespace, o.Name, err)
			}
		}
	}
	return nil
}

// Pass says what kind of pass it is; the zero value is that of the provisioner.
type Pass struct {
	Remove      []string       // nodes whose loss is simulated, as a disruption method does it
	RemoveFor   string         // whose rules that simulation has: consolidation, drift or repair
	Fallback    bool           // reserved offerings may be given up for others
	Credit      map[string]int // instances added to reservations
	NoTimeLimit bool           // without the minute that Karpenter gives to a pass
}

// selected returns the pods that a pass places: the valid pending ones and those of leaving nodes.
func (w *World) selected(ctx context.Context, r Pass) (pods []*corev1.Pod, leaving sets.Set[types.UID], stay state.StateNodes, err error) {
	nodes := w.cluster.DeepCopyNodes()
	var removed state.StateNodes
	for _, name := range r.Remove {
		i := slices.IndexFunc(nodes, func(n *state.StateNode) bool { return n.Name() == name })
		if i < 0 {
			return nil, nil, nil, fmt.Errorf("--remove: there is no node %q", name)
		}
		if nodes[i].MarkedForDeletion() {
			return nil, nil, nil, fmt.Errorf("--remove: node %q is already being deleted", name)
		}
		removed = append(removed, nodes[i])
	}
	if pods, err = w.provisioner.GetPendingPods(ctx); err != nil {
		return nil, nil, nil, err
	}
	var movers []*corev1.Pod
	if r.RemoveFor == "repair" { // its drain is bounded: what blocks eviction only delays it
		movers, err = removed.Pods(ctx, w.client)
		movers = slices.DeleteFunc(movers, func(p *corev1.Pod) bool { return !podutils.IsReschedulable(p) })
	} else {
		movers, err = removed.CurrentlyReschedulablePods(ctx, w.client, w.clock, silentRecorder{})
	}
	if err != nil {
		return nil, nil, nil, err
	}
	others, err := nodes.Deleting().CurrentlyReschedulablePods(ctx, w.client, w.clock, silentRecorder{})
	if err != nil {
		return nil, nil, nil, err
	}
	movers = append(movers, others...)
	leaving = sets.New[types.UID]()
	for _, p := range movers {
		leaving.Insert(p.UID)
	}
	pods = append(pods, movers...)
	stay = slices.DeleteFunc(nodes.Active(), func(n *state.StateNode) bool { return slices.Contains(r.Remove, n.Name()) })
	return pods, leaving, stay, nil
}

// solve is what Provisioner.Schedule does, or for a removal what a disruption method would simulate; it also
// says how long Scheduler.Solve took.
func (w *World) solve(ctx context.Context, r Pass) (scheduling.Results, time.Duration, error) {
	if !r.NoTimeLimit && len(r.Remove) == 0 {
		limited, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		ctx = limited
	}
	pods, leaving, stay, err := w.selected(ctx, r)
	if err != nil {
		return scheduling.Results{}, 0, err
	}
	o := options.FromContext(ctx)
	opts := []scheduling.Options{scheduling.MinValuesPolicy(o.MinValuesPolicy)}
	if o.PreferencePolicy == options.PreferencePolicyIgnore {
		opts = append(opts, scheduling.IgnorePreferences)
	}
	if !r.Fallback {
		opts = append(opts, scheduling.DisableReservedCapacityFallback)
	}
	for id, count := range r.Credit {
		opts = append(opts, scheduling.CreditReservationCapacity(id, count))
	}
	switch {
	case len(r.Remove) == 0 && !r.Fallback:
		opts = append(opts, scheduling.NumConcurrentReconciles(int(math.Ceil(float64(o.CPURequests)/1000))))
	case r.RemoveFor == "consolidation":
		opts = append(opts, scheduling.IsConsolidationSimulation)
	}
	s, err := w.provisioner.NewScheduler(ctx, pods, stay, leaving, opts...)
	if errors.Is(err, provisioning.ErrNodePoolsNotFound) {
		return scheduling.Results{}, 0, nil
	} else if err != nil {
		return scheduling.Results{}, 0, err
	}
	start := time.Now()
	results, err := s.Solve(ctx, pods)
	took := time.Since(start)
	if err != nil {
		return results, took, err
	}
	return results.TruncateInstanceTypes(ctx, scheduling.MaxInstanceTypes), took, nil
}
