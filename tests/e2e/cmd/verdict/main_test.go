package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	var many, end strings.Builder
	for i := range 40 {
		fmt.Fprintf(&many, "    a_test.go:1: line %d\n", i)
		if i >= 15 {
			fmt.Fprintf(&end, "    a_test.go:1: line %d\n", i)
		}
	}
	for _, row := range []struct{ label, log, want string }{
		{"nothing failed", "=== RUN   TestA\n    a_test.go:1: fine\n--- PASS: TestA (0.00s)\nPASS\nok  \tx/a\t0.1s\n", ""},
		{"one of two, its words among the other's",
			"=== RUN   TestA\n=== PAUSE TestA\n=== RUN   TestB\n=== CONT  TestA\n    a_test.go:1: bad\n" +
				"=== NAME  TestB\n    a_test.go:2: fine\n=== NAME  TestA\n    a_test.go:3: worse\n        and why\n" +
				"--- FAIL: TestA (0.10s)\n--- PASS: TestB (0.10s)\nFAIL\nFAIL\tx/a\t0.2s\n",
			"FAIL: TestA\n    a_test.go:1: bad\n    a_test.go:3: worse\n        and why\nFAIL\tx/a\t0.2s\n"},
		{"a row, not those above it, and no logs",
			"=== RUN   TestA\n=== RUN   TestA/row\n    a_test.go:1: bad\n    testing.go:41: /tmp/c/kwok.log:\n" +
				"        I saw\n        nothing\n    a_test.go:9: after\n=== NAME  TestA\n    testing.go:41: /tmp/c/etcd.log:\n        x\n" +
				"--- FAIL: TestA (0.10s)\n    --- FAIL: TestA/row (0.10s)\nFAIL\nFAIL\tx/a\t0.2s\n",
			"FAIL: TestA/row\n    a_test.go:1: bad\n    a_test.go:9: after\nFAIL\tx/a\t0.2s\n"},
		{"no test at all", "start: no port\nFAIL\tx/a\t0.2s\n", "start: no port\nFAIL\tx/a\t0.2s\n"},
		{"does not compile", "# x/a\na.go:1:2: undefined: b\nFAIL\tx/a [build failed]\n",
			"a.go:1:2: undefined: b\nFAIL\tx/a [build failed]\n"},
		{"does not compile, another package's tests come between",
			"=== RUN   TestA\n# x/b [x/b.test]\nb.go:1:2: undefined: b\n\twant c\n    a_test.go:1: fine\n--- PASS: TestA (0.1s)\nok  \tx/a\t0.1s\n" +
				"FAIL\tx/b [build failed]\n",
			"b.go:1:2: undefined: b\n\twant c\nFAIL\tx/b [build failed]\n"},
		{"too slow", "=== RUN   TestA\n    a_test.go:1: on my way\npanic: test timed out after 1s\n\trunning tests:\n\t\tTestA (1s)\nFAIL\tx/a\t1.0s\n",
			"panic: test timed out after 1s\n\trunning tests:\n\t\tTestA (1s)\nFAIL\tx/a\t1.0s\n"},
		{"much to say", "=== RUN   TestA\n" + many.String() + "--- FAIL: TestA (0.1s)\nFAIL\tx/a\t1.0s\n",
			"FAIL: TestA\n    (15 lines before)\n" + end.String() + "FAIL\tx/a\t1.0s\n"},
		{"another package's words are its own",
			"=== RUN   TestA\n    a_test.go:1: fine\n--- PASS: TestA (0.1s)\nok  \tx/a\t0.1s\n" +
				"=== RUN   TestA\n    b_test.go:1: bad\n--- FAIL: TestA (0.1s)\nFAIL\tx/b\t0.1s\n",
			"FAIL: TestA\n    b_test.go:1: bad\nFAIL\tx/b\t0.1s\n"},
	} {
		var out strings.Builder
		if err := judge(strings.NewReader(row.log), &out); err != nil || out.String() != row.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", row.label, err, out.String(), row.want)
		}
	}
}
