package scenarios

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/manifests"
	"stowage.dev/tests/e2e/stowage"
)

const firstPool = `apiVersion: karpenter.kwok.sh/v1alpha1
kind: KWOKNodeClass
metadata: {name: default}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
`

// installation is a control plane into which Stowage is put by the commands that `stowage check --cluster` tells.
type installation struct {
	*controlplane.ControlPlane
	binary, page string
}

func (i *installation) check(ctx context.Context, kubeconfig string) ([]finding, int, error) {
	command := exec.CommandContext(ctx, i.binary, "check", "--cluster", "-o=json", "--kubeconfig="+kubeconfig, "--server=http://"+i.page)
	command.Env = i.Environment()
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return nil, 2, fmt.Errorf("%v: %w: %s", command, err, errs.String())
	}
	var found struct{ Checks []finding }
	err = json.Unmarshal(out.Bytes(), &found)
	return found.Checks, command.ProcessState.ExitCode(), err
}

// told is which checks are of a level, each once, in their order.
func told(found []finding, level string) []string {
	var checks []string
	for _, one := range found {
		if one.Level == level && !slices.Contains(checks, one.Check) {
			checks = append(checks, one.Check)
		}
	}
	return checks
}

// kubectl runs a command as it is told, where manifests/ is.
func (i *installation) kubectl(ctx context.Context, line string) error {
	args := strings.Fields(line)[1:]
	for k := range args {
		if strings.HasPrefix(args[k], "manifests/") {
			args[k] = filepath.Join(filepath.Dir(manifests.Folder()), args[k])
		}
		args[k] = strings.Replace(args[k], "YOUR-IMAGE", "registry.example/stowage:1", 1)
	}
	_, err := i.Kubectl(ctx, "", args...)
	return err
}

// follows does what is told of the first check that fails, over and over, until one fails of which the answer is no
// command, or one that has been run.
func (i *installation) follows(ctx context.Context) ([]string, error) {
	var done []string
	for {
		found, _, err := i.check(ctx, i.Kubeconfig())
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(found, func(one finding) bool {
			return one.Level == "fail" && strings.HasPrefix(one.Fix, "kubectl ") && !strings.Contains(one.Fix, "FILE") &&
				!slices.Contains(done, one.Fix)
		})
		if at < 0 {
			return done, nil
		}
		if !strings.Contains(found[at].Fix, " logs ") {
			if err := i.kubectl(ctx, found[at].Fix); err != nil {
				return nil, err
			}
		}
		done = append(done, found[at].Fix)
	}
}

// startPods has the Deployment's Pods be ready, as a kubelet would say.
func (i *installation) startPods(namespace string, count int) func(context.Context) error {
	return func(ctx context.Context) error {
		pods := i.Client().CoreV1().Pods(namespace)
		list, err := pods.List(ctx, meta.ListOptions{})
		if err != nil {
			return err
		}
		for _, pod := range list.Items {
			if pod.Spec.Containers[0].Image != "registry.example/stowage:1" || pod.Status.Phase == core.PodRunning {
				continue
			}
			pod.Status.Phase = core.PodRunning
			pod.Status.Conditions = []core.PodCondition{{Type: core.PodReady, Status: core.ConditionTrue}}
			if _, err := pods.UpdateStatus(ctx, &pod, meta.UpdateOptions{}); err != nil {
				return err
			}
		}
		deployment, err := i.Client().AppsV1().Deployments(namespace).Get(ctx, "stowage", meta.GetOptions{})
		if err == nil && (int(deployment.Status.ReadyReplicas) != count || int(deployment.Status.UpdatedReplicas) != count) {
			err = fmt.Errorf("%d Pods are ready", deployment.Status.ReadyReplicas)
		}
		return err
	}
}

func startInstallation(t *testing.T) (*installation, stowage.Addresses) {
	t.Helper()
	plane, err := controlplane.Start(t.Context(), controlplane.Options{})
	must(t, err)
	plane.EndWith(t)
	addresses, err := stowage.Reserve(plane)
	must(t, err)
	return &installation{plane, os.Getenv("STOWAGE_BINARY"), addresses.Page}, addresses
}

// A cluster without Stowage lacks all of it; who does what is told, line by line, has installed it; and then nothing is
// missing.
func TestInstall(t *testing.T) {
	t.Parallel()
	i, addresses := startInstallation(t)
	account := controlplane.ServiceAccount{Namespace: "stowage-system", Name: "stowage"}

	found, status, err := i.check(t.Context(), i.Kubeconfig())
	must(t, err)
	want := []string{"definitions", "namespace", "account", "permissions", "webhook", "deployment", "leader", "pools"}
	if got := told(found, "fail"); status != 1 || !slices.Equal(got, want) {
		t.Fatalf("before: exit status %d and missing %q; want %q, of %v", status, got, want, found)
	}

	done, err := i.follows(t.Context())
	must(t, err)
	t.Logf("installed by:\n%s", strings.Join(done, "\n"))
	_, err = i.Kubectl(t.Context(), firstPool, "apply", "-f", "-")
	must(t, err)
	done, err = i.follows(t.Context())
	must(t, err)
	if !slices.Contains(done, "kubectl apply -f manifests/kwok/rbac.yaml") {
		t.Errorf("with a pool of kwok is told only %q", done)
	}
	must(t, i.Wait(t.Context(), "Pods of the Deployment", i.startPods(account.Namespace, 2)))
	found, status, err = i.check(t.Context(), i.Kubeconfig())
	must(t, err)
	if got := told(found, "fail"); status != 1 || !slices.Equal(got, []string{"leader"}) {
		t.Fatalf("before it runs: exit status %d and missing %q, of %v", status, got, found)
	}

	_, err = stowage.Launch(t.Context(), i.ControlPlane, stowage.Options{Binary: i.binary, Account: account, Addresses: addresses})
	must(t, err)
	must(t, i.Wait(t.Context(), "nothing to be missing", func(ctx context.Context) error {
		found, status, err := i.check(ctx, i.Kubeconfig())
		got := append(told(found, "fail"), told(found, "unknown")...)
		// No scheduler runs here.
		if err == nil && (status != 0 || len(got) != 0 || !slices.Equal(told(found, "warn"), []string{"network-policy", "wiring"})) {
			err = fmt.Errorf("exit status %d and %q, of %v", status, got, found)
		}
		return err
	}))
	must(t, i.Wait(t.Context(), "series that there are with an API server alone", i.showsTheAPI(addresses.Metrics)))
	i.tellsWhatMayNotBeRead(t)
}

// showsTheAPI is a check of what the dashboard asks for and a server in memory has not (tests/server/test_dashboard.c).
func (i *installation) showsTheAPI(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		text, err := textOf(ctx, "http://"+address+"/metrics")
		for _, series := range []string{
			`rest_client_requests_total{code="200",method="GET"}`, "stowage_api_requests_waiting ", "stowage_api_requests_running ",
			`stowage_watches_resumed_total{kind="Pod"}`,
		} {
			if err == nil && !strings.Contains(text, "\n"+series) {
				err = fmt.Errorf("no %s", series)
			}
		}
		return err
	}
}

// What may not be read is not missing, and the command that is told allows it.
func (i *installation) tellsWhatMayNotBeRead(t *testing.T) {
	nobody, err := i.ServiceAccountKubeconfig(t.Context(), controlplane.ServiceAccount{Namespace: "default", Name: "default"})
	must(t, err)
	found, status, err := i.check(t.Context(), nobody)
	must(t, err)
	refused := func(one finding) bool {
		return one.Check == "deployment" && strings.Contains(one.Message, "Deployment ")
	}
	at := slices.IndexFunc(found, refused)
	if status != 0 || len(told(found, "fail")) != 0 || at < 0 || found[at].Level != "unknown" {
		t.Fatalf("exit status %d, of %v", status, found)
	}
	command, _, ok := strings.Cut(found[at].Fix, " allows it")
	if !ok {
		t.Fatalf("no command: %v", found[at])
	}
	must(t, i.kubectl(t.Context(), command))
	role := strings.Fields(command)[3]
	must(t, i.kubectl(t.Context(), "kubectl create clusterrolebinding "+role+" --serviceaccount=default:default --clusterrole="+role))
	must(t, i.Wait(t.Context(), "the role to be in force", func(ctx context.Context) error {
		found, _, err := i.check(ctx, nobody)
		if at := slices.IndexFunc(found, func(one finding) bool { return strings.Contains(one.Message, "Pods of Deployment") }); err == nil &&
			(at < 0 || found[at].Level != "ok") {
			err = fmt.Errorf("of %v", found)
		}
		return err
	}))
}
