package scenarios

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	disruptedKey = "karpenter.sh/disrupted"
	replacesNote = "stowage.dev/replaces"
	generation   = "scenarios.stowage.dev/generation" // label of the template that drifts
)

// Nodes with pods leave: their pods fit elsewhere for less, or they are not as their pool would have them any more.
func TestMoves(t *testing.T) {
	t.Parallel()
	// Pods are moved again as soon as that saves something.
	f := up(t, append([]string{"--consolidation-cool-down=10s"}, steadyLease...)...)
	must(t, f.createPools(t.Context(), pool{name: "general", arch: "amd64", cpu: []string{"2", "4", "8", "16"},
		policy: "WhenEmptyOrUnderutilized", budget: "50%"}))
	f.step(t, "what is too large is consolidated", f.consolidates)
	f.step(t, "nodes that drifted are replaced", f.drifts)
	f.step(t, "who leads next ends what was begun", f.movesOn)
}

const moved = 300

func (f *fleet) consolidates(t *testing.T, ctx context.Context) {
	must(t, f.deploy(ctx, shape{name: "web", cpu: "900m", memory: "512Mi"}, moved))
	must(t, f.Wait(ctx, "pods to run", f.running(moved, "web")))
	must(t, f.Wait(ctx, "machines", f.settled))
	before, err := f.cores(ctx)
	must(t, err)
	must(t, f.scale(ctx, "web", moved/5))
	must(t, f.Wait(ctx, "fewer cores", func(ctx context.Context) error {
		cores, err := f.cores(ctx)
		if err == nil && cores > before/4 {
			err = fmt.Errorf("%d cores for a fifth of the pods, %d were there for all", cores, before)
		}
		return errors.Join(err, f.calm(ctx))
	}))
	must(t, f.Wait(ctx, "pods to run", f.running(moved/5, "web")))
	after, err := f.cores(ctx)
	must(t, err)
	t.Logf("%d cores for %d pods, %d for %d", before, moved, after, moved/5)
}

// cores are those of all machines.
func (f *fleet) cores(ctx context.Context) (int64, error) {
	machines, err := f.machines(ctx)
	sum := resource.Quantity{}
	for _, n := range machines {
		sum.Add(*n.Status.Capacity.Cpu())
	}
	return sum.Value(), err
}

// calm is a check that nothing is on its way, and nothing marked.
func (f *fleet) calm(ctx context.Context) error {
	machines, err := f.machines(ctx)
	if err != nil {
		return err
	}
	for _, n := range machines {
		for _, taint := range n.Spec.Taints {
			if taint.Key == disruptedKey {
				return fmt.Errorf("Node %s is marked", n.Name)
			}
		}
	}
	return f.settled(ctx)
}

func (f *fleet) changeTemplate(ctx context.Context, to string) error {
	patch := fmt.Sprintf(`{"spec":{"template":{"metadata":{"labels":{%q:%q}}}}}`, generation, to)
	_, err := f.objects.Resource(poolResource).Patch(ctx, "general", types.MergePatchType, []byte(patch), meta.PatchOptions{})
	return err
}

// isOf is a check that all machines are of this template, and that nothing more is to be done.
func (f *fleet) isOf(template string) func(context.Context) error {
	return func(ctx context.Context) error {
		machines, err := f.machines(ctx)
		if err != nil {
			return err
		}
		for _, n := range machines {
			if n.Labels[generation] != template {
				return fmt.Errorf("Node %s is of template %q", n.Name, n.Labels[generation])
			}
		}
		return f.calm(ctx)
	}
}

func (f *fleet) drifts(t *testing.T, ctx context.Context) {
	must(t, f.changeTemplate(ctx, "two"))
	must(t, f.Wait(ctx, "machines of the new template", f.isOf("two")))
	must(t, f.Wait(ctx, "pods to run", f.running(moved/5, "web")))
}

// A leader dies when a replacement has been asked for; nobody is replaced twice.
func (f *fleet) movesOn(t *testing.T, ctx context.Context) {
	must(t, f.changeTemplate(ctx, "three"))
	replaced := map[string]map[string]bool{} // by what the annotation says, who was bought so
	byWhom := map[string]string{}            // of each that was replaced, the annotation
	twice := map[string]bool{}
	look := func(ctx context.Context) error {
		list, err := f.objects.Resource(claimResource).List(ctx, meta.ListOptions{})
		if err != nil {
			return err
		}
		for i := range list.Items {
			claim := &list.Items[i]
			says := claim.GetAnnotations()[replacesNote]
			number, whom, _ := strings.Cut(says, " ")
			if says == "" || claim.GetLabels()[generation] != "three" {
				continue
			}
			if replaced[says] == nil {
				replaced[says] = map[string]bool{}
			}
			replaced[says][claim.GetName()] = true
			if bought, err := strconv.Atoi(number); err != nil || len(replaced[says]) > bought {
				twice[says] = true // by the same again
			}
			for _, one := range strings.Split(whom, ",") {
				if old := byWhom[one]; old != "" && old != says {
					twice[one] = true // by others
				}
				byWhom[one] = says
			}
		}
		return nil
	}
	must(t, f.Wait(ctx, "a replacement", func(ctx context.Context) error {
		if err := look(ctx); err != nil || len(replaced) > 0 {
			return err
		}
		return errors.New("there is none")
	}))
	f.Stowage.Kill()
	must(t, f.Stowage.Restart())
	must(t, f.Stowage.Ready(ctx))
	must(t, f.Wait(ctx, "machines of the new template", func(ctx context.Context) error {
		return errors.Join(look(ctx), f.isOf("three")(ctx))
	}))
	must(t, f.Wait(ctx, "pods to run", f.running(moved/5, "web")))
	if len(twice) > 0 {
		t.Errorf("replaced twice: %v", twice)
	}
}
