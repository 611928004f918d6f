package karpenter

import (
	"context"
	"errors"
	"time"

	"github.com/awslabs/operatorpkg/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/events"
)

// provider offers the catalogue and owns every NodeClass kind that the input's NodePools name.
// Only its reading half is ever called: planning launches nothing.
type provider struct {
	cloudprovider.CloudProvider
	catalogue *Catalogue
	classes   []status.Object
}

func newProvider(c *Catalogue, objects []client.Object) *provider {
	p := &provider{catalogue: c}
	seen := map[schema.GroupKind]bool{}
	for _, o := range objects {
		np, ok := o.(*v1.NodePool)
		if !ok || np.Spec.Template.Spec.NodeClassRef == nil {
			continue
		}
		if gk := np.Spec.Template.Spec.NodeClassRef.GroupKind(); !seen[gk] {
			seen[gk] = true
			p.classes = append(p.classes, newNodeClass(gk))
		}
	}
	return p
}

func (p *provider) GetInstanceTypes(_ context.Context, np *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	if np == nil {
		return p.catalogue.all, nil
	}
	return p.catalogue.of(np.Name), nil
}
func (p *provider) GetSupportedNodeClasses() []status.Object { return p.classes }
func (p *provider) Name() string                             { return "plan" }
func (p *provider) RepairPolicies() []cloudprovider.RepairPolicy {
	return p.catalogue.repair
}
func (p *provider) IsDrifted(context.Context, *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	return "", nil
}
func (p *provider) Create(context.Context, *v1.NodeClaim) (*v1.NodeClaim, error) {
	return nil, errors.New("planning launches nothing")
}

// nodeClass stands for a NodeClass kind that Go has no type for.
type nodeClass struct{ *unstructured.Unstructured }

func newNodeClass(gk schema.GroupKind) nodeClass {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gk.WithVersion("v1"))
	return nodeClass{u}
}
func (nodeClass) GetConditions() []status.Condition { return nil }
func (nodeClass) SetConditions([]status.Condition)  {}
func (n nodeClass) StatusConditions(opts ...status.ForOption) status.ConditionSet {
	return status.NewReadyConditions().For(n, opts...)
}

type silentRecorder struct{}

func (silentRecorder) Publish(...events.Event) {}

// planClock stands at the time of the plan; waiting (the 15 s before a command is validated) is over at once.
type planClock struct{ *clocktesting.FakeClock }

func (c planClock) After(time.Duration) <-chan time.Time {
	fired := make(chan time.Time, 1)
	fired <- c.Now()
	return fired
}
