// Package clusterapi has Cluster API in a control plane: its CustomResourceDefinitions as its Go module carries them, and a
// stand-in for its controllers and the cloud below them.
package clusterapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"k8s.io/client-go/rest"

	"stowage.dev/tests/e2e/manifests"
)

const module = "sigs.k8s.io/cluster-api"

// Define makes the kinds that scale known to an API server. They come from the module cache, in the version of
// definitions/go.mod: a module of its own, so that the programs of the control plane are not built anew for it.
func Define(ctx context.Context, config *rest.Config) error {
	source, err := sources(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "definitions-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, plural := range []string{"machinedeployments", "machinesets", "machinepools", "machines"} {
		name := group + "_" + plural + ".yaml"
		text, err := os.ReadFile(filepath.Join(source, "core", "config", "crd", "bases", name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	set, err := manifests.Load(dir)
	if err != nil {
		return err
	}
	return set.Apply(ctx, config)
}

// sources is where the go command has put Cluster API's.
func sources(ctx context.Context) (string, error) {
	_, here, _, _ := runtime.Caller(0)
	command := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	command.Dir = filepath.Join(filepath.Dir(here), "definitions")
	out, err := command.Output()
	var found struct{ Dir, Error string }
	if wrong := json.Unmarshal(out, &found); wrong == nil && found.Error != "" {
		err = errors.New(found.Error)
	} else if err == nil {
		err = wrong
	}
	if err != nil {
		return "", fmt.Errorf("go mod download %s: %w", module, err)
	}
	return found.Dir, nil
}
