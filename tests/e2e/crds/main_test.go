package crds

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"k8s.io/client-go/rest"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/process"
)

// One control plane for all tests of the package: no node, no scheduler, and of the controllers only
// the one without which none is ready.
var plane *controlplane.ControlPlane

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	ctx := context.Background()
	var err error
	plane, err = controlplane.Start(ctx, controlplane.Options{
		Controllers: []string{"serviceaccount"},
		Kwok:        controlplane.Kwok{Off: true},
	})
	if err != nil {
		return 0, err
	}
	defer plane.Stop()
	for _, args := range [][]string{
		{"apply", "--server-side", "--validate=strict", "-f", manifest("crds"), "-f", manifest("rbac.yaml")},
		{"wait", "--for=condition=Established", "--timeout=" + process.Patience.String(), "-f", manifest("crds")},
	} {
		if _, err := plane.Kubectl(ctx, "", args...); err != nil {
			return 0, err
		}
	}
	return m.Run(), nil
}

// manifest is the path of a file or folder in manifests/.
func manifest(name string) string {
	_, source, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(source), "..", "..", "..", "manifests", name)
}

func config(t *testing.T) *rest.Config {
	t.Helper()
	return plane.Config()
}
