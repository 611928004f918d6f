package scenarios

import (
	"cmp"
	"slices"
	"testing"
)

// Who comes when is the same each time, in order, as many and about as fast as was said.
func TestVisits(t *testing.T) {
	sizes := Sizes{Pods: 2000, Rate: 20, Seed: 1}
	all, again := visits(sizes), visits(sizes)
	sizes.Seed = 2
	other := visits(sizes)
	if !slices.EqualFunc(all, again, same) || slices.EqualFunc(all, other, same) {
		t.Error("the seed does not decide, or not alone")
	}
	if len(all) != sizes.Pods || !slices.IsSortedFunc(all, func(a, b visit) int { return cmp.Compare(a.come, b.come) }) {
		t.Errorf("%d pods, or not in order", len(all))
	}
	if last := all[len(all)-1].come.Seconds(); last < 70 || last > 130 {
		t.Errorf("2000 pods at 20 a second come in %.0f s", last)
	}
	for _, v := range all {
		if v.leave-v.come < churnStay {
			t.Errorf("%s stays %v", v.name, v.leave-v.come)
		}
	}
}

func same(a, b visit) bool {
	return a.name == b.name && a.cpu == b.cpu && a.come == b.come && a.leave == b.leave
}
