package scenarios

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// createRate is how many NodePools are created a second where the machine can.
	createRate = 200
	// creators is how many of these requests are under way at once at the most.
	creators = 16
	// patientWebhook is the webhook's time-out in these tests. The second that ships may pass on a machine that is busy
	// with others for reasons of its own; how many took longer is told.
	patientWebhook, shippedWebhook = 30 * time.Second, time.Second
)

// failClosed makes every call of our webhooks that fails a request that fails. url: where they are from now on; "": where
// they were.
func (f *fleet) failClosed(ctx context.Context, url string) error {
	webhooks, err := f.webhooks(ctx)
	if err != nil {
		return err
	}
	var patch []map[string]any
	set := func(i int, field string, value any) {
		patch = append(patch, map[string]any{"op": "replace", "path": fmt.Sprintf("/webhooks/%d/%s", i, field), "value": value})
	}
	for i := range webhooks {
		set(i, "failurePolicy", "Fail")
		set(i, "timeoutSeconds", int(patientWebhook/time.Second))
		if url != "" {
			set(i, "clientConfig/url", url)
		}
	}
	text, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	_, err = f.objects.Resource(webhookResource).Patch(ctx, "stowage", types.JSONPatchType, text, meta.PatchOptions{})
	return err
}

// webhooks are those of our kinds as they stand in the API.
func (f *fleet) webhooks(ctx context.Context) ([]any, error) {
	configuration, err := f.objects.Resource(webhookResource).Get(ctx, "stowage", meta.GetOptions{})
	if err != nil {
		return nil, err
	}
	webhooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	return webhooks, err
}

// creates counts what create did.
type creates struct {
	mu             sync.Mutex
	made, late     int
	began          time.Time
	slowest, spent time.Duration
	slowestAt      time.Duration // after `began`
}

func (c *creates) note(took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made++
	c.spent += took
	if took > c.slowest {
		c.slowest, c.slowestAt = took, time.Since(c.began)-took
	}
	if took > shippedWebhook {
		c.late++
	}
}

// count is how many have come through.
func (c *creates) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.made
}

func (c *creates) tell(t *testing.T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	since := time.Since(c.began).Seconds()
	t.Logf("%d creates in %.0f s, %.0f a second; %.1f ms each, the slowest %.0f ms, after %.1f s, %d longer than the second that ships",
		c.made, since, float64(c.made)/since, c.spent.Seconds()*1000/float64(max(c.made, 1)), c.slowest.Seconds()*1000,
		c.slowestAt.Seconds(), c.late)
}

// create has NodePools created, without keeping them, until ctx ends, and tells each that fails. It returns when none is
// under way any more.
func (c *creates) create(ctx context.Context, f *fleet, failed func(error)) {
	c.began = time.Now()
	numbers := make(chan int)
	var all sync.WaitGroup
	for range creators {
		all.Go(func() {
			for n := range numbers {
				begun := time.Now()
				if err := f.createDry(ctx, n); err == nil {
					c.note(time.Since(begun))
				} else if ctx.Err() == nil {
					failed(err)
				}
			}
		})
	}
	ticker := time.NewTicker(time.Second / createRate)
	defer ticker.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			continue
		}
		select {
		case numbers <- n:
		case <-ctx.Done():
		}
	}
	close(numbers)
	all.Wait()
}

func (f *fleet) createDry(ctx context.Context, n int) error {
	name := fmt.Sprintf("created-%d", n)
	_, err := f.objects.Resource(poolResource).Create(ctx, pool{name: name, arch: "amd64"}.object(),
		meta.CreateOptions{DryRun: []string{meta.DryRunAll}})
	if err != nil {
		return fmt.Errorf("creating NodePool %s: %w", name, err)
	}
	return nil
}
