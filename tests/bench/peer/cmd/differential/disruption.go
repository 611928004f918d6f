package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"stowage.dev/tests/bench/peer/karpenter"
)

// Disruption: each method is asked on the same state, by both, and must say the same: the same commands, with the same
// candidates, replacements, savings and costs. Karpenter is asked several times, with its input shuffled, since its
// sorts are unstable, and its pools come in any order; one of its answers to each method must be ours. And what ours says
// with --disruption must be what it says with --disruption-all of the first method that acts.

// oneFleet compares, takes back what is listed, and keeps what is left.
func (c *cluster) oneFleet(o *outcome) error {
	objects := c.input.Objects
	m, err := c.methods(objects)
	if err != nil {
		return err
	}
	o.commands = m.commands()
	if o.differences = m.differences(); len(o.differences) == 0 {
		return nil
	}
	if rest, names := withoutListed(objects, scope{onlyPrice: true, onlyWaits: true, onlyCost: m.onlyCosts()}); len(names) > 0 {
		if again, err := c.methods(rest); err != nil {
			return err
		} else if len(again.differences()) == 0 {
			o.listed, o.differences = names, nil
			return nil
		}
	}
	if c.d.shrink {
		if objects, m, err = c.smaller(objects, m); err != nil {
			return err
		}
		o.differences = m.differences()
	}
	return errors.Join(karpenter.WriteList(filepath.Join(c.dir, "fewer.json"), objects), m.keep(c.dir, o.differences))
}

// methods asks both about the objects.
func (c *cluster) methods(objects []client.Object) (*methods, error) {
	flags, err := c.extraFlags()
	if err != nil {
		return nil, err
	}
	m := &methods{}
	if m.all, err = c.stowageDisruption(objects, append(flags, "--disruption-all")); err != nil {
		return nil, err
	}
	if m.first, err = c.stowageDisruption(objects, append(flags, "--disruption")); err != nil {
		return nil, err
	}
	for run := range mostRuns {
		if run >= firstRuns && len(m.differences()) == 0 {
			break
		}
		answers, err := c.karpenterDisruption(objects, flags, uint64(run))
		if err != nil {
			return nil, err
		}
		m.runs = append(m.runs, answers)
	}
	return m, nil
}

// extraFlags are those that the generator wants for this cluster, one a line.
func (c *cluster) extraFlags() ([]string, error) {
	text, err := os.ReadFile(filepath.Join(c.dir, "flags"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return strings.Fields(string(text)), err
}

func (c *cluster) stowageDisruption(objects []client.Object, flags []string) ([]karpenter.PlanDisruption, error) {
	p, err := c.stowage(&outcome{}, objects, "greedy", flags...)
	if err != nil {
		return nil, err
	}
	if p.Disruption == nil {
		return nil, errors.New("stowage says nothing of disruption, though it was asked")
	}
	return *p.Disruption, nil
}

func (c *cluster) karpenterDisruption(objects []client.Object, flags []string, seed uint64) ([]karpenter.Answer, error) {
	ctx, memory, err := karpenterContext(flags)
	if err != nil {
		return nil, err
	}
	in := &karpenter.Input{Objects: slices.Clone(objects)}
	rnd := rand.New(rand.NewPCG(seed, 1))
	rnd.Shuffle(len(in.Objects), func(i, j int) { in.Objects[i], in.Objects[j] = in.Objects[j], in.Objects[i] })
	return karpenter.Disrupt(ctx, func() (*karpenter.World, error) {
		w, err := karpenter.NewWorld(ctx, in, c.catalogue, c.d.now, c.allUnbound)
		if err != nil {
			return nil, err
		}
		return w, w.Remember(ctx, memory)
	}, true)
}

// smaller takes away pods, nodes with their claims and pods, and whatever else can go, while a difference of the same method stays.
func (c *cluster) smaller(objects []client.Object, m *methods) ([]client.Object, *methods, error) {
	method, _, _ := strings.Cut(m.differences()[0], ":")
	for again := true; again; {
		again = false
		for i := len(objects) - 1; i >= 0; i-- {
			if i >= len(objects) {
				continue
			}
			fewer := without(objects, objects[i])
			n, err := c.methods(fewer)
			if err != nil || len(n.differences()) == 0 || !strings.HasPrefix(n.differences()[0], method+":") {
				continue // without it there is no question, or another
			}
			objects, m, again = fewer, n, true
		}
	}
	return objects, m, nil
}

// methods is what ours says of all methods and of the first, beside several runs of Karpenter.
type methods struct {
	all, first []karpenter.PlanDisruption
	runs       [][]karpenter.Answer
}

// differences says which methods of ours answer what no run does.
func (m *methods) differences() (lines []string) {
	known := map[string]bool{}
	for i, a := range m.runs[0] {
		known[a.Method] = true
		ours := ofMethod(m.all, a.Method)
		if m.isSaid(i, ours) {
			continue
		}
		lines = append(lines, a.Method+": ours "+describe(ours))
		for _, text := range m.theirs(i) {
			lines = append(lines, a.Method+": Karpenter "+text)
		}
	}
	for _, c := range m.all {
		if !known[c.Method] {
			lines = append(lines, c.Method+": ours "+describe([]karpenter.PlanDisruption{c})+", and Karpenter has no such method")
		}
	}
	if want := firstMethod(m.all); !sameCommands(m.first, want) {
		lines = append(lines, "--disruption: "+describe(m.first)+", though with --disruption-all the first that acts is "+describe(want))
	}
	return lines
}

// isSaid: some run answers so. Of a static pool's drifted nodes that are more than may go at once Karpenter takes any: there
// each command must be of some run, and none be there twice.
func (m *methods) isSaid(i int, ours []karpenter.PlanDisruption) bool {
	var all []karpenter.PlanDisruption
	for _, run := range m.runs {
		if sameCommands(ours, run[i].Commands) {
			return true
		}
		all = append(all, run[i].Commands...)
	}
	if m.runs[0][i].Method != "StaticDrift" || len(ours) != len(m.runs[0][i].Commands) {
		return false
	}
	has := func(list []karpenter.PlanDisruption, c *karpenter.PlanDisruption) bool {
		return slices.ContainsFunc(list, func(x karpenter.PlanDisruption) bool { return sameCommand(c, &x) })
	}
	for j := range ours {
		if !has(all, &ours[j]) || has(ours[:j], &ours[j]) {
			return false
		}
	}
	return true
}

// onlyCosts: it is the same but for what commands are said to cost.
func (m *methods) onlyCosts() bool {
	free := func(commands []karpenter.PlanDisruption) []karpenter.PlanDisruption {
		commands = slices.Clone(commands)
		for i := range commands {
			commands[i].DisruptionCost = 0
		}
		return commands
	}
	x := &methods{all: free(m.all), first: free(m.first)}
	for _, run := range m.runs {
		run = slices.Clone(run)
		for i := range run {
			run[i].Commands = free(run[i].Commands)
		}
		x.runs = append(x.runs, run)
	}
	return len(x.differences()) == 0
}

// theirs are the different answers of the runs, with how many gave each.
func (m *methods) theirs(i int) []string {
	count := map[string]int{}
	for _, run := range m.runs {
		text := describe(run[i].Commands)
		if run[i].Err != nil {
			text = "fails: " + run[i].Err.Error()
		}
		count[text]++
	}
	var lines []string
	for _, text := range slices.Sorted(maps.Keys(count)) {
		lines = append(lines, fmt.Sprintf("%d × %s", count[text], text))
	}
	return lines
}

func (m *methods) commands() map[string]int {
	count := map[string]int{}
	for _, a := range m.runs[0] {
		count[a.Method] += len(a.Commands)
		if a.Err != nil {
			count["failed"]++
		}
	}
	return count
}

func ofMethod(all []karpenter.PlanDisruption, method string) (out []karpenter.PlanDisruption) {
	for _, c := range all {
		if c.Method == method {
			out = append(out, c)
		}
	}
	return out
}

func firstMethod(all []karpenter.PlanDisruption) []karpenter.PlanDisruption {
	if len(all) == 0 {
		return nil
	}
	return ofMethod(all, all[0].Method)
}

// sameCommands in any order: a method's commands of several pools come in no order.
func sameCommands(a, b []karpenter.PlanDisruption) bool {
	if len(a) != len(b) {
		return false
	}
	b = slices.Clone(b)
	for i := range a {
		at := slices.IndexFunc(b, func(c karpenter.PlanDisruption) bool { return sameCommand(&a[i], &c) })
		if at < 0 {
			return false
		}
		b = slices.Delete(b, at, at+1)
	}
	return true
}

func sameCommand(a, b *karpenter.PlanDisruption) bool {
	if header(a) != header(b) || !near(a.SavingsPerHour, b.SavingsPerHour) || !near(&a.DisruptionCost, &b.DisruptionCost) ||
		len(a.Replacements) != len(b.Replacements) {
		return false
	}
	left := slices.Clone(b.Replacements)
	for i := range a.Replacements {
		at := slices.IndexFunc(left, func(c karpenter.PlanClaim) bool {
			return claimText(&a.Replacements[i]) == claimText(&c) && near(a.Replacements[i].Price, c.Price)
		})
		if at < 0 {
			return false
		}
		left = slices.Delete(left, at, at+1)
	}
	return true
}

// near: sums of prices in another order differ by rounding.
func near(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return math.Abs(*a-*b) <= 1e-9*max(1, math.Abs(*a), math.Abs(*b))
}

// header is what must be the same to the letter.
func header(c *karpenter.PlanDisruption) string {
	bound := c.TerminationGracePeriod
	if d, err := time.ParseDuration(bound); err == nil {
		bound = "bound " + d.String() // 5m and 5m0s are the same
	}
	return strings.Join([]string{c.Method, c.Reason, c.Decision, strings.Join(slices.Sorted(slices.Values(c.Candidates)), ","), bound}, " ")
}

// claimText is all of a replacement but its price, and the order of what has none.
func claimText(c *karpenter.PlanClaim) string {
	var reqs []string
	for _, r := range c.Requirements {
		text := fmt.Sprintf("%s %s %s", r.Key, r.Operator, strings.Join(slices.Sorted(slices.Values(r.Values)), ","))
		if r.MinValues != nil {
			text += fmt.Sprintf(" min %d", *r.MinValues)
		}
		reqs = append(reqs, text)
	}
	slices.Sort(reqs)
	var taints []string
	for _, t := range c.Taints {
		taints = append(taints, t.ToString())
	}
	slices.Sort(taints)
	return fmt.Sprintf("%s %s {%s} taints [%s] pods %s", c.NodePool, strings.Join(c.InstanceTypes, ","), strings.Join(reqs, "; "),
		strings.Join(taints, " "), strings.Join(slices.Sorted(slices.Values(c.Pods)), ","))
}

func describe(commands []karpenter.PlanDisruption) string {
	if len(commands) == 0 {
		return "nothing"
	}
	var texts []string
	for i := range commands {
		c := &commands[i]
		text := fmt.Sprintf("%s, saves %s, costs %.6f", strings.Join(strings.Fields(header(c))[2:], " "), number(c.SavingsPerHour), c.DisruptionCost)
		for j := range c.Replacements {
			text += fmt.Sprintf(" -> at %s %s", number(c.Replacements[j].Price), claimText(&c.Replacements[j]))
		}
		texts = append(texts, text)
	}
	slices.Sort(texts)
	return strings.Join(texts, " | ")
}

func number(x *float64) string {
	if x == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.6f", *x)
}

func (m *methods) keep(dir string, differences []string) error {
	for name, v := range map[string]any{"ours.json": m.all, "karpenter.json": m.runs[0]} {
		text, err := json.MarshalIndent(v, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "differences"), []byte(strings.Join(differences, "\n")+"\n"), 0o644)
}

// fleetTotals prints a line for each profile and one for all.
func fleetTotals(profiles []string, outcomes []*outcome) {
	for _, profile := range append(slices.Clone(profiles), "") {
		n, failed, differ, listed := 0, 0, 0, 0
		commands := map[string]int{}
		for _, o := range outcomes {
			if profile != "" && o.profile != profile {
				continue
			}
			n++
			switch {
			case o.err != nil:
				failed++
			case len(o.listed) > 0:
				listed++
			case len(o.differences) > 0:
				differ++
			}
			for method, count := range o.commands {
				commands[method] += count
			}
		}
		if profile == "" {
			profile = "all"
		}
		fmt.Printf("%-14s %4d fleets; differ %d, listed %d, failed %d; Karpenter's commands:", profile, n, differ, listed, failed)
		for _, method := range slices.Sorted(maps.Keys(commands)) {
			fmt.Printf(" %s %d", method, commands[method])
		}
		fmt.Println()
	}
}
