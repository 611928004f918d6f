package controlplane

import (
	"path/filepath"
	"testing"
	"time"

	"stowage.dev/tests/e2e/process"
)

// ForTest starts a control plane for one test and ends it with the test; see EndWith.
func ForTest(t *testing.T, options Options) *ControlPlane {
	t.Helper()
	begin := time.Now()
	c, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("control plane ready after %v", time.Since(begin).Round(time.Millisecond))
	c.EndWith(t)
	return c
}

// EndWith ends the control plane when the test ends. If the test has failed then, the directory stays
// and the last lines of each log are told.
func (c *ControlPlane) EndWith(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		if !t.Failed() {
			c.Stop()
			return
		}
		c.Halt()
		logs, _ := filepath.Glob(c.path("*.log"))
		for _, log := range logs {
			if filepath.Base(log) != auditLog {
				t.Logf("%s:\n%s", log, process.Tail(log, 1500))
			}
		}
	})
}
