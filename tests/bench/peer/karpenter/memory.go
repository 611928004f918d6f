package karpenter

import (
	"context"
	"flag"
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
)

// Memory is what a running controller knows and no object says.
type Memory struct {
	Nominated, BufferNodes  Names
	Rebooted, ReservedNodes Counts // by node, by static pool
}

// AddFlags takes it from a command line.
func (m *Memory) AddFlags(fs *flag.FlagSet) {
	m.Rebooted, m.ReservedNodes = Counts{}, Counts{}
	fs.Var(&m.Nominated, "nominated", "nodes that pods were planned for just now: not to be disrupted")
	fs.Var(&m.BufferNodes, "buffer-nodes", "nodes that CapacityBuffer pods were planned for: not empty")
	fs.Var(m.Rebooted, "rebooted", "NODE=N,…: reboots that repair ordered in the last 24 hours")
	fs.Var(m.ReservedNodes, "reserved-nodes", "POOL=N,…: nodes of a static pool on their way that have no NodeClaim yet")
}

// Remember tells the cluster state what its controllers would have.
func (w *World) Remember(ctx context.Context, m *Memory) error {
	for _, name := range m.Nominated {
		n, err := w.node("--nominated", name)
		if err != nil {
			return err
		}
		n.Nominate(ctx, w.clock)
	}
	buffers := map[string]int{}
	for _, name := range m.BufferNodes {
		n, err := w.node("--buffer-nodes", name)
		if err != nil {
			return err
		}
		buffers[n.ProviderID()] = 1
	}
	w.cluster.UpdateBufferPodCounts(buffers)
	w.rebooted = map[types.UID]int{}
	for name, count := range m.Rebooted {
		n, err := w.node("--rebooted", name)
		if err != nil {
			return err
		}
		if n.NodeClaim == nil {
			return fmt.Errorf("--rebooted: node %q has no NodeClaim", name)
		}
		w.rebooted[n.NodeClaim.UID] = count
	}
	for pool, count := range m.ReservedNodes {
		if err := w.client.Get(ctx, client.ObjectKey{Name: pool}, &v1.NodePool{}); err != nil {
			return fmt.Errorf("--reserved-nodes: %w", err)
		}
		w.cluster.NodePoolState.ReserveNodeCount(pool, math.MaxInt64, int64(count))
	}
	return nil
}

func (w *World) node(flag, name string) (*state.StateNode, error) {
	for n := range w.cluster.Nodes() {
		if n.Name() == name {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%s: there is no node %q", flag, name)
}

// Names takes NAME,… from a command line, repeatedly.
type Names []string

func (l *Names) String() string     { return strings.Join(*l, ",") }
func (l *Names) Set(s string) error { *l = append(*l, strings.Split(s, ",")...); return nil }

// Counts takes NAME=N,… from a command line.
type Counts map[string]int

func (m Counts) String() string { return "" }
func (m Counts) Set(s string) error {
	for _, part := range strings.Split(s, ",") {
		name, number, _ := strings.Cut(part, "=")
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || name == "" {
			return fmt.Errorf("%q is not NAME=COUNT", part)
		}
		m[name] = n
	}
	return nil
}
