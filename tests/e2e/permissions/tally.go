package permissions

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/manifests"
)

// Tally counts for each grant the requests that needed it. Its methods may be called from any goroutine.
type Tally struct {
	grants []Grant

	mu   sync.Mutex
	uses []int
}

// NewTally is one of grants that nobody has used yet.
func NewTally(grants []Grant) *Tally { return &Tally{grants: grants, uses: make([]int, len(grants))} }

// Shipped is a tally of all that is granted by a folder of manifests and by each folder of objects there: not by a chart,
// which has the same once more, nor by what is no manifest.
func Shipped(folder string) (*Tally, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	options := []string{""}
	for _, entry := range entries {
		files, err := filepath.Glob(filepath.Join(folder, entry.Name(), "*.yaml"))
		if err != nil {
			return nil, err
		}
		isChart := slices.ContainsFunc(files, func(file string) bool { return filepath.Base(file) == "Chart.yaml" })
		if len(files) > 0 && !isChart {
			options = append(options, entry.Name())
		}
	}
	var all []Grant
	for _, option := range options {
		dir := filepath.Join(folder, option)
		set, err := manifests.Load(dir)
		if err != nil {
			return nil, err
		}
		grants, err := Grants(set)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		for _, g := range grants {
			g.Option = option
			all = append(all, g)
		}
	}
	return NewTally(all), nil
}

// Count is how many grants there are.
func (t *Tally) Count() int { return len(t.grants) }

// Add counts a request, unless it was refused.
func (t *Tally) Add(r controlplane.Request) {
	if !r.Allowed {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, g := range t.grants {
		if g.allows(r) {
			t.uses[i]++
		}
	}
}

// Wrong is what is granted and was not used, or is granted twice. Excused are grants, as String has them, whose
// use leaves no trace, with the reason; an excuse for what is not granted, or left a trace, is wrong too.
func (t *Tally) Wrong(excused map[string]string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var wrong []string
	unknown := maps.Clone(excused)
	for i, g := range t.grants {
		_, isExcused := excused[g.String()]
		delete(unknown, g.String())
		switch {
		case t.uses[i] == 0 && !isExcused:
			wrong = append(wrong, fmt.Sprintf("%v: nobody used it", g))
		case t.uses[i] > 0 && isExcused:
			wrong = append(wrong, fmt.Sprintf("%v: excused, but used %d times", g, t.uses[i]))
		}
		for j, other := range t.grants {
			if j != i && other.replaces(g) && (j < i || !g.replaces(other)) {
				wrong = append(wrong, fmt.Sprintf("%v: needless beside %v", g, other))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		wrong = append(wrong, name+": excused, but nobody grants it")
	}
	return wrong
}
