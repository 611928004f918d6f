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
	"testing"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"stowage.dev/tests/e2e/stowage"
)

// finding is one of those that `stowage check -o json` lists.
type finding struct{ Check, Level, Message, Fix string }

// check runs `stowage check` and returns what it found and its exit status.
func (f *fleet) check(ctx context.Context, args ...string) ([]finding, int, error) {
	args = append([]string{"check", "-o=json", "--server=http://" + f.Stowage.Page}, args...)
	command := exec.CommandContext(ctx, f.Options.Binary, args...)
	command.Env = f.Environment()
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() == 2) {
		return nil, 2, fmt.Errorf("%v: %w: %s", command, err, errs.String())
	}
	var found struct{ Checks []finding }
	err = json.Unmarshal(out.Bytes(), &found)
	return found.Checks, command.ProcessState.ExitCode(), err
}

// judged is a check that exactly these findings are not ok, as "level check".
func judged(found []finding, status, wantStatus int, want ...string) error {
	var got []string
	for _, one := range found {
		if one.Level != "ok" {
			got = append(got, one.Level+" "+one.Check)
		}
	}
	if status != wantStatus || !slices.Equal(got, want) {
		return fmt.Errorf("exit status %d and not ok %q; want %d and %q, of %v", status, got, wantStatus, want, found)
	}
	return nil
}

// What `stowage check` says of a cluster that is wired as it ships, as Stowage's own account under the RBAC
// that ships: all is well. Each thing that is taken away is told, and nothing else.
func TestCheck(t *testing.T) {
	t.Parallel()
	f := upWith(t, stowage.ClusterOptions{})
	own, err := f.ServiceAccountKubeconfig(t.Context(), f.Account)
	must(t, err)
	// The file in use differs from the one that ships only in addresses.
	args := []string{"--kubeconfig=" + own, "--namespace=" + f.Account.Namespace,
		"--scheduler-config=" + filepath.Join(f.Dir(), "kube-scheduler.yaml")}
	f.step(t, "all is well", func(t *testing.T, ctx context.Context) {
		must(t, f.createPools(ctx, pool{name: "general", arch: "amd64"}))
		must(t, f.deploy(ctx, shape{name: "web", cpu: "500m", memory: "512Mi"}, 3))
		must(t, f.Wait(ctx, "pods to run", f.running(3, "web")))
		// Only who may see all Deployments can tell of a descheduler, and Stowage may not.
		must(t, f.Wait(ctx, "nothing to mend", func(ctx context.Context) error {
			found, status, err := f.check(ctx, args...)
			return errors.Join(err, judged(found, status, 0, "unknown deschedulers"))
		}))
	})
	f.step(t, "the cluster is planned as its objects are", f.plansTheCluster)
	f.step(t, "an old copy of the scheduler's files is told", func(t *testing.T, ctx context.Context) {
		held := filepath.Join(f.Dir(), stowage.ClientSecret, "ca.crt") // read once, so that the scheduler goes on
		both, err := os.ReadFile(held)
		must(t, err)
		defer func() { must(t, os.WriteFile(held, both, 0o600)) }()
		end := []byte("-----END CERTIFICATE-----\n")
		first := both[:bytes.Index(both, end)+len(end)]
		for _, row := range []struct {
			text []byte
			want string
			code int
		}{{first, "warn scheduler-copy", 0}, {both[len(first):], "fail scheduler-copy", 1}} {
			must(t, os.WriteFile(held, row.text, 0o600))
			found, status, err := f.check(ctx, args...)
			must(t, err)
			must(t, judged(found, status, row.code, row.want, "unknown deschedulers"))
		}
	})
	f.step(t, "an administrator sees the rest", func(t *testing.T, ctx context.Context) {
		found, status, err := f.check(ctx, "--kubeconfig="+f.Kubeconfig(),
			"--account="+f.Account.Namespace+"/"+f.Account.Name)
		must(t, err)
		must(t, judged(found, status, 0))
	})
	f.step(t, "another autoscaler is told of", func(t *testing.T, ctx context.Context) {
		other, err := f.startRival(ctx)
		must(t, err)
		defer other.stop()
		found, status, err := f.check(ctx, args...)
		must(t, err)
		must(t, judged(found, status, 1, "fail rivals", "unknown deschedulers"))
		_, err = other.dies()
		must(t, err)
		must(t, other.leases.Delete(ctx, rivalName, meta.DeleteOptions{}))
	})
	f.step(t, "permissions that an account lacks are told", func(t *testing.T, ctx context.Context) {
		found, status, err := f.check(ctx, "--kubeconfig="+f.Kubeconfig(), "--account=default/default")
		must(t, err)
		must(t, judged(found, status, 1, "fail permissions", "fail permissions")) // of manifests/rbac.yaml, of manifests/kwok
	})
	// What these ask and serve `stowage check` would tell of.
	f.step(t, "who shows another certificate of Stowage's own CA does not get in", f.turnsAway)
	f.step(t, "a certificate that ends soon is told by an Event", f.tellsOfTheEnd)
}
