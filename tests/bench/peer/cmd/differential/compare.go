package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"stowage.dev/tests/bench/peer/karpenter"
)

// cluster is one input, and where it lies.
type cluster struct {
	d          *differential
	dir        string
	allUnbound bool
	input      *karpenter.Input
	catalogue  *karpenter.Catalogue
}

func (c *cluster) read() (err error) {
	c.input = &karpenter.Input{}
	if err = c.input.Read(filepath.Join(c.dir, "objects")); err != nil {
		return err
	}
	c.catalogue, err = karpenter.ReadCatalogue(c.d.ctx, filepath.Join(c.dir, "instance-types.json"))
	return err
}

// compare lets both plan the objects, Karpenter as often as it takes, and writes down where they differ.
func (c *cluster) compare(o *outcome, objects []client.Object) error {
	ours, err := c.stowage(o, objects, "greedy")
	if err != nil {
		return err
	}
	r, err := c.runs(o, objects, ours)
	if err != nil {
		return err
	}
	// Pods that we place and no run of Karpenter does make our nodes more and dearer: they are taken away.
	if more := r.placedByUsAlone(); len(more) > 0 && len(r.differences()) > 0 {
		o.more = len(more)
		objects = slices.DeleteFunc(slices.Clone(objects), func(x client.Object) bool { return more[podKey(x)] })
		if ours, err = c.stowage(o, objects, "greedy"); err != nil {
			return err
		}
		if r, err = c.runs(o, objects, ours); err != nil {
			return err
		}
	}
	o.pods = len(places(r.runs[0]))
	o.price = [2]float64{price(ours), r.meanPrice()}
	cheapest, err := c.stowage(o, objects, "cheapest")
	if err != nil {
		return err
	}
	o.ratio = r.ratio(cheapest)
	o.worse = worseThanGreedy(cheapest, ours, objects)
	if o.differences = r.differences(); len(o.differences) > 0 {
		o.differences = append(o.differences, r.explain()...)
		return c.keep(ours, r.nearest(), o.differences)
	}
	return nil
}

// runs lets Karpenter plan as often as it takes to call a difference one.
func (c *cluster) runs(o *outcome, objects []client.Object, ours *karpenter.Plan) (*spread, error) {
	r := &spread{ours: ours}
	for run := range mostRuns {
		if run >= firstRuns && len(r.differences()) == 0 {
			break
		}
		p, err := c.karpenter(o, objects, uint64(run))
		if err != nil {
			return nil, err
		}
		r.runs = append(r.runs, p)
	}
	return r, nil
}

// stowage plans the objects with the program under test.
func (c *cluster) stowage(o *outcome, objects []client.Object, search string, flags ...string) (*karpenter.Plan, error) {
	from := filepath.Join(c.dir, "objects")
	if len(objects) < len(c.input.Objects) {
		from = filepath.Join(c.dir, "fewer.json")
		if err := karpenter.WriteList(from, objects); err != nil {
			return nil, err
		}
	}
	args := []string{"plan", "-o", "json", "--no-expand", "--search", search, "-f", from, "--now", clock,
		"--instance-types", filepath.Join(c.dir, "instance-types.json")}
	if c.allUnbound {
		args = append(args, "--all-unbound")
	}
	cmd := exec.Command(c.d.stowage, slices.Concat(args, flags, c.d.flags)...)
	var errs strings.Builder
	cmd.Stderr = &errs
	start := time.Now()
	text, err := cmd.Output()
	if search == "greedy" {
		o.ours = time.Since(start)
	}
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(errs.String()))
	}
	p := &karpenter.Plan{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return p, nil
}

// karpenter plans the objects in another order. What no scheduler takes up (a pod that is over, going or gated) is
// kept from it: it buys room for some of those, and Stowage never does.
func (c *cluster) karpenter(o *outcome, objects []client.Object, seed uint64) (*karpenter.Plan, error) {
	in := &karpenter.Input{Objects: slices.DeleteFunc(slices.Clone(objects), func(x client.Object) bool {
		pod, ok := x.(*corev1.Pod)
		return ok && pod.Spec.NodeName == "" && idle(pod)
	})}
	rnd := rand.New(rand.NewPCG(seed, 1))
	rnd.Shuffle(len(in.Objects), func(i, j int) { in.Objects[i], in.Objects[j] = in.Objects[j], in.Objects[i] })
	w, err := karpenter.NewWorld(c.d.ctx, in, c.catalogue, c.d.now, c.allUnbound)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	p, err := w.Plan(c.d.ctx, karpenter.Pass{NoTimeLimit: true})
	o.theirs = time.Since(start)
	return p, err
}

func idle(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed ||
		pod.DeletionTimestamp != nil || len(pod.Spec.SchedulingGates) > 0
}

func (c *cluster) keep(ours, theirs *karpenter.Plan, differences []string) error {
	for name, p := range map[string]*karpenter.Plan{"ours.json": ours, "karpenter.json": theirs} {
		text, err := json.MarshalIndent(p, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(c.dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(c.dir, "differences"), []byte(strings.Join(differences, "\n")+"\n"), 0o644)
}

// without leaves out the object, and with a node its claim and its pods.
func without(objects []client.Object, gone client.Object) []client.Object {
	node, isNode := gone.(*corev1.Node)
	return slices.DeleteFunc(slices.Clone(objects), func(o client.Object) bool {
		switch x := o.(type) {
		case *corev1.Pod:
			return o == gone || isNode && x.Spec.NodeName == node.Name
		case *v1.NodeClaim:
			return o == gone || isNode && x.Status.NodeName == node.Name
		}
		return o == gone
	})
}

func podKey(o client.Object) string {
	if _, ok := o.(*corev1.Pod); !ok {
		return ""
	}
	return client.ObjectKeyFromObject(o).String()
}
