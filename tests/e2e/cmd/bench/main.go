// Command bench measures Stowage on a real control plane: see scenarios.BenchSync and those beside it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"stowage.dev/tests/e2e/scenarios"
)

// saying is fmt.Printf with a newline.
type saying = func(format string, args ...any)

func main() {
	var sizes scenarios.Sizes
	binary := flag.String("stowage", "", "the stowage program, a release build (needed)")
	flag.IntVar(&sizes.Nodes, "nodes", 0, "of scheduler (1000)")
	flag.IntVar(&sizes.Pods, "pods", 0, "of scheduler (5000), churn (10000)")
	flag.IntVar(&sizes.Refused, "refused", 0, "pods in scheduler's queue that wait for reserved room (5000)")
	flag.Float64Var(&sizes.Rate, "rate", 0, "pods that come in a second, of churn (20)")
	flag.Uint64Var(&sizes.Seed, "seed", 0, "of what comes when, of churn")
	flag.DurationVar(&sizes.Delay, "delay", 0, "from a launch to the Node, of churn (10s)")
	flag.StringVar(&sizes.Rows, "rows", "", "of scheduler: regular expression of those to run")
	flag.IntVar(&sizes.Percent, "percent", 0, "of scheduler: percentageOfNodesToScore instead of ours")
	flag.StringVar(&sizes.CPU, "cpu", "", "of scheduler: what the pods ask for (250m)")
	flag.IntVar(&sizes.Shapes, "shapes", 0, "of scheduler: so many different sizes of pods (1)")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: bench -stowage PROGRAM sync|batch|scheduler|churn ...")
		flag.PrintDefaults()
	}
	flag.Parse()
	benches := map[string]func(context.Context, string, saying) error{
		"sync": scenarios.BenchSync, "batch": scenarios.BenchBatch,
		"scheduler": func(ctx context.Context, binary string, say saying) error {
			return scenarios.BenchScheduler(ctx, binary, sizes, say)
		},
		"churn": func(ctx context.Context, binary string, say saying) error {
			return scenarios.BenchChurn(ctx, binary, sizes, say)
		},
	}
	for _, name := range flag.Args() {
		if benches[name] == nil {
			*binary = ""
		}
	}
	if *binary == "" || flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	for _, name := range flag.Args() {
		err := benches[name](ctx, *binary, func(format string, args ...any) { fmt.Printf(format+"\n", args...) })
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", name, err)
			os.Exit(1)
		}
	}
}
