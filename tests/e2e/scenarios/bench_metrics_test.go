package scenarios

import (
	"testing"
	"time"
)

func TestSample(t *testing.T) {
	const text = "# HELP bound_total Pods\n# TYPE bound_total counter\n" +
		"bound_total{where=\"planned\",zone=\"a b\"} 3\nbound_total{where=\"planned\",zone=\"b\"} 4\n" +
		"bound_total{where=\"elsewhere\",zone=\"b\"} 5\nbound_total_sum 100\nprice 1.5e+01\n"
	for _, row := range []struct {
		name   string
		labels []string
		want   float64
	}{
		{"bound_total", nil, 12},
		{"bound_total", []string{`where="planned"`}, 7},
		{"bound_total", []string{`where="planned"`, `zone="b"`}, 4},
		{"bound_total", []string{`where="nowhere"`}, 0},
		{"price", nil, 15},
		{"pric", nil, 0},
	} {
		if got := sample(text, row.name, row.labels...); got != row.want {
			t.Errorf("%s %v: %v, want %v", row.name, row.labels, got, row.want)
		}
	}
	const later = "bound_total{where=\"elsewhere\",zone=\"b\"} 6\nbound_total{where=\"planned\",zone=\"b\"} 7\n"
	if got := counts(text, later, "bound_total", "where", "nowhere", "elsewhere", "planned"); got != "elsewhere 1" {
		t.Error(got)
	}
	if got := counts(text, text, "bound_total", "where", "planned"); got != "none" {
		t.Error(got)
	}
	if got := counts("", text, "bound_total", "where", "nowhere", "elsewhere", "planned"); got != "elsewhere 5, planned 7" {
		t.Error(got)
	}
}

func TestAnswers(t *testing.T) {
	const text = "stowage_extender_requests_total{verb=\"filter\",answer=\"room\"} 2\n" +
		"stowage_extender_requests_total{verb=\"prioritize\",answer=\"room\"} 5\n"
	if got := answers("", text); got != "room 2" {
		t.Error(got)
	}
	const first = "stowage_extender_duration_seconds_sum{verb=\"filter\"} 1\nstowage_extender_duration_seconds_count{verb=\"filter\"} 10\n"
	const later = "stowage_extender_duration_seconds_sum{verb=\"filter\"} 3\nstowage_extender_duration_seconds_count{verb=\"filter\"} 14\n"
	if got := answerTime(first, later, "filter"); got != 500*time.Millisecond {
		t.Error(got)
	}
	if got := answerTime(first, first, "filter"); got != 0 {
		t.Error(got)
	}
}
