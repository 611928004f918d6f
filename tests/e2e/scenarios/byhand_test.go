package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// What somebody deletes beside Stowage: a Node, a machine itself, a NodePool. TestLeaving has NodeClaims.
func TestByHand(t *testing.T) {
	t.Parallel()
	f := up(t, steadyLease...)
	must(t, f.createPools(t.Context(), pool{name: "first", arch: "amd64", cpu: []string{"4"}, weight: 50}))
	must(t, f.deploy(t.Context(), quarter("web"), 2*quarters))
	must(t, f.Wait(t.Context(), "pods to run", f.running(2*quarters, "web")))
	must(t, f.Wait(t.Context(), "machines", f.count(2)))
	f.step(t, "a Node", f.losesNode)
	f.step(t, "an instance, behind our back", f.losesInstance)
	f.step(t, "a NodePool that waits for its NodeClaims", f.losesPool("first", "second", "foreground"))
	f.step(t, "a NodePool that does not", f.losesPool("second", "third", "background"))
}

// evicts runs what takes pods from their nodes, and sees to it that those were evicted.
func (f *fleet) evicts(t *testing.T, ctx context.Context, on map[string]bool, do func()) {
	t.Helper()
	pods, err := f.pods(ctx, "web")
	must(t, err)
	there := map[types.UID]string{}
	for i := range pods {
		if on[pods[i].Spec.NodeName] {
			there[pods[i].UID] = pods[i].Name
		}
	}
	h := f.podHistory(t, ctx)
	do()
	must(t, f.Wait(ctx, "the end of the pods to be heard of", func(context.Context) error {
		left := len(there)
		for _, c := range h.all() {
			if there[c.pod.UID] != "" && c.gone {
				left--
			}
		}
		if left != 0 {
			return fmt.Errorf("not of %d", left)
		}
		return nil
	}))
	for _, c := range h.all() {
		if there[c.pod.UID] != "" && c.gone && !evictedByAPI(c.pod) {
			t.Errorf("pod %s was not evicted", c.pod.Name)
		}
	}
}

// stands waits until all pods run on as many machines as they need.
func (f *fleet) stands(t *testing.T, ctx context.Context) {
	t.Helper()
	must(t, f.Wait(ctx, "pods to run", f.running(2*quarters, "web")))
	must(t, f.Wait(ctx, "machines", f.count(2)))
}

func (f *fleet) losesNode(t *testing.T, ctx context.Context) {
	claims, err := f.claims(ctx)
	must(t, err)
	lost := claims[0]
	spared := f.spares(t, ctx, claims[1])
	f.evicts(t, ctx, map[string]bool{lost.node: true}, func() {
		_, err := f.Kubectl(ctx, "", "delete", "node", lost.node, "--wait=false")
		must(t, err)
		must(t, f.Wait(ctx, "its NodeClaim to follow", f.gone(lost)))
	})
	f.stands(t, ctx)
	spared()
}

// With kwok a Node is the machine. While Stowage looks away it goes, without anybody's leave. Kubernetes' garbage
// collector takes its time for the pods that stood there.
func (f *fleet) losesInstance(t *testing.T, ctx context.Context) {
	claims, err := f.claims(ctx)
	must(t, err)
	lost := claims[0]
	spared := f.spares(t, ctx, claims[1])
	must(t, f.Stowage.Pause())
	nodes := f.Client().CoreV1().Nodes()
	_, err = nodes.Patch(ctx, lost.node, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), meta.PatchOptions{})
	if err == nil {
		err = nodes.Delete(ctx, lost.node, meta.DeleteOptions{})
	}
	must(t, errors.Join(err, f.Stowage.Continue()))
	must(t, f.Wait(ctx, "its NodeClaim to go", f.gone(lost)))
	f.stands(t, ctx)
	spared()
}

// spares returns what looks whether a machine that nobody touched is still there, with the pods that it has now.
func (f *fleet) spares(t *testing.T, ctx context.Context, c claim) func() {
	t.Helper()
	there := func() (uids []types.UID) {
		pods, err := f.pods(ctx, "web")
		must(t, err)
		for i := range pods {
			if pods[i].Spec.NodeName == c.node {
				uids = append(uids, pods[i].UID)
			}
		}
		slices.Sort(uids)
		return uids
	}
	before := there()
	return func() {
		t.Helper()
		if now := there(); f.gone(c)(ctx) == nil || len(now) == 0 || !slices.Equal(before, now) {
			t.Errorf("NodeClaim %s was to keep its pods %v, and has %v", c.name, before, now)
		}
	}
}

// losesPool deletes one with `kubectl delete`: its NodeClaims are its own and go with it, each drained, and the pods come to
// stand on another's. One that waits for them (foreground) is there until the last has gone.
func (f *fleet) losesPool(name, next, cascade string) func(*testing.T, context.Context) {
	return func(t *testing.T, ctx context.Context) {
		must(t, f.addPools(ctx, pool{name: next, arch: "amd64", cpu: []string{"4"}}))
		claims, err := f.claims(ctx)
		must(t, err)
		on := map[string]bool{}
		for _, c := range claims {
			on[c.node] = c.pool == name
		}
		f.evicts(t, ctx, on, func() {
			_, err := f.Kubectl(ctx, "", "delete", "nodepool", name, "--cascade="+cascade, "--wait=false")
			must(t, err)
			must(t, f.Wait(ctx, "the NodePool to go", func(ctx context.Context) error {
				_, err := f.objects.Resource(poolResource).Get(ctx, name, meta.GetOptions{})
				if err == nil {
					return errors.New("it is there")
				}
				if !apierrors.IsNotFound(err) {
					return err
				}
				return nil
			}))
			if cascade == "foreground" {
				must(t, f.allOf(ctx, next))
			}
			for _, c := range claims {
				must(t, f.Wait(ctx, "its NodeClaims to go", f.gone(c)))
			}
		})
		f.stands(t, ctx)
		must(t, f.allOf(ctx, next))
	}
}
