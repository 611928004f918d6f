package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stowage.dev/tests/judge/gen"
)

// The command fails loudly on anything that is not a plan for this input.
func TestExitStatus(t *testing.T) {
	dir := t.TempDir()
	g, err := gen.New("plain", 1, gen.Size{})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Write(dir); err != nil {
		t.Fatal(err)
	}
	objects, types := filepath.Join(dir, "objects"), filepath.Join(dir, "instance-types.json")
	file := func(name, s string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, c := range []struct {
		name string
		args []string
		want int
		says string
	}{
		{"nothing planned", []string{"-f", objects, "-instance-types", types, "-plan", file("none", `{"kind":"Plan"}`), "-all-unbound"}, 1, "lost"},
		{"no plan", []string{"-f", objects, "-instance-types", types, "-plan", file("not", `{"kind":"Pod"}`)}, 2, "want Plan"},
		{"empty plan file", []string{"-f", objects, "-instance-types", types, "-plan", file("empty", "")}, 2, ""},
		{"no objects", []string{"-f", t.TempDir(), "-instance-types", types, "-plan", file("none", `{"kind":"Plan"}`)}, 2, "nothing to judge"},
		{"no such folder", []string{"-f", dir + "/gone", "-instance-types", types, "-plan", file("none", `{"kind":"Plan"}`)}, 2, "gone"},
		{"broken object", []string{"-f", file("bad.yaml", "kind: Pod\napiVersion: v1\nspec: {containers: 5}\n"), "-instance-types", types, "-plan", file("none", `{"kind":"Plan"}`)}, 2, "bad.yaml"},
		{"no catalogue", []string{"-f", objects, "-instance-types", file("t", `[{"name":"a","offerings":[{"Price":1}]}]`), "-plan", file("none", `{"kind":"Plan"}`)}, 2, "lacks zone"},
		{"unknown flag", []string{"-nope"}, 2, "nope"},
	} {
		var out, errs bytes.Buffer
		if got := run(c.args, &out, &errs); got != c.want || !strings.Contains(out.String()+errs.String(), c.says) {
			t.Errorf("%s: exit %d, want %d: %.300s", c.name, got, c.want, errs.String())
		}
	}
}
