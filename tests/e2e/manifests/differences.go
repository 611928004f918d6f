package manifests

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Differences compares two trees as JSON has them, and returns one line for each place at which they
// differ, in the order of the keys: "a.b[2].c: 1 -> 2", with "nothing" for what only one of them has.
func Differences(before, after any) []string {
	return compare(nil, "", before, after, true, true)
}

func compare(lines []string, path string, before, after any, hadBefore, hasAfter bool) []string {
	if hadBefore && hasAfter {
		switch b := before.(type) {
		case map[string]any:
			if a, ok := after.(map[string]any); ok {
				return compareMaps(lines, path, b, a)
			}
		case []any:
			if a, ok := after.([]any); ok && len(a) == len(b) {
				for i := range b {
					lines = compare(lines, fmt.Sprintf("%s[%d]", path, i), b[i], a[i], true, true)
				}
				return lines
			}
		}
		if reflect.DeepEqual(before, after) {
			return lines
		}
	}
	return append(lines, fmt.Sprintf("%s: %s -> %s", path, show(before, hadBefore), show(after, hasAfter)))
}

func compareMaps(lines []string, path string, before, after map[string]any) []string {
	both := maps.Clone(before)
	maps.Copy(both, after)
	for _, key := range slices.Sorted(maps.Keys(both)) {
		child := key
		if path != "" {
			child = path + "." + key
		}
		b, hadBefore := before[key]
		a, hasAfter := after[key]
		lines = compare(lines, child, b, a, hadBefore, hasAfter)
	}
	return lines
}

func show(value any, present bool) string {
	if !present {
		return "nothing"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}
