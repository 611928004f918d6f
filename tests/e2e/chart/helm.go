// Package chart asks the real helm what it makes of manifests/chart, which must be the objects of the plain manifests.
package chart

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"stowage.dev/tests/e2e/manifests"
)

// Folder is the chart of this checkout.
func Folder() string { return filepath.Join(manifests.Folder(), "chart") }

// program is helm, which tests/helm/build makes; it takes minutes the first time.
var program = sync.OnceValues(func() (string, error) {
	var out bytes.Buffer
	build := exec.Command(filepath.Join(manifests.Folder(), "..", "tests", "helm", "build"))
	build.Stdout, build.Stderr = &out, os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("tests/helm/build: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	return filepath.Join(lines[len(lines)-1], "helm"), nil
})

// Helm runs helm with a home of its own.
type Helm struct {
	Home       string // a directory; what helm keeps goes there
	Kubeconfig string // "": of no cluster
}

// What helm says of each link in the chart before it follows it.
var links = regexp.MustCompile(`(?m)^.*found symbolic link in path.*\n`)

// Run returns what helm prints on standard output. An error has what it says on the other.
func (h Helm) Run(input string, args ...string) (string, error) {
	path, err := program()
	if err != nil {
		return "", err
	}
	var out, said bytes.Buffer
	helm := exec.Command(path, args...)
	helm.Dir = h.Home
	helm.Env = []string{"HOME=" + h.Home, "PATH=" + os.Getenv("PATH"), "KUBECONFIG=" + h.Kubeconfig}
	helm.Stdin, helm.Stdout, helm.Stderr = strings.NewReader(input), &out, &said
	if err := helm.Run(); err != nil {
		return out.String(), fmt.Errorf("helm %s: %w\n%s", args[0], err, links.ReplaceAllString(said.String(), ""))
	}
	return out.String(), nil
}
