// economy is `./dev bench economy`: what plans cost. For each family of clusters, over some seeds: the plan's price over
// its lower bound, over greedy's and over that of Karpenter's plan.
//
//	economy -stowage PROGRAM [-karpenter PROGRAM] [-aws FILE] -work FOLDER [-seeds N] [FAMILY…]
//
// Karpenter's prices are remembered in FOLDER by what it was asked. Exit status 1: a goal was missed.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
)

const (
	goalMean   = 1.03
	goalFamily = 1.06 // where no nodes stand
	goalMillis = 150  // 10,000 pods
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("economy: ")
	var b bench
	flag.StringVar(&b.stowage, "stowage", "", "the program")
	flag.StringVar(&b.karpenter, "karpenter", "", "karpenter-plan; without it Karpenter is left out")
	flag.StringVar(&b.aws, "aws", "", "the AWS catalogue")
	flag.StringVar(&b.work, "work", "", "folder for inputs and for what Karpenter's plans cost")
	seeds := flag.Int("seeds", 2, "mixes of each family")
	flag.Parse()
	if b.stowage == "" || b.work == "" {
		log.Fatal("-stowage and -work are needed")
	}
	chosen := choose(flag.Args())
	fmt.Printf("%-18s %8s %8s %8s %8s %7s %9s %9s %8s\n", "price over:", "bound", "worst", "greedy", "Karpenter", "nodes", "steps", "ms", "unplaced")
	var t totals
	for _, f := range chosen {
		var all []result
		for seed := range *seeds {
			r, err := b.run(&f, int64(seed+1))
			if err != nil {
				log.Fatalf("%s, seed %d: %v", f.name, seed+1, err)
			}
			all = append(all, r)
		}
		t.add(&f, row(f.name, all))
	}
	if !t.report() {
		os.Exit(1)
	}
}

func choose(names []string) []family {
	if len(names) == 0 {
		return families
	}
	var out []family
	for _, name := range names {
		at := slices.IndexFunc(families, func(f family) bool { return f.name == name })
		if at < 0 {
			var known []string
			for _, f := range families {
				known = append(known, f.name)
			}
			log.Fatalf("no family %q; there are %v", name, known)
		}
		out = append(out, families[at])
	}
	return out
}

// row prints a family's means and its worst, and returns them.
func row(name string, all []result) (mean result) {
	worst, compared, n := 0.0, 0, float64(len(all))
	for _, r := range all {
		worst = max(worst, r.overBound)
		mean.overBound += r.overBound / n
		mean.overGreedy += r.overGreedy / n
		mean.nodes += r.nodes / n
		mean.steps += r.steps / n
		mean.millis += r.millis / n
		mean.unplaced += r.unplaced
		if r.overKarpenter > 0 {
			mean.overKarpenter += r.overKarpenter
			compared++
		}
	}
	other := "-"
	if compared > 0 {
		other = fmt.Sprintf("%.3f", mean.overKarpenter/float64(compared))
	}
	fmt.Printf("%-18s %8.3f %8.3f %8.3f %8s %7.1f %9.0f %9.1f %8d\n", name, mean.overBound, worst, mean.overGreedy, other, mean.nodes, mean.steps, mean.millis, mean.unplaced)
	return mean
}

type totals struct {
	sum, worst  float64
	count       int
	worstFamily string
	millis      float64 // of 10,000 pods
}

func (t *totals) add(f *family, mean result) {
	t.sum += mean.overBound
	t.count++
	if !f.fleet && mean.overBound > t.worst {
		t.worst, t.worstFamily = mean.overBound, f.name
	}
	if f.pods == 10000 {
		t.millis = mean.millis
	}
}

func (t *totals) report() bool {
	word := func(met bool) string {
		if met {
			return "met"
		}
		return "missed"
	}
	mean := t.sum / float64(t.count)
	met := []bool{mean <= goalMean, t.worst <= goalFamily, t.millis <= goalMillis}
	fmt.Printf("mean over bound %.3f (goal %.2f: %s)\n", mean, goalMean, word(met[0]))
	if t.worstFamily != "" {
		fmt.Printf("worst family from nothing %.3f, %s (goal %.2f: %s)\n", t.worst, t.worstFamily, goalFamily, word(met[1]))
	}
	if t.millis > 0 {
		fmt.Printf("10,000 pods %.1f ms (goal %d: %s)\n", t.millis, goalMillis, word(met[2]))
	}
	return met[0] && met[1] && met[2]
}
