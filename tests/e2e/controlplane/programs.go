package controlplane

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Programs returns the directory of etcd, kube-apiserver, and the rest: what STOWAGE_CONTROLPLANE
// names, else what tests/e2e/build-controlplane makes, which takes minutes the first time.
func Programs() (string, error) {
	if dir := os.Getenv("STOWAGE_CONTROLPLANE"); dir != "" {
		return dir, nil
	}
	_, source, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(source) {
		return "", fmt.Errorf("STOWAGE_CONTROLPLANE is not set; " +
			"it is the directory that tests/e2e/build-controlplane prints")
	}
	var out bytes.Buffer
	build := exec.Command(filepath.Join(filepath.Dir(source), "..", "build-controlplane"))
	build.Stdout = &out
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("build-controlplane: %w\n%s", err, out.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	return lines[len(lines)-1], nil
}
