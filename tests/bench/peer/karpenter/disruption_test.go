package karpenter

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/karpenter/pkg/operator/options"
)

// Three nodes of one pool with a budget of all of them: one empty, two with little on them.
func disrupted(t *testing.T, all bool, args ...string) string {
	fs := &options.FlagSet{FlagSet: flag.NewFlagSet("karpenter", flag.ContinueOnError)}
	settings, memory := &options.Options{}, &Memory{}
	settings.AddFlags(fs)
	memory.AddFlags(fs.FlagSet)
	if err := settings.Parse(fs, args...); err != nil {
		t.Fatal(err)
	}
	ctx := Context(context.Background(), settings)
	types, err := ReadCatalogue(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	in := &Input{}
	if err := in.Read(filepath.Join("testdata", "fleet.yaml")); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	answers, err := Disrupt(ctx, func() (*World, error) {
		w, err := NewWorld(ctx, in, types, now, true)
		if err != nil {
			return nil, err
		}
		return w, w.Remember(ctx, memory)
	}, all)
	if err != nil {
		return err.Error()
	}
	commands, err := Commands(answers)
	if err != nil {
		return err.Error()
	}
	var lines []string
	for _, c := range commands {
		slices.Sort(c.Candidates)
		lines = append(lines, fmt.Sprintf("%s %s %s saves %.4f", c.Method, c.Decision, strings.Join(c.Candidates, ","), *c.SavingsPerHour))
	}
	return strings.Join(lines, "; ")
}

func TestDisrupt(t *testing.T) {
	empty, multi := "Emptiness delete node-3 saves 0.1086", "MultiNodeConsolidation delete node-1,node-2 saves 0.4687"
	for _, row := range []struct {
		label, args string
		all         bool
		want        string // the beginning
	}{
		{"the first that acts", "", false, empty},
		{"all", "", true, empty + "; " + multi + "; SingleNodeConsolidation delete node-"},
		{"who is nominated stays", "--nominated=node-3,node-1", true, "SingleNodeConsolidation delete node-2 saves"},
		{"buffer pods keep a node from being empty", "--buffer-nodes=node-3", false, multi},
		{"a node that is not there", "--rebooted=node-9=1", false, `--rebooted: there is no node "node-9"`},
		{"a pool that is not there", "--reserved-nodes=nobody=1", false, "--reserved-nodes: "},
		{"repair without policies", "--feature-gates=NodeRepair=true", false, "node repair requires"},
	} {
		if got := disrupted(t, row.all, strings.Fields(row.args)...); !strings.HasPrefix(got, row.want) {
			t.Errorf("%s: %q, want %q", row.label, got, row.want)
		}
	}
}
