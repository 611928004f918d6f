package scenarios

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"stowage.dev/tests/e2e/clusterapi"
	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/proxy"
	"stowage.dev/tests/e2e/stowage"
)

// TestManagementCluster has the machines in another cluster than the Nodes, as far as Stowage can see: the API server is
// reached under a second kubeconfig, as an account that may do nothing else, through a proxy that can cut it off.
func TestManagementCluster(t *testing.T) {
	t.Parallel()
	f := capiFleet{fleet: upWith(t, stowage.ClusterOptions{Groups: true, ClusterAPI: true})}
	ctx := t.Context()
	must(t, f.Namespace(ctx, machinesIn))
	var err error
	f.Controllers, err = clusterapi.Start(f.Config(), machinesIn)
	must(t, err)
	t.Cleanup(f.Controllers.End)
	must(t, f.Add(ctx, capiGroup("MachineDeployment", "small-a", zoneA, "4", 6)))
	must(t, f.createPools(ctx, pool{name: "general", arch: "amd64", cpu: []string{"4"}}))

	far := f.far(t, ctx)
	f.Options.Args = append(slices.Clone(f.Options.Args),
		"--cloud-provider=clusterapi", "--cloud-config="+f.keeperOfMachines(t, ctx, far.URL()), "--scan-interval=2s",
		"--scale-down-unneeded-time=8s", "--scale-down-delay-after-add=4s", "--node-delete-delay-after-taint=1s")
	f.Stowage.Kill()
	f.Stowage, err = f.Launch(ctx, f.Options)
	must(t, err)
	must(t, f.Stowage.Ready(ctx))

	f.capiStep(t, "groups grow and shrink", f.keepsElsewhere)
	f.capiStep(t, "while it is away NodePools go on, groups wait, and somebody says so", func(t *testing.T, ctx context.Context) {
		f.livesAlone(t, ctx, far)
	})
	must(t, f.askedElsewhere())
}

const farAccount = "machines"

// far is the way to the management cluster.
func (f capiFleet) far(t *testing.T, ctx context.Context) *proxy.Proxy {
	t.Helper()
	port, err := f.Port()
	must(t, err)
	certificate, err := f.ServerCertificate()
	must(t, err)
	p, err := proxy.Start(fmt.Sprintf("127.0.0.1:%d", port), certificate, f.Config())
	must(t, err)
	t.Cleanup(p.Close)
	return p
}

// keeperOfMachines is the kubeconfig of an account that has the role for Cluster API, and no other.
func (f capiFleet) keeperOfMachines(t *testing.T, ctx context.Context, server string) string {
	t.Helper()
	_, err := f.Client().CoreV1().ServiceAccounts(machinesIn).
		Create(ctx, &core.ServiceAccount{ObjectMeta: meta.ObjectMeta{Name: farAccount}}, meta.CreateOptions{})
	must(t, err)
	_, err = f.Client().RbacV1().ClusterRoleBindings().Create(ctx, &rbac.ClusterRoleBinding{
		ObjectMeta: meta.ObjectMeta{Name: farAccount},
		RoleRef:    rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "ClusterRole", Name: "stowage-groups-clusterapi"},
		Subjects:   []rbac.Subject{{Kind: rbac.ServiceAccountKind, Name: farAccount, Namespace: machinesIn}},
	}, meta.CreateOptions{})
	must(t, err)
	path, err := f.ServiceAccountKubeconfig(ctx,
		controlplane.ServiceAccount{Namespace: machinesIn, Name: farAccount, Server: server})
	must(t, err)
	return path
}

var onGroup = map[string]string{"group": "small-a"}

func (f capiFleet) keepsElsewhere(t *testing.T, ctx context.Context) {
	must(t, f.deploy(ctx, shape{name: "web", cpu: "1500m", memory: "1Gi", on: onGroup}, 4))
	must(t, f.Wait(ctx, "pods to run", f.running(4, "web")))
	must(t, f.sizesAre(map[string]int{"small-a": 2})(ctx))
	must(t, f.scale(ctx, "web", 2))
	must(t, f.Wait(ctx, "a node to go", f.groupsAre(map[string]int{"small-a": 1})))
	must(t, f.Wait(ctx, "pods to run", f.running(2, "web")))
}

// livesAlone cuts the management cluster off.
func (f capiFleet) livesAlone(t *testing.T, ctx context.Context, far *proxy.Proxy) {
	far.Guard(func(*http.Request) int { return http.StatusServiceUnavailable })
	must(t, f.Wait(ctx, "somebody to say so", f.logSays("nothing is decided about node groups: the management cluster")))
	must(t, f.scale(ctx, "web", 4))
	must(t, f.deploy(ctx, shape{name: "pooled", cpu: "3", memory: "1Gi", on: map[string]string{poolLabel: "general"}}, 2))
	must(t, f.Wait(ctx, "pods of the pool to run", f.running(2, "pooled")))
	must(t, f.Wait(ctx, "pods of the group to wait", f.waiting(2, "web")))
	far.Guard(nil)
	must(t, f.Wait(ctx, "pods to run", f.running(4, "web")))
	must(t, f.sizesAre(map[string]int{"small-a": 2})(ctx))
}

func (f capiFleet) logSays(text string) func(context.Context) error {
	return func(context.Context) error {
		log, err := os.ReadFile(f.Stowage.Log())
		if err == nil && !strings.Contains(string(log), text) {
			err = fmt.Errorf("the log does not say %q", text)
		}
		return err
	}
}

// askedElsewhere tells what was asked about machines by who keeps the workload cluster, or about that by the other.
func (f capiFleet) askedElsewhere() error {
	var wrong []string
	count := 0
	err := f.EachRequest(func(r controlplane.Request) {
		isFar := r.User == "system:serviceaccount:"+machinesIn+":"+farAccount
		isMachines := r.Group == clusterapi.Name
		if isFar != isMachines {
			wrong = append(wrong, r.String())
		}
		if isFar {
			count++
		}
	})
	if err == nil && (len(wrong) > 0 || count == 0) {
		err = fmt.Errorf("%d requests for machines; and at the wrong cluster: %v", count, wrong)
	}
	return err
}
