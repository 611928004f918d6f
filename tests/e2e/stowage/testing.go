package stowage

import (
	"context"
	"os"
	"sync"
	"testing"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/manifests"
	"stowage.dev/tests/e2e/permissions"
)

// Used is what the clusters of ForTest that have ended used of what this checkout's manifests grant.
var Used = sync.OnceValues(func() (*permissions.Tally, error) { return permissions.Shipped(manifests.Folder()) })

// ForTest brings up a cluster for one test and ends it with the test. The program is the one that
// STOWAGE_BINARY names, the manifests are those of this checkout, unless the options say otherwise.
// At its end the test fails if Stowage was refused any request for want of a permission, or a node
// holds pods that ask for more than it has.
func ForTest(t *testing.T, options ClusterOptions) *Cluster {
	t.Helper()
	if options.Stowage.Binary == "" {
		options.Stowage.Binary = os.Getenv("STOWAGE_BINARY")
	}
	if options.Stowage.Binary == "" {
		t.Fatal("STOWAGE_BINARY must name the stowage program")
	}
	if options.Manifests == "" {
		options.Manifests = manifests.Folder()
	}
	if options.Say == nil {
		options.Say = t.Logf
	}
	cluster, err := Up(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	cluster.EndWith(t)
	if cluster.Service != nil {
		t.Cleanup(cluster.Service.Close)
	}
	t.Cleanup(func() { cluster.verify(t) })
	return cluster
}

// verify checks what must hold at the end of every test, whatever the test was about.
func (c *Cluster) verify(t *testing.T) {
	t.Helper()
	forbidden, err := c.Forbidden()
	if err != nil {
		t.Error(err)
	}
	for _, request := range forbidden {
		t.Errorf("not permitted by the RBAC of manifests/: %v", request)
	}
	if err := c.tally(); err != nil {
		t.Error(err)
	}
	// The test's own context has ended by now.
	if err := c.Overfull(context.Background()); err != nil {
		t.Error(err)
	}
}

// checkAgent is who asks when `stowage check` does. It looks with the eyes of any account; that it may use what
// Stowage's own is granted is no reason to grant it.
const checkAgent = "stowage-check"

// tally counts what was used of what the manifests grant.
func (c *Cluster) tally() error {
	used, err := Used()
	if err != nil {
		return err
	}
	return c.EachRequest(func(r controlplane.Request) {
		if r.UserAgent != checkAgent {
			used.Add(r)
		}
	})
}
