// Command gen writes a random cluster as planner input.
package main

import (
	"flag"
	"fmt"
	"os"
	"sort"
	"strings"

	"stowage.dev/tests/judge/gen"
)

func main() {
	var names []string
	for n := range gen.Profiles {
		names = append(names, n)
	}
	sort.Strings(names)
	seed := flag.Uint64("seed", 1, "equal seeds give equal clusters")
	profile := flag.String("profile", "plain", strings.Join(names, " | "))
	out := flag.String("o", "", "directory: objects/ and instance-types.json go there")
	var size gen.Size
	flag.IntVar(&size.Pods, "pods", 0, "pending pods (huge, packing)")
	flag.IntVar(&size.Nodes, "nodes", 0, "nodes that stand (huge)")
	flag.IntVar(&size.Types, "types", 0, "instance types (huge, packing)")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "gen: want -o DIR")
		os.Exit(2)
	}
	g, err := gen.New(*profile, *seed, size)
	if err == nil {
		err = g.Write(*out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
