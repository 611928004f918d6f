// fleets lets two planners run the same random fleets down: what the planner says with --disruption is done, and it is
// asked again, until it says nothing. It prints for each fleet what it then costs an hour and how many pods were evicted on
// the way there, for Stowage and for Karpenter's own methods, and at the end both against the goals.
//
// For both, what is moved is placed by Karpenter's own scheduler, and what is bought is the cheapest of what was listed.
//
// Exit status: 0 done, whatever came of it; 2 a fleet could not be made, asked about or changed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/karpenter/pkg/operator/options"

	"stowage.dev/tests/bench/peer/karpenter"
)

const (
	clock = "2026-11-20T12:00:00Z" // of every generated fleet
	// most moves of one fleet: who still goes on then moves in circles.
	most = 200
)

type bench struct {
	ctx                     context.Context
	stowage, gen, dir, mode string
	now                     time.Time
}

func main() {
	b := &bench{}
	flag.StringVar(&b.stowage, "stowage", "", "the program")
	flag.StringVar(&b.gen, "gen", "", "the generator of clusters (tests/judge)")
	flag.StringVar(&b.dir, "dir", "", "where fleets are kept")
	flag.StringVar(&b.mode, "search", "cheapest", "the search of Stowage")
	profile := flag.String("profile", "fleet-plain", "of the fleets")
	n := flag.Int("n", 20, "fleets")
	flag.Parse()
	settings := &options.Options{}
	fs := &options.FlagSet{FlagSet: flag.NewFlagSet("karpenter", flag.ContinueOnError)}
	settings.AddFlags(fs)
	err := settings.Parse(fs)
	b.ctx = karpenter.Context(context.Background(), settings)
	b.now, _ = time.Parse(time.RFC3339, clock)
	if err == nil {
		err = b.all(*profile, *n)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fleets:", err)
		os.Exit(2)
	}
}

func (b *bench) all(profile string, n int) error {
	fmt.Println("| fleet | price before | Stowage | Karpenter | ratio | moves | pods evicted: Stowage | Karpenter |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	cheaper, ratios, ours, theirs := 0, 0.0, 0, 0
	for seed := 1; seed <= n; seed++ {
		dir := filepath.Join(b.dir, fmt.Sprintf("%s-%d", profile, seed))
		if out, err := exec.Command(b.gen, "-seed", strconv.Itoa(seed), "-profile", profile, "-o", dir).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", b.gen, err, out)
		}
		mine, err := b.runDown(dir, b.askStowage)
		if err != nil {
			return fmt.Errorf("%s %d: Stowage: %w", profile, seed, err)
		}
		other, err := b.runDown(dir, b.askKarpenter)
		if err != nil {
			return fmt.Errorf("%s %d: Karpenter: %w", profile, seed, err)
		}
		ratio := mine.price / other.price
		fmt.Printf("| %d | %.3f | %.3f | %.3f | %.3f | %d, %d | %d | %d |%s\n", seed, mine.before, mine.price, other.price, ratio,
			mine.moves, other.moves, mine.evicted, other.evicted, strings.Join([]string{mine.note("Stowage"), other.note("Karpenter")}, ""))
		if ratio <= 1+1e-9 {
			cheaper++
		}
		ratios, ours, theirs = ratios+ratio, ours+mine.evicted, theirs+other.evicted
	}
	fmt.Printf("no dearer than Karpenter's: %d of %d (goal: 18 of 20); price on average %.1f %% of Karpenter's (goal: 97); evictions %.2f of Karpenter's (goal: 0.5)\n",
		cheaper, n, 100*ratios/float64(n), float64(ours)/float64(max(theirs, 1)))
	return nil
}
