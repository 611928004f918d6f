package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"stowage.dev/tests/bench/peer/karpenter"
)

// fleet is one that is run down, and what came of it.
type fleet struct {
	b         *bench
	dir       string
	in        *karpenter.Input
	catalogue *karpenter.Catalogue
	bought    int

	before, price           float64
	moves, evicted, waiting int
}

type planner func(*fleet) ([]karpenter.PlanDisruption, error)

func (b *bench) runDown(dir string, ask planner) (*fleet, error) {
	f := &fleet{b: b, dir: dir, in: &karpenter.Input{}}
	var err error
	if f.catalogue, err = karpenter.ReadCatalogue(b.ctx, filepath.Join(dir, "instance-types.json")); err != nil {
		return nil, err
	}
	if err = f.in.Read(filepath.Join(dir, "objects")); err != nil {
		return nil, err
	}
	if err = f.place(); err != nil { // who waits is nobody's achievement
		return nil, err
	}
	f.before = f.price
	for f.moves < most {
		commands, err := ask(f)
		if err != nil || len(commands) == 0 {
			return f, err
		}
		for i := range commands {
			if err := f.do(&commands[i]); err != nil {
				return nil, err
			}
		}
		if err := f.place(); err != nil {
			return nil, err
		}
		f.moves++
	}
	return f, nil
}

// note says what a reader of the table must know.
func (f *fleet) note(who string) (text string) {
	if f.moves == most {
		text += fmt.Sprintf(" %s did not come to rest.", who)
	}
	if f.waiting > 0 {
		text += fmt.Sprintf(" %s left %d pods without a place.", who, f.waiting)
	}
	return text
}

func (f *fleet) world() (*karpenter.World, error) {
	return karpenter.NewWorld(f.b.ctx, f.in, f.catalogue, f.b.now, false)
}

func (b *bench) askKarpenter(f *fleet) ([]karpenter.PlanDisruption, error) {
	answers, err := karpenter.Disrupt(b.ctx, f.world, false)
	if err != nil {
		return nil, err
	}
	return karpenter.Commands(answers)
}

func (b *bench) askStowage(f *fleet) ([]karpenter.PlanDisruption, error) {
	file := filepath.Join(f.dir, "now.json")
	if err := karpenter.WriteList(file, f.in.Objects); err != nil {
		return nil, err
	}
	cmd := exec.Command(b.stowage, "plan", "-o", "json", "--no-expand", "--search", b.mode, "--disruption", "-f", file, "--now", clock,
		"--instance-types", filepath.Join(f.dir, "instance-types.json"))
	var errs strings.Builder
	cmd.Stderr = &errs
	text, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) { // 1: somebody has no place
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(errs.String()))
	}
	p := &karpenter.Plan{}
	if err := json.Unmarshal(text, p); err != nil || p.Disruption == nil {
		return nil, fmt.Errorf("%s: no answer: %w", strings.Join(cmd.Args, " "), err)
	}
	return *p.Disruption, nil
}

// do makes the move: replacements stand before candidates go, whose pods then wait.
func (f *fleet) do(c *karpenter.PlanDisruption) error {
	for i := range c.Replacements {
		if err := f.buy(&c.Replacements[i]); err != nil {
			return err
		}
	}
	f.in.Objects = slices.DeleteFunc(f.in.Objects, func(o client.Object) bool {
		switch x := o.(type) {
		case *corev1.Node:
			return slices.Contains(c.Candidates, x.Name)
		case *v1.NodeClaim:
			return slices.Contains(c.Candidates, x.Status.NodeName)
		case *corev1.Pod:
			return slices.Contains(c.Candidates, x.Spec.NodeName) && !f.evict(x)
		}
		return false
	})
	return nil
}

func (f *fleet) buy(claim *karpenter.PlanClaim) error {
	for _, o := range f.in.Objects {
		if pool, ok := o.(*v1.NodePool); ok && pool.Name == claim.NodePool {
			f.bought++
			nc, node, err := f.catalogue.Launch(claim, pool, fmt.Sprintf("%s-new-%03d", pool.Name, f.bought), f.b.now)
			if err == nil {
				f.in.Objects = append(f.in.Objects, nc, node)
			}
			return err
		}
	}
	return fmt.Errorf("a replacement of NodePool %q, which there is not", claim.NodePool)
}

// evict lets the pod come again, unless it belongs to its node or is over.
func (f *fleet) evict(p *corev1.Pod) bool {
	if slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "DaemonSet" || o.Kind == "Node" }) ||
		p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
		return false
	}
	f.evicted++
	p.Spec.NodeName = ""
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}}
	return true
}

// place binds who waits, buying where there is no room, and prices the fleet.
func (f *fleet) place() error {
	w, err := f.world()
	if err != nil {
		return err
	}
	p, err := w.Plan(f.b.ctx, karpenter.Pass{})
	if err != nil {
		return err
	}
	for i := range p.NodeClaims {
		if err := f.buy(&p.NodeClaims[i]); err != nil {
			return err
		}
		node := f.in.Objects[len(f.in.Objects)-1].GetName()
		p.ExistingNodes = append(p.ExistingNodes, karpenter.PlanNode{Name: node, Pods: p.NodeClaims[i].Pods})
	}
	for _, n := range p.ExistingNodes {
		f.bind(n)
	}
	f.waiting, f.price = len(p.Unschedulable), math.NaN()
	if p.Cost.After != nil {
		f.price = *p.Cost.After
	}
	return nil
}

func (f *fleet) bind(n karpenter.PlanNode) {
	for _, o := range f.in.Objects {
		if p, ok := o.(*corev1.Pod); ok && slices.Contains(n.Pods, client.ObjectKeyFromObject(p).String()) {
			p.Spec.NodeName = n.Name
			p.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, {Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
		}
	}
}
