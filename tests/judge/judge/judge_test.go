package judge

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/klog/v2"

	"stowage.dev/tests/judge/cluster"
	"stowage.dev/tests/judge/gen"
)

var seeds = flag.Int("seeds", 3, "seeds a profile")

func TestMain(m *testing.M) {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	os.Exit(m.Run())
}

func generated(t testing.TB, profile string, seed uint64, size gen.Size) (*cluster.Cluster, *cluster.Catalogue) {
	g, err := gen.New(profile, seed, size)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := g.Write(dir); err != nil {
		t.Fatal(err)
	}
	c, err := cluster.Load([]string{filepath.Join(dir, "objects")})
	if err != nil {
		t.Fatal(err)
	}
	cat, err := cluster.LoadCatalogue(filepath.Join(dir, "instance-types.json"))
	if err != nil {
		t.Fatal(err)
	}
	return c, cat
}

// A plan made by asking the real filters must be found good, whichever listed type the cloud picks.
func TestNaivePlansAgree(t *testing.T) {
	for _, profile := range []string{"plain", "constraints", "volumes", "existing", "tiny", "topology"} {
		for seed := uint64(1); seed <= uint64(*seeds); seed++ {
			t.Run(fmt.Sprintf("%s/%d", profile, seed), func(t *testing.T) {
				t.Parallel() // schedulers wait more than they compute
				c, cat := generated(t, profile, seed, gen.Size{})
				p := naive(t, c, cat, profile != "existing")
				for _, random := range []bool{false, true} {
					r, err := Judge(c, cat, p, Options{All: profile != "existing", Random: random, Seed: seed, Runs: true})
					if err != nil {
						t.Fatal(err)
					}
					if len(r.PlanErrors)+len(r.Lost)+len(r.Duplicates) > 0 {
						t.Errorf("random %v: %+v lost %v duplicates %v", random, r.PlanErrors, r.Lost, r.Duplicates)
					}
					// Domains that appear with later nodes make the naive planner's topology decisions
					// stale: not the judge's fault.
					if topology := profile == "topology" || profile == "tiny"; !topology && len(r.Invalid)+len(r.Misfits) > 0 {
						t.Errorf("random %v: refused %+v, misfits %v", random, r.Invalid, r.Misfits)
					}
				}
			})
		}
	}
}
