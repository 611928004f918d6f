package scenarios

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var requestResource = schema.GroupVersionResource{Group: "autoscaling.x-k8s.io", Version: "v1", Resource: "provisioningrequests"}

// Cluster Autoscaler's definition of the kind, as far as it takes and refuses what is sent here.
const requestDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: provisioningrequests.autoscaling.x-k8s.io}
spec:
  group: autoscaling.x-k8s.io
  scope: Namespaced
  names: {kind: ProvisioningRequest, listKind: ProvisioningRequestList, plural: provisioningrequests, singular: provisioningrequest}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          required: [spec]
          properties:
            apiVersion: {type: string}
            kind: {type: string}
            metadata: {type: object}
            spec:
              type: object
              required: [podSets, provisioningClassName]
              properties:
                provisioningClassName: {type: string, maxLength: 253}
                parameters:
                  type: object
                  additionalProperties: {type: string, maxLength: 255}
                podSets:
                  type: array
                  minItems: 1
                  maxItems: 32
                  items:
                    type: object
                    required: [count, podTemplateRef]
                    properties:
                      count: {type: integer, format: int32, minimum: 1}
                      podTemplateRef:
                        type: object
                        required: [name]
                        properties: {name: {type: string, maxLength: 253}}
            status:
              type: object
              properties:
                provisioningClassDetails:
                  type: object
                  additionalProperties: {type: string}
                conditions:
                  type: array
                  x-kubernetes-list-type: map
                  x-kubernetes-list-map-keys: [type]
                  items:
                    type: object
                    required: [lastTransitionTime, message, reason, status, type]
                    properties:
                      lastTransitionTime: {type: string, format: date-time}
                      message: {type: string, maxLength: 32768}
                      observedGeneration: {type: integer, format: int64, minimum: 0}
                      reason: {type: string, minLength: 1, maxLength: 1024, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$'}
                      status: {type: string, enum: ['True', 'False', Unknown]}
                      type: {type: string, maxLength: 316}
`

const (
	checkClass  = "check-capacity.autoscaling.x-k8s.io"
	atomicClass = "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
)

// TestProvisioningRequests has Stowage answer who asks for room before its pods exist, as Cluster Autoscaler does.
func TestProvisioningRequests(t *testing.T) {
	t.Parallel()
	f := groupsUp(t, "--enable-provisioning-requests", "--provisioning-request-initial-backoff-time=3s",
		"--provisioning-request-max-backoff-time=3s")
	f.step(t, "without the definition Stowage goes on", f.lacksRequests)
	f.step(t, "groups grow for a whole request, and its pods find their room", f.growsForRequest)
	f.step(t, "room is found or not, and tried for again", f.checksRoom)
	f.step(t, "what was over a week ago goes", f.endsRequests)
}

func (f *fleet) lacksRequests(t *testing.T, ctx context.Context) {
	must(t, f.Wait(ctx, "the kind to be missing", f.missingKind("ProvisioningRequest", 1)))
	must(t, f.prioritise(ctx, "50: ['small-a']\n"))
	must(t, f.deploy(ctx, shape{name: "early", cpu: "1500m", memory: "1Gi"}, 1))
	must(t, f.Wait(ctx, "pods to run", f.running(1, "early")))

	file := filepath.Join(t.TempDir(), "definition.yaml")
	must(t, os.WriteFile(file, []byte(requestDefinition), 0o600))
	_, err := f.Kubectl(ctx, "", "apply", "--server-side", "-f", file)
	must(t, err)
	must(t, f.Wait(ctx, "the kind to be there", f.missingKind("ProvisioningRequest", 0)))
	_, template := shape{name: "job", cpu: "1500m", memory: "1Gi"}.template()
	_, err = f.Client().CoreV1().PodTemplates("default").Create(ctx, &core.PodTemplate{
		ObjectMeta: meta.ObjectMeta{Name: "job"}, Template: template}, meta.CreateOptions{})
	must(t, err)
}

// request asks for room for so many pods of the template.
func (f *fleet) request(t *testing.T, ctx context.Context, name, class string, pods int64, parameters map[string]any) {
	t.Helper()
	spec := map[string]any{"provisioningClassName": class, "podSets": []any{
		map[string]any{"count": pods, "podTemplateRef": map[string]any{"name": "job"}}}}
	if parameters != nil {
		spec["parameters"] = parameters
	}
	_, err := f.objects.Resource(requestResource).Namespace("default").Create(ctx,
		object("autoscaling.x-k8s.io/v1", "ProvisioningRequest", "default", name, spec), meta.CreateOptions{})
	must(t, err)
}

func (f *fleet) requestIs(name, condition, want string) func(context.Context) error {
	return f.conditionIs(requestResource, "default", name, condition, want)
}

// consume makes pods that use the room of a request.
func (f *fleet) consume(ctx context.Context, name, request string, replicas int32) error {
	selector, template := shape{name: name, cpu: "1500m", memory: "1Gi"}.template()
	template.Annotations = map[string]string{"autoscaling.x-k8s.io/consume-provisioning-request": request}
	_, err := f.Client().AppsV1().Deployments("default").Create(ctx, &apps.Deployment{
		ObjectMeta: meta.ObjectMeta{Name: name, Labels: map[string]string{"by": "scenario"}},
		Spec:       apps.DeploymentSpec{Replicas: &replicas, Selector: selector, Template: template},
	}, meta.CreateOptions{})
	return err
}

// A node holds two of the pods; one is there, with room for one of them.
func (f *fleet) growsForRequest(t *testing.T, ctx context.Context) {
	f.request(t, ctx, "batch", atomicClass, 5, nil)
	must(t, f.Wait(ctx, "to be accepted", f.requestIs("batch", "Accepted", "True Accepted")))
	must(t, f.Wait(ctx, "its room", f.requestIs("batch", "Provisioned", "True CapacityIsProvisioned")))
	must(t, f.Wait(ctx, "nodes", f.groupsAre(map[string]int{"small-a": 3, "large": 0})))
	must(t, f.Wait(ctx, "Events", f.groupsTold("TriggeredScaleUp", "pod triggered scale-up: [{small-a 1->3 (max: 6)}]")))

	must(t, f.consume(ctx, "job", "batch", 5))
	must(t, f.Wait(ctx, "pods to run", f.running(5, "job")))
	must(t, f.Wait(ctx, "the booking to end", f.requestIs("batch", "BookingExpired", "True CapacityBookingConsumed")))
	must(t, f.groupsAre(map[string]int{"small-a": 3, "small-b": 0, "small-c": 0, "large": 0})(ctx))

	// Nothing grows for pods that wait for one.
	must(t, f.scale(ctx, "job", 6))
	must(t, f.Wait(ctx, "Events", f.groupsTold("NotTriggerScaleUp",
		"Unschedulable pod didn't trigger scale-up, because it's consuming ProvisioningRequest default/batch")))
	must(t, f.groupsAre(map[string]int{"small-a": 3, "small-b": 0, "small-c": 0, "large": 0})(ctx))
	must(t, f.scale(ctx, "job", 4))
	must(t, f.Wait(ctx, "pods to run", f.running(4, "job")))
}

func (f *fleet) checksRoom(t *testing.T, ctx context.Context) {
	f.request(t, ctx, "once", checkClass, 50, map[string]any{"noRetry": "true"})
	must(t, f.Wait(ctx, "to fail", f.requestIs("once", "Failed", "True CapacityIsNotFound")))
	f.request(t, ctx, "later", checkClass, 2, nil)
	must(t, f.Wait(ctx, "a first try", f.requestIs("later", "Provisioned", "False CapacityIsNotFound")))
	must(t, f.remove(ctx, "early"))
	must(t, f.Wait(ctx, "another try", f.requestIs("later", "Provisioned", "True CapacityIsFound")))
}

func (f *fleet) endsRequests(t *testing.T, ctx context.Context) {
	long := time.Now().Add(-8 * 24 * time.Hour).UTC().Format(time.RFC3339)
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []any{map[string]any{
		"type": "Failed", "status": "True", "reason": "CapacityIsNotFound", "message": "", "lastTransitionTime": long}}}})
	must(t, err)
	requests := f.objects.Resource(requestResource).Namespace("default")
	_, err = requests.Patch(ctx, "once", types.MergePatchType, patch, meta.PatchOptions{}, "status")
	must(t, err)
	must(t, f.Wait(ctx, "it to be gone", func(ctx context.Context) error {
		if _, err := requests.Get(ctx, "once", meta.GetOptions{}); !errors.IsNotFound(err) {
			return fmt.Errorf("it is there: %v", err)
		}
		return nil
	}))
}
