// Command sweep makes random clusters, has Stowage plan each of them, and holds the plans against the real
// kube-scheduler. It prints a line for each profile, and for each plan that does not hold what is wrong.
//
// Exit status: 0 every plan holds; 1 one does not; 2 a cluster could not be planned or judged.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"stowage.dev/tests/judge/cluster"
	"stowage.dev/tests/judge/gen"
	"stowage.dev/tests/judge/judge"
)

type sweep struct {
	planner string
	flags   []string // of the planner
	dir     string
	seeds   int
	from    uint64
	runs    bool
	faults  int // lines a plan
}

// trial is one cluster: its plan judged with the cheapest and with random listed types.
type trial struct {
	profile string
	seed    uint64
	took    time.Duration   // by the planner
	reports []*judge.Report // cheapest, random
	err     error
}

func main() {
	s := sweep{}
	flag.StringVar(&s.planner, "stowage", "", "the program whose `plan` is judged")
	flag.IntVar(&s.seeds, "n", 5, "seeds a profile")
	flag.Uint64Var(&s.from, "from", 1, "first seed")
	flag.StringVar(&s.dir, "dir", "", "where clusters and plans are kept")
	flag.BoolVar(&s.runs, "runs", false, "also let a scheduler run each plan, free and guided (slow)")
	flag.IntVar(&s.faults, "faults", 5, "faults printed for each plan")
	profiles := flag.String("profiles", "tiny,plain,constraints,topology,terms,volumes,existing,packing", "which")
	parallel := flag.Int("parallel", 2, "clusters at a time")
	flag.Parse()
	s.flags = flag.Args()
	if s.planner == "" || s.dir == "" {
		fmt.Fprintln(os.Stderr, "sweep: -stowage and -dir are needed")
		os.Exit(2)
	}
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	status := 0
	all := total{}
	for _, profile := range strings.Split(*profiles, ",") {
		sum := total{}
		for _, t := range s.profile(profile, *parallel) {
			status = max(status, s.report(t))
			sum.add(t)
			all.add(t)
		}
		sum.print(profile)
	}
	all.print("all")
	os.Exit(status)
}

// profile tries all seeds of a profile, several at a time; the result is in order.
func (s *sweep) profile(name string, parallel int) []*trial {
	trials := make([]*trial, s.seeds)
	slots := make(chan struct{}, parallel)
	var wait sync.WaitGroup
	for i := range trials {
		wait.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wait.Done() }()
			trials[i] = s.try(name, s.from+uint64(i))
		}()
	}
	wait.Wait()
	return trials
}

func (s *sweep) try(profile string, seed uint64) *trial {
	t := &trial{profile: profile, seed: seed}
	dir := filepath.Join(s.dir, fmt.Sprintf("%s-%d", profile, seed))
	g, err := gen.New(profile, seed, gen.Size{})
	if err == nil {
		err = g.Write(dir)
	}
	if err != nil {
		t.err = err
		return t
	}
	plan := filepath.Join(dir, "plan.json")
	start := time.Now()
	if t.err = s.plan(profile, dir, plan); t.err != nil {
		return t
	}
	t.took = time.Since(start)
	for _, random := range []bool{false, true} {
		r, err := judged(dir, plan, judge.Options{All: gen.AllUnbound(profile), Random: random, Seed: seed, Runs: s.runs && !random})
		if err != nil {
			t.err = err
			return t
		}
		t.reports = append(t.reports, r)
	}
	return t
}

func (s *sweep) plan(profile, dir, out string) error {
	args := append([]string{"plan", "-o", "json"}, gen.PlanFlags(profile, dir)...)
	cmd := exec.Command(s.planner, append(args, s.flags...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	text, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		return fmt.Errorf("%v: %s", err, strings.TrimSpace(errs.String()))
	}
	return os.WriteFile(out, text, 0o644)
}

func judged(dir, plan string, o judge.Options) (*judge.Report, error) {
	types := filepath.Join(dir, "instance-types.json")
	c, err := cluster.Load([]string{filepath.Join(dir, "objects")})
	if err != nil {
		return nil, err
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

// report prints what is wrong with a cluster's plan, if anything is, and returns the exit status for it.
func (s *sweep) report(t *trial) int {
	if t.err != nil {
		fmt.Printf("%s %d: %v\n", t.profile, t.seed, t.err)
		return 2
	}
	status := 0
	for i, how := range []string{"the cheapest", "random"} {
		if t.reports[i].Holds() {
			continue
		}
		status = 1
		faults := t.reports[i].Faults()
		fmt.Printf("%s %d, %s types: %d faults\n", t.profile, t.seed, how, len(faults))
		for _, line := range faults[:min(len(faults), s.faults)] {
			fmt.Printf("    %s\n", line)
		}
	}
	if status != 0 {
		fmt.Printf("    %s plan %s\n", s.planner, strings.Join(append(
			gen.PlanFlags(t.profile, filepath.Join(s.dir, fmt.Sprintf("%s-%d", t.profile, t.seed))), s.flags...), " "))
	}
	return status
}

// total counts, over clusters, with the cheapest types unless the plan differs with random ones.
type total struct {
	clusters, failed, pods, placed, unschedulable       int
	refused, lost, missed, errors                       int
	planned, bound                                      float64
	free, freeBound, freePlanned, guided, guidedPlanned int
	took                                                time.Duration
}

func (n *total) add(t *trial) {
	n.clusters++
	if t.err != nil {
		n.failed++
		return
	}
	r := t.reports[0]
	n.took += t.took
	n.pods += r.Pods
	n.placed += r.PlannedNew + r.PlannedOld
	n.unschedulable += r.Unschedulable
	n.planned += r.Cost.Planned
	n.bound += r.Cost.BoundByLP
	for _, r := range t.reports {
		n.refused += len(r.Invalid)
		n.lost += len(r.Lost) + len(r.Duplicates)
		n.missed += len(r.Missed)
		n.errors += len(r.PlanErrors) + len(r.Misfits)
	}
	if f, g := r.Free, r.Guided; f != nil && g != nil {
		n.free += f.Pods
		n.freeBound += f.Bound
		n.freePlanned += f.AsPlanned
		n.guided += g.Pods
		n.guidedPlanned += g.AsPlanned
	}
}

func (n *total) print(name string) {
	fmt.Printf("%-12s %3d clusters %6d pods %6d placed %5d unschedulable; wrong: refused %d lost %d missed %d plan errors %d not judged %d",
		name, n.clusters, n.pods, n.placed, n.unschedulable, n.refused, n.lost, n.missed, n.errors, n.failed)
	if n.bound > 0 {
		fmt.Printf("; price/bound %.3f", n.planned/n.bound)
	}
	if n.free > 0 {
		fmt.Printf("; free bound %.2f%% as planned %.1f%%, guided %.2f%%", 100*float64(n.freeBound)/float64(n.free),
			100*float64(n.freePlanned)/float64(n.free), 100*float64(n.guidedPlanned)/float64(n.guided))
	}
	fmt.Printf("; planner %d ms\n", n.took.Milliseconds())
}
