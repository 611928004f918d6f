// Package judge holds a plan against the real kube-scheduler.
package judge

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	v1 "k8s.io/api/core/v1"

	"stowage.dev/tests/judge/cluster"
)

// Plan is the part of `stowage plan -o json` that can be judged.
type Plan struct {
	Kind          string          `json:"kind"`
	NodeClaims    []PlannedClaim  `json:"nodeClaims"`
	ExistingNodes []PlannedNode   `json:"existingNodes"`
	Unschedulable []Unschedulable `json:"unschedulable"`
	Cost          *PlanCost       `json:"cost,omitempty"`
}

type PlannedClaim struct {
	Name          string                `json:"name"`
	NodePool      string                `json:"nodePool"`
	Requirements  []cluster.Requirement `json:"requirements"`
	Labels        map[string]string     `json:"labels,omitempty"`
	Taints        []v1.Taint            `json:"taints,omitempty"`
	InstanceTypes []string              `json:"instanceTypes"`
	Price         *float64              `json:"price,omitempty"`
	Requests      v1.ResourceList       `json:"requests,omitempty"`
	Pods          []string              `json:"pods"`
}

type PlannedNode struct {
	Name string   `json:"name"`
	Pods []string `json:"pods"`
}

type Unschedulable struct {
	Pod     string `json:"pod"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

type PlanCost struct {
	Before     *float64 `json:"before,omitempty"`
	After      *float64 `json:"after,omitempty"`
	LowerBound *float64 `json:"lowerBound,omitempty"`
}

// LoadPlan reads a plan; "-" is standard input. Something that is no plan is an error, not an empty plan.
func LoadPlan(path string) (*Plan, error) {
	b, err := []byte(nil), error(nil)
	if path == "-" {
		b, err = io.ReadAll(os.Stdin)
	} else {
		b, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, err
	}
	var p Plan
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if p.Kind != "Plan" {
		return nil, fmt.Errorf("%s: kind is %q, want Plan", path, p.Kind)
	}
	return &p, nil
}
