package scenarios

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What README.md has a person ask kubectl for.
const plannedKinds = "pods,nodes,nodepools,nodeclaims,daemonsets,pvc,pv,storageclasses,csinodes,pdb,namespaces,services," +
	"replicasets,statefulsets,replicationcontrollers,volumeattachments"

// planOf runs `stowage plan -o json`, as of a fixed time; exit statuses are 0 and 2 here.
func (f *fleet) planOf(ctx context.Context, args ...string) (string, string, int) {
	command := exec.CommandContext(ctx, f.Options.Binary, append([]string{"plan", "-o=json", "--now=2030-01-01T00:00:00Z"}, args...)...)
	command.Env = f.Environment()
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	_ = command.Run() // its status tells
	return out.String(), errs.String(), command.ProcessState.ExitCode()
}

// planned are the pods with this prefix that an answer has places for.
func planned(t *testing.T, answer, prefix string) int {
	var plan struct {
		NodeClaims, ExistingNodes []struct{ Pods []string }
	}
	must(t, json.Unmarshal([]byte(answer), &plan))
	count := 0
	for _, node := range append(plan.NodeClaims, plan.ExistingNodes...) {
		for _, pod := range node.Pods {
			if strings.HasPrefix(pod, prefix) {
				count++
			}
		}
	}
	return count
}

const chart = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: more}
spec:
  replicas: 4
  selector: {matchLabels: {app: more}}
  template:
    metadata: {labels: {app: more}}
    spec: {containers: [{name: c, image: more, resources: {requests: {cpu: 100m}}}]}
`

// The plan of a cluster is that of its objects as kubectl prints them; a manifest is planned on top of it. Of 3 pods web.
func (f *fleet) plansTheCluster(t *testing.T, ctx context.Context) {
	nodes, err := f.Client().CoreV1().Nodes().List(ctx, meta.ListOptions{})
	must(t, err)
	objects, err := f.Kubectl(ctx, "", "get", plannedKinds, "-A", "-o", "yaml")
	must(t, err)
	dump, extra := filepath.Join(f.Dir(), "objects.yaml"), filepath.Join(f.Dir(), "chart.yaml")
	must(t, os.WriteFile(dump, []byte(objects), 0o600))
	must(t, os.WriteFile(extra, []byte(chart), 0o600))
	own := "--kubeconfig=" + f.Kubeconfig()
	gone := "--remove=" + nodes.Items[0].Name

	fromFiles, told, status := f.planOf(ctx, "-f", dump, gone)
	fromCluster, toldToo, statusToo := f.planOf(ctx, own, gone)
	if status != 0 || statusToo != 0 || fromFiles != fromCluster || planned(t, fromFiles, "default/web-") == 0 {
		t.Fatalf("of its objects: %d %s%s\nof the cluster: %d %s%s", status, fromFiles, told, statusToo, fromCluster, toldToo)
	}
	for _, row := range []struct {
		args   []string
		prefix string
		want   int
	}{
		{[]string{own, "--with-cluster", "-f", extra}, "default/more-", 4},
		{[]string{own, "--replicas=web=5"}, "default/web-", 2},
		{[]string{own, "--replicas=default/web=3"}, "default/web-", 0},
	} {
		answer, told, status := f.planOf(ctx, row.args...)
		if status != 0 || planned(t, answer, row.prefix) != row.want {
			t.Fatalf("%v: %d %s%s; want %d", row.args, status, answer, told, row.want)
		}
	}
}
