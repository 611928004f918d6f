// Package process runs the programs that a test starts, and makes sure that none outlives it.
//
// Every program gets a process group of its own, so that a Ctrl-C meant for the test does not reach
// it before the test has decided what to do, and so that ending it ends its children as well. The
// kernel kills it when the process that started it dies, however that dies.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Command says what to run.
type Command struct {
	Name string   // for messages: "kube-apiserver"
	Path string   // the program
	Args []string // without the program's name
	Env  []string // the whole environment; nil: that of this process
	Dir  string   // working directory; "": that of this process
	Log  string   // file to which standard output and standard error are appended
}

// Process is one run of a Command, or, after Restart, the latest.
// Its methods may be called from any goroutine.
type Process struct {
	command Command

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{} // closed when the current run has ended
	err  error         // how it ended; to be read once done is closed
}

// spawns carries the starting of programs to a thread that lives as long as this process: the kernel
// sends the death signal when the *thread* that started a child ends, and Go ends threads as it likes.
var spawns = sync.OnceValue(func() chan func() {
	calls := make(chan func())
	go func() {
		runtime.LockOSThread()
		for call := range calls {
			call()
		}
	}()
	return calls
})

// Start runs the command. The process does not end with any context: see Stop and Kill.
func Start(command Command) (*Process, error) {
	p := &Process{command: command}
	if err := p.start(); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Process) start() error {
	log, err := os.OpenFile(p.command.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("%s: %w", p.command.Name, err)
	}
	defer log.Close()

	cmd := exec.Command(p.command.Path, p.command.Args...)
	cmd.Env = p.command.Env
	cmd.Dir = p.command.Dir
	cmd.Stdout = log
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}

	started := make(chan error)
	spawns() <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return fmt.Errorf("%s: %w", p.command.Name, err)
	}

	done := make(chan struct{})
	p.mu.Lock()
	p.cmd, p.done, p.err = cmd, done, nil
	p.mu.Unlock()
	go func() {
		err := cmd.Wait()
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
		close(done)
	}()
	return nil
}

// Name is the name given in the Command.
func (p *Process) Name() string { return p.command.Name }

// Log is the path of the file that holds what the program printed.
func (p *Process) Log() string { return p.command.Log }

// Args are the arguments that the program was started with.
func (p *Process) Args() []string { return p.command.Args }

// Pid is the process id of the current run.
func (p *Process) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd.Process.Pid
}

// Done is closed when the current run has ended.
func (p *Process) Done() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

// Err says how a run that is Done ended: nil for exit status 0.
func (p *Process) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Running says whether the program has not ended yet; one that is paused counts as running.
func (p *Process) Running() bool {
	select {
	case <-p.Done():
		return false
	default:
		return true
	}
}

// Signal sends a signal to the program alone. It is no error if the program has ended.
func (p *Process) Signal(signal syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.cmd.Process.Signal(signal)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// Pause stops the program where it is (SIGSTOP): it holds its connections and answers nothing.
func (p *Process) Pause() error { return p.Signal(syscall.SIGSTOP) }

// Continue lets a paused program go on (SIGCONT).
func (p *Process) Continue() error { return p.Signal(syscall.SIGCONT) }

// Kill ends the program and its children at once (SIGKILL) and waits until it is gone.
func (p *Process) Kill() {
	p.mu.Lock()
	pid, done := p.cmd.Process.Pid, p.done
	// The pid is not used again while nobody has waited for it, and Wait closes done only after.
	select {
	case <-done:
	default:
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	p.mu.Unlock()
	<-done
}

// Stop asks the program to end (SIGTERM) and waits for it; past the limit it is killed, which is an
// error. Otherwise the result is that of Err. A limit other than Patience is for one that may not end.
func (p *Process) Stop(limit time.Duration) error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("%s: %w", p.Name(), err)
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.Done():
		return p.Err()
	case <-timer.C:
		p.Kill()
		return fmt.Errorf("%s: still running %v after SIGTERM, killed", p.Name(), limit)
	}
}

// Restart runs the same command again; the run before must have ended.
func (p *Process) Restart() error {
	if p.Running() {
		return fmt.Errorf("%s: still running", p.Name())
	}
	return p.start()
}

// Patience is how long a wait goes on for something that must come: a program to be ready, pods to run,
// nodes to leave, a program to end. It says nothing about speed, for a wait is over as soon as the thing
// is there; only a test that fails lasts as long. What takes longest, all that a cluster of 500 pods does
// in one step, takes 20 s on two cores of its own, and has taken 6 minutes on two that twenty others used.
const Patience = 10 * time.Minute

// errPatience is what a wait fails with that took all of Patience.
var errPatience = fmt.Errorf("not within %v", Patience)

// soonest and latest are how long Poll waits until it asks again. In between it is a sixteenth of the time
// that has passed: what takes long is not known later by much, and is not held up by the asking. (Lists of
// hundreds of objects, fifty times a second, took most of what the API server did in these tests.)
const (
	soonest = 20 * time.Millisecond
	latest  = 250 * time.Millisecond
)

func pause(passed time.Duration) time.Duration { return min(max(soonest, passed/16), latest) }

// Poll calls ready until it returns nil. It fails when Patience is over or the context ends, with ready's
// latest error, and at once when p has ended. p may be nil, for what no single program stands for.
func Poll(ctx context.Context, p *Process, what string, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, Patience, errPatience)
	defer cancel()
	var done <-chan struct{}
	if p != nil {
		done = p.Done()
	}
	begin := time.Now()
	var last error
	for {
		answer := ready(ctx)
		if answer == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil { // that the time was over is not the answer that is of use
			last = answer
		}
		select {
		case <-time.After(pause(time.Since(begin))):
		case <-ctx.Done():
			return fmt.Errorf("%s: %w; the last answer: %v", what, context.Cause(ctx), last)
		case <-done:
			return fmt.Errorf("%s: %s has ended (%v); its last lines:\n%s",
				what, p.Name(), p.Err(), Tail(p.Log(), 2000))
		}
	}
}

// Tail returns about the last n bytes of a file, from the start of a line.
func Tail(path string, n int64) string {
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	size, err := file.Seek(0, 2)
	if err != nil {
		return err.Error()
	}
	text := make([]byte, min(n, size))
	read, err := file.ReadAt(text, size-int64(len(text)))
	if err != nil {
		return err.Error()
	}
	text = text[:read]
	if int64(read) < size {
		for i, c := range text {
			if c == '\n' {
				return string(text[i+1:])
			}
		}
	}
	return string(text)
}
