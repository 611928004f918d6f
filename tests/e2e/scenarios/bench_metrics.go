package scenarios

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"stowage.dev/tests/e2e/process"
)

// Sizes of the measurements of placement; what is 0 is each measurement's own choice.
type Sizes struct {
	Nodes   int           // that are there from the start
	Pods    int           // that come
	Refused int           // that wait while others come
	Rate    float64       // pods that come, in each second
	Seed    uint64        // of what comes when
	Delay   time.Duration // from a launch to the Node
	Rows    string        // of scheduler: regular expression of those to run
	Percent int           // of scheduler: percentageOfNodesToScore instead of ours
	CPU     string        // of scheduler: what the pods ask for
	Shapes  int           // of scheduler: how many different sizes they have
}

// sample is the sum of a metric's samples that have all those labels, each as key="value"; 0: there is none.
func sample(text, name string, labels ...string) float64 {
	sum := 0.0
next:
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, name)
		if !ok || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		for _, label := range labels {
			if !strings.Contains(rest, label) {
				continue next
			}
		}
		fields := strings.Fields(rest[strings.LastIndexByte(rest, '}')+1:])
		if len(fields) > 0 {
			value, err := strconv.ParseFloat(fields[0], 64)
			if err == nil {
				sum += value
			}
		}
	}
	return sum
}

// counts are by how much a metric grew, by the value of a label: "VALUE COUNT, …" but for those that did not.
func counts(before, after, name, label string, values ...string) string {
	var found []string
	for _, value := range values {
		has := fmt.Sprintf("%s=%q", label, value)
		if n := sample(after, name, has) - sample(before, name, has); n != 0 {
			found = append(found, fmt.Sprintf("%s %.0f", value, n))
		}
	}
	if found == nil {
		return "none"
	}
	return strings.Join(found, ", ")
}

// answers are how Stowage answered the scheduler's questions between two looks at its metrics.
func answers(before, after string) string {
	return counts(before, after, "stowage_extender_requests_total", `verb="filter",answer`,
		"planned", "traded", "revised", "room", "waits", "refused", "no-opinion", "error")
}

// answerTime is how long Stowage took for an answer between two looks at its metrics, on average.
func answerTime(before, after, verb string) time.Duration {
	const name = "stowage_extender_duration_seconds"
	label := fmt.Sprintf("verb=%q", verb)
	grown := func(end string) float64 { return sample(after, name+end, label) - sample(before, name+end, label) }
	if grown("_count") == 0 {
		return 0
	}
	return time.Duration(grown("_sum") / grown("_count") * float64(time.Second))
}

// metricsOf asks a Stowage for its metrics.
func metricsOf(ctx context.Context, address string) (string, error) {
	return textOf(ctx, "http://"+address+"/metrics")
}

func textOf(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// eventually calls check every so often until it returns nil, for what is dear to ask for.
func eventually(ctx context.Context, every time.Duration, what string, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, process.Patience)
	defer cancel()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}
