// Package manifests applies the YAML of manifests/ to a control plane on loopback, as it is but for
// what cannot be the same there: a webhook is registered by URL, since a Service routes nowhere, and
// Deployments are left out, since no kubelet runs them. The difference is told, so that a test that
// passes has tested what ships.
package manifests

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	v1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"stowage.dev/tests/e2e/process"
)

// Set is the objects of a folder, in the order of their files' names.
type Set struct {
	objects []object
}

type object struct {
	file string
	*unstructured.Unstructured
}

func (o object) String() string {
	name := o.GetName()
	if o.GetNamespace() != "" {
		name = o.GetNamespace() + "/" + name
	}
	if name == "" {
		return o.GetKind()
	}
	return o.GetKind() + " " + name
}

// Folder is manifests/ of this checkout.
func Folder() string {
	_, source, _, _ := goruntime.Caller(0)
	return filepath.Join(filepath.Dir(source), "..", "..", "..", "manifests")
}

// Load reads DIR/crds/*.yaml and DIR/*.yaml; other folders there are choices that a user may make.
// Each object must have a kind.
func Load(dir string) (*Set, error) {
	var files []string
	for _, pattern := range []string{"crds/*.yaml", "*.yaml"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no *.yaml there", dir)
	}
	set := &Set{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		objects, err := parse(file, text)
		if err != nil {
			return nil, err
		}
		set.objects = append(set.objects, objects...)
	}
	return set, nil
}

// Parse reads what a program prints of objects; the name stands for the file in messages.
func Parse(name string, text []byte) (*Set, error) {
	objects, err := parse(name, text)
	return &Set{objects}, err
}

// And returns the objects of both.
func (s *Set) And(more *Set) *Set { return &Set{slices.Concat(s.objects, more.objects)} }

// ByName returns each object under its kind and name, "Service stowage-system/stowage-webhook", and an error if two have
// the same.
func (s *Set) ByName() (map[string]map[string]any, error) {
	named := map[string]map[string]any{}
	for _, o := range s.objects {
		if _, twice := named[o.String()]; twice {
			return nil, fmt.Errorf("%s: %v is there twice", o.file, o)
		}
		named[o.String()] = o.Object
	}
	return named, nil
}

func parse(file string, text []byte) ([]object, error) {
	var objects []object
	reader := kyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		// As JSON first: a Kubernetes object has integers where YAML alone would give floats.
		content, err := yaml.YAMLToJSONStrict(document)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if string(content) == "null" {
			continue // nothing but comments
		}
		parsed := &unstructured.Unstructured{}
		if err := parsed.UnmarshalJSON(content); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		objects = append(objects, object{file, parsed})
	}
}

// SchedulerConfig is the path of the file that holds the KubeSchedulerConfiguration.
func (s *Set) SchedulerConfig() (string, error) {
	for _, o := range s.objects {
		if o.GetKind() == "KubeSchedulerConfiguration" {
			return o.file, nil
		}
	}
	return "", errors.New("no KubeSchedulerConfiguration among the manifests")
}

// ConfigText is what a ConfigMap holds under a key: a file of what the Deployment beside it runs.
func (s *Set) ConfigText(name, key string) (string, error) {
	for _, o := range s.objects {
		if o.GetKind() == "ConfigMap" && o.GetName() == name {
			text, found, err := unstructured.NestedString(o.Object, "data", key)
			if err != nil || !found {
				return "", fmt.Errorf("%v: no data.%s", o, key)
			}
			return text, nil
		}
	}
	return "", fmt.Errorf("no ConfigMap %s among the manifests", name)
}

// ServiceAccount is the account under which the Deployment runs its pods.
func (s *Set) ServiceAccount() (namespace, name string, err error) {
	for _, o := range s.objects {
		if o.GetKind() != "Deployment" {
			continue
		}
		name, _, err := unstructured.NestedString(o.Object, "spec", "template", "spec", "serviceAccountName")
		if err != nil || name == "" {
			return "", "", fmt.Errorf("%v: no spec.template.spec.serviceAccountName", o)
		}
		return o.GetNamespace(), name, nil
	}
	return "", "", errors.New("no Deployment among the manifests")
}

// Of are the objects of a kind, as a Go type.
func Of[T any](s *Set, kind string) ([]T, error) {
	var found []T
	for _, o := range s.objects {
		if o.GetKind() != kind {
			continue
		}
		var value T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &value); err != nil {
			return nil, fmt.Errorf("%v: %w", o, err)
		}
		found = append(found, value)
	}
	return found, nil
}

// Replica is a Pod of that name as the Deployment makes them, on a node.
func (s *Set) Replica(name, node string) (*core.Pod, error) {
	for _, o := range s.objects {
		if o.GetKind() != "Deployment" {
			continue
		}
		var deployment apps.Deployment
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &deployment); err != nil {
			return nil, fmt.Errorf("%v: %w", o, err)
		}
		template := deployment.Spec.Template
		pod := &core.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
		pod.Name, pod.Namespace, pod.Spec.NodeName = name, o.GetNamespace(), node
		return pod, nil
	}
	return nil, errors.New("no Deployment among the manifests")
}

// Webhooks waits until each webhook that the set registers has a caBundle, without which the API
// server cannot call it.
func (s *Set) Webhooks(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	for _, o := range s.objects {
		resource, ok := webhookResources[o.GetKind()]
		if !ok {
			continue
		}
		get := client.Resource(o.GroupVersionKind().GroupVersion().WithResource(resource))
		err := process.Poll(ctx, nil, fmt.Sprintf("caBundle of %v", o), func(ctx context.Context) error {
			got, err := get.Get(ctx, o.GetName(), v1.GetOptions{})
			if err != nil {
				return err
			}
			return bundled(got)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

var webhookResources = map[string]string{
	"ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
	"MutatingWebhookConfiguration":   "mutatingwebhookconfigurations",
}

func bundled(configuration *unstructured.Unstructured) error {
	webhooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil {
		return err
	}
	for _, webhook := range webhooks {
		fields, _ := webhook.(map[string]any)
		bundle, _, err := unstructured.NestedString(fields, "clientConfig", "caBundle")
		if err != nil || bundle == "" {
			return fmt.Errorf("webhook %v has none", fields["name"])
		}
	}
	return nil
}

// Local returns the set as it is applied on loopback, and one line for each difference. The address,
// HOST:PORT, is where the webhook listens.
func (s *Set) Local(webhook string) (*Set, []string) {
	local := &Set{}
	var differences []string
	for _, o := range s.objects {
		switch o.GetKind() {
		case "Deployment":
			differences = append(differences, fmt.Sprintf("%v: left out, no kubelet runs it", o))
			continue
		case "KubeSchedulerConfiguration":
			continue // a file for kube-scheduler, not an object
		}
		changed := object{o.file, o.DeepCopy()}
		byURL(changed.Object, webhook)
		for _, line := range Differences(o.Object, changed.Object) {
			differences = append(differences, fmt.Sprintf("%v: %s", o, line))
		}
		local.objects = append(local.objects, changed)
	}
	return local, differences
}

// byURL replaces the Service in each clientConfig below the value by an URL.
func byURL(value any, address string) {
	switch value := value.(type) {
	case map[string]any:
		if config, ok := value["clientConfig"].(map[string]any); ok {
			if service, ok := config["service"].(map[string]any); ok {
				path, _ := service["path"].(string)
				delete(config, "service")
				config["url"] = "https://" + address + path
			}
		}
		for _, child := range value {
			byURL(child, address)
		}
	case []any:
		for _, child := range value {
			byURL(child, address)
		}
	}
}

// Apply writes every object by server-side apply, fields unknown to the API server being errors, and
// waits until each CustomResourceDefinition among them is served.
func (s *Set) Apply(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	discovered, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discovered))
	// What others stand in comes first; for the rest the files' order is as good as any.
	ordered := slices.Clone(s.objects)
	slices.SortStableFunc(ordered, func(a, b object) int { return rank(a) - rank(b) })
	for _, o := range ordered {
		if err := apply(ctx, client, mapper, o); err != nil {
			return fmt.Errorf("%s: %v: %w", filepath.Base(o.file), o, err)
		}
	}
	return nil
}

func rank(o object) int {
	switch o.GetKind() {
	case "Namespace":
		return 0
	case "CustomResourceDefinition":
		return 1
	}
	return 2
}

func apply(ctx context.Context, client dynamic.Interface, mapper meta.ResettableRESTMapper, o object) error {
	kind := o.GroupVersionKind()
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	resource := dynamic.ResourceInterface(client.Resource(mapping.Resource))
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		if o.GetNamespace() == "" {
			return errors.New("no metadata.namespace")
		}
		resource = client.Resource(mapping.Resource).Namespace(o.GetNamespace())
	}
	body, err := o.MarshalJSON()
	if err != nil {
		return err
	}
	force := true
	options := v1.PatchOptions{FieldManager: "manifests", FieldValidation: "Strict", Force: &force}
	if _, err := resource.Patch(ctx, o.GetName(), types.ApplyPatchType, body, options); err != nil {
		return err
	}
	if kind.Kind != "CustomResourceDefinition" {
		return nil
	}
	if err := established(ctx, resource, o.GetName()); err != nil {
		return err
	}
	mapper.Reset()
	return nil
}

func established(ctx context.Context, resource dynamic.ResourceInterface, name string) error {
	return process.Poll(ctx, nil, "Established", func(ctx context.Context) error {
		definition, err := resource.Get(ctx, name, v1.GetOptions{})
		if err != nil {
			return err
		}
		conditions, _, err := unstructured.NestedSlice(definition.Object, "status", "conditions")
		if err != nil {
			return err
		}
		for _, condition := range conditions {
			c, ok := condition.(map[string]any)
			if ok && c["type"] == "Established" && c["status"] == "True" {
				return nil
			}
		}
		return fmt.Errorf("conditions %v", conditions)
	})
}
