package cluster

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	Zone         = v1.LabelTopologyZone
	Region       = v1.LabelTopologyRegion
	Arch         = v1.LabelArchStable
	OS           = v1.LabelOSStable
	InstanceType = v1.LabelInstanceTypeStable
	Hostname     = v1.LabelHostname
	CapacityType = "karpenter.sh/capacity-type"
	NodePoolKey  = "karpenter.sh/nodepool"
)

// Offering is one way to buy a type.
type Offering struct {
	Price               float64       `json:"Price"`
	Available           bool          `json:"Available"`
	ReservationCapacity int           `json:"ReservationCapacity,omitempty"`
	Requirements        []Requirement `json:"Requirements"`
}

// Values lists the offering's label values.
func (o *Offering) Values() Values {
	v := Values{}
	for _, r := range o.Requirements {
		if r.Operator == "In" {
			v[NormalKey(r.Key)] = r.Values
		}
	}
	return v
}

// Type is one entry of the kwok catalogue.
type Type struct {
	Name             string          `json:"name"`
	Architecture     string          `json:"architecture"`
	OperatingSystems []string        `json:"operatingSystems"`
	Resources        v1.ResourceList `json:"resources"`
	Offerings        []Offering      `json:"offerings"`
}

var sized = regexp.MustCompile(`^\w+\.(nano|micro|small|medium|large|\d*xlarge|metal)$`)

// Values lists the label values a node of this type can have, zone and capacity type included.
func (t *Type) Values() Values {
	cpu, mem := t.Resources[v1.ResourceCPU], t.Resources[v1.ResourceMemory]
	size := cpu.String()
	if m := sized.FindStringSubmatch(t.Name); m != nil {
		size = m[1]
	}
	family := t.Name[:1]
	if i := strings.IndexAny(t.Name, ".-"); i >= 0 {
		family = t.Name[:i]
	}
	v := Values{
		InstanceType: {t.Name}, Arch: {t.Architecture}, OS: t.OperatingSystems,
		"karpenter.kwok.sh/instance-size": {size}, "karpenter.kwok.sh/instance-family": {family},
		"karpenter.kwok.sh/instance-cpu": {cpu.String()}, "karpenter.kwok.sh/instance-memory": {mem.String()},
	}
	for i := range t.Offerings {
		for k, vals := range t.Offerings[i].Values() {
			for _, x := range vals {
				if !contains(v[k], x) {
					v[k] = append(v[k], x)
				}
			}
		}
	}
	return v
}

// Capacity is what the machine has, pods defaulted.
func (t *Type) Capacity() v1.ResourceList {
	c := t.Resources.DeepCopy()
	if _, ok := c[v1.ResourcePods]; !ok {
		c[v1.ResourcePods] = resource.MustParse("110")
	}
	return c
}

// Allocatable is capacity minus overhead (kwok: 100m cpu, 10Mi memory) minus huge pages.
func (t *Type) Allocatable() v1.ResourceList {
	a := t.Capacity()
	sub := func(k v1.ResourceName, q resource.Quantity) {
		if have, ok := a[k]; ok {
			have.Sub(q)
			a[k] = have
		}
	}
	sub(v1.ResourceCPU, resource.MustParse("100m"))
	sub(v1.ResourceMemory, resource.MustParse("10Mi"))
	for k, q := range t.Capacity() {
		if strings.HasPrefix(string(k), "hugepages-") {
			sub(v1.ResourceMemory, q)
		}
	}
	return a
}

// Catalogue is the list of types, with an index by name.
type Catalogue struct {
	Types  []*Type
	byName map[string]*Type
}

func (c *Catalogue) Get(name string) *Type { return c.byName[name] }

// LoadCatalogue reads the kwok provider's JSON format.
func LoadCatalogue(path string) (*Catalogue, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := &Catalogue{byName: map[string]*Type{}}
	if err := json.Unmarshal(b, &c.Types); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, t := range c.Types {
		if t.Name == "" || c.byName[t.Name] != nil {
			return nil, fmt.Errorf("%s: empty or repeated type name %q", path, t.Name)
		}
		for i, o := range t.Offerings {
			if v := o.Values(); len(v[Zone]) == 0 || len(v[CapacityType]) == 0 {
				return nil, fmt.Errorf("%s: %s: offering %d lacks zone or capacity type", path, t.Name, i)
			}
		}
		c.byName[t.Name] = t
	}
	return c, nil
}

// Compatible returns the type's offerings that satisfy the requirements: none when the type itself does not.
func (t *Type) Compatible(reqs []Requirement) []*Offering {
	base := t.Values()
	if !base.Satisfies(reqs) {
		return nil
	}
	var out []*Offering
	for i := range t.Offerings {
		if t.Offerings[i].Values().With(base).Satisfies(reqs) {
			out = append(out, &t.Offerings[i])
		}
	}
	return out
}

// Cheapest returns the lowest priced of the offerings.
func Cheapest(os []*Offering) *Offering {
	var best *Offering
	for _, o := range os {
		if best == nil || o.Price < best.Price {
			best = o
		}
	}
	return best
}

func contains(l []string, s string) bool {
	for _, x := range l {
		if x == s {
			return true
		}
	}
	return false
}
