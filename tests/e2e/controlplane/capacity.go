package controlplane

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	resources "k8s.io/component-helpers/resource"
)

// Overfull says which nodes hold pods that ask for more than is allocatable there; nil: none.
// Pods that have ended do not count.
func (c *ControlPlane) Overfull(ctx context.Context) error {
	nodes, err := c.client.CoreV1().Nodes().List(ctx, meta.ListOptions{})
	if err != nil {
		return err
	}
	pods, err := c.client.CoreV1().Pods("").List(ctx, meta.ListOptions{})
	if err != nil {
		return err
	}
	return overfull(nodes.Items, pods.Items)
}

func add(sum core.ResourceList, name core.ResourceName, quantity resource.Quantity) {
	total := sum[name]
	total.Add(quantity)
	sum[name] = total
}

func overfull(nodes []core.Node, pods []core.Pod) error {
	used := map[string]core.ResourceList{}
	for i := range pods {
		pod := &pods[i]
		if pod.Spec.NodeName == "" || pod.Status.Phase == core.PodSucceeded || pod.Status.Phase == core.PodFailed {
			continue
		}
		sum := used[pod.Spec.NodeName]
		if sum == nil {
			sum = core.ResourceList{}
			used[pod.Spec.NodeName] = sum
		}
		for name, quantity := range resources.PodRequests(pod, resources.PodResourcesOptions{}) {
			add(sum, name, quantity)
		}
		add(sum, core.ResourcePods, resource.MustParse("1"))
	}
	var found []string
	for _, node := range nodes {
		for _, name := range slices.Sorted(maps.Keys(used[node.Name])) {
			asked := used[node.Name][name]
			if room := node.Status.Allocatable[name]; asked.Cmp(room) > 0 {
				found = append(found, fmt.Sprintf("node %s: pods ask for %s of %s, %s is allocatable",
					node.Name, asked.String(), name, room.String()))
			}
		}
	}
	if found != nil {
		return errors.New(strings.Join(found, "\n"))
	}
	return nil
}
