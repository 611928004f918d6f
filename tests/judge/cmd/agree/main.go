// Command agree holds one plan against the real kube-scheduler.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"k8s.io/klog/v2"

	"stowage.dev/tests/judge/cluster"
	"stowage.dev/tests/judge/judge"
)

type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, out, errs io.Writer) int {
	fs := flag.NewFlagSet("agree", flag.ContinueOnError)
	fs.SetOutput(errs)
	var files list
	o := judge.Options{}
	fs.Var(&files, "f", "cluster objects: FILE, DIR or -, repeatable")
	types := fs.String("instance-types", "", "kwok catalogue (JSON)")
	plan := fs.String("plan", "", "plan to judge (JSON), - for standard input")
	fs.BoolVar(&o.All, "all-unbound", false, "the plan must answer for every unbound pod")
	fs.BoolVar(&o.Random, "random-types", false, "the cloud picks any listed type and offering, not the cheapest")
	fs.Uint64Var(&o.Seed, "seed", 1, "for random types and the order of pods in the runs")
	fs.BoolVar(&o.Runs, "runs", false, "also let a scheduler run, free and guided by the plan")
	asJSON := fs.Bool("json", false, "the whole report instead of the summary")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	r, err := judged(files, *types, *plan, fs.Args(), o)
	if err == nil && *asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		err = e.Encode(r)
	}
	if err != nil {
		fmt.Fprintln(errs, "agree:", err)
		return 2
	}
	if !*asJSON {
		summary(out, r)
	}
	if !r.Holds() {
		return 1
	}
	return 0
}

func judged(files []string, types, plan string, rest []string, o judge.Options) (*judge.Report, error) {
	if len(files) == 0 || types == "" || plan == "" || len(rest) > 0 {
		return nil, fmt.Errorf("want -f, -instance-types and -plan, got also %q", rest)
	}
	c, err := cluster.Load(files, types, plan)
	if err != nil {
		return nil, err
	}
	if len(c.Pods) == 0 || len(c.NodePools) == 0 {
		return nil, fmt.Errorf("%d pods and %d NodePools in the input: nothing to judge", len(c.Pods), len(c.NodePools))
	}
	cat, err := cluster.LoadCatalogue(types)
	if err != nil {
		return nil, err
	}
	p, err := judge.LoadPlan(plan)
	if err != nil {
		return nil, err
	}
	return judge.Judge(c, cat, p, o)
}

func summary(w io.Writer, r *judge.Report) {
	verdict := "AGREES"
	if !r.Holds() {
		verdict = "REFUSED"
	}
	fmt.Fprintf(w, "%s: %d pods, %d on %d new nodes, %d on existing, %d unschedulable\n",
		verdict, r.Pods, r.PlannedNew, r.Cost.PlannedNodes, r.PlannedOld, r.Unschedulable)
	fmt.Fprintf(w, "  invalid %d %s, lost %d, duplicate %d, plan errors %d, daemon misfits %d, useless %d, missed %d; refused at first in plan order %d\n",
		len(r.Invalid), counts(r.ByPlugin), len(r.Lost), len(r.Duplicates), len(r.PlanErrors), len(r.Misfits), len(r.Useless), len(r.Missed), r.RefusedAtFirst)
	for _, line := range r.Faults() {
		fmt.Fprintf(w, "    %s\n", line)
	}
	c := r.Cost
	fmt.Fprintf(w, "  cost %.4f/h, bound %.4f (single %.4f), ratio %.3f; used cpu %.0f%% memory %.0f%%\n",
		c.Planned, c.BoundByLP, c.BoundBySingle, c.Ratio, 100*c.Used["cpu"], 100*c.Used["memory"])
	if f := r.Free; f != nil {
		fmt.Fprintf(w, "  free run:   %d of %d bound, %d as planned, %d pending, %d planned nodes empty\n",
			f.Bound, f.Pods, f.AsPlanned, f.Pending, f.EmptyNodes)
	}
	if f := r.Guided; f != nil {
		fmt.Fprintf(w, "  guided run: %d of %d bound, %d as planned, %d pending; extender asked %d times, planned node not among the candidates %d times\n",
			f.Bound, f.Pods, f.AsPlanned, f.Pending, f.Asked, f.NotOffered)
	}
}

func counts(m map[string]int) string {
	var l []string
	for k, v := range m {
		l = append(l, fmt.Sprintf("%s %d", k, v))
	}
	sort.Strings(l)
	return "(" + strings.Join(l, ", ") + ")"
}
