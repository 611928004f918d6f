package scenarios

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Nodes that say that they are not well are replaced, or rebooted in their place, by kwok's own policies: both faults are
// tolerated for half a minute, in which nothing is computed. Takes some two minutes.
func TestRepairs(t *testing.T) {
	t.Parallel()
	f := up(t, "--feature-gates=NodeRepair=true")
	must(t, f.createPools(t.Context(), pool{name: "general", arch: "amd64", cpu: []string{"4"}, keepsDrifted: true}))
	must(t, f.deploy(t.Context(), shape{name: "web", cpu: "3", memory: "512Mi"}, repaired))
	must(t, f.Wait(t.Context(), "pods to run", f.running(repaired, "web")))
	must(t, f.Wait(t.Context(), "machines", f.settled))
	f.step(t, "a node that is not well is replaced", f.replacesUnwell)
	f.step(t, "a machine is rebooted in its place", f.reboots)
}

const repaired = 4

// reports has a machine's Node say a condition.
func (f *fleet) reports(ctx context.Context, node, condition, status string) error {
	patch := fmt.Sprintf(`{"status":{"conditions":[{"type":%q,"status":%q,"reason":"Injected","lastTransitionTime":%q}]}}`,
		condition, status, time.Now().UTC().Format(time.RFC3339))
	_, err := f.Client().CoreV1().Nodes().Patch(ctx, node, types.StrategicMergePatchType, []byte(patch),
		meta.PatchOptions{}, "status")
	return err
}

func (f *fleet) replacesUnwell(t *testing.T, ctx context.Context) {
	machines, err := f.machines(ctx)
	must(t, err)
	must(t, f.reports(ctx, machines[0].Name, "KWOKUnhealthy", "True"))
	must(t, f.Wait(ctx, "another machine", func(ctx context.Context) error {
		now, err := f.machines(ctx)
		for _, n := range now {
			if n.Name == machines[0].Name {
				return fmt.Errorf("Node %s is still there", n.Name)
			}
		}
		if err == nil && len(now) != repaired {
			err = fmt.Errorf("%d machines", len(now))
		}
		return err
	}))
	must(t, f.Wait(ctx, "pods to run", f.running(repaired, "web")))
	must(t, f.Wait(ctx, "nothing to be under way", f.calm))
}

func (f *fleet) reboots(t *testing.T, ctx context.Context) {
	machines, err := f.machines(ctx)
	must(t, err)
	before := machines[0]
	must(t, f.reports(ctx, before.Name, "KWOKRebootRequired", "True"))
	node := &core.Node{}
	must(t, f.Wait(ctx, "another boot", func(ctx context.Context) error {
		if node, err = f.Client().CoreV1().Nodes().Get(ctx, before.Name, meta.GetOptions{}); err != nil {
			return err
		}
		if !strings.HasPrefix(node.Status.NodeInfo.BootID, "kwok-") {
			return fmt.Errorf("Node %s has boot %q", node.Name, node.Status.NodeInfo.BootID)
		}
		return nil
	}))
	must(t, f.reports(ctx, before.Name, "KWOKRebootRequired", "False"))
	must(t, f.Wait(ctx, "the machine to be back", func(ctx context.Context) error {
		if node, err = f.Client().CoreV1().Nodes().Get(ctx, before.Name, meta.GetOptions{}); err != nil {
			return err
		}
		if node.UID != before.UID {
			return fmt.Errorf("Node %s is another one", node.Name)
		}
		if node.Labels["karpenter.sh/initialized"] != "true" || len(node.Spec.Taints) != 0 {
			return fmt.Errorf("Node %s has labels %v, taints %v", node.Name, node.Labels, node.Spec.Taints)
		}
		return nil
	}))
	must(t, f.Wait(ctx, "pods to run", f.running(repaired, "web")))
	must(t, f.Wait(ctx, "nothing to be under way", f.calm))
}
