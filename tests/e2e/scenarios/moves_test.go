package scenarios

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"stowage.dev/tests/e2e/process"
)

const (
	disruptedKey = "karpenter.sh/disrupted"
	replacesNote = "stowage.dev/replaces"
	generation   = "scenarios.stowage.dev/generation" // label of the template that drifts
)

// Nodes with pods leave: their pods fit elsewhere for less, or they are not as their pool would have them any more. In each
// step the fleet has 300 pods and more, all of one Deployment, whose budget is kept.
func TestMoves(t *testing.T) {
	t.Parallel()
	// Pods are moved again as soon as that saves something.
	f := up(t, append([]string{"--consolidation-cool-down=10s"}, steadyLease...)...)
	f.step(t, "it fits", f.fills)
	f.step(t, "a node whose pods fit elsewhere is deleted", f.consolidatesByDelete)
	f.step(t, "a node that is too large is replaced", f.consolidatesByReplace)
	f.step(t, "nodes that drifted are replaced", f.drifts)
	f.step(t, "who leads next ends what was begun", f.movesOn)
}

const (
	fullPods  = 35 // fill a machine of 32 CPUs, which is the cheapest for each of them
	fullNodes = 11 // such machines, at first
	halfPods  = 17 // on each of two machines: those of one fit on the other
	fewPods   = 5  // on a machine: for some there is room where two have become one, the others need 4 CPUs
	newPods   = fewPods - (fullPods - 2*halfPods)
	whenHalf  = fullNodes*fullPods - 2*(fullPods-halfPods)
	whenFew   = whenHalf - (fullPods - fewPods) // and from then on
)

// fills makes a fleet of machines of which each is full. The pods come first: so they are planned all at once. A node for
// which pods were planned is let alone for 20 s: who leads next does not know of it, and may take each.
func (f *fleet) fills(t *testing.T, ctx context.Context) {
	must(t, f.deploy(ctx, quarter("web"), fullNodes*fullPods))
	must(t, f.Wait(ctx, "pods to wait", f.waiting(fullNodes*fullPods, "web")))
	must(t, f.createPools(ctx, pool{name: "general", arch: "amd64", cpu: []string{"4", "32"},
		policy: "WhenEmptyOrUnderutilized", budget: "50%"}))
	must(t, f.Wait(ctx, "pods to run", f.running(fullNodes*fullPods, "web")))
	must(t, f.Wait(ctx, "machines", f.count(fullNodes)))
	on, err := f.on(ctx, "web")
	must(t, err)
	for node, pods := range on {
		if pods != fullPods {
			t.Fatalf("%d pods are on %s, %d are to be", pods, node, fullPods)
		}
	}
	must(t, f.budget(ctx, "web", mostAway))
	must(t, f.Stowage.Stop(process.Patience))
	must(t, f.Stowage.Restart())
	must(t, f.Wait(ctx, "the Lease", f.leads(f.Stowage)))
}

// decided are the consolidations of that kind that were carried out.
func (f *fleet) decided(t *testing.T, ctx context.Context, decision string) float64 {
	t.Helper()
	text, err := metricsOf(ctx, f.Stowage.Metrics)
	must(t, err)
	return sample(text, "karpenter_voluntary_disruption_decisions_total", `decision="`+decision+`"`, `reason="underutilized"`)
}

// saves checks that it was said what the move saves, as it was before and after.
func (f *fleet) saves(t *testing.T, ctx context.Context, m *movement, text string) {
	t.Helper()
	cheaper := m.cheaper(t)
	if cheaper <= 0 {
		t.Errorf("the machines cost $%.4f an hour more", -cheaper)
	}
	must(t, f.saysOf(f.Stowage, fmt.Sprintf("%s (underutilized): saves $%.4f/h", text, cheaper))(ctx))
}

// Of two machines that are half empty one leaves, and nothing is bought.
func (f *fleet) consolidatesByDelete(t *testing.T, ctx context.Context) {
	claims, err := f.claims(ctx)
	must(t, err)
	halves := claims[:2]
	m := f.moves(t, ctx, map[string]int{halves[0].node: halfPods, halves[1].node: halfPods}, whenHalf, fullNodes-1)
	if len(m.gone) != 1 || len(m.bought) != 0 || len(without(m.gone, halves)) != 0 {
		t.Fatalf("%v left and %v came; one of %v was to leave", m.gone, m.bought, halves)
	}
	gone, stays := m.gone[0], without(halves, m.gone)[0]
	if !slices.Equal(m.marked, []string{gone.node}) || !maps.Equal(m.evicted, map[string]int{gone.node: halfPods}) {
		t.Errorf("%v were marked and pods evicted of %v; %d of %s are to be", m.marked, m.evicted, halfPods, gone.node)
	}
	on, err := f.on(ctx, "web")
	must(t, err)
	if on[stays.node] != 2*halfPods {
		t.Errorf("%d pods are on %s, all %d are to be", on[stays.node], stays.node, 2*halfPods)
	}
	f.saves(t, ctx, m, "remove "+gone.node)
	if deletes, replaces := f.decided(t, ctx, "delete"), f.decided(t, ctx, "replace"); deletes != 1 || replaces != 0 {
		t.Errorf("%.0f consolidations by delete and %.0f by replace were carried out", deletes, replaces)
	}
}

// A machine with few pods leaves when a smaller one has come for those that fit nowhere else.
func (f *fleet) consolidatesByReplace(t *testing.T, ctx context.Context) {
	on, err := f.on(ctx, "web")
	must(t, err)
	claims, err := f.claims(ctx)
	must(t, err)
	full := slices.DeleteFunc(claims, func(c claim) bool { return on[c.node] != fullPods })[0]
	m := f.moves(t, ctx, map[string]int{full.node: fewPods}, whenFew, fullNodes-1)
	if len(m.gone) != 1 || m.gone[0].uid != full.uid || len(m.bought) != 1 {
		t.Fatalf("%v left and %v came; a smaller one was to come for %s", m.gone, m.bought, full.name)
	}
	next := m.bought[0]
	if !slices.Equal(m.marked, []string{full.node}) || !maps.Equal(m.evicted, map[string]int{full.node: fewPods}) {
		t.Errorf("%v were marked and pods evicted of %v; %d of %s are to be", m.marked, m.evicted, fewPods, full.node)
	}
	on, err = f.on(ctx, "web")
	must(t, err)
	if on[next.node] != newPods {
		t.Errorf("%d pods are on %s, %d are to be", on[next.node], next.node, newPods)
	}
	for _, n := range m.after {
		if cpu := n.Status.Capacity.Cpu().Value(); n.Name == next.node && cpu != 4 {
			t.Errorf("%s has %d CPUs, 4 are enough", n.Name, cpu)
		}
	}
	for _, err := range inPlaceOf(m.claims, full.name, next.name) {
		t.Error(err)
	}
	f.saves(t, ctx, m, "remove "+full.node+" -> buy c-4x-amd64-linux")
	if deletes, replaces := f.decided(t, ctx, "delete"), f.decided(t, ctx, "replace"); deletes != 1 || replaces != 1 {
		t.Errorf("%.0f consolidations by delete and %.0f by replace were carried out", deletes, replaces)
	}
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

// Whose template has changed leaves when another has come, or its pods fit elsewhere: the pods run on no more than before.
func (f *fleet) drifts(t *testing.T, ctx context.Context) {
	before, err := f.machines(ctx)
	must(t, err)
	standing, err := f.pods(ctx, "web")
	must(t, err)
	h := f.podHistory(t, ctx)
	must(t, f.changeTemplate(ctx, "two"))
	must(t, f.Wait(ctx, "machines of the new template", f.isOf("two")))
	must(t, f.Wait(ctx, "pods to run", f.running(whenFew, "web")))
	after, err := f.machines(ctx)
	must(t, err)
	if m := (&movement{before: before, after: after}); m.cheaper(t) < -0.00001 {
		t.Errorf("the machines cost $%.4f an hour more", -m.cheaper(t))
	}
	ended := f.keepsBudget(t, ctx, standing, h, whenFew-mostAway)
	for _, n := range before {
		if ended[n.Name] == 0 {
			t.Errorf("no pod was evicted from %s", n.Name)
		}
	}
}

// A leader dies when a replacement has been asked for; nobody is replaced twice.
func (f *fleet) movesOn(t *testing.T, ctx context.Context) {
	must(t, f.changeTemplate(ctx, "three"))
	others := map[string]map[string]bool{} // by what the annotation says, who was bought so
	byWhom := map[string]string{}          // of each that was replaced, the annotation
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
			if others[says] == nil {
				others[says] = map[string]bool{}
			}
			others[says][claim.GetName()] = true
			if bought, err := strconv.Atoi(number); err != nil || len(others[says]) > bought {
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
		if err := look(ctx); err != nil || len(others) > 0 {
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
	must(t, f.Wait(ctx, "pods to run", f.running(whenFew, "web")))
	if len(twice) > 0 {
		t.Errorf("replaced twice: %v", twice)
	}
}
