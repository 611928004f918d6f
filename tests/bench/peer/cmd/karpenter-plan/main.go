// karpenter-plan has the command line and the output of "stowage plan", and Karpenter's own scheduler and disruption
// methods inside.
//
// Exit status: 0 planned, 1 some pod has no place, 2 the input is wrong.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/operator/options"

	"stowage.dev/tests/bench/peer/karpenter"
)

const (
	exitPlanned       = 0
	exitUnschedulable = 1
	exitBadInput      = 2
)

// request is what the command line asks.
type request struct {
	settings   *options.Options // Karpenter's own flags
	files      karpenter.Names
	types      string
	now        time.Time
	allUnbound bool
	memory     karpenter.Memory
	pass       karpenter.Pass
	disruption bool // of the first method that acts
	all        bool // of every method
	bench      int
}

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "karpenter-plan: %v\n", err)
		code = exitBadInput
	}
	os.Exit(code)
}

func parse(args []string) (*request, error) {
	if len(args) == 0 || args[0] != "plan" {
		return nil, errors.New("usage: karpenter-plan plan -f FILE|DIR|- … [--instance-types FILE] [--now RFC3339] [--all-unbound]")
	}
	// Karpenter's own flags (preference-policy, min-values-policy, feature-gates, cpu-requests, …) are taken
	// as they are; ours stand beside them.
	fs := &options.FlagSet{FlagSet: flag.NewFlagSet("karpenter-plan", flag.ContinueOnError)}
	r := &request{settings: &options.Options{}, now: time.Now()}
	r.settings.AddFlags(fs)
	r.memory.AddFlags(fs.FlagSet)
	credit := karpenter.Counts{}
	fs.Var(&r.files, "f", "file, folder or - (repeatable)")
	fs.StringVar(&r.types, "instance-types", "", "catalogue file; default: kwok's own")
	now := fs.String("now", "", "the time to plan at, RFC 3339; default: now")
	fs.BoolVar(&r.allUnbound, "all-unbound", false, "take every pod without a node as pending")
	fs.String("o", "json", "for the likeness to stowage: the output is always JSON")
	fs.IntVar(&scheduling.MaxInstanceTypes, "max-instance-types", scheduling.MaxInstanceTypes, "instance types kept per NodeClaim")
	fs.Var((*karpenter.Names)(&r.pass.Remove), "remove", "simulate the removal of these nodes (comma separated, repeatable)")
	fs.StringVar(&r.pass.RemoveFor, "remove-for", "consolidation", "the rules of that simulation: consolidation, drift or repair")
	mode := fs.String("reserved-offering-mode", "", "strict (wait for reserved capacity; default) or fallback (default with --remove)")
	fs.Var(credit, "credit-reservation", "ID=N,…: plan as if this many more instances were left of the reservation")
	fs.BoolVar(&r.pass.NoTimeLimit, "no-time-limit", false, "let the pass take longer than Karpenter's one minute")
	fs.BoolVar(&r.disruption, "disruption", false, "say what the disruption methods would do too; the first that acts ends it")
	fs.BoolVar(&r.all, "disruption-all", false, "the same, of every method on the same state")
	fs.IntVar(&r.bench, "bench", 0, "repeat the pass N times and print timings instead of the plan")
	if err := r.settings.Parse(fs, args[1:]...); err != nil {
		return nil, err
	}
	r.files = append(r.files, fs.Args()...)
	r.pass.Credit = credit
	r.pass.Fallback = *mode == "fallback" || *mode == "" && len(r.pass.Remove) > 0
	switch {
	case len(r.files) == 0:
		return nil, errors.New("-f is needed")
	case !r.settings.IgnoreDRARequests:
		return nil, errors.New("--ignore-dra-requests=false: devices are not part of the plan")
	}
	if *now != "" {
		var err error
		if r.now, err = time.Parse(time.RFC3339, *now); err != nil {
			return nil, fmt.Errorf("--now: %w", err)
		}
	}
	return r, nil
}

func run(args []string) (int, error) {
	r, err := parse(args)
	if err != nil {
		return 0, err
	}
	ctx := karpenter.Context(context.Background(), r.settings)
	cat, err := karpenter.ReadCatalogue(ctx, r.types)
	if err != nil {
		return 0, err
	}
	in := &karpenter.Input{}
	for _, f := range r.files {
		if err := in.Read(f); err != nil {
			return 0, err
		}
	}
	fresh := func() (*karpenter.World, error) {
		w, err := karpenter.NewWorld(ctx, in, cat, r.now, r.allUnbound)
		if err != nil {
			return nil, err
		}
		return w, w.Remember(ctx, &r.memory)
	}
	w, err := fresh()
	if err != nil {
		return 0, err
	}
	if r.bench > 0 {
		timing, err := w.Bench(ctx, r.bench, r.pass)
		if err != nil {
			return 0, err
		}
		return exitPlanned, json.NewEncoder(os.Stdout).Encode(timing)
	}
	plan, err := w.Plan(ctx, r.pass)
	if err != nil {
		return 0, err
	}
	if r.disruption || r.all {
		answers, err := karpenter.Disrupt(ctx, fresh, r.all)
		if err != nil {
			return 0, err
		}
		commands, err := karpenter.Commands(answers)
		if err != nil {
			return 0, err
		}
		plan.Disruption = &commands
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	if err := enc.Encode(plan); err != nil {
		return 0, err
	}
	if len(plan.Unschedulable) > 0 {
		return exitUnschedulable, nil
	}
	return exitPlanned, nil
}
