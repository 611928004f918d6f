// differential holds `stowage plan` against Karpenter's own scheduler on random clusters.
//
// For each seed Karpenter plans five times with its input shuffled (its plan depends on the order of maps and on
// an unstable sort). Our greedy plan must lie within the range of those plans, or be better: no more new nodes, no higher
// price of them, no pod left out that no run of Karpenter leaves out, and the reason one that Karpenter gives.
// A difference that remains after three hundred runs, which show how far luck moves the price, is printed, with what a
// person needs to follow it.
//
// Our cheapest plan never places fewer pods than greedy, is never dearer for the same ones, and on average of the
// clusters in which Karpenter places the same pods it is strictly cheaper than Karpenter.
//
// With -disruption the clusters are fleets, and the question is what each disruption method would do: see disruption.go.
//
// Where the two differ on purpose there is a rule in listed.go and a paragraph in docs/differences.md.
//
// Exit status: 0 no difference but listed ones; 1 a difference, or cheapest is not cheaper; 2 a cluster could not be planned.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/karpenter/pkg/operator/options"

	"stowage.dev/tests/bench/peer/karpenter"
)

const (
	firstRuns = 5
	mostRuns  = 300 // before a difference is believed: 20 miss an answer that comes once in fifteen times one time in four
)

const (
	planProfiles  = "tiny,plain,constraints,topology,volumes,existing,packing,reserved,attached,leaving,overrides,mixed"
	fleetProfiles = "fleet-plain,fleet-empty,fleet-drift,fleet-static,fleet-budgets,fleet-policies,fleet-guarded,fleet-spot," +
		"fleet-reserved,fleet-repair,fleet-pools,fleet-places,fleet-leaving,fleet-odd,fleet-mixed"
)

// clock is that of every generated cluster.
const clock = "2026-11-20T12:00:00Z"

type differential struct {
	ctx      context.Context
	stowage  string
	gen      string
	dir      string
	now      time.Time
	flags    []string // of stowage
	maxLines int

	disruption, shrink bool
}

// outcome is what came of one cluster.
type outcome struct {
	profile      string
	seed         uint64
	err          error
	pods         int
	more         int      // pods that we place and Karpenter never does: left out too
	listed       []string // names of rules without whose pods there is no difference
	differences  []string
	ours, theirs time.Duration  // theirs: one run
	price        [2]float64     // ours, Karpenter's mean
	ratio        float64        // of cheapest's price to Karpenter's; 0: they place others
	worse        []string       // cheapest beside greedy
	commands     map[string]int // of Karpenter, by method
}

func main() {
	d := &differential{}
	flag.StringVar(&d.stowage, "stowage", "", "the program")
	flag.StringVar(&d.gen, "gen", "", "the generator of clusters (tests/judge)")
	flag.StringVar(&d.dir, "dir", "", "where clusters and plans are kept")
	flag.IntVar(&d.maxLines, "lines", 12, "lines printed for each difference")
	flag.BoolVar(&d.disruption, "disruption", false, "compare what disruption methods do to fleets")
	flag.BoolVar(&d.shrink, "shrink", false, "with -disruption: take away from a cluster what its difference does not need")
	n := flag.Int("n", 100, "clusters in all, shared out among the profiles")
	from := flag.Uint64("from", 1, "first seed")
	profiles := flag.String("profiles", "", "which; without: all of the mode")
	parallel := flag.Int("parallel", 2, "clusters at a time")
	flag.Parse()
	d.flags = flag.Args()
	if d.stowage == "" || d.gen == "" || d.dir == "" {
		fmt.Fprintln(os.Stderr, "differential: -stowage, -gen and -dir are needed")
		os.Exit(2)
	}
	var err error
	if d.ctx, _, err = karpenterContext(nil); err != nil {
		fmt.Fprintln(os.Stderr, "differential:", err)
		os.Exit(2)
	}
	if *profiles == "" {
		*profiles = planProfiles
		if d.disruption {
			*profiles = fleetProfiles
		}
	}
	d.now, _ = time.Parse(time.RFC3339, clock)
	os.Exit(d.all(strings.Split(*profiles, ","), *n, *from, *parallel))
}

// karpenterContext has the settings that the flags say, and what a controller remembers.
func karpenterContext(flags []string) (context.Context, *karpenter.Memory, error) {
	settings, memory := &options.Options{}, &karpenter.Memory{}
	fs := &options.FlagSet{FlagSet: flag.NewFlagSet("karpenter", flag.ContinueOnError)}
	settings.AddFlags(fs)
	memory.AddFlags(fs.FlagSet)
	err := settings.Parse(fs, flags...)
	return karpenter.Context(context.Background(), settings), memory, err
}

// all tries n clusters, several at a time, and prints them in order.
func (d *differential) all(profiles []string, n int, from uint64, parallel int) int {
	outcomes := make([]*outcome, n)
	slots := make(chan struct{}, parallel)
	var wait sync.WaitGroup
	for i := range outcomes {
		o := &outcome{profile: profiles[i*len(profiles)/n]}
		o.seed = from
		if i > 0 && outcomes[i-1].profile == o.profile {
			o.seed = outcomes[i-1].seed + 1
		}
		outcomes[i] = o
		wait.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wait.Done() }()
			d.one(o)
		}()
	}
	wait.Wait()
	status := 0
	for _, o := range outcomes {
		status = max(status, d.print(o))
	}
	if d.disruption {
		fleetTotals(profiles, outcomes)
		return status
	}
	if notCheaper(outcomes) {
		fmt.Println("cheapest is not cheaper than Karpenter on average")
		status = max(status, 1)
	}
	for _, profile := range profiles {
		total(profile, outcomes)
	}
	total("", outcomes)
	return status
}

func (d *differential) one(o *outcome) {
	dir := filepath.Join(d.dir, fmt.Sprintf("%s-%d", o.profile, o.seed))
	_ = os.RemoveAll(dir)
	out, err := exec.Command(d.gen, "-seed", strconv.FormatUint(o.seed, 10), "-profile", o.profile, "-o", dir).CombinedOutput()
	if err != nil {
		o.err = fmt.Errorf("%s: %w: %s", d.gen, err, out)
		return
	}
	c := &cluster{d: d, dir: dir, allUnbound: o.profile != "existing" && !d.disruption}
	if o.err = c.read(); o.err != nil {
		return
	}
	if d.disruption {
		o.err = c.oneFleet(o)
		return
	}
	if o.err = c.compare(o, c.input.Objects); o.err == nil {
		o.err = c.explainByList(o)
	}
}

// explainByList takes the differences back if they are what is listed: without the pods that a rule names there are none.
// Rules about the price come second, for what remains once no pod fares worse.
func (c *cluster) explainByList(o *outcome) error {
	left := o.differences
	var names []string
	for _, onlyPrice := range []bool{false, true} {
		if len(left) == 0 || onlyPrice && slices.ContainsFunc(left, aboutPod) {
			break
		}
		rest, rules := withoutListed(c.input.Objects, scope{onlyPrice: onlyPrice,
			onlyWaits: slices.ContainsFunc(left, aboutPod) && !slices.ContainsFunc(left, ofAnotherKind)})
		if len(rules) == len(names) {
			continue
		}
		again := &outcome{}
		if err := c.compare(again, rest); err != nil {
			return err
		}
		left, names = again.differences, rules
	}
	if len(left) == 0 {
		o.listed, o.differences = names, nil
	}
	return nil
}

func (d *differential) print(o *outcome) int {
	where := fmt.Sprintf("%s %d", o.profile, o.seed)
	switch {
	case o.err != nil:
		fmt.Printf("%s: %v\n", where, o.err)
		return 2
	case len(o.worse) > 0:
		fmt.Printf("%s: WORSE THAN GREEDY: %s\n", where, strings.Join(o.worse, "; "))
		return 1
	case len(o.listed) > 0:
		fmt.Printf("%s: listed: %s\n", where, strings.Join(o.listed, ", "))
		return 0
	case len(o.differences) == 0:
		return 0
	}
	fmt.Printf("%s: DIFFERS\n", where)
	for _, line := range o.differences[:min(len(o.differences), d.maxLines)] {
		fmt.Printf("    %s\n", line)
	}
	if more := len(o.differences) - d.maxLines; more > 0 {
		fmt.Printf("    and %d more lines\n", more)
	}
	fmt.Printf("    all of it: %s\n", filepath.Join(d.dir, fmt.Sprintf("%s-%d", o.profile, o.seed)))
	return 1
}

// total prints one line for a profile, or for all.
func total(profile string, outcomes []*outcome) {
	n, failed, differ, worse, listed, pods, more := 0, 0, 0, 0, 0, 0, 0
	var rated []*outcome
	ours, theirs := 0.0, 0.0
	var oursTook, theirsTook time.Duration
	for _, o := range outcomes {
		if profile != "" && o.profile != profile {
			continue
		}
		n++
		rated = append(rated, o)
		switch {
		case o.err != nil:
			failed++
		case len(o.worse) > 0:
			worse++
		case len(o.listed) > 0:
			listed++
		case len(o.differences) > 0:
			differ++
		}
		pods += o.pods
		more += o.more
		ours += o.price[0]
		theirs += o.price[1]
		oursTook += o.ours
		theirsTook += o.theirs
	}
	if profile == "" {
		profile = "all"
	}
	fmt.Printf("%-12s %4d clusters %6d pods compared; differ %d, listed %d, worse than greedy %d, failed %d", profile, n, pods,
		differ, listed, worse, failed)
	if theirs > 0 {
		fmt.Printf("; price greedy/Karpenter %.4f", ours/theirs)
	}
	if mean, count := meanRatio(rated); count > 0 {
		fmt.Printf(", cheapest/Karpenter %.4f (mean of %d with the same pods)", mean, count)
	}
	if more > 0 {
		fmt.Printf("; placed by us alone %d", more)
	}
	fmt.Printf("; took %v, Karpenter %v\n", oursTook.Round(time.Millisecond), theirsTook.Round(time.Millisecond))
}
