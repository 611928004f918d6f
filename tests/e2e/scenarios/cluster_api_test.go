package scenarios

import (
	"context"
	"fmt"
	"testing"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"stowage.dev/tests/e2e/clusterapi"
	"stowage.dev/tests/e2e/stowage"
)

const (
	machinesIn  = "fleet" // the namespace of the groups
	groupPrefix = "MachineDeployment/" + machinesIn + "/"
)

// capiGroup is a group whose Nodes are told by the label that those of groupsUp have.
func capiGroup(kind, name, zone, cpu string, most int) clusterapi.Group {
	return clusterapi.Group{Kind: kind, Name: name, Max: most, CPU: cpu, Memory: "16Gi",
		Labels: map[string]string{"group": name, zoneKey: zone}}
}

func capiGroups() []clusterapi.Group {
	var all []clusterapi.Group
	for i, zone := range zones {
		all = append(all, capiGroup("MachineDeployment", fmt.Sprintf("small-%c", 'a'+i), zone, "4", 6))
	}
	return append(all, capiGroup("MachineSet", "large", zoneA, "16", 3), capiGroup("MachinePool", "pool", zoneB, "8", 2))
}

// failing are groups from which no Node ever comes.
func failing() []clusterapi.Group {
	broken := capiGroup("MachineDeployment", "broken", zoneA, "16", 3)
	broken.Fate = clusterapi.Fails
	silent := capiGroup("MachineDeployment", "silent", zoneA, "16", 3)
	silent.Fate = clusterapi.Silent
	return []clusterapi.Group{broken, silent}
}

// capiFleet is a fleet whose groups Cluster API keeps.
type capiFleet struct {
	*fleet
	*clusterapi.Controllers
}

// capiStep is a step after which no machine was ended that nobody had chosen, and none is left marked.
func (f capiFleet) capiStep(t *testing.T, name string, do func(*testing.T, context.Context)) {
	t.Helper()
	f.step(t, name, func(t *testing.T, ctx context.Context) {
		do(t, ctx)
		must(t, f.Wait(ctx, "Machines that are well", f.Controllers.Sound))
	})
}

// TestClusterAPI has Stowage keep groups of Cluster API, that is to say of any cloud that has a provider for it.
func TestClusterAPI(t *testing.T) {
	t.Parallel()
	f := capiFleet{fleet: upWith(t, stowage.ClusterOptions{Groups: true, ClusterAPI: true, Stowage: stowage.Options{Args: []string{
		"--cloud-provider=clusterapi", "--node-group-auto-discovery=clusterapi:namespace=" + machinesIn, "--scan-interval=2s",
		"--scale-down-unneeded-time=8s", "--scale-down-delay-after-add=4s", "--unremovable-node-recheck-timeout=5s",
		"--node-delete-delay-after-taint=1s", "--expander=priority", "--max-node-provision-time=40s",
		"--balance-similar-node-groups", "--balancing-ignore-label=group",
	}}})}
	must(t, f.Namespace(t.Context(), machinesIn))
	var err error
	f.Controllers, err = clusterapi.Start(f.Config(), machinesIn)
	must(t, err)
	t.Cleanup(f.Controllers.End)
	must(t, f.Add(t.Context(), capiGroups()...))

	f.capiStep(t, "groups grow from nothing, balanced over the zones", f.growsBalanced(groupPrefix))
	f.capiStep(t, "a group that makes no nodes gives way to another", f.fallsBack)
	f.capiStep(t, "nodes that nobody needs go, and their pods before them", f.drainsGroups)
	f.capiStep(t, "a budget in the way keeps a node, and nothing stays marked", f.keepsByBudget)
	f.capiStep(t, "who starts anew while groups grow asks for no node twice", f.restartsInGrowth)
	f.capiStep(t, "who starts anew in the middle of a removal ends it", f.restartsInRemoval)
	f.capiStep(t, "a MachinePool grows and shrinks", f.resizesPool)
	f.capiStep(t, "who writes a size gets it", f.followsPeople)
	f.capiStep(t, "pods of NodePools grow no group", f.leavesToPools)
}

// fallsBack asks for a node that the first group cannot make, the second never does, and the third has.
func (f capiFleet) fallsBack(t *testing.T, ctx context.Context) {
	must(t, f.Add(ctx, failing()...))
	must(t, f.prioritise(ctx, "10: ['small']\n50: ['large']\n60: ['silent']\n70: ['broken']\n"))
	must(t, f.deploy(ctx, shape{name: "big", cpu: "6", memory: "1Gi"}, 1))
	must(t, f.Wait(ctx, "Events", f.groupsTold("ScaledUpGroup", "Scale-up: group "+groupPrefix+"broken size set to 1 instead of 0")))
	must(t, f.Wait(ctx, "Events", f.groupsTold("ScaledUpGroup", "Scale-up: group "+groupPrefix+"silent size set to 1 instead of 0")))
	must(t, f.Wait(ctx, "pods to run", f.running(1, "big")))
	must(t, f.groupsAre(map[string]int{"large": 1})(ctx))
	must(t, f.Wait(ctx, "nothing to be asked for in vain", f.sizesAre(map[string]int{"broken": 0, "silent": 0, "large": 1})))
	must(t, f.Wait(ctx, "Events", f.groupsTold("DeleteUnregistered", "silent")))
	must(t, f.prioritise(ctx, "10: ['large']\n50: ['small']\n"))
	must(t, f.remove(ctx, "big"))
}

// sizesAre is a check that groups are to have so many machines.
func (f capiFleet) sizesAre(want map[string]int) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, g := range append(capiGroups(), failing()...) {
			count, asked := want[g.Name]
			if !asked {
				continue
			}
			if got, err := f.Size(ctx, g); err != nil {
				return err
			} else if got != count {
				return fmt.Errorf("%s is to have %d machines, not %d", g.ID(machinesIn), got, count)
			}
		}
		return nil
	}
}

func (f capiFleet) resizesPool(t *testing.T, ctx context.Context) {
	must(t, f.prioritise(ctx, "50: ['.*']\n"))
	must(t, f.deploy(ctx, shape{name: "listed", cpu: "3", memory: "1Gi", on: map[string]string{"group": "pool"}}, 1))
	must(t, f.Wait(ctx, "pods to run", f.running(1, "listed")))
	must(t, f.sizesAre(map[string]int{"pool": 1})(ctx))
	must(t, f.remove(ctx, "listed"))
	must(t, f.Wait(ctx, "its node to go", f.groupsAre(map[string]int{"pool": 0})))
	must(t, f.sizesAre(map[string]int{"pool": 0})(ctx))
	must(t, f.prioritise(ctx, "10: ['large']\n50: ['small']\n"))
}

// followsPeople has a person scale a group, whose new node nobody needs: it comes, and goes as any.
func (f capiFleet) followsPeople(t *testing.T, ctx context.Context) {
	before, err := f.group(ctx, "large")
	must(t, err)
	_, err = f.objects.Resource(clusterapi.MachineSets).Namespace(machinesIn).Patch(ctx, "large", types.MergePatchType,
		fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, before+1), meta.PatchOptions{}, "scale")
	must(t, err)
	must(t, f.Wait(ctx, "its node to come", f.groupsAre(map[string]int{"large": before + 1})))
	must(t, f.Wait(ctx, "its node to go", f.groupsAre(map[string]int{"large": before})))
	must(t, f.Wait(ctx, "its size", f.sizesAre(map[string]int{"large": before})))
}
