package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func shell(t *testing.T, script string) *Process {
	t.Helper()
	p, err := Start(Command{
		Name: "script",
		Path: "/bin/sh",
		Args: []string{"-c", script},
		Log:  filepath.Join(t.TempDir(), "log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// logged waits until the program has printed something.
func logged(t *testing.T, p *Process, text string) string {
	t.Helper()
	err := Poll(t.Context(), p, "output", func(context.Context) error {
		if !strings.Contains(Tail(p.Log(), 1000), text) {
			return errors.New("nothing yet")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return Tail(p.Log(), 1000)
}

func TestStopAsksAndReportsTheExitStatus(t *testing.T) {
	for _, row := range []struct {
		label, script string
		limit         time.Duration
		want          string // "" for success
	}{
		{"obeys", `trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done`, Patience, ""},
		{"obeys, unhappily", `trap 'exit 3' TERM; echo up; while :; do sleep 0.01; done`, Patience, "exit status 3"},
		{"refuses", `trap '' TERM; echo up; while :; do sleep 0.01; done`, 50 * time.Millisecond, "killed"},
	} {
		p := shell(t, row.script)
		logged(t, p, "up\n")
		err := p.Stop(row.limit)
		switch {
		case row.want == "" && err != nil:
			t.Errorf("%s: %v", row.label, err)
		case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)):
			t.Errorf("%s: got %v, want %q", row.label, err, row.want)
		}
		if p.Running() {
			t.Errorf("%s: still running", row.label)
		}
	}
}

func TestKillEndsChildrenToo(t *testing.T) {
	p := shell(t, `sleep 600 & echo child $!; wait`)
	var child int
	if _, err := fmt.Sscanf(logged(t, p, "child "), "child %d\n", &child); err != nil {
		t.Fatal(err)
	}
	p.Kill()
	err := Poll(t.Context(), nil, "end of the child", func(context.Context) error {
		return alive(child)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// alive returns an error while the process runs; a zombie that its new parent has yet to reap is dead.
func alive(pid int) error {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil || strings.Contains(string(stat), ") Z ") {
		return nil
	}
	return errors.New("runs")
}

func TestPauseAndContinue(t *testing.T) {
	p := shell(t, `trap 'echo asked' USR1; echo up; while :; do sleep 0.01; done`)
	logged(t, p, "up\n")
	if err := p.Pause(); err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if !p.Running() {
		t.Error("a paused program counts as ended")
	}
	if err := p.Continue(); err != nil {
		t.Fatal(err)
	}
	logged(t, p, "asked\n")
}

func TestPollFailsAtOnceWhenTheProgramEnds(t *testing.T) {
	p := shell(t, `echo no port left; exit 1`)
	err := Poll(context.Background(), p, "readiness", func(context.Context) error { return errors.New("refused") })
	if err == nil || !strings.Contains(err.Error(), "no port left") {
		t.Errorf("got %v, want the program's last lines", err)
	}
}

func TestPollTellsTheLastAnswerThatCameInTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	err := Poll(ctx, nil, "pods", func(ctx context.Context) error {
		if asked++; asked < 3 {
			return fmt.Errorf("%d of 3 run", asked)
		}
		cancel()
		return ctx.Err()
	})
	if err == nil || !strings.Contains(err.Error(), "the last answer: 2 of 3 run") {
		t.Errorf("got %v", err)
	}
}

func TestPollAsksLessOftenOfWhatTakesLong(t *testing.T) {
	for _, row := range []struct{ passed, want time.Duration }{
		{0, 20 * time.Millisecond}, {1600 * time.Millisecond, 100 * time.Millisecond}, {time.Minute, 250 * time.Millisecond},
	} {
		if got := pause(row.passed); got != row.want {
			t.Errorf("after %v it waits %v, not %v", row.passed, got, row.want)
		}
	}
}

func TestRestartRunsTheSameAgain(t *testing.T) {
	p := shell(t, `echo run; exit 0`)
	<-p.Done()
	if err := p.Restart(); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if got := Tail(p.Log(), 100); got != "run\nrun\n" {
		t.Errorf("log is %q", got)
	}
}

func TestStallNamesWhatIsNotThere(t *testing.T) {
	p := shell(t, `echo up; while :; do sleep 0.01; done`)
	logged(t, p, "up\n")
	if err := p.Stall("loop-1"); err == nil || !strings.Contains(err.Error(), "loop-1") {
		t.Errorf("a thread that is not there: %v", err)
	}
}
