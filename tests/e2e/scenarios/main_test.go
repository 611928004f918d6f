package scenarios

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"stowage.dev/tests/e2e/permissions"
	"stowage.dev/tests/e2e/stowage"
)

// untraced are permissions that are used without a request of which an audit log could tell.
var untraced = map[string]string{
	"ClusterRole stowage: update nodepools.karpenter.sh/finalizers": "the API server's plugin " +
		"OwnerReferencesPermissionEnforcement asks for it when a NodeClaim is created",
	"ClusterRole stowage: update nodeclaims.karpenter.sh/finalizers": "and for this one when a Node is",
}

// All tests are over when what is granted is compared with what was used.
func TestMain(m *testing.M) {
	status := m.Run()
	used, err := stowage.Used()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(permissions.Report(os.Stdout, status, permissions.Whole(flag.CommandLine), used, untraced))
}
