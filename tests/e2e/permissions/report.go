package permissions

import (
	"flag"
	"fmt"
	"io"
)

// choosing are the flags of `go test` by which a run is not of all tests.
var choosing = []string{"test.run", "test.skip", "test.list"}

// Whole says why what was used is not all that there is to use, by the flags of the run; nil: it is.
func Whole(flags *flag.FlagSet) error {
	for _, name := range choosing {
		if f := flags.Lookup(name); f != nil && f.Value.String() != "" {
			return fmt.Errorf("-%s=%s chose among the tests", name, f.Value)
		}
	}
	return nil
}

// Report ends a run of tests with that status: it says how what is granted compares with what was used, or why it
// does not compare them, and returns the status to exit with.
func Report(out io.Writer, status int, partial error, used *Tally, excused map[string]string) int {
	const topic = "permissions: "
	switch {
	case status != 0:
		fmt.Fprintln(out, topic+"not compared with what was used: tests failed")
		return status
	case partial != nil:
		fmt.Fprintf(out, topic+"not compared with what was used: %v\n", partial)
		return status
	}
	wrong := used.Wrong(excused)
	for _, line := range wrong {
		fmt.Fprintln(out, topic+line)
	}
	if len(wrong) > 0 {
		return 1
	}
	fmt.Fprintf(out, topic+"of %d that the manifests grant each was used, but for %d that leave no trace\n",
		used.Count(), len(excused))
	return 0
}
