package karpenter

import (
	"context"
	"fmt"
	"math"
	"sort"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	reqs "sigs.k8s.io/karpenter/pkg/scheduling"
	nodeutils "sigs.k8s.io/karpenter/pkg/utils/node"
	"sigs.k8s.io/karpenter/pkg/utils/resources"
)

// Plan is what `stowage plan -o json` prints, as far as Karpenter has an opinion.
type Plan struct {
	APIVersion    string            `json:"apiVersion"`
	Kind          string            `json:"kind"`
	NodeClaims    []PlanClaim       `json:"nodeClaims"`
	ExistingNodes []PlanNode        `json:"existingNodes"`
	Unschedulable []PlanFailure     `json:"unschedulable"`
	Disruption    *[]PlanDisruption `json:"disruption,omitempty"` // there if it was asked for
	Cost          PlanCost          `json:"cost"`
	Warnings      []string          `json:"warnings,omitempty"`
}

type PlanClaim struct {
	Name          string                                    `json:"name"`
	NodePool      string                                    `json:"nodePool"`
	Requirements  []v1.NodeSelectorRequirementWithMinValues `json:"requirements"`
	Labels        map[string]string                         `json:"labels,omitempty"`
	Annotations   map[string]string                         `json:"annotations,omitempty"`
	Taints        []corev1.Taint                            `json:"taints,omitempty"`
	InstanceTypes []string                                  `json:"instanceTypes"`
	Price         *float64                                  `json:"price,omitempty"`
	Requests      corev1.ResourceList                       `json:"requests"`
	Pods          []string                                  `json:"pods"`
}

type PlanNode struct {
	Name string   `json:"name"`
	Pods []string `json:"pods"`
}

type PlanFailure struct {
	Pod     string `json:"pod"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// PlanDisruption is one command of a method.
type PlanDisruption struct {
	Method         string      `json:"method"`
	Reason         string      `json:"reason"`
	Decision       string      `json:"decision"`
	Candidates     []string    `json:"candidates"`
	Replacements   []PlanClaim `json:"replacements,omitempty"`
	SavingsPerHour *float64    `json:"savingsPerHour,omitempty"` // absent if a replacement has no price
	DisruptionCost float64     `json:"disruptionCost"`

	TerminationGracePeriod string `json:"terminationGracePeriod,omitempty"` // of the drain, where a repair policy bounds it
}

type PlanCost struct {
	Before *float64 `json:"before,omitempty"`
	After  *float64 `json:"after,omitempty"`
}

// Plan runs the pass and states what Karpenter decides.
func (w *World) Plan(ctx context.Context, pass Pass) (*Plan, error) {
	wellKnown.RLock()
	defer wellKnown.RUnlock()
	results, _, err := w.solve(ctx, pass)
	if err != nil {
		return nil, err
	}
	return w.makePlan(ctx, pass, results)
}

// makePlan turns a pass's results into the plan. Every pod that Karpenter set out
// to place is in it once; a pod lost on the way is an error.
func (w *World) makePlan(ctx context.Context, r Pass, results scheduling.Results) (*Plan, error) {
	p := &Plan{APIVersion: "stowage.dev/v1alpha1", Kind: "Plan",
		NodeClaims: []PlanClaim{}, ExistingNodes: []PlanNode{}, Unschedulable: []PlanFailure{}, Warnings: w.warnings}
	done := map[string]bool{}
	perPool := map[string]int{}
	for _, n := range results.NewNodeClaims {
		perPool[n.NodePoolName]++
		c := planClaim(fmt.Sprintf("%s-%d", n.NodePoolName, perPool[n.NodePoolName]), n, r.Credit)
		for _, key := range c.Pods {
			done[key] = true
		}
		p.NodeClaims = append(p.NodeClaims, c)
	}
	for _, n := range results.ExistingNodes {
		if len(n.Pods) == 0 {
			continue
		}
		keys := podKeys(n.Pods)
		for _, key := range keys {
			done[key] = true
		}
		p.ExistingNodes = append(p.ExistingNodes, PlanNode{Name: n.Name(), Pods: keys})
	}
	for pod, err := range results.PodErrors {
		key := podKey(pod)
		done[key] = true
		reason := "Unschedulable"
		switch {
		case scheduling.IsReservedOfferingError(err):
			reason = "ReservedOfferingUnavailable"
		case scheduling.IsDRAError(err):
			reason = "DynamicResourcesNotSupported"
		}
		p.Unschedulable = append(p.Unschedulable, PlanFailure{Pod: key, Reason: reason, Message: err.Error()})
	}

	pods, _, _, err := w.selected(ctx, r)
	if err != nil {
		return nil, err
	}
	selected := map[string]bool{}
	noResult := len(done) == 0
	for _, pod := range pods {
		key := podKey(pod)
		selected[key] = true
		if done[key] {
			continue
		}
		if !noResult {
			return nil, fmt.Errorf("pod %s was selected but the scheduler said nothing of it (did it time out?)", key)
		}
		p.Unschedulable = append(p.Unschedulable, PlanFailure{Pod: key, Reason: "NoNodePools", Message: "no dynamic nodepools found"})
	}
	provisionable, err := nodeutils.GetProvisionablePods(ctx, w.client)
	if err != nil {
		return nil, err
	}
	for _, pod := range provisionable {
		if selected[podKey(pod)] {
			continue
		}
		err := w.provisioner.Validate(ctx, pod)
		if err == nil {
			return nil, fmt.Errorf("pod %s was left out though it is valid", podKey(pod))
		}
		p.Unschedulable = append(p.Unschedulable, PlanFailure{Pod: podKey(pod), Reason: "Ignored", Message: "ignoring pod, " + err.Error()})
	}
	sort.Slice(p.Unschedulable, func(i, j int) bool { return p.Unschedulable[i].Pod < p.Unschedulable[j].Pod })
	w.addCost(p, r)
	return p, nil
}

// planClaim states the NodeClaim that Karpenter would create.
func planClaim(name string, n *scheduling.NodeClaim, credit map[string]int) PlanClaim {
	nc := n.ToNodeClaim()
	sort.Slice(nc.Spec.Requirements, func(i, j int) bool {
		a, b := nc.Spec.Requirements[i], nc.Spec.Requirements[j]
		return a.Key < b.Key || a.Key == b.Key && a.Operator < b.Operator
	})
	c := PlanClaim{Name: name, NodePool: n.NodePoolName, Requirements: nc.Spec.Requirements, Labels: nc.Labels, Taints: nc.Spec.Taints,
		Requests: nc.Spec.Resources.Requests, Pods: podKeys(n.Pods), InstanceTypes: []string{}, Annotations: map[string]string{}}
	for k, v := range nc.Annotations {
		if k != v1.NodePoolHashAnnotationKey && k != v1.NodePoolHashVersionAnnotationKey {
			c.Annotations[k] = v
		}
	}
	types := append(cloudprovider.InstanceTypes{}, n.InstanceTypeOptions...)
	price := map[string]float64{}
	for _, it := range types {
		price[it.Name] = cheapest(it, n.Requirements, nc.Spec.Resources.Requests, credit)
	}
	sort.Slice(types, func(i, j int) bool {
		a, b := types[i].Name, types[j].Name
		return price[a] < price[b] || price[a] == price[b] && a < b
	})
	for _, it := range types {
		c.InstanceTypes = append(c.InstanceTypes, it.Name)
	}
	if len(types) > 0 && price[types[0].Name] < math.MaxFloat64 {
		first := price[types[0].Name]
		c.Price = &first
	}
	return c
}

// cheapest is the least price at which the type holds the requests: where offerings have overrides, not every one does.
func cheapest(it *cloudprovider.InstanceType, r reqs.Requirements, requests corev1.ResourceList, credit map[string]int) float64 {
	best := math.MaxFloat64
	groups := it.AllocatableOfferingsList()
	for _, group := range groups {
		if len(groups) > 1 && !resources.Fits(requests, group.Allocatable) {
			continue
		}
		for _, o := range group.Offerings.Compatible(r) {
			if o.Launchable() || credit[o.ReservationID()] > 0 {
				best = math.Min(best, o.Price)
			}
		}
	}
	return best
}

func podKey(p *corev1.Pod) string { return client.ObjectKeyFromObject(p).String() }

func podKeys(pods []*corev1.Pod) []string {
	keys := []string{}
	for _, p := range pods {
		keys = append(keys, podKey(p))
	}
	return keys
}

// addCost prices the fleet before and after; it says nothing if one price is unknown.
func (w *World) addCost(p *Plan, r Pass) {
	before, after := 0.0, 0.0
	for n := range w.cluster.Nodes() {
		if !n.Managed() || n.MarkedForDeletion() {
			continue
		}
		price, ok := w.nodePrice(n)
		if !ok {
			return
		}
		before += price
		gone := false
		for _, name := range r.Remove {
			gone = gone || name == n.Name()
		}
		if !gone {
			after += price
		}
	}
	for _, c := range p.NodeClaims {
		if c.Price == nil {
			return
		}
		after += *c.Price
	}
	p.Cost = PlanCost{Before: &before, After: &after}
}

func (w *World) nodePrice(n *state.StateNode) (float64, bool) {
	l := n.Labels()
	for _, it := range w.provider.catalogue.of(l[v1.NodePoolLabelKey]) {
		if it.Name == l[corev1.LabelInstanceTypeStable] {
			return it.OfferingPrice(l[corev1.LabelTopologyZone], l[v1.CapacityTypeLabelKey])
		}
	}
	return 0, false
}
