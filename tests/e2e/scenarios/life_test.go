package scenarios

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/process"
	"stowage.dev/tests/e2e/stowage"
)

const webhookName = "nodepools.webhook.stowage.dev"

var shapes = []shape{
	{name: "tiny", cpu: "100m", memory: "128Mi"},
	{name: "small", cpu: "250m", memory: "256Mi"},
	{name: "fat", cpu: "250m", memory: "1Gi"},
	{name: "web", cpu: "500m", memory: "512Mi"},
	{name: "api", cpu: "500m", memory: "2Gi"},
	{name: "cruncher", cpu: "1", memory: "1Gi"},
	{name: "cache", cpu: "1", memory: "4Gi"},
	{name: "database", cpu: "1500m", memory: "6Gi"},
	{name: "arm-worker", cpu: "2", memory: "2Gi", on: map[string]string{"kubernetes.io/arch": "arm64"}},
	{name: "arm-store", cpu: "100m", memory: "2Gi", on: map[string]string{"kubernetes.io/arch": "arm64"}},
}

func names(shapes []shape) []string {
	var all []string
	for _, s := range shapes {
		all = append(all, s.name)
	}
	return all
}

// One cluster's life: it grows, shrinks, refuses and sets aside what is wrong, and gets over the
// restart of its API server. The scheduler is as it ships: it waits no longer for Stowage's answer than
// a user's does, and makes no more requests.
func TestLife(t *testing.T) {
	t.Parallel()
	// Its Lease is one that it keeps on a busy machine: while it does not lead there is no plan. So is the
	// batch's window: the first plan is to be of all 500 pods, and it takes a while to make them.
	f := upAsShipped(t, "--lease-duration=300s", "--lease-renew-deadline=240s", "--batch-idle-duration=3s")
	f.step(t, "500 pods of 10 shapes go where they were planned", f.grows)
	f.step(t, "without pods no node stays", f.shrinks)
	f.step(t, "a NodePool that breaks a rule is refused", f.refuses)
	f.step(t, "a NodePool broken behind our back is set aside", f.setsAside)
	f.step(t, "the API server restarts", f.resumes)
	f.step(t, "a node's patience with its pods ends", f.losesPatience)
	f.step(t, "a NodePool that can buy nothing goes on saying so", f.repeats)
	f.step(t, "certificates that somebody threw away are made anew", f.certifiesAnew)
}

func (f *fleet) grows(t *testing.T, ctx context.Context) {
	const each = 50
	all, count := names(shapes), each*len(shapes)
	must(t, f.createPools(ctx,
		pool{name: "general", arch: "amd64", weight: 10},
		pool{name: "arm", arch: "arm64"}))
	must(t, f.daemons(ctx, shape{name: "agent", cpu: "50m", memory: "64Mi"}))
	// While Stowage looks away all pods come to wait, so that it meets them as one batch.
	must(t, f.Stowage.Pause())
	for _, s := range shapes {
		must(t, f.deploy(ctx, s, each))
	}
	must(t, f.Wait(ctx, "pods to wait", f.waiting(count, all...)))
	must(t, f.Stowage.Continue())
	begin := time.Now()
	w, err := f.follow(ctx, f.Stowage.Page)
	must(t, err)
	must(t, f.Wait(ctx, "all pods to run", f.running(count, all...)))
	took := time.Since(begin)
	must(t, f.Wait(ctx, "machines", f.settled))
	must(t, w.end(ctx))

	claims, err := f.claims(ctx)
	must(t, err)
	f.tellAnswers(t, ctx)
	w.report(t, count, len(claims), took)
	// A pod that ran ahead may have left its own node empty.
	must(t, f.Wait(ctx, "empty nodes to leave", func(ctx context.Context) error {
		return errors.Join(f.noneEmpty(ctx), f.settled(ctx))
	}))
	left, err := f.claims(ctx)
	must(t, err)
	t.Logf("%d nodes stay", len(left))
	must(t, f.running(count, all...)(ctx))
}

// tellAnswers prints what Stowage answered to the scheduler, and how often that one went on without an answer.
func (f *fleet) tellAnswers(t *testing.T, ctx context.Context) {
	t.Helper()
	text, err := metricsOf(ctx, f.Stowage.Metrics)
	must(t, err)
	passed, err := f.passedOver()
	must(t, err)
	t.Logf("filter, by answer: %s; the scheduler went on without one %d times; an answer took %v on average",
		answers("", text), passed, answerTime("", text, "filter").Round(time.Microsecond))
}

// report judges how the pods were loaded.
func (w *follower) report(t *testing.T, pods, claims int, took time.Duration) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, err := range w.errs {
		t.Error(err)
	}
	if w.first == nil {
		t.Fatal("no plan was seen on the page")
	}
	planned := len(w.first.places())
	t.Logf("%d pods run after %.1f s on %d nodes; the first plan places %d on %d; %d bound where planned, %d elsewhere in free room",
		pods, took.Seconds(), claims, planned, len(w.first.NodeClaims), pods-len(w.loading.strayed), len(w.loading.strayed))
	if planned != pods {
		t.Errorf("the first plan places %d of %d pods; without a place: %v", planned, pods, w.first.Unschedulable)
	}
	if claims > len(w.first.NodeClaims) {
		t.Errorf("%d NodeClaims, %d in the first plan", claims, len(w.first.NodeClaims))
	}
	for _, wrong := range w.loading.wrong {
		t.Error(wrong)
	}
}

func (f *fleet) shrinks(t *testing.T, ctx context.Context) {
	for _, s := range shapes {
		must(t, f.scale(ctx, s.name, 0))
	}
	must(t, f.Wait(ctx, "all nodes to leave", f.none))
	must(t, f.remove(ctx, names(shapes)...))
}

// restricted is a label that the schema lets through and Stowage does not: the provider's own.
var restricted = map[string]string{"karpenter.kwok.sh/colour": "blue"}

func (f *fleet) refuses(t *testing.T, ctx context.Context) {
	apply := func(p pool) error {
		text, err := p.object().MarshalJSON()
		must(t, err)
		_, err = f.Kubectl(ctx, string(text), "apply", "-f", "-")
		return err
	}
	for _, row := range []struct {
		label string
		pool  pool
		want  []string // in what kubectl says; nil: it is accepted
	}{
		{"a restricted label", pool{name: "refused", arch: "amd64", labels: restricted},
			[]string{`admission webhook "` + webhookName + `" denied the request`, "karpenter.kwok.sh/colour", "restricted"}},
		{"two mistakes", pool{name: "refused", arch: "amd64", cpu: []string{"a b"}, labels: restricted},
			[]string{webhookName, "karpenter.kwok.sh/colour", `a b`}},
		{"what the schema refuses", pool{name: "refused", arch: "amd64", labels: map[string]string{poolLabel: "x"}},
			[]string{"is invalid", "restricted"}},
		{"nothing wrong", pool{name: "accepted", arch: "amd64"}, nil},
	} {
		err := apply(row.pool)
		if row.want == nil {
			if err != nil {
				t.Errorf("%s: %v", row.label, err)
			}
			continue
		}
		for _, want := range row.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %q in it", row.label, err, want)
			}
		}
		if err != nil {
			t.Logf("%s: %v", row.label, err)
		}
	}
	must(t, f.objects.Resource(poolResource).Delete(ctx, "accepted", meta.DeleteOptions{}))
}

func (f *fleet) setsAside(t *testing.T, ctx context.Context) {
	pools := f.objects.Resource(poolResource)
	f.Stowage.Kill()
	// Nobody waits for it to age out.
	must(t, f.Client().CoordinationV1().Leases(f.Account.Namespace).Delete(ctx, "stowage-leader-election", meta.DeleteOptions{}))
	broken := pool{name: "broken", arch: "amd64", weight: 100, labels: restricted}
	_, err := pools.Create(ctx, broken.object(), meta.CreateOptions{})
	must(t, err)
	// The schema stands without us.
	bad := pool{name: "bad", arch: "amd64", labels: map[string]string{poolLabel: "x"}}
	if _, err = pools.Create(ctx, bad.object(), meta.CreateOptions{}); err == nil || !strings.Contains(err.Error(), "is invalid") {
		t.Errorf("a NodePool against the schema, without Stowage: %v", err)
	}
	// Of which there is no machine.
	_, err = pools.Create(ctx, pool{name: "none", arch: "amd64", cpu: []string{"7"}}.object(), meta.CreateOptions{})
	must(t, err)
	must(t, f.Stowage.Restart())
	must(t, f.Stowage.Ready(ctx))
	for _, condition := range []string{"ValidationSucceeded", "Ready"} {
		must(t, f.Wait(ctx, condition, func(ctx context.Context) error {
			return f.poolIs(ctx, "broken", condition, "False")
		}))
	}
	got, err := pools.Get(ctx, "broken", meta.GetOptions{})
	must(t, err)
	c := conditionOf(got, "ValidationSucceeded")
	if c["reason"] != "NodePoolValidationFailed" || !strings.Contains(fmt.Sprint(c["message"]), "karpenter.kwok.sh/colour") {
		t.Errorf("the condition says %v: %v", c["reason"], c["message"])
	}
	web := shape{name: "web", cpu: "500m", memory: "512Mi"}
	must(t, f.deploy(ctx, web, 5))
	must(t, f.Wait(ctx, "pods to run", f.running(5, "web")))
	must(t, f.allOf(ctx, "general"))

	// Put right, it is the pool with the greater weight.
	_, err = pools.Patch(ctx, "broken", types.MergePatchType,
		[]byte(`{"spec":{"template":{"metadata":{"labels":null}}}}`), meta.PatchOptions{})
	must(t, err)
	must(t, f.Wait(ctx, "the pool to be used", func(ctx context.Context) error {
		return f.poolIs(ctx, "broken", "Ready", "True")
	}))
	must(t, f.remove(ctx, "web"))
	must(t, f.Wait(ctx, "all nodes to leave", f.none))
	must(t, f.deploy(ctx, web, 5))
	must(t, f.Wait(ctx, "pods to run", f.running(5, "web")))
	must(t, f.Wait(ctx, "machines", f.settled))
	must(t, f.allOf(ctx, "broken"))
	f.clear(t, ctx, "web")
	must(t, pools.Delete(ctx, "broken", meta.DeleteOptions{}))
}

// allOf says which NodeClaim is of another pool.
func (f *fleet) allOf(ctx context.Context, pool string) error {
	claims, err := f.claims(ctx)
	for _, c := range claims {
		if c.pool != pool {
			err = errors.Join(err, fmt.Errorf("NodeClaim %s is of pool %s", c.name, c.pool))
		}
	}
	return err
}

func (f *fleet) resumes(t *testing.T, ctx context.Context) {
	const replicas, each = 60, 10 // pods in all, and on a machine of 16 CPUs
	sixteen := pool{name: "sixteen", arch: "amd64", cpu: []string{"16"}, weight: 50}
	must(t, f.addPools(ctx, sixteen))
	must(t, f.deploy(ctx, shape{name: "tenth", cpu: "1500m", memory: "1Gi"}, replicas))
	must(t, f.Wait(ctx, "a NodeClaim", func(ctx context.Context) error {
		claims, err := f.claims(ctx)
		if err == nil && len(claims) == 0 {
			err = errors.New("none yet")
		}
		return err
	}))
	pid := f.Stowage.Pid()
	f.Part(controlplane.APIServer).Kill()
	must(t, f.Restart(ctx, controlplane.APIServer))
	must(t, f.Wait(ctx, "all pods to run", f.running(replicas, "tenth")))
	must(t, f.Wait(ctx, "machines", f.settled))
	claims, err := f.claims(ctx)
	must(t, err)
	if len(claims) != replicas/each {
		t.Errorf("%d NodeClaims for %d pods of which %d fill one", len(claims), replicas, each)
	}
	if f.Stowage.Pid() != pid || !f.Stowage.Running() {
		t.Error("Stowage did not live through it")
	}
	must(t, f.remove(ctx, "tenth"))
	must(t, f.Wait(ctx, "all nodes to leave", f.none))
}

// What a budget keeps from being evicted is deleted in the end.
func (f *fleet) losesPatience(t *testing.T, ctx context.Context) {
	brief := pool{name: "brief", arch: "amd64", weight: 100}.object()
	must(t, unstructured.SetNestedField(brief.Object, "3s", "spec", "template", "spec", "terminationGracePeriod"))
	_, err := f.objects.Resource(poolResource).Create(ctx, brief, meta.CreateOptions{})
	must(t, err)
	must(t, f.Wait(ctx, "the pool", func(ctx context.Context) error {
		return f.poolIs(ctx, "brief", "Ready", "True")
	}))
	all := intstr.FromInt32(0)
	_, err = f.Client().PolicyV1().PodDisruptionBudgets("default").Create(ctx, &policy.PodDisruptionBudget{
		ObjectMeta: meta.ObjectMeta{Name: "web"},
		Spec: policy.PodDisruptionBudgetSpec{MaxUnavailable: &all,
			Selector: &meta.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}, meta.CreateOptions{})
	must(t, err)
	must(t, f.deploy(ctx, shape{name: "web", cpu: "500m", memory: "512Mi"}, 2))
	must(t, f.Wait(ctx, "pods to run", f.running(2, "web")))
	must(t, f.Wait(ctx, "machines", f.settled))
	must(t, f.allOf(ctx, "brief"))
	before, err := f.claims(ctx)
	must(t, err)
	for _, c := range before {
		must(t, f.objects.Resource(claimResource).Delete(ctx, c.name, meta.DeleteOptions{}))
	}
	must(t, f.Wait(ctx, "the pods to run elsewhere", func(ctx context.Context) error {
		now, err := f.claims(ctx)
		for _, c := range now {
			if slices.ContainsFunc(before, func(old claim) bool { return old.uid == c.uid }) {
				err = errors.Join(err, fmt.Errorf("NodeClaim %s is still there", c.name))
			}
		}
		return errors.Join(err, f.running(2, "web")(ctx), f.settled(ctx))
	}))
}

// Each plan tells it again, in one Event, though not within the same minute.
func (f *fleet) repeats(t *testing.T, ctx context.Context) {
	pods := 2
	must(t, eventually(ctx, 5*time.Second, "an Event that counts", func(ctx context.Context) error {
		list, err := f.Client().EventsV1().Events("default").List(ctx, meta.ListOptions{
			FieldSelector: "reason=NoCompatibleInstanceTypes,regarding.kind=NodePool,regarding.name=none"})
		if err != nil {
			return err
		}
		for _, event := range list.Items {
			if event.Series != nil && event.Series.Count > 1 {
				return nil
			}
		}
		pods++
		return errors.Join(fmt.Errorf("%d Events, of which none counts", len(list.Items)), f.scale(ctx, "web", pods))
	}))
}

// The API server believes the new ones, and so does a scheduler that has been handed its own.
func (f *fleet) certifiesAnew(t *testing.T, ctx context.Context) {
	must(t, f.Stowage.Stop(process.Patience))
	for _, name := range []string{"stowage-certs", stowage.ClientSecret} {
		_, err := f.Client().CoreV1().Secrets(f.Account.Namespace).Patch(ctx, name, types.MergePatchType,
			[]byte(`{"data":null}`), meta.PatchOptions{})
		must(t, err)
	}
	must(t, f.Stowage.Restart())
	must(t, f.Stowage.Ready(ctx))
	must(t, f.Wait(ctx, "a bad pool to be refused", func(ctx context.Context) error {
		_, err := f.objects.Resource(poolResource).Create(ctx, pool{name: "refused", arch: "amd64", labels: restricted}.object(),
			meta.CreateOptions{DryRun: []string{meta.DryRunAll}})
		if err == nil || !strings.Contains(err.Error(), webhookName) {
			return fmt.Errorf("the answer is %v", err)
		}
		return nil
	}))
	f.Part(controlplane.SchedulerPart).Kill()
	must(t, f.SecretFiles(ctx, f.Account.Namespace, stowage.ClientSecret, filepath.Join(f.Dir(), stowage.ClientSecret)))
	must(t, f.Restart(ctx, controlplane.SchedulerPart))
	must(t, f.deploy(ctx, shape{name: "late", cpu: "500m", memory: "512Mi"}, 5))
	must(t, f.Wait(ctx, "pods to run", f.running(5, "late")))
	text, err := metricsOf(ctx, f.Stowage.Metrics)
	must(t, err)
	if sample(text, "stowage_extender_requests_total", `verb="filter"`) == 0 {
		t.Error("the scheduler did not ask")
	}
}
