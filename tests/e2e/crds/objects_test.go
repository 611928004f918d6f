package crds

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// object is base with patch merged over it.
func object(t *testing.T, base, patch string) *unstructured.Unstructured {
	t.Helper()
	out := map[string]any{}
	merge(t, out, base)
	merge(t, out, patch)
	return &unstructured.Unstructured{Object: out}
}

// merge applies a JSON merge patch, written as YAML, to an object in place.
func merge(t *testing.T, into map[string]any, patch string) {
	t.Helper()
	from, err := decode(patch)
	if err != nil {
		t.Fatalf("the row's own YAML: %v\n%s", err, patch)
	}
	mergeMap(into, from)
}

// decode reads YAML as unstructured objects have it: integers as int64.
func decode(text string) (map[string]any, error) {
	content, err := yaml.YAMLToJSON([]byte(strings.ReplaceAll(text, "\t", "")))
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	err = utiljson.Unmarshal(content, &out)
	return out, err
}

func mergeMap(into, from map[string]any) {
	for name, value := range from {
		fields, isMap := value.(map[string]any)
		old, wasMap := into[name].(map[string]any)
		switch {
		case value == nil:
			delete(into, name)
		case isMap && wasMap:
			mergeMap(old, fields)
		default:
			into[name] = value
		}
	}
}

func encode(t *testing.T, o map[string]any) string {
	t.Helper()
	text, err := yaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func has(o map[string]any, path ...string) bool {
	_, found, err := unstructured.NestedFieldNoCopy(o, path...)
	return found && err == nil
}

func quote(value string) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// numbered joins n copies of format, each with its number.
func numbered(format string, n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(items, ", ")
}

func dynamicClient(t *testing.T) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(config(t))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func unversioned(c *rest.Config) *rest.Config {
	c.NegotiatedSerializer = serializer.NewCodecFactory(scheme.Scheme).WithoutConversion()
	c.GroupVersion = &schema.GroupVersion{}
	return c
}

// objects of the kind of o, in its namespace if it has one.
func objects(client dynamic.Interface, o *unstructured.Unstructured) dynamic.ResourceInterface {
	all := client.Resource(resources[o.GetKind()])
	if o.GetNamespace() == "" {
		return all
	}
	return all.Namespace(o.GetNamespace())
}

func create(client dynamic.Interface, o *unstructured.Unstructured, dryRun bool) (*unstructured.Unstructured, error) {
	options := metav1.CreateOptions{}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	return objects(client, o).Create(context.Background(), o, options)
}

// mustCreate makes one that goes with the test.
func mustCreate(t *testing.T, client dynamic.Interface, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	stored, err := create(client, o, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := objects(client, stored).Delete(context.Background(), stored.GetName(), metav1.DeleteOptions{})
		if err != nil && !errors.IsNotFound(err) {
			t.Error(err)
		}
	})
	return stored
}

func setStatus(t *testing.T, client dynamic.Interface, kind, name, status string) {
	t.Helper()
	of := &unstructured.Unstructured{Object: map[string]any{"kind": kind}}
	if kind == "CapacityBuffer" {
		of.SetNamespace("default")
	}
	all := objects(client, of)
	stored, err := all.Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	merge(t, stored.Object, `status: {`+status+`}`)
	if _, err := all.UpdateStatus(context.Background(), stored, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}
