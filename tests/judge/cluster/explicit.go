package cluster

import (
	"sort"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Explicit is a catalogue that says everything of its types itself: the superset of kwok's format.
type Explicit struct {
	ReservationIDLabel string          `json:"reservationIDLabel"`
	WellKnown          []string        `json:"wellKnownLabels"`
	RepairPolicies     []RepairPolicy  `json:"repairPolicies,omitempty"`
	Types              []*ExplicitType `json:"instanceTypes"`
}

// RepairPolicy is what Repair does about a node condition.
type RepairPolicy struct {
	ConditionType          string `json:"conditionType"`
	ConditionStatus        string `json:"conditionStatus"`
	ReasonRegex            string `json:"reasonRegex,omitempty"`
	TolerationDuration     string `json:"tolerationDuration,omitempty"`
	TerminationGracePeriod string `json:"terminationGracePeriod,omitempty"`
	Priority               int    `json:"priority"`
	Action                 string `json:"action"`
}

type ExplicitType struct {
	Name         string             `json:"name"`
	Requirements []Requirement      `json:"requirements"`
	Resources    v1.ResourceList    `json:"resources"`
	Overhead     Overhead           `json:"overhead"`
	VolumeLimits map[string]int     `json:"volumeAttachmentLimits,omitempty"`
	Offerings    []ExplicitOffering `json:"offerings"`
}

type Overhead struct {
	KubeReserved   v1.ResourceList `json:"kubeReserved,omitempty"`
	SystemReserved v1.ResourceList `json:"systemReserved,omitempty"`
}

type ExplicitOffering struct {
	Requirements        []Requirement   `json:"requirements"`
	Price               float64         `json:"price"`
	Available           bool            `json:"available"`
	ReservationCapacity int             `json:"reservationCapacity,omitempty"`
	CapacityOverride    v1.ResourceList `json:"capacityOverride,omitempty"`
	OverheadOverride    *Overhead       `json:"overheadOverride,omitempty"`
}

// Finish has the type say what its offerings say, as every provider does.
func (x *ExplicitType) Finish() {
	all := map[string][]string{}
	for _, o := range x.Offerings {
		for _, r := range o.Requirements {
			for _, v := range r.Values {
				if !contains(all[r.Key], v) {
					all[r.Key] = append(all[r.Key], v)
				}
			}
		}
	}
	for key, values := range all {
		x.Requirements = append(x.Requirements, Requirement{Key: key, Operator: "In", Values: values})
	}
	sort.Slice(x.Requirements, func(i, j int) bool { return x.Requirements[i].Key < x.Requirements[j].Key })
}

// ExplicitOf states what kwok derives from an entry of its format, but for what its offerings say; see Finish.
func ExplicitOf(t *Type) *ExplicitType {
	x := &ExplicitType{Name: t.Name, Resources: t.Capacity(),
		Overhead: Overhead{KubeReserved: v1.ResourceList{v1.ResourceCPU: resource.MustParse("100m"), v1.ResourceMemory: resource.MustParse("10Mi")}}}
	for key, values := range t.Values() {
		if key != Zone && key != CapacityType {
			x.Requirements = append(x.Requirements, Requirement{Key: key, Operator: "In", Values: values})
		}
	}
	for _, o := range t.Offerings {
		x.Offerings = append(x.Offerings, ExplicitOffering{Requirements: o.Requirements, Price: o.Price, Available: o.Available})
	}
	return x
}
