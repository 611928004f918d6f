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
	api "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"stowage.dev/tests/e2e/process"
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
			"--scheduler-config="+filepath.Join(f.Dir(), "second-scheduler-as-shipped.yaml"),
			"--scheduler-secret-namespace="+stowage.SecondScheduler)
		must(t, err)
		// What it names lies in its Pod.
		must(t, judged(found, status, 0, "unknown scheduler-copy", "unknown scheduler-copy"))
	})
	f.step(t, "its certificate is in its namespace alone, and is written back", f.keepsItsSecret) // last, since it starts Stowage anew
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

// hold waits until somebody holds the second scheduler's Lease.
func (f *fleet) hold(ctx context.Context, lease string) error {
	return f.Wait(ctx, "a holder of Lease "+lease, func(ctx context.Context) error {
		got, err := f.Client().CoordinationV1().Leases(stowage.SecondScheduler).Get(ctx, lease, meta.GetOptions{})
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

func (f *fleet) keepsItsSecret(t *testing.T, ctx context.Context) {
	if _, err := f.Client().CoreV1().Secrets(f.Account.Namespace).Get(ctx, stowage.ClientSecret, meta.GetOptions{}); !api.IsNotFound(err) {
		t.Errorf("in Stowage's own namespace: %v", err)
	}
	secrets := f.Client().CoreV1().Secrets(stowage.SecondScheduler)
	_, err := secrets.Patch(ctx, stowage.ClientSecret, types.MergePatchType, []byte(`{"data":null}`), meta.PatchOptions{})
	must(t, err)
	must(t, f.Stowage.Stop(process.Patience))
	must(t, f.Stowage.Restart())
	must(t, f.Stowage.Ready(ctx))
	must(t, f.Wait(ctx, "the Secret", func(ctx context.Context) error {
		secret, err := secrets.Get(ctx, stowage.ClientSecret, meta.GetOptions{})
		if err == nil && (len(secret.Data["ca.crt"]) == 0 || len(secret.Data["tls.crt"]) == 0 || len(secret.Data["tls.key"]) == 0) {
			err = fmt.Errorf("it has %d keys", len(secret.Data))
		}
		return err
	}))
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
