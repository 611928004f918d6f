package karpenter

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	kwokoptions "sigs.k8s.io/karpenter/kwok/options"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	provisioning "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// The catalogue file: kwok's JSON array, or the superset of it that `stowage plan --instance-types` takes.
type catalogueFile struct {
	ReservationIDLabel      string            `json:"reservationIDLabel"`
	WellKnownLabels         []string          `json:"wellKnownLabels"`
	UnsupportedProvisioners []string          `json:"unsupportedProvisioners"`
	UnsupportedTopologyKeys []string          `json:"unsupportedTopologyKeys"`
	RepairPolicies          []repairPolicy    `json:"repairPolicies"`
	InstanceTypes           []json.RawMessage `json:"instanceTypes"`
}

type repairPolicy struct {
	ConditionType          corev1.NodeConditionType   `json:"conditionType"`
	ConditionStatus        corev1.ConditionStatus     `json:"conditionStatus"`
	ReasonRegex            string                     `json:"reasonRegex"`
	TolerationDuration     metav1.Duration            `json:"tolerationDuration"`
	TerminationGracePeriod *metav1.Duration           `json:"terminationGracePeriod"`
	Priority               int                        `json:"priority"`
	Action                 cloudprovider.RepairAction `json:"action"`
}

func (p repairPolicy) typed() cloudprovider.RepairPolicy {
	t := cloudprovider.RepairPolicy{ConditionType: p.ConditionType, ConditionStatus: p.ConditionStatus, ReasonRegex: p.ReasonRegex,
		TolerationDuration: p.TolerationDuration.Duration, Priority: p.Priority, Action: p.Action}
	if p.TerminationGracePeriod != nil {
		t.TerminationGracePeriod = &p.TerminationGracePeriod.Duration
	}
	return t
}

type typeEntry struct {
	Name         string                                    `json:"name"`
	NodePools    []string                                  `json:"nodePools"`
	Requirements []v1.NodeSelectorRequirementWithMinValues `json:"requirements"`
	Resources    corev1.ResourceList                       `json:"resources"`
	Overhead     *overheadEntry                            `json:"overhead"`
	VolumeLimits map[string]int                            `json:"volumeAttachmentLimits"`
	Offerings    []offeringEntry                           `json:"offerings"`
}

type offeringEntry struct {
	Price               float64                                   `json:"price"`
	Available           bool                                      `json:"available"`
	ReservationCapacity int                                       `json:"reservationCapacity"`
	Requirements        []v1.NodeSelectorRequirementWithMinValues `json:"requirements"`
	CapacityOverride    corev1.ResourceList                       `json:"capacityOverride"`
	OverheadOverride    *overheadEntry                            `json:"overheadOverride"`
}

type overheadEntry struct {
	KubeReserved      corev1.ResourceList `json:"kubeReserved"`
	SystemReserved    corev1.ResourceList `json:"systemReserved"`
	EvictionThreshold corev1.ResourceList `json:"evictionThreshold"`
}

func (o *overheadEntry) typed() *cloudprovider.InstanceTypeOverhead {
	if o == nil {
		return nil
	}
	return &cloudprovider.InstanceTypeOverhead{KubeReserved: o.KubeReserved, SystemReserved: o.SystemReserved, EvictionThreshold: o.EvictionThreshold}
}

// Catalogue is what a provider offers: to every pool, or to one pool only.
type Catalogue struct {
	Entries int // of the file
	all     []*cloudprovider.InstanceType
	forPool map[string][]*cloudprovider.InstanceType
	repair  []cloudprovider.RepairPolicy
}

func (c *Catalogue) of(pool string) []*cloudprovider.InstanceType {
	if own := c.forPool[pool]; len(own) > 0 {
		return append(append([]*cloudprovider.InstanceType{}, c.all...), own...)
	}
	return c.all
}

// wellKnown guards Karpenter's package variables for well-known labels and the reservation label, into which a
// catalogue's are put: a process must not mix catalogues that differ in them.
var wellKnown sync.RWMutex

// ReadCatalogue reads a catalogue file; without a path it is kwok's own.
func ReadCatalogue(ctx context.Context, path string) (*Catalogue, error) {
	wellKnown.Lock()
	defer wellKnown.Unlock()
	if path == "" {
		types, err := kwok.ConstructInstanceTypes(kwokoptions.ToContext(ctx, &kwokoptions.Options{}))
		return &Catalogue{all: types, Entries: len(types)}, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file catalogueFile
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '[' {
		err = json.Unmarshal(data, &file.InstanceTypes)
	} else {
		err = unmarshalStrict(data, &file)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if file.ReservationIDLabel != "" { // else it stays what another catalogue of this process says, which is nothing to this one
		cloudprovider.ReservationIDLabel = file.ReservationIDLabel
		cloudprovider.ReservedCapacityLabels.Insert(file.ReservationIDLabel)
		v1.WellKnownLabels.Insert(file.ReservationIDLabel)
	}
	v1.WellKnownLabels.Insert(file.WellKnownLabels...)
	provisioning.UnsupportedProvisioners.Insert(file.UnsupportedProvisioners...)
	provisioning.UnsupportedTopologyKeys.Insert(file.UnsupportedTopologyKeys...)

	c := &Catalogue{forPool: map[string][]*cloudprovider.InstanceType{}, Entries: len(file.InstanceTypes)}
	for _, p := range file.RepairPolicies {
		c.repair = append(c.repair, p.typed())
	}
	for i, raw := range file.InstanceTypes {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(raw, &fields); err != nil {
			return nil, fmt.Errorf("%s: [%d]: %w", path, i, err)
		}
		var it *cloudprovider.InstanceType
		var pools []string
		if _, explicit := fields["requirements"]; explicit {
			it, pools, err = explicitType(raw)
		} else {
			it, err = kwokType(ctx, raw)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: [%d]: %w", path, i, err)
		}
		if pools == nil {
			c.all = append(c.all, it)
		}
		for _, p := range pools {
			c.forPool[p] = append(c.forPool[p], it)
		}
	}
	return c, nil
}

func explicitType(raw []byte) (*cloudprovider.InstanceType, []string, error) {
	var e typeEntry
	if err := unmarshalStrict(raw, &e); err != nil {
		return nil, nil, err
	}
	it := &cloudprovider.InstanceType{
		Name:         e.Name,
		Requirements: scheduling.NewNodeSelectorRequirementsWithMinValues(e.Requirements...),
		Capacity:     e.Resources,
		Overhead:     e.Overhead.typed(),

		VolumeAttachmentLimits: e.VolumeLimits,
	}
	if it.Overhead == nil {
		it.Overhead = &cloudprovider.InstanceTypeOverhead{}
	}
	for _, o := range e.Offerings {
		it.Offerings = append(it.Offerings, &cloudprovider.Offering{
			Requirements:        scheduling.NewNodeSelectorRequirementsWithMinValues(o.Requirements...),
			Price:               o.Price,
			Available:           o.Available,
			ReservationCapacity: o.ReservationCapacity,
			CapacityOverride:    o.CapacityOverride,
			OverheadOverride:    o.OverheadOverride.typed(),
		})
	}
	return it, e.NodePools, nil
}

// kwokType lets Karpenter's own kwok provider read one plain entry.
func kwokType(ctx context.Context, raw []byte) (*cloudprovider.InstanceType, error) {
	f, err := os.CreateTemp("", "kwok-type-*.json")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	if _, err := fmt.Fprintf(f, "[%s]", raw); err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	types, err := kwok.ConstructInstanceTypes(kwokoptions.ToContext(ctx, &kwokoptions.Options{InstanceTypesFilePath: f.Name()}))
	if err != nil {
		return nil, err
	}
	return types[0], nil
}

func unmarshalStrict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
