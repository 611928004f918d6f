// Package contract asks a real API server what the in-memory cluster is asked by tests/sim.
package contract

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/process"
)

// TestContract runs the program that STOWAGE_CONTRACT names: tests/contract/contract_real.c.
func TestContract(t *testing.T) {
	program := os.Getenv("STOWAGE_CONTRACT")
	if program == "" {
		t.Fatal("STOWAGE_CONTRACT must name the program contract_real")
	}
	ctx := t.Context()
	plane := controlplane.ForTest(t, controlplane.Options{})
	_, source, _, _ := runtime.Caller(0)
	crds := filepath.Join(filepath.Dir(source), "..", "..", "..", "manifests", "crds")
	for _, args := range [][]string{
		{"apply", "--server-side", "-f", crds},
		{"wait", "--for=condition=Established", "--timeout=" + process.Patience.String(), "-f", crds},
	} {
		if _, err := plane.Kubectl(ctx, "", args...); err != nil {
			t.Fatal(err)
		}
	}
	if err := plane.Namespace(ctx, "contract"); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(ctx, program, plane.Kubeconfig(), "contract").CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatalf("contract_real: %v", err)
	}
}
