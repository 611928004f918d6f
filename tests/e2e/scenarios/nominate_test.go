package scenarios

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"testing"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/stowage"
)

// The scheduler is as Kubernetes has it and asks nobody. Stowage tells it by status.nominatedNodeName.
func TestNominate(t *testing.T) {
	t.Parallel()
	f := upWith(t, stowage.ClusterOptions{Nominate: true})
	f.step(t, "pods get nodes", func(t *testing.T, ctx context.Context) {
		must(t, f.createPools(ctx, pool{name: "general", arch: "amd64", cpu: []string{"4"}}))
		must(t, f.deploy(ctx, shape{name: "free", cpu: "1500m", memory: "1Gi"}, 10))
		must(t, f.Wait(ctx, "pods to run", f.running(10, "free")))
		must(t, f.Wait(ctx, "machines", f.settled))
	})
	f.step(t, "planned pods are nominated, and keep their room from thieves", f.keepsFromThieves)
	f.step(t, "nominations are taken back when the plan changes", f.takesBack)
	f.step(t, "a Stowage that starts again knows its own", f.knowsItsOwn)
	f.step(t, "pods are touched by nothing else", func(t *testing.T, ctx context.Context) {
		requests, err := f.Requests()
		must(t, err)
		nominations := 0
		for _, r := range requests {
			reads := r.Verb == "get" || r.Verb == "list" || r.Verb == "watch"
			if reads || !podPath.MatchString(r.URI) {
				continue
			}
			if r.Verb != "patch" || !statusPath.MatchString(r.URI) {
				t.Errorf("Stowage touched a pod: %v", r)
			} else if r.Code == http.StatusOK {
				nominations++
			}
		}
		t.Logf("%d writes of nominations", nominations)
		found, status, err := f.check(ctx, "--kubeconfig="+f.Kubeconfig(), "--placement=nominate",
			"--account="+f.Account.Namespace+"/"+f.Account.Name)
		must(t, err)
		must(t, judged(found, status, 0))
	})
}

// The scheduler asks Stowage, which nominates, too, as it does in large clusters.
func TestNominateBesideTheExtender(t *testing.T) {
	t.Parallel()
	f := upWith(t, stowage.ClusterOptions{Stowage: stowage.Options{Args: []string{"--nominate-from=1"}}})
	f.step(t, "pods get nodes", func(t *testing.T, ctx context.Context) {
		must(t, f.createPools(ctx, pool{name: "general", arch: "amd64", cpu: []string{"4"}}))
		must(t, f.deploy(ctx, shape{name: "free", cpu: "1500m", memory: "1Gi"}, 10))
		must(t, f.Wait(ctx, "pods to run", f.running(10, "free")))
		must(t, f.Wait(ctx, "machines", f.settled))
	})
	f.step(t, "who is nominated is bound there", func(t *testing.T, ctx context.Context) {
		before, err := f.said(ctx)
		must(t, err)
		f.keepsFromThieves(t, ctx)
		after, err := f.said(ctx)
		must(t, err)
		const answer = "stowage_extender_requests_total"
		planned := sample(after, answer, `verb="filter"`, `answer="planned"`) - sample(before, answer, `verb="filter"`, `answer="planned"`)
		if planned < 20 {
			t.Errorf("%.0f pods were told the node that they are planned for: the scheduler did not ask of it", planned)
		}
	})
	f.step(t, "a node that goes holds back nobody", f.takesBack)
}

var (
	podPath    = regexp.MustCompile(`^/api/v1/namespaces/default/pods/`)
	statusPath = regexp.MustCompile(`/status(\?|$)`)
)

// whileAway deploys pods and ends the scheduler once it has refused them: when it comes back it knows all
// nodes and nominations before it looks at the first pod. One that lives may see a nomination before the
// node, and empties it. Returned are the nodes that the pods are nominated for.
func (f *fleet) whileAway(t *testing.T, ctx context.Context, s shape, count int, edits ...edit) map[string]string {
	t.Helper()
	must(t, f.Stowage.Pause())
	must(t, f.deploy(ctx, s, count, edits...))
	must(t, f.Wait(ctx, "pods to wait", f.waiting(count, s.name)))
	f.Part(controlplane.SchedulerPart).Kill()
	must(t, f.Stowage.Continue())
	var nominated map[string]string
	must(t, f.Wait(ctx, "pods to be nominated", func(ctx context.Context) error {
		var err error
		nominated, err = f.nominated(ctx, s.name, count)
		return err
	}))
	return nominated
}

// nominated tells for each pod of a Deployment which node it is nominated for, if so many are, each for
// its place.
func (f *fleet) nominated(ctx context.Context, name string, count int) (map[string]string, error) {
	pods, err := f.pods(ctx, name)
	if err != nil {
		return nil, err
	}
	p, err := readPlan(ctx, f.Stowage.Page)
	if err != nil {
		return nil, err
	}
	places, nominated := p.places(), map[string]string{}
	for _, pod := range pods {
		if node := pod.Status.NominatedNodeName; node != "" && node == places["default/"+pod.Name] {
			nominated[pod.Name] = node
		}
	}
	if len(nominated) != count {
		err = fmt.Errorf("%d of %d pods are nominated for their places", len(nominated), count)
	}
	return nominated, err
}

// loaded checks that the pods stand on the nodes that they were nominated for.
func (f *fleet) loaded(t *testing.T, ctx context.Context, nominated map[string]string, name string) {
	t.Helper()
	pods, err := f.pods(ctx, name)
	must(t, err)
	for _, pod := range pods {
		if pod.Spec.NodeName != nominated[pod.Name] {
			t.Errorf("pod %s was nominated for %s and stands on %s", pod.Name, nominated[pod.Name], pod.Spec.NodeName)
		}
	}
}

// A scheduler that starts takes pods of one priority in the order of their names: it would give the
// thieves the room.
func (f *fleet) keepsFromThieves(t *testing.T, ctx context.Context) {
	nominated := f.whileAway(t, ctx, shape{name: "ours", cpu: "1500m", memory: "1Gi"}, 20)
	must(t, f.deploy(ctx, shape{name: "a-thief", cpu: "1500m", memory: "1Gi"}, 20))
	must(t, f.Wait(ctx, "thieves", func(ctx context.Context) error {
		pods, err := f.pods(ctx, "a-thief")
		if err == nil && len(pods) != 20 {
			err = fmt.Errorf("%d are there", len(pods))
		}
		return err
	}))
	must(t, f.Restart(ctx, controlplane.SchedulerPart))
	must(t, f.Wait(ctx, "all pods to run", func(ctx context.Context) error {
		return errors.Join(f.running(20, "ours")(ctx), f.running(20, "a-thief")(ctx))
	}))
	f.loaded(t, ctx, nominated, "ours")
	must(t, f.Wait(ctx, "machines", f.settled))
}

// A node that pods are nominated for begins to leave: they are nominated for another.
func (f *fleet) takesBack(t *testing.T, ctx context.Context) {
	nominated := f.whileAway(t, ctx, shape{name: "moved", cpu: "1500m", memory: "1Gi"}, 4)
	var gone string
	for _, node := range nominated {
		gone = node
	}
	must(t, f.objects.Resource(claimResource).Delete(ctx, gone, meta.DeleteOptions{}))
	must(t, f.Wait(ctx, "pods to be nominated for nodes that stay", func(ctx context.Context) error {
		now, err := f.nominated(ctx, "moved", 4)
		for pod, node := range now {
			if node == gone {
				return fmt.Errorf("pod %s is nominated for %s, which leaves", pod, node)
			}
		}
		return err
	}))
	must(t, f.Restart(ctx, controlplane.SchedulerPart))
	must(t, f.Wait(ctx, "pods to run", f.running(4, "moved")))
	must(t, f.Wait(ctx, "machines", f.settled))
}

// Nominated pods stay in the plan of the next: nothing is bought for them again.
func (f *fleet) knowsItsOwn(t *testing.T, ctx context.Context) {
	nominated := f.whileAway(t, ctx, shape{name: "kept", cpu: "1500m", memory: "1Gi"}, 6)
	before, err := f.claims(ctx)
	must(t, err)
	must(t, f.Stowage.Stop(30*time.Second))
	must(t, f.Stowage.Restart())
	must(t, f.Stowage.Ready(ctx))
	must(t, f.Wait(ctx, "the Lease", f.leads(f.Stowage)))
	must(t, f.Wait(ctx, "the plan to be made again", func(ctx context.Context) error {
		now, err := f.nominated(ctx, "kept", 6)
		if err == nil && fmt.Sprint(now) != fmt.Sprint(nominated) {
			t.Errorf("pods were nominated as %v, and then as %v", nominated, now)
		}
		return err
	}))
	after, err := f.claims(ctx)
	must(t, err)
	if len(after) != len(before) {
		t.Errorf("%d NodeClaims before the restart, %d after", len(before), len(after))
	}
	must(t, f.Restart(ctx, controlplane.SchedulerPart))
	must(t, f.Wait(ctx, "pods to run", f.running(6, "kept")))
	f.loaded(t, ctx, nominated, "kept")
}
