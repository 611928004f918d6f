package scenarios

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"stowage.dev/tests/e2e/manifests"
	"stowage.dev/tests/e2e/process"
	"stowage.dev/tests/e2e/stowage"
)

// Karpenter itself, with its kwok provider, makes a fleet; Stowage takes it over, and Karpenter takes it back. Nobody
// replaces what the other has made, and each can grow it and let it go.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	f := upWith(t, stowage.ClusterOptions{Scheduler: patient})
	must(t, f.Stowage.Process.Stop(process.Patience))
	k, err := f.startKarpenter()
	must(t, err)
	must(t, f.createPools(t.Context(),
		pool{name: "general", arch: "amd64", cpu: []string{"4"}, labels: map[string]string{"team": "a"}, expires: "720h"},
		pool{name: "other", arch: "amd64", cpu: []string{"8"}, spot: true, taint: dedicatedKey}))
	f.step(t, "Karpenter makes a fleet", f.madeByKarpenter)
	k.Kill() // it ends by the signal anyway, and keeps its Lease
	f.step(t, "Stowage replaces none of it", f.replacesNone(f.Stowage.Restart))
	f.step(t, "and lets it grow and shrink", f.growsAndShrinks)
	must(t, f.Stowage.Process.Stop(process.Patience))
	f.step(t, "Karpenter replaces none of it", f.replacesNone(k.Restart))
	f.step(t, "and lets all of it go", f.growsAndEnds)
}

// startKarpenter starts it as the administrator.
func (f *fleet) startKarpenter() (*process.Process, error) {
	var out bytes.Buffer
	build := exec.Command(filepath.Join(manifests.Folder(), "..", "tests", "bench", "peer", "build-karpenter"))
	build.Stdout, build.Stderr = &out, os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("build-karpenter: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	metrics, err := f.Port()
	if err != nil {
		return nil, err
	}
	probes, err := f.Port()
	if err != nil {
		return nil, err
	}
	return f.Run(process.Command{
		Name: "karpenter",
		Path: filepath.Join(lines[len(lines)-1], "karpenter-kwok"),
		Args: []string{fmt.Sprintf("--metrics-port=%d", metrics), fmt.Sprintf("--health-probe-port=%d", probes),
			"--leader-election-namespace=kube-system", "--log-level=debug"},
		Env: f.Environment("KUBECONFIG="+f.Kubeconfig(), "SYSTEM_NAMESPACE=kube-system"),
	})
}

// made is what whoever takes over is to leave alone.
type made struct {
	notes map[string]string // hashes, of a NodePool's or NodeClaim's name
	nodes map[string]string // NodeClaim's UID → its Node's
}

const hashPrefix = "karpenter.sh/nodepool-hash"

func (f *fleet) look(ctx context.Context) (*made, error) {
	m := &made{map[string]string{}, map[string]string{}}
	nodes, err := f.Client().CoreV1().Nodes().List(ctx, meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	uids := map[string]string{}
	for i := range nodes.Items {
		uids[nodes.Items[i].Name] = string(nodes.Items[i].UID)
		if hasTaint(&nodes.Items[i], disruptedKey) {
			return nil, fmt.Errorf("Node %s is marked", nodes.Items[i].Name)
		}
	}
	pools, err := f.objects.Resource(poolResource).List(ctx, meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	claims, err := f.objects.Resource(claimResource).List(ctx, meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, one := range append(pools.Items, claims.Items...) {
		for key, value := range one.GetAnnotations() {
			if strings.HasPrefix(key, hashPrefix) {
				m.notes[one.GetKind()+" "+one.GetName()+" "+key] = value
			}
		}
	}
	for i := range claims.Items {
		c := claimOf(&claims.Items[i])
		if drifted := conditionOf(&claims.Items[i], "Drifted"); drifted["status"] == "True" {
			return nil, fmt.Errorf("NodeClaim %s has drifted: %v", c.name, drifted)
		}
		m.nodes[c.uid] = uids[c.node]
		if !c.initialized || c.deleting || uids[c.node] == "" {
			return nil, fmt.Errorf("NodeClaim %s: initialized %v (%s), deleting %v, node %q", c.name, c.initialized, c.awaits,
				c.deleting, c.node)
		}
	}
	return m, nil
}

// consists is a check that there are so many machines of the pool, whoever has made them, and nothing is on its way.
func (f *fleet) consists(pool string, count int) func(context.Context) error {
	return func(ctx context.Context) error {
		claims, err := f.claims(ctx)
		if err != nil {
			return err
		}
		claims = slices.DeleteFunc(claims, func(c claim) bool { return c.pool != pool })
		nodes, err := f.Client().CoreV1().Nodes().List(ctx, meta.ListOptions{LabelSelector: poolLabel + "=" + pool})
		if err == nil && (len(claims) != count || len(nodes.Items) != count) {
			err = fmt.Errorf("%d NodeClaims and %d Nodes of pool %s, %d are to be", len(claims), len(nodes.Items), pool, count)
		}
		_, wrong := f.look(ctx)
		return errors.Join(err, wrong)
	}
}

func (f *fleet) madeByKarpenter(t *testing.T, ctx context.Context) {
	must(t, f.deploy(ctx, quarter("web"), 2*quarters))
	must(t, f.deploy(ctx, shape{name: "api", cpu: "3500m", memory: "1Gi", on: map[string]string{poolLabel: "other"}}, 2,
		tolerates(dedicatedKey)))
	must(t, f.Wait(ctx, "pods to run", f.running(2*quarters+2, "web", "api")))
	must(t, f.Wait(ctx, "machines", f.consists("general", 2)))
	must(t, f.Wait(ctx, "machines", f.consists("other", 1)))
}

const reviewed = "Consolidatable" // whoever looks whether a NodeClaim has drifted says this of it in the same write

// forgets takes the condition from every NodeClaim.
func (f *fleet) forgets(ctx context.Context) error {
	claims := f.objects.Resource(claimResource)
	list, err := claims.List(ctx, meta.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		one := &list.Items[i]
		conditions, _, _ := unstructured.NestedSlice(one.Object, "status", "conditions")
		conditions = slices.DeleteFunc(conditions, func(c any) bool { return c.(map[string]any)["type"] == reviewed })
		if err := unstructured.SetNestedSlice(one.Object, conditions, "status", "conditions"); err != nil {
			return err
		}
		if _, err := claims.UpdateStatus(ctx, one, meta.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// replacesNone is about who starts now.
func (f *fleet) replacesNone(start func() error) func(t *testing.T, ctx context.Context) {
	return func(t *testing.T, ctx context.Context) {
		before, err := f.look(ctx)
		must(t, err)
		pods := f.uids(t, ctx, "web", "api")
		must(t, f.forgets(ctx))
		must(t, start())
		must(t, f.Wait(ctx, "each NodeClaim to be looked at", func(ctx context.Context) error {
			list, err := f.objects.Resource(claimResource).List(ctx, meta.ListOptions{})
			if err != nil {
				return err
			}
			for i := range list.Items {
				if conditionOf(&list.Items[i], reviewed)["status"] != "True" {
					return fmt.Errorf("NodeClaim %s is not %s", list.Items[i].GetName(), reviewed)
				}
			}
			return nil
		}))
		f.isAsBefore(t, ctx, before)
		if now := f.uids(t, ctx, "web", "api"); !slices.Equal(pods, now) {
			t.Errorf("pods were %v and are %v", pods, now)
		}
	}
}

// isAsBefore: what was there still is, on the same machines, and as its makers have stamped it.
func (f *fleet) isAsBefore(t *testing.T, ctx context.Context, before *made) {
	t.Helper()
	now, err := f.look(ctx)
	must(t, err)
	for uid, node := range before.nodes {
		if now.nodes[uid] != node {
			t.Errorf("NodeClaim %s had Node %s and has %q", uid, node, now.nodes[uid])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(before.notes)) {
		if now.notes[key] != before.notes[key] {
			t.Errorf("%s was %q and is %q", key, before.notes[key], now.notes[key])
		}
	}
}

func (f *fleet) growsAndShrinks(t *testing.T, ctx context.Context) {
	before, err := f.look(ctx)
	must(t, err)
	must(t, f.Stowage.Ready(ctx))
	must(t, f.scale(ctx, "web", 3*quarters))
	must(t, f.Wait(ctx, "pods to run", f.running(3*quarters+2, "web", "api")))
	must(t, f.Wait(ctx, "one machine more", f.consists("general", 3)))
	f.isAsBefore(t, ctx, before)
	must(t, f.scale(ctx, "api", 0))
	must(t, f.Wait(ctx, "an empty machine of Karpenter's to leave", f.consists("other", 0)))
	must(t, f.consists("general", 3)(ctx))
}

func (f *fleet) growsAndEnds(t *testing.T, ctx context.Context) {
	before, err := f.look(ctx)
	must(t, err)
	must(t, f.scale(ctx, "api", 2))
	must(t, f.Wait(ctx, "pods to run", f.running(3*quarters+2, "web", "api")))
	must(t, f.Wait(ctx, "one machine more", f.consists("other", 1)))
	f.isAsBefore(t, ctx, before)
	must(t, f.remove(ctx, "web", "api"))
	must(t, f.Wait(ctx, "all of them to leave", func(ctx context.Context) error {
		return errors.Join(f.consists("general", 0)(ctx), f.consists("other", 0)(ctx))
	}))
}
