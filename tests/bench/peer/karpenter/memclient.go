package karpenter

import (
	"context"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// memClient answers Get and List from the objects of the input, as an informer cache does: typed
// objects, an index of pods by node, a deep copy unless the caller waives it. controller-runtime's
// fake client goes through JSON on every List, which would make Karpenter look slower than it is.
//
// The embedded Client is nil: a write, or any call not defined here, panics, and so is never lost. The one write is what
// Repair notes on a NodeClaim when it decides on a reboot; nobody reads it afterwards.
type memClient struct {
	client.Client
	byKind     map[schema.GroupVersionKind][]client.Object
	byKey      map[schema.GroupVersionKind]map[types.NamespacedName]client.Object
	podsByNode map[string][]client.Object
}

func newMemClient(objects []client.Object) (*memClient, error) {
	c := &memClient{
		byKind:     map[schema.GroupVersionKind][]client.Object{},
		byKey:      map[schema.GroupVersionKind]map[types.NamespacedName]client.Object{},
		podsByNode: map[string][]client.Object{},
	}
	for _, o := range objects {
		gvk, err := apiutil.GVKForObject(o, scheme.Scheme)
		if err != nil {
			return nil, err
		}
		key := client.ObjectKeyFromObject(o)
		if clusterScoped[gvk.Kind] {
			key.Namespace = ""
		}
		if c.byKey[gvk] == nil {
			c.byKey[gvk] = map[types.NamespacedName]client.Object{}
		}
		if _, dup := c.byKey[gvk][key]; dup {
			return nil, fmt.Errorf("%s %s: given twice", gvk.Kind, key)
		}
		c.byKey[gvk][key] = o
		c.byKind[gvk] = append(c.byKind[gvk], o)
		if pod, ok := o.(*corev1.Pod); ok {
			c.podsByNode[pod.Spec.NodeName] = append(c.podsByNode[pod.Spec.NodeName], pod)
		}
	}
	return c, nil
}

// clusterScoped kinds are found whatever namespace the caller names (Karpenter asks for a
// PersistentVolume with its pod's), as with a real client.
var clusterScoped = map[string]bool{"Node": true, "PersistentVolume": true, "StorageClass": true, "CSINode": true, "Namespace": true,
	"PriorityClass": true, "NodePool": true, "NodeClaim": true, "NodeOverlay": true}

func (c *memClient) Scheme() *runtime.Scheme { return scheme.Scheme }

func (c *memClient) Get(_ context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	gvk, err := apiutil.GVKForObject(into, scheme.Scheme)
	if err != nil {
		return err
	}
	if clusterScoped[gvk.Kind] {
		key.Namespace = ""
	}
	found, ok := c.byKey[gvk][key]
	if !ok {
		return errors.NewNotFound(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, key.Name)
	}
	o := (&client.GetOptions{}).ApplyOptions(opts)
	if o.UnsafeDisableDeepCopy == nil || !*o.UnsafeDisableDeepCopy {
		found = found.DeepCopyObject().(client.Object)
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(found).Elem())
	return nil
}

func (c *memClient) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	gvk, err := apiutil.GVKForObject(list, scheme.Scheme)
	if err != nil {
		return err
	}
	gvk.Kind = gvk.Kind[:len(gvk.Kind)-len("List")]
	o := (&client.ListOptions{}).ApplyOptions(opts)

	from := c.byKind[gvk]
	if o.FieldSelector != nil && !o.FieldSelector.Empty() {
		node, ok := o.FieldSelector.RequiresExactMatch("spec.nodeName")
		if !ok || gvk.Kind != "Pod" || len(o.FieldSelector.Requirements()) != 1 {
			return fmt.Errorf("memClient: no index for %s by %q", gvk.Kind, o.FieldSelector)
		}
		from = c.podsByNode[node]
	}
	var items []runtime.Object
	for _, obj := range from {
		if o.Namespace != "" && obj.GetNamespace() != o.Namespace {
			continue
		}
		if o.LabelSelector != nil && !o.LabelSelector.Matches(labels.Set(obj.GetLabels())) {
			continue
		}
		if o.UnsafeDisableDeepCopy == nil || !*o.UnsafeDisableDeepCopy {
			obj = obj.DeepCopyObject().(client.Object)
		}
		items = append(items, obj)
	}
	return meta.SetList(list, items)
}

func (c *memClient) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.PatchOption) error {
	return onlyNodeClaims(o)
}

func (c *memClient) Status() client.SubResourceWriter { return statusWriter{} }

type statusWriter struct{ client.SubResourceWriter }

func (statusWriter) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
	return onlyNodeClaims(o)
}

func onlyNodeClaims(o client.Object) error {
	if _, ok := o.(*v1.NodeClaim); !ok {
		return fmt.Errorf("memClient: a write to %T", o)
	}
	return nil
}
