package scenarios

import (
	"context"
	"fmt"

	core "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	zoneKey      = core.LabelTopologyZone
	hostKey      = core.LabelHostname
	dedicatedKey = "scenarios.stowage.dev/dedicated"

	zoneA, zoneB, zoneC = "test-zone-a", "test-zone-b", "test-zone-c"
)

var zones = []string{zoneA, zoneB, zoneC}

// workload is a Deployment and what its pods ask for.
type workload struct {
	shape
	replicas int
	edits    []edit
}

// unitPods is how many pods one unit has.
const unitPods = 200

// unit is what one team runs: a bit of everything. Each of the units has a number, by which the names
// differ and the host ports. All that it asks for can be had at once, of volumes as well once
// createVolumes has made them.
func unit(number int) []workload {
	n := func(name string) string { return fmt.Sprintf("%s-%d", name, number) }
	var all []workload
	add := func(replicas int, s shape, edits ...edit) {
		s.name = n(s.name)
		all = append(all, workload{s, replicas, edits})
	}
	arm := map[string]string{core.LabelArchStable: "arm64"}

	add(31, shape{name: "web", cpu: "250m", memory: "512Mi"})
	// What is preferred.
	add(20, shape{name: "api", cpu: "500m", memory: "1Gi"}, prefersZone(zoneB), spread(hostKey, 1, n("api"), soft))
	add(16, shape{name: "soft", cpu: "250m", memory: "1Gi"}, prefersApart(hostKey, n("soft")), spread(zoneKey, 1, n("soft"), soft))
	// Spread. The machines for arm64 are not in all zones from the start, hence the least number of domains.
	add(24, shape{name: "zonal", cpu: "300m", memory: "256Mi"}, spread(zoneKey, 1, n("zonal"), hard))
	add(8, shape{name: "hosts", cpu: "400m", memory: "512Mi"}, spread(hostKey, 1, n("hosts"), hard))
	add(12, shape{name: "both", cpu: "350m", memory: "1Gi"}, spread(zoneKey, 2, n("both"), hard), spread(hostKey, 2, n("both"), hard))
	add(9, shape{name: "arm-zonal", cpu: "500m", memory: "1Gi", on: arm}, spread(zoneKey, 1, n("arm-zonal"), hard), minDomains(3))
	add(12, shape{name: "arm", cpu: "1", memory: "2Gi", on: arm})
	// Together and apart.
	add(10, shape{name: "together", cpu: "500m", memory: "512Mi"}, near(zoneKey, n("together")))
	add(6, shape{name: "crew", cpu: "400m", memory: "512Mi"}, near(hostKey, n("crew")))
	add(5, shape{name: "apart", cpu: "600m", memory: "1Gi"}, apart(hostKey, n("apart")))
	add(3, shape{name: "one-a-zone", cpu: "700m", memory: "2Gi"}, apart(zoneKey, n("one-a-zone")))
	add(6, shape{name: "noisy", cpu: "1", memory: "1Gi"})
	add(4, shape{name: "quiet", cpu: "500m", memory: "1Gi"}, apart(hostKey, n("noisy")))
	add(2, shape{name: "chief", cpu: "1500m", memory: "2Gi"})
	add(6, shape{name: "staff", cpu: "200m", memory: "512Mi"}, near(zoneKey, n("chief")))
	// A pool of their own, and ports.
	add(10, shape{name: "dedicated", cpu: "500m", memory: "2Gi", on: map[string]string{poolLabel: "dedicated"}}, tolerates(dedicatedKey))
	add(4, shape{name: "ports", cpu: "250m", memory: "256Mi"}, hostPort(int32(7000+number)))
	// Volumes: bound ones in each zone, and ones that are bound where the pod goes.
	for i := range zones {
		name := fmt.Sprintf("bound-%d", i)
		add(1, shape{name: name, cpu: "500m", memory: "1Gi"}, mounts(n(name)))
	}
	for i := range 3 {
		name := fmt.Sprintf("waits-%d", i)
		add(1, shape{name: name, cpu: "500m", memory: "1Gi"}, mounts(n(name)))
	}
	add(3, shape{name: "shares", cpu: "250m", memory: "512Mi"}, mounts(n("shares")))
	add(3, shape{name: "scratch", cpu: "250m", memory: "512Mi"}, mountsOwn("wait-ab"))
	return all
}

const (
	hard = core.DoNotSchedule
	soft = core.ScheduleAnyway
)

func selects(app string) *meta.LabelSelector {
	return &meta.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func spread(key string, skew int32, app string, action core.UnsatisfiableConstraintAction) edit {
	return func(s *core.PodSpec) {
		s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, core.TopologySpreadConstraint{
			TopologyKey: key, MaxSkew: skew, WhenUnsatisfiable: action, LabelSelector: selects(app),
		})
	}
}

// minDomains is of the spread before it.
func minDomains(count int32) edit {
	return func(s *core.PodSpec) {
		s.TopologySpreadConstraints[len(s.TopologySpreadConstraints)-1].MinDomains = &count
	}
}

func affinity(s *core.PodSpec) *core.Affinity {
	if s.Affinity == nil {
		s.Affinity = &core.Affinity{}
	}
	return s.Affinity
}

func term(key, app string) core.PodAffinityTerm {
	return core.PodAffinityTerm{TopologyKey: key, LabelSelector: selects(app)}
}

func near(key, app string) edit {
	return func(s *core.PodSpec) {
		affinity(s).PodAffinity = &core.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []core.PodAffinityTerm{term(key, app)}}
	}
}

func apart(key, app string) edit {
	return func(s *core.PodSpec) {
		affinity(s).PodAntiAffinity = &core.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []core.PodAffinityTerm{term(key, app)}}
	}
}

func prefersApart(key, app string) edit {
	return func(s *core.PodSpec) {
		affinity(s).PodAntiAffinity = &core.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []core.WeightedPodAffinityTerm{
				{Weight: 50, PodAffinityTerm: term(key, app)}}}
	}
}

func prefersZone(zone string) edit {
	return func(s *core.PodSpec) {
		affinity(s).NodeAffinity = &core.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []core.PreferredSchedulingTerm{{
				Weight: 50, Preference: core.NodeSelectorTerm{MatchExpressions: []core.NodeSelectorRequirement{
					{Key: zoneKey, Operator: core.NodeSelectorOpIn, Values: []string{zone}}}}}}}
	}
}

func tolerates(key string) edit {
	return func(s *core.PodSpec) {
		s.Tolerations = append(s.Tolerations, core.Toleration{Key: key, Operator: core.TolerationOpExists})
	}
}

func hostPort(port int32) edit {
	return func(s *core.PodSpec) {
		s.Containers[0].Ports = []core.ContainerPort{{ContainerPort: 80, HostPort: port}}
	}
}

func mounts(claim string) edit {
	return func(s *core.PodSpec) {
		s.Volumes = []core.Volume{{Name: "data", VolumeSource: core.VolumeSource{
			PersistentVolumeClaim: &core.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
	}
}

// mountsOwn gives each pod a claim of its own, which lives as long as the pod.
func mountsOwn(class string) edit {
	return func(s *core.PodSpec) {
		s.Volumes = []core.Volume{{Name: "data", VolumeSource: core.VolumeSource{
			Ephemeral: &core.EphemeralVolumeSource{VolumeClaimTemplate: &core.PersistentVolumeClaimTemplate{
				Spec: claimSpec(class)}}}}}
	}
}

// Classes of volumes that an administrator has made beforehand: no program of a storage vendor runs here.
// Their volumes are in the zones that the class allows, as many in each zone as there are claims.
var storageClasses = []struct {
	name  string
	mode  storage.VolumeBindingMode
	zones []string
}{
	{"at-once", storage.VolumeBindingImmediate, nil},
	{"wait-c", storage.VolumeBindingWaitForFirstConsumer, []string{zoneC}},
	{"wait-ab", storage.VolumeBindingWaitForFirstConsumer, []string{zoneA, zoneB}},
}

func (f *fleet) createStorageClasses(ctx context.Context) error {
	for _, c := range storageClasses {
		class := &storage.StorageClass{
			ObjectMeta: meta.ObjectMeta{Name: c.name}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &c.mode,
		}
		if c.zones != nil {
			class.AllowedTopologies = []core.TopologySelectorTerm{{
				MatchLabelExpressions: []core.TopologySelectorLabelRequirement{{Key: zoneKey, Values: c.zones}}}}
		}
		if _, err := f.Client().StorageV1().StorageClasses().Create(ctx, class, meta.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// createVolumes makes the claims and volumes of a unit. It returns the claims that are bound at once.
func (f *fleet) createVolumes(ctx context.Context, number int) (bound []string, err error) {
	n := func(name string, i int) string { return fmt.Sprintf("%s-%d-%d", name, i, number) }
	for i, zone := range zones {
		name := n("bound", i)
		bound = append(bound, name)
		if err = f.createVolume(ctx, name, "at-once", zone, name); err == nil {
			err = f.createClaim(ctx, name, "at-once")
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range 3 {
		name := n("waits", i)
		if err = f.createVolume(ctx, name, "wait-c", zoneC, ""); err == nil {
			err = f.createClaim(ctx, name, "wait-c")
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range 4 { // three for "scratch" and one for "shares", wherever they go
		for _, zone := range []string{zoneA, zoneB} {
			if err = f.createVolume(ctx, n(zone, i), "wait-ab", zone, ""); err != nil {
				return nil, err
			}
		}
	}
	return bound, f.createClaim(ctx, fmt.Sprintf("shares-%d", number), "wait-ab")
}

func claimSpec(class string) core.PersistentVolumeClaimSpec {
	return core.PersistentVolumeClaimSpec{
		StorageClassName: &class,
		AccessModes:      []core.PersistentVolumeAccessMode{core.ReadWriteMany},
		Resources: core.VolumeResourceRequirements{
			Requests: core.ResourceList{core.ResourceStorage: resource.MustParse("1Gi")}},
	}
}

func (f *fleet) createClaim(ctx context.Context, name, class string) error {
	_, err := f.Client().CoreV1().PersistentVolumeClaims("default").Create(ctx, &core.PersistentVolumeClaim{
		ObjectMeta: meta.ObjectMeta{Name: name}, Spec: claimSpec(class)}, meta.CreateOptions{})
	return err
}

// createVolume makes a volume in a zone, for one claim of namespace default or, with "", for any.
func (f *fleet) createVolume(ctx context.Context, name, class, zone, claim string) error {
	spec := core.PersistentVolumeSpec{
		StorageClassName:       class,
		AccessModes:            []core.PersistentVolumeAccessMode{core.ReadWriteMany},
		Capacity:               core.ResourceList{core.ResourceStorage: resource.MustParse("1Gi")},
		PersistentVolumeSource: core.PersistentVolumeSource{HostPath: &core.HostPathVolumeSource{Path: "/" + name}},
		NodeAffinity: &core.VolumeNodeAffinity{Required: &core.NodeSelector{NodeSelectorTerms: []core.NodeSelectorTerm{{
			MatchExpressions: []core.NodeSelectorRequirement{
				{Key: zoneKey, Operator: core.NodeSelectorOpIn, Values: []string{zone}}}}}}},
	}
	if claim != "" {
		spec.ClaimRef = &core.ObjectReference{Namespace: "default", Name: claim}
	}
	_, err := f.Client().CoreV1().PersistentVolumes().Create(ctx, &core.PersistentVolume{
		ObjectMeta: meta.ObjectMeta{Name: name}, Spec: spec}, meta.CreateOptions{})
	return err
}

// claimsBound is a check that each of the PersistentVolumeClaims is bound.
func (f *fleet) claimsBound(names []string) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, name := range names {
			claim, err := f.Client().CoreV1().PersistentVolumeClaims("default").Get(ctx, name, meta.GetOptions{})
			if err != nil {
				return err
			}
			if claim.Status.Phase != core.ClaimBound {
				return fmt.Errorf("%s is %s", name, claim.Status.Phase)
			}
		}
		return nil
	}
}
