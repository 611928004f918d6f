package permissions

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/manifests"
)

const bound = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: pilot}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: pilot}
subjects: [{kind: ServiceAccount, name: pilot, namespace: port}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: pilot, namespace: port}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: pilot}
subjects: [{kind: ServiceAccount, name: pilot, namespace: port}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: scheduler}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:kube-scheduler}
subjects: [{kind: ServiceAccount, name: pilot, namespace: port}]
`

// roles are manifests with these rules for the account pilot, everywhere and in namespace port.
func roles(everywhere, local string) string {
	return bound + `---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: pilot}
rules: [` + everywhere + `]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: pilot, namespace: port}
rules: [` + local + `]
`
}

func grants(t *testing.T, text string) ([]Grant, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rbac.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := manifests.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return Grants(set)
}

// event is a line of an audit log: a request of the account pilot that was allowed.
func event(verb, uri, object string) string {
	return fmt.Sprintf(`{"stage":"ResponseComplete","verb":%q,"requestURI":%q,`+
		`"user":{"username":"system:serviceaccount:port:pilot"},%s"responseStatus":{"code":200},`+
		`"annotations":{"authorization.k8s.io/decision":"allow"}}`, verb, uri, object) + "\n"
}

func about(group, resource, sub, namespace, name string) string {
	return fmt.Sprintf(`"objectRef":{"apiGroup":%q,"resource":%q,"subresource":%q,"namespace":%q,"name":%q},`,
		group, resource, sub, namespace, name)
}

const (
	listPods    = "ClusterRole pilot: list pods: nobody used it"
	patchStatus = "ClusterRole pilot: patch ships.example.com/status: nobody used it"
	getSecret   = `Role port/pilot: get secrets "certs": nobody used it`
	getVersion  = "ClusterRole pilot: get /version: nobody used it"
)

func TestWhatNobodyUsedIsFound(t *testing.T) {
	all := []string{listPods, patchStatus, getSecret, getVersion}
	but := func(used ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(line string) bool { return slices.Contains(used, line) })
	}
	pods := event("list", "/api/v1/pods", about("", "pods", "", "", ""))
	for _, row := range []struct {
		label, log string
		want       []string
	}{
		{"nothing was asked", "", all},
		{"all of it", pods +
			event("patch", "/apis/example.com/v1/ships/s/status", about("example.com", "ships", "status", "", "s")) +
			event("get", "/api/v1/namespaces/port/secrets/certs", about("", "secrets", "", "port", "certs")) +
			event("get", "/version?timeout=1s", ""), nil},
		{"in a namespace", event("list", "/api/v1/namespaces/a/pods", about("", "pods", "", "a", "")), but(listPods)},
		{"another verb", event("watch", "/api/v1/pods", about("", "pods", "", "", "")), all},
		{"another group", event("list", "/apis/example.com/v1/pods", about("example.com", "pods", "", "", "")), all},
		{"the object, not its status", event("patch", "/apis/example.com/v1/ships/s", about("example.com", "ships", "", "", "s")), all},
		{"another name", event("get", "/api/v1/namespaces/port/secrets/x", about("", "secrets", "", "port", "x")), all},
		{"another namespace", event("get", "/api/v1/namespaces/a/secrets/certs", about("", "secrets", "", "a", "certs")), all},
		{"another path", event("get", "/healthz", ""), all},
		{"another user", strings.Replace(pods, "port:pilot", "port:other", 1), all},
		{"refused", strings.Replace(pods, `"allow"`, `"forbid"`, 1), all},
		{"still being written", strings.TrimSuffix(pods, "\n"), all},
	} {
		found, err := grants(t, roles(
			`{apiGroups: [''], resources: [pods], verbs: [list]},
			 {apiGroups: [example.com], resources: [ships/status], verbs: [patch]},
			 {nonResourceURLs: [/version], verbs: [get]}`,
			`{apiGroups: [''], resources: [secrets], resourceNames: [certs], verbs: [get]}`))
		if err != nil {
			t.Fatal(err)
		}
		tally := NewTally(found)
		if err := controlplane.ReadAudit(strings.NewReader(row.log), tally.Add); err != nil {
			t.Fatal(err)
		}
		got, want := tally.Wrong(nil), slices.Clone(row.want)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s", row.label, strings.Join(got, "\n"))
		}
	}
}

func TestEachVerbResourceAndNameIsAGrant(t *testing.T) {
	found, err := grants(t, roles(
		`{apiGroups: ['', a.b], resources: [v, w], verbs: [get, list]},
		 {apiGroups: [''], resources: [z], resourceNames: [p, q], verbs: [patch]}`, ""))
	var got []string
	for _, g := range found {
		got = append(got, strings.TrimPrefix(g.String(), "ClusterRole pilot: "))
	}
	const want = `get v, get w, get v.a.b, get w.a.b, list v, list w, list v.a.b, list w.a.b, patch z "p", patch z "q"`
	if err != nil || strings.Join(got, ", ") != want {
		t.Errorf("%v: got %s", err, strings.Join(got, ", "))
	}
}

func TestGrantsRefuses(t *testing.T) {
	const fine = `{apiGroups: [''], resources: [pods], verbs: [list]}`
	for _, row := range []struct{ label, text, want string }{
		{"any verb", roles(`{apiGroups: [''], resources: [pods], verbs: ['*']}`, ""), `"*" is more`},
		{"any group", roles(`{apiGroups: ['*'], resources: [pods], verbs: [list]}`, ""), `"*" is more`},
		{"any resource", roles("", `{apiGroups: [''], resources: ['*'], verbs: [list]}`), `Role port/pilot: rules[0]: "*" is more`},
		{"any subresource", roles(fine+`, {apiGroups: [''], resources: ['pods/*'], verbs: [list]}`, ""), `rules[1]: "pods/*" is more`},
		{"any path", roles(`{nonResourceURLs: [/metrics/*], verbs: [get]}`, ""), `"/metrics/*" is more`},
		{"nothing", roles(`{apiGroups: [''], verbs: [get]}`, ""), "grants nothing"},
		{"a role that nobody has", roles(fine, "") + strings.Replace(`---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: idle, namespace: port}
rules: [RULE]
`, "RULE", fine, 1), "Role port/idle: nobody has it"},
		{"a group of users", strings.Replace(roles(fine, ""), "{kind: ServiceAccount, name: pilot, namespace: port}",
			"{kind: Group, name: all, apiGroup: rbac.authorization.k8s.io}", 1), "a subject is a Group"},
		{"an aggregate", roles(fine, "") + `---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: sum}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}
`, "ClusterRole sum: what it aggregates"},
	} {
		if _, err := grants(t, row.text); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %q", row.label, err, row.want)
		}
	}
}

func TestWhatIsGrantedTwiceIsFound(t *testing.T) {
	found, err := grants(t, roles(
		`{apiGroups: [''], resources: [pods], verbs: [list]}, {apiGroups: [''], resources: [pods], verbs: [list]}`,
		`{apiGroups: [''], resources: [pods], resourceNames: [p], verbs: [list]}`))
	if err != nil {
		t.Fatal(err)
	}
	tally := NewTally(found)
	tally.Add(controlplane.Request{User: "system:serviceaccount:port:pilot", Verb: "list", Resource: "pods",
		Namespace: "port", Name: "p", Allowed: true})
	got := tally.Wrong(nil)
	const twice = "ClusterRole pilot: list pods: needless beside ClusterRole pilot: list pods"
	const narrower = `Role port/pilot: list pods "p": needless beside ClusterRole pilot: list pods`
	if !slices.Equal(got, []string{twice, narrower, narrower}) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func TestWhatAnOptionGrantsReplacesNothingOutsideIt(t *testing.T) {
	const narrow, wide = `Role port/pilot: list pods "p"`, "ClusterRole pilot: list pods"
	for _, row := range []struct {
		label, narrow, wide string // the options that grant them
		want                string
	}{
		{"the wide one is an option", "", "x", ""},
		{"each is one", "y", "x", ""},
		{"both are of one", "x", "x", narrow + ": needless beside " + wide},
		{"the narrow one is an option", "x", "", narrow + ": needless beside " + wide},
	} {
		found, err := grants(t, roles(`{apiGroups: [''], resources: [pods], verbs: [list]}`,
			`{apiGroups: [''], resources: [pods], resourceNames: [p], verbs: [list]}`))
		if err != nil {
			t.Fatal(err)
		}
		for i := range found {
			found[i].Option = row.wide
			if found[i].Name != "" {
				found[i].Option = row.narrow
			}
		}
		tally := NewTally(found)
		tally.Add(controlplane.Request{User: "system:serviceaccount:port:pilot", Verb: "list", Resource: "pods",
			Namespace: "port", Name: "p", Allowed: true})
		if got := strings.Join(tally.Wrong(nil), "\n"); got != row.want {
			t.Errorf("%s: got %q", row.label, got)
		}
	}
}

func tallyOf(t *testing.T, uses ...string) *Tally {
	t.Helper()
	found, err := grants(t, roles(`{apiGroups: [''], resources: [pods, nodes], verbs: [list]}`, ""))
	if err != nil {
		t.Fatal(err)
	}
	tally := NewTally(found)
	for _, resource := range uses {
		tally.Add(controlplane.Request{User: "system:serviceaccount:port:pilot", Verb: "list", Resource: resource,
			Allowed: true})
	}
	return tally
}

func TestExcusesMustBeNeeded(t *testing.T) {
	const excuse = "ClusterRole pilot: list nodes"
	for _, row := range []struct {
		label  string
		excuse string
		uses   []string
		want   string
	}{
		{"needed", excuse, []string{"pods"}, ""},
		{"not needed", excuse, []string{"pods", "nodes", "nodes"}, excuse + ": excused, but used 2 times"},
		{"of what is not granted", "ClusterRole pilot: list x", []string{"pods", "nodes"},
			"ClusterRole pilot: list x: excused, but nobody grants it"},
	} {
		got := tallyOf(t, row.uses...).Wrong(map[string]string{row.excuse: "a reason"})
		if strings.Join(got, "\n") != row.want {
			t.Errorf("%s: got %q", row.label, got)
		}
	}
}

func TestReport(t *testing.T) {
	for _, row := range []struct {
		label   string
		status  int
		partial error
		uses    []string
		want    int
		says    string
	}{
		{"all was used", 0, nil, []string{"pods", "nodes"}, 0, "of 2 that the manifests grant each was used"},
		{"one was not", 0, nil, []string{"pods"}, 1, "ClusterRole pilot: list nodes: nobody used it"},
		{"a run of some", 0, errors.New("-test.run=X chose"), nil, 0, "not compared with what was used: -test.run=X chose"},
		{"a run that failed", 3, nil, []string{"pods", "nodes"}, 3, "not compared with what was used: tests failed"},
	} {
		var out bytes.Buffer
		got := Report(&out, row.status, row.partial, tallyOf(t, row.uses...), nil)
		if got != row.want || !strings.HasPrefix(out.String(), "permissions: "+row.says) {
			t.Errorf("%s: status %d, says %q", row.label, got, out.String())
		}
	}
}

func TestWhole(t *testing.T) {
	for _, row := range []struct {
		args []string
		want string // "" for a whole run
	}{
		{nil, ""},
		{[]string{"-test.v"}, ""},
		{[]string{"-test.run=Life"}, "-test.run=Life chose"},
		{[]string{"-test.skip=Crash"}, "-test.skip=Crash chose"},
		{[]string{"-test.list=."}, "-test.list=. chose"},
	} {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		flags.Bool("test.v", false, "")
		for _, name := range []string{"run", "skip", "list"} {
			flags.String("test."+name, "", "")
		}
		if err := flags.Parse(row.args); err != nil {
			t.Fatal(err)
		}
		err := Whole(flags)
		if (err == nil) != (row.want == "") || err != nil && !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("%v: %v", row.args, err)
		}
	}
}

// The names of the flags are those of `go test`.
func TestFlagsAreThere(t *testing.T) {
	for _, name := range choosing {
		if flag.Lookup(name) == nil {
			t.Errorf("there is no -%s", name)
		}
	}
}

func TestWhatShipsIsRead(t *testing.T) {
	tally, err := Shipped(manifests.Folder())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range tally.grants {
		got = append(got, g.String())
	}
	for _, want := range []string{ // one of each folder
		"ClusterRole stowage: create pods/eviction",
		`Role stowage-system/stowage: get secrets "stowage-certs"`,
		"ClusterRole stowage-provider-kwok: create nodes",
		"ClusterRole stowage-groups: list jobs.batch",
		"ClusterRole stowage-groups-clusterapi: patch machinesets.cluster.x-k8s.io/scale",
		"ClusterRole stowage-provider-clusterapi: patch machinedeployments.cluster.x-k8s.io/scale",
		"ClusterRole stowage: patch pods/status",
		`Role stowage-scheduler/stowage-scheduler: update leases.coordination.k8s.io "stowage-scheduler"`,
		`ClusterRole stowage-shaping: patch mutatingwebhookconfigurations.admissionregistration.k8s.io "stowage-shaping"`,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not among\n%s", want, strings.Join(got, "\n"))
		}
	}
}
