// Command verdict reads what `go test -v` printed and prints again why it failed, and nothing else, so
// that the reason is the last thing in a log of which often only the end is looked at:
//
//	verdict < e2e.log
//
// It prints nothing if nothing failed.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

const (
	mostLines = 25  // of one test, its last
	mostWidth = 500 // of a line, its first
)

func main() {
	if err := judge(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "verdict:", err)
		os.Exit(1)
	}
}

var (
	// Whose the lines after this one are; nobody's where there is no name.
	header = regexp.MustCompile(`^=== (?:RUN|CONT|NAME|PAUSE) *(\S*)$`)
	result = regexp.MustCompile(`^ *--- (PASS|FAIL|SKIP): (\S+) \(`)
	// The end of a program's log, which a failed test tells after its reason.
	tail    = regexp.MustCompile(`^ +testing\.go:\d+: /\S+\.log:$`)
	message = regexp.MustCompile(`^ +\w+\.go:\d+: `)
	failed  = regexp.MustCompile(`^(?:FAIL\t|panic: |\*\*\* Test killed)`)
	// What the compiler says comes whenever it comes, amid the tests of other packages.
	compiler = regexp.MustCompile(`^# (\S+)`)
	mistake  = regexp.MustCompile(`^\S+\.go:\d+:\d+: |^\t`)
	ended    = regexp.MustCompile(`^(?:ok  |FAIL|\?   )\t`)
)

// reading is what is known of a package whose end has not been read.
type reading struct {
	test    string // whose the lines are
	quiet   bool   // they are the end of a log
	said    map[string][]string
	failing []string

	building string // the package of which the compiler speaks
	mistakes map[string][]string
}

func judge(in io.Reader, out io.Writer) error {
	r := reading{said: map[string][]string{}, mistakes: map[string][]string{}}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			r.read(strings.TrimRight(line, "\n"), out)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *reading) read(line string, out io.Writer) {
	if found := compiler.FindStringSubmatch(line); found != nil {
		r.building = found[1]
		return
	}
	if r.building != "" && mistake.MatchString(line) {
		r.mistakes[r.building] = append(r.mistakes[r.building], line)
		return
	}
	r.building = ""
	if found := header.FindStringSubmatch(line); found != nil {
		r.test, r.quiet = found[1], false
		return
	}
	if found := result.FindStringSubmatch(line); found != nil {
		if found[1] == "FAIL" {
			r.failing = append(r.failing, found[2])
		}
		// With -v a test's words come before its result; after that nobody is speaking.
		r.test, r.quiet = "", false
		return
	}
	if failed.MatchString(line) {
		r.test, r.quiet = "", false
	}
	switch {
	case ended.MatchString(line):
		if strings.HasPrefix(line, "FAIL") {
			r.tell(line, out)
		}
		*r = reading{said: map[string][]string{}, mistakes: r.mistakes}
	case tail.MatchString(line):
		r.quiet = true
	case message.MatchString(line):
		r.quiet = false
		fallthrough
	default:
		if !r.quiet {
			r.said[r.test] = append(r.said[r.test], line)
		}
	}
}

// tell prints what the failed tests said that have no failed test below them, or, where no test failed,
// what nobody said.
func (r *reading) tell(end string, out io.Writer) {
	told := false
	for _, test := range r.failing {
		below := func(other string) bool { return strings.HasPrefix(other, test+"/") }
		if slices.ContainsFunc(r.failing, below) && len(r.said[test]) == 0 {
			continue
		}
		fmt.Fprintf(out, "FAIL: %s\n", test)
		last(r.said[test], out)
		told = true
	}
	fields := strings.Fields(end)
	mistakes := r.mistakes[fields[min(1, len(fields)-1)]]
	if !told && mistakes == nil {
		last(r.said[""], out)
	}
	last(mistakes, out)
	fmt.Fprintln(out, end)
}

func last(lines []string, out io.Writer) {
	if len(lines) > mostLines {
		fmt.Fprintf(out, "    (%d lines before)\n", len(lines)-mostLines)
		lines = lines[len(lines)-mostLines:]
	}
	for _, line := range lines {
		if len(line) > mostWidth {
			line = line[:mostWidth] + "…"
		}
		fmt.Fprintln(out, line)
	}
}
