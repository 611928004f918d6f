package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Stall holds the threads of these names where they are, while all others of the program run on: as one that waits
// for a lock for ever, or spins. The kernel's means for it is that of debuggers (ptrace), so that the program
// needs none of its own. They stay so until the program has ended.
func (p *Process) Stall(names ...string) error {
	held := make(chan error)
	go func() {
		runtime.LockOSThread() // who holds a thread is a thread; it ends with this function
		threads, err := p.threads(names)
		for _, thread := range threads {
			err = errors.Join(err, hold(thread))
		}
		held <- err
		for _, thread := range threads { // one that has ended is there until somebody has asked how
			for {
				var status syscall.WaitStatus
				_, err := syscall.Wait4(thread, &status, syscall.WALL, nil)
				if err != nil && err != syscall.EINTR || status.Exited() || status.Signaled() {
					break
				}
			}
		}
	}()
	return <-held
}

// hold stops one thread.
func hold(thread int) error {
	if err := syscall.PtraceAttach(thread); err != nil {
		return fmt.Errorf("thread %d: ptrace: %w", thread, err)
	}
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(thread, &status, syscall.WALL, nil)
		if err == nil && status.Stopped() {
			return nil
		}
		if err != nil && err != syscall.EINTR || err == nil {
			return fmt.Errorf("thread %d: not to be stopped: %v, status %x", thread, err, status)
		}
	}
}

// threads are the kernel's numbers of those of these names, all of which must be there.
func (p *Process) threads(names []string) ([]int, error) {
	tasks := fmt.Sprintf("/proc/%d/task", p.Pid())
	entries, err := os.ReadDir(tasks)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name(), err)
	}
	var found []int
	var seen []string
	for _, entry := range entries {
		comm, err := os.ReadFile(filepath.Join(tasks, entry.Name(), "comm"))
		number, atoi := strconv.Atoi(entry.Name())
		if name := strings.TrimSpace(string(comm)); err == nil && atoi == nil && slices.Contains(names, name) {
			found, seen = append(found, number), append(seen, name)
		}
	}
	if len(found) != len(names) {
		return nil, fmt.Errorf("%s: of the threads %v there are %v", p.Name(), names, seen)
	}
	return found, nil
}
