package scenarios

import (
	"context"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/stowage"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// patient is for tests that judge what comes of Stowage's answers: beside other control planes on the same two cores
// a Stowage under a sanitizer may take longer than the 200 ms that ship, and where a pod goes of which the scheduler
// did not wait to hear says nothing. What ships is TestLife's and TestWithoutStowage's.
var patient = controlplane.Scheduler{ExtenderTimeout: 10 * time.Second}

// up brings up a cluster for one test, with those flags for Stowage.
func up(t *testing.T, args ...string) *fleet {
	t.Helper()
	return upWith(t, stowage.ClusterOptions{Scheduler: patient, Stowage: stowage.Options{Args: args}})
}

// upAsShipped is up with the scheduler's rate that ships, too: nothing in its configuration is changed but
// addresses and paths.
func upAsShipped(t *testing.T, args ...string) *fleet {
	t.Helper()
	f, err := newFleet(stowage.ForTest(t, stowage.ClusterOptions{Stowage: stowage.Options{Args: args}}))
	must(t, err)
	return f
}

// upWith brings up a cluster for one test. No user is as quick as these tests: the scheduler may make more
// requests than it may by default.
func upWith(t *testing.T, options stowage.ClusterOptions) *fleet {
	t.Helper()
	options.Scheduler.QPS = 500
	f, err := newFleet(stowage.ForTest(t, options))
	must(t, err)
	return f
}

// step runs a part of a test that needs those before it.
func (f *fleet) step(t *testing.T, name string, do func(t *testing.T, ctx context.Context)) {
	t.Helper()
	begin := time.Now()
	ok := t.Run(name, func(t *testing.T) {
		do(t, t.Context())
		must(t, f.sound(t.Context()))
	})
	t.Logf("%s: %.1f s", name, time.Since(begin).Seconds())
	if !ok {
		t.FailNow()
	}
}

func node(name, uid string) core.Node {
	return core.Node{ObjectMeta: meta.ObjectMeta{Name: name, Annotations: map[string]string{claimUID: uid}}}
}

func TestMatch(t *testing.T) {
	good := claim{name: "a", uid: "1", node: "a", initialized: true}
	for _, row := range []struct {
		label  string
		claims []claim
		nodes  []core.Node
		want   string // "" for none
	}{
		{"nothing", nil, nil, ""},
		{"a pair", []claim{good}, []core.Node{node("a", "1")}, ""},
		{"an orphan", []claim{good}, []core.Node{node("a", "1"), node("b", "2")}, "Node b is an orphan"},
		{"launched twice", []claim{good}, []core.Node{node("a", "1"), node("b", "1")}, "Nodes a and b are of one NodeClaim"},
		{"no machine", []claim{good}, nil, "NodeClaim a has no Node"},
		{"on its way", []claim{{name: "a", uid: "1", node: "a"}}, []core.Node{node("a", "1")}, "initialized false"},
		{"leaving", []claim{{name: "a", uid: "1", node: "a", initialized: true, deleting: true}},
			[]core.Node{node("a", "1")}, "deleting true"},
		{"another's node", []claim{good}, []core.Node{node("b", "1")}, `which has node "a"`},
	} {
		err := match(row.claims, row.nodes)
		switch {
		case row.want == "" && err != nil:
			t.Errorf("%s: %v", row.label, err)
		case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)):
			t.Errorf("%s: got %v, want %q", row.label, err, row.want)
		}
	}
}

func TestLoading(t *testing.T) {
	cpu := func(text string) core.ResourceList { return core.ResourceList{"cpu": resource.MustParse(text)} }
	type bind struct{ pod, node string }
	for _, row := range []struct {
		label          string
		meant          map[string]string
		binds          []bind
		strayed, wrong int
		equal          bool // the pods are of one template
	}{
		{"as planned", map[string]string{"p": "n", "q": "n", "r": "m"},
			[]bind{{"p", "n"}, {"q", "n"}, {"r", "m"}}, 0, 0, false},
		{"into room that nobody has", map[string]string{"p": "n", "r": "m"}, []bind{{"p", "n"}, {"r", "n"}}, 1, 0, false},
		{"into the room of one who comes later", map[string]string{"p": "n", "q": "n", "r": "m"},
			[]bind{{"r", "n"}, {"p", "n"}}, 1, 1, false},
		{"into the room of one who went elsewhere", map[string]string{"p": "n", "q": "n", "r": "m"},
			[]bind{{"q", "m"}, {"r", "n"}, {"p", "n"}}, 2, 0, false},
		{"never planned, in free room", map[string]string{"p": "n"}, []bind{{"r", "n"}}, 1, 0, false},
		{"one into the place of another", map[string]string{"p": "n", "q": "n", "r": "m"},
			[]bind{{"r", "n"}, {"p", "m"}, {"q", "n"}}, 2, 1, false},
		{"which is as good as its own", map[string]string{"p": "n", "q": "n", "r": "m"},
			[]bind{{"r", "n"}, {"p", "m"}, {"q", "n"}}, 0, 0, true},
		{"but not when that one has gone there", map[string]string{"p": "n", "q": "n", "r": "m"},
			[]bind{{"p", "n"}, {"q", "n"}, {"r", "n"}}, 1, 1, true},
	} {
		l := newLoading()
		l.room["n"], l.room["m"] = cpu("2"), cpu("2")
		for _, pod := range []string{"p", "q", "r"} {
			l.asks[pod] = cpu("1")
			l.meant[pod] = row.meant[pod]
			if row.equal {
				l.of[pod] = "template"
			}
		}
		for _, b := range row.binds {
			l.bind(b.pod, b.node)
		}
		if len(l.strayed) != row.strayed || len(l.wrong) != row.wrong {
			t.Errorf("%s: strayed %v, wrong %v", row.label, l.strayed, l.wrong)
		}
	}
}
