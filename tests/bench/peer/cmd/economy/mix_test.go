package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
)

// A mix is remembered by its bytes: what Karpenter made of it is not asked twice.
func TestSameSeedSameBytes(t *testing.T) {
	for _, f := range families {
		for _, made := range []func() any{func() any { return f.mix(7) }, func() any { return f.catalogue() }} {
			a, _ := json.Marshal(made())
			b, _ := json.Marshal(made())
			if string(a) != string(b) {
				t.Errorf("%s: two runs differ", f.name)
			}
		}
	}
}

// Families that differ in their constraints are compared: they have the same pods but for these.
func TestConstraintsAreAllThatDiffers(t *testing.T) {
	sizes := func(name string) (out []any) {
		for _, item := range named(t, name).mix(3)["items"].([]obj)[1:] {
			out = append(out, item["metadata"].(obj)["name"], item["spec"].(obj)["containers"])
		}
		return out
	}
	none := sizes("none")
	if len(none) != 2*usualPods {
		t.Errorf("none has %d pods, want %d", len(none)/2, usualPods)
	}
	for _, name := range []string{"zone", "anti", "mixture"} {
		if !reflect.DeepEqual(none, sizes(name)) {
			t.Errorf("%s has other pods than none", name)
		}
	}
}

func TestFleetIsSixTenthsFull(t *testing.T) {
	milli, mebi, nodes := 0, 0, 0
	for _, item := range named(t, "fleet").mix(1)["items"].([]obj) {
		spec := item["spec"].(obj)
		if item["kind"] == "Node" {
			nodes++
		}
		if spec["nodeName"] == nil {
			continue
		}
		requests := spec["containers"].([]obj)[0]["resources"].(obj)["requests"].(obj)
		var cpu, memory int
		fmt.Sscanf(requests["cpu"].(string), "%dm", &cpu)
		fmt.Sscanf(requests["memory"].(string), "%dMi", &memory)
		milli, mebi = milli+cpu, mebi+memory
	}
	share := max(float64(milli)/float64(nodes*8000), float64(mebi)/float64(nodes*32768))
	if share < 0.5 || share > 0.6 {
		t.Errorf("%.2f of the fleet is taken, want 0.5 to 0.6", share)
	}
}

func named(t *testing.T, name string) *family {
	for i := range families {
		if families[i].name == name {
			return &families[i]
		}
	}
	t.Fatalf("no family %s", name)
	return nil
}
