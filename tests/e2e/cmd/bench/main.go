// Command bench measures Stowage on a real control plane: see scenarios.BenchSync and BenchBatch.
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

func main() {
	binary := flag.String("stowage", "", "the stowage program, a release build (needed)")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: bench -stowage PROGRAM sync|batch ...")
		flag.PrintDefaults()
	}
	flag.Parse()
	benches := map[string]func(context.Context, string, func(string, ...any)) error{
		"sync": scenarios.BenchSync, "batch": scenarios.BenchBatch,
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
