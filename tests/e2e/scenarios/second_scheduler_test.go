package scenarios

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"stowage.dev/tests/e2e/stowage"
)

// ourScheduler is the profile of manifests/second-scheduler.
const ourScheduler = "stowage"

func byUs(spec *core.PodSpec) { spec.SchedulerName = ourScheduler }

// The cluster's scheduler is as Kubernetes has it; beside it runs one that asks Stowage, under its own
// account, Lease and RBAC. Pods that name it go where they were planned; all others are the cluster's
// scheduler's, and Stowage buys for them as for anybody.
func TestSecondScheduler(t *testing.T) {
	t.Parallel()
	f := upWith(t, stowage.ClusterOptions{SecondScheduler: true})
	f.step(t, "pods that name it go where they were planned, others where there is room", f.loadsBeside)
	f.step(t, "pods of the cluster's scheduler get nodes too", f.buysForOthers)
	f.step(t, "each pod was bound by the scheduler it names, and none was touched", f.keptApart)
	f.step(t, "its configuration is right", func(t *testing.T, ctx context.Context) {
		found, status, err := f.check(ctx, "--kubeconfig="+f.Kubeconfig(),
			"--scheduler-config="+filepath.Join(f.Dir(), "second-scheduler-as-shipped.yaml"))
		must(t, err)
		// What it names lies in its Pod.
		must(t, judged(found, status, 0, "unknown scheduler-copy", "unknown scheduler-copy"))
	})
}

func (f *fleet) loadsBeside(t *testing.T, ctx context.Context) {
	must(t, f.createPools(ctx, pool{name: "general", arch: "amd64", cpu: []string{"4"}}))
	must(t, f.hold(ctx, stowage.SecondScheduler))
	// Nobody's node, which only pods of the cluster's scheduler may use.
	_, err := f.Client().CoreV1().Nodes().Create(ctx, staticNode("static"), meta.CreateOptions{})
	must(t, err)
	must(t, f.deploy(ctx, shape{name: "theirs", cpu: "500m", memory: "512Mi", on: map[string]string{"static": "yes"}}, 4,
		toleratesStatic))
	must(t, f.Stowage.Pause())
	must(t, f.deploy(ctx, shape{name: "ours", cpu: "700m", memory: "1Gi"}, 40, byUs))
	must(t, f.Wait(ctx, "pods to wait, and others to run", func(ctx context.Context) error {
		return errors.Join(f.waiting(40, "ours")(ctx), f.running(4, "theirs")(ctx))
	}))
	must(t, f.Stowage.Continue())
	begin := time.Now()
	w, err := f.follow(ctx, f.Stowage.Page)
	must(t, err)
	must(t, f.Wait(ctx, "all pods to run", f.running(40, "ours")))
	took := time.Since(begin)
	must(t, f.Wait(ctx, "machines", f.settled))
	must(t, w.end(ctx))
	claims, err := f.claims(ctx)
	must(t, err)
	w.report(t, 40, len(claims), took)
}

func staticNode(name string) *core.Node {
	return &core.Node{
		ObjectMeta: meta.ObjectMeta{Name: name, Labels: map[string]string{"static": "yes"}},
		Spec:       core.NodeSpec{Taints: []core.Taint{{Key: "static", Effect: core.TaintEffectNoSchedule}}},
	}
}

func toleratesStatic(spec *core.PodSpec) {
	spec.Tolerations = append(spec.Tolerations, core.Toleration{Key: "static", Operator: core.TolerationOpExists})
}

// hold waits until somebody holds a Lease of Stowage's namespace.
func (f *fleet) hold(ctx context.Context, lease string) error {
	return f.Wait(ctx, "a holder of Lease "+lease, func(ctx context.Context) error {
		got, err := f.Client().CoordinationV1().Leases(f.Account.Namespace).Get(ctx, lease, meta.GetOptions{})
		if err == nil && (got.Spec.HolderIdentity == nil || *got.Spec.HolderIdentity == "") {
			err = errors.New("nobody holds it")
		}
		return err
	})
}

func (f *fleet) buysForOthers(t *testing.T, ctx context.Context) {
	must(t, f.deploy(ctx, shape{name: "late", cpu: "1500m", memory: "1Gi"}, 6))
	must(t, f.Wait(ctx, "pods to run", f.running(6, "late")))
	must(t, f.Wait(ctx, "machines", f.settled))
}

func (f *fleet) keptApart(t *testing.T, ctx context.Context) {
	must(t, f.Wait(ctx, "Events of the binds", func(ctx context.Context) error {
		events, err := f.Client().EventsV1().Events("default").List(ctx, meta.ListOptions{})
		if err != nil {
			return err
		}
		by := map[string]int{}
		for _, e := range events.Items {
			if e.Reason == "Scheduled" {
				deployment, _, _ := strings.Cut(e.Regarding.Name, "-")
				by[deployment+" by "+e.ReportingController]++
			}
		}
		want := map[string]int{"ours by " + ourScheduler: 40, "theirs by default-scheduler": 4, "late by default-scheduler": 6}
		if fmt.Sprint(by) != fmt.Sprint(want) {
			return fmt.Errorf("bound were %v, want %v", by, want)
		}
		return nil
	}))
	requests, err := f.Requests()
	must(t, err)
	for _, r := range requests {
		reads := r.Verb == "get" || r.Verb == "list" || r.Verb == "watch"
		if !reads && r.Code != http.StatusForbidden && strings.HasSuffix(r.User, ":"+f.Account.Name) &&
			strings.HasPrefix(r.URI, "/api/v1/namespaces/default/pods/") {
			t.Errorf("Stowage touched a pod: %v", r)
		}
	}
}
