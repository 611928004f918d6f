package karpenter

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"

	_ "sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	_ "sigs.k8s.io/karpenter/pkg/apis/autoscaling/v1beta1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	_ "sigs.k8s.io/karpenter/pkg/apis/v1alpha1"
)

var strict = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()

// Input is everything that was read, typed.
type Input struct {
	Objects  []client.Object
	warnings []string
}

// Read takes files, folders (every .yaml, .yml and .json in them, by name) and "-" for stdin.
func (in *Input) Read(path string) error {
	if path == "-" {
		data, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		return in.parse("<stdin>", data)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	files := []string{path}
	if info.IsDir() {
		files = nil
		for _, ext := range []string{"*.yaml", "*.yml", "*.json"} {
			found, _ := filepath.Glob(filepath.Join(path, ext))
			files = append(files, found...)
		}
		sort.Strings(files)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		if err := in.parse(f, data); err != nil {
			return err
		}
	}
	return nil
}

// parse splits a file into documents: one JSON value, or YAML documents between "---" lines.
func (in *Input) parse(file string, data []byte) error {
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '{' {
		return in.decode(fmt.Sprintf("%s:1", file), trimmed)
	}
	line, start := 0, 1
	var doc bytes.Buffer
	flush := func() error {
		defer doc.Reset()
		if len(bytes.TrimSpace(doc.Bytes())) == 0 {
			return nil
		}
		where := fmt.Sprintf("%s:%d", file, start)
		asJSON, err := yaml.YAMLToJSONStrict(doc.Bytes())
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		if string(asJSON) == "null" {
			return nil
		}
		return in.decode(where, asJSON)
	}
	scanner := bufio.NewScanner(bytes.NewReader(data))
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		line++
		if strings.HasPrefix(scanner.Text(), "---") {
			if err := flush(); err != nil {
				return err
			}
			start = line + 1
			continue
		}
		doc.Write(scanner.Bytes())
		doc.WriteByte('\n')
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return flush()
}

func (in *Input) decode(where string, doc []byte) error {
	var head struct {
		metav1.TypeMeta
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(doc, &head); err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	if head.Kind == "" || head.APIVersion == "" {
		return fmt.Errorf("%s: apiVersion and kind must be set", where)
	}
	if strings.HasSuffix(head.Kind, "List") && head.Items != nil {
		for i, item := range head.Items {
			if err := in.decode(fmt.Sprintf("%s: items[%d]", where, i), item); err != nil {
				return err
			}
		}
		return nil
	}
	obj, _, err := strict.Decode(doc, nil, nil)
	switch {
	case runtime.IsNotRegisteredError(err):
		in.warnings = append(in.warnings, fmt.Sprintf("%s: %s %s is not used", where, head.APIVersion, head.Kind))
		return nil
	case runtime.IsStrictDecodingError(err) && obj != nil:
		in.warnings = append(in.warnings, fmt.Sprintf("%s: %s: %s", where, head.Kind, errors.Unwrap(err)))
	case err != nil:
		return fmt.Errorf("%s: %s: %w", where, head.Kind, err)
	}
	typed, ok := obj.(client.Object)
	if !ok {
		return fmt.Errorf("%s: %s is not an object", where, head.Kind)
	}
	if typed.GetName() == "" {
		return fmt.Errorf("%s: %s: metadata.name must be set", where, head.Kind)
	}
	if pod, isPod := typed.(*corev1.Pod); isPod && pod.Namespace == "" {
		pod.Namespace = "default"
	}
	if typed.GetUID() == "" { // Karpenter keys pods by UID; hand-written files have none
		typed.SetUID(uidFor(head.Kind, typed))
	}
	in.Objects = append(in.Objects, typed)
	return nil
}

// WriteList writes the objects to a file of JSON. It leaves out workloads: one without its pods would stand for as many as it asks for.
func WriteList(file string, objects []client.Object) error {
	objects = slices.DeleteFunc(slices.Clone(objects), func(o client.Object) bool {
		switch o.(type) {
		case *appsv1.Deployment, *appsv1.ReplicaSet, *appsv1.StatefulSet:
			return true
		}
		return false
	})
	items := make([]any, len(objects))
	for i, o := range objects {
		gvk, err := apiutil.GVKForObject(o, scheme.Scheme)
		if err != nil {
			return err
		}
		o.GetObjectKind().SetGroupVersionKind(gvk)
		items[i] = o
		if pool, ok := o.(*v1.NodePool); ok && len(pool.Spec.Disruption.Budgets) == 0 {
			if items[i], err = withoutBudgets(pool); err != nil {
				return err
			}
		}
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// withoutBudgets says that there are none, so that all may go; said by nobody it would mean 10 %.
func withoutBudgets(pool *v1.NodePool) (map[string]any, error) {
	text, err := json.Marshal(pool)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	return fields, unstructured.SetNestedSlice(fields, []any{}, "spec", "disruption", "budgets")
}
