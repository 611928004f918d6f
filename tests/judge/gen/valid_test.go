package gen

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	apiextvalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/apps"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/policy"
	policyvalidation "k8s.io/kubernetes/pkg/apis/policy/validation"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	schedulingvalidation "k8s.io/kubernetes/pkg/apis/scheduling/validation"
	"k8s.io/kubernetes/pkg/apis/storage"
	storagevalidation "k8s.io/kubernetes/pkg/apis/storage/validation"
	"sigs.k8s.io/yaml"

	"stowage.dev/tests/judge/cluster"
)

// validate runs the API server's own validation over a versioned object.
func validate(t *testing.T, o runtime.Object) field.ErrorList {
	to := func(into runtime.Object) runtime.Object {
		if err := legacyscheme.Scheme.Convert(o, into, nil); err != nil {
			t.Fatal(err)
		}
		return into
	}
	switch x := o.(type) {
	case *v1.Pod:
		p := to(&core.Pod{}).(*core.Pod)
		opts := podutil.GetValidationOptionsFromPodSpecAndMeta(&p.Spec, nil, &p.ObjectMeta, nil)
		opts.ResourceIsPod = true
		// A created pod has no node and no status yet; the spec is what admission sees.
		return corevalidation.ValidatePodCreate(p, opts)
	case *v1.Node:
		return corevalidation.ValidateNode(to(&core.Node{}).(*core.Node))
	case *v1.Namespace:
		return corevalidation.ValidateNamespace(to(&core.Namespace{}).(*core.Namespace))
	case *v1.PersistentVolume:
		pv := to(&core.PersistentVolume{}).(*core.PersistentVolume)
		return corevalidation.ValidatePersistentVolume(pv, corevalidation.ValidationOptionsForPersistentVolume(pv, nil))
	case *v1.PersistentVolumeClaim:
		c := to(&core.PersistentVolumeClaim{}).(*core.PersistentVolumeClaim)
		return corevalidation.ValidatePersistentVolumeClaim(c, corevalidation.ValidationOptionsForPersistentVolumeClaimCreate())
	case *appsv1.Deployment:
		return appsvalidation.ValidateDeployment(to(&apps.Deployment{}).(*apps.Deployment), corevalidation.PodValidationOptions{})
	case *appsv1.ReplicaSet:
		return appsvalidation.ValidateReplicaSet(to(&apps.ReplicaSet{}).(*apps.ReplicaSet), corevalidation.PodValidationOptions{})
	case *appsv1.StatefulSet:
		return appsvalidation.ValidateStatefulSet(to(&apps.StatefulSet{}).(*apps.StatefulSet), corevalidation.PodValidationOptions{})
	case *appsv1.DaemonSet:
		return appsvalidation.ValidateDaemonSet(to(&apps.DaemonSet{}).(*apps.DaemonSet), corevalidation.PodValidationOptions{})
	case *storagev1.StorageClass:
		return storagevalidation.ValidateStorageClass(to(&storage.StorageClass{}).(*storage.StorageClass))
	case *storagev1.CSINode:
		return storagevalidation.ValidateCSINode(to(&storage.CSINode{}).(*storage.CSINode))
	case *policyv1.PodDisruptionBudget:
		return policyvalidation.ValidatePodDisruptionBudget(to(&policy.PodDisruptionBudget{}).(*policy.PodDisruptionBudget), policyvalidation.PodDisruptionBudgetValidationOptions{})
	case *schedulingv1.PriorityClass:
		return schedulingvalidation.ValidatePriorityClass(to(&scheduling.PriorityClass{}).(*scheduling.PriorityClass))
	default:
		t.Fatalf("no validation for %T", x)
		return nil
	}
}

// crds are those that ship.
var crds = filepath.Join("..", "..", "..", "manifests", "crds")

// crd checks a custom object as the API server does: schema, unknown fields, CEL rules.
type crd struct {
	validate   apiextvalidation.SchemaValidator
	structural *schema.Structural
	cel        *cel.Validator
}

func loadCRD(t *testing.T, path string) *crd {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var d apiextv1.CustomResourceDefinition
	if err := yaml.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	var s apiextensions.JSONSchemaProps
	if err := apiextv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(d.Spec.Versions[0].Schema.OpenAPIV3Schema, &s, nil); err != nil {
		t.Fatal(err)
	}
	st, err := schema.NewStructural(&s)
	if err != nil {
		t.Fatal(err)
	}
	v, _, err := apiextvalidation.NewSchemaValidator(&s)
	if err != nil {
		t.Fatal(err)
	}
	return &crd{v, st, cel.NewValidator(st, true, celconfig.PerCallLimit)}
}

func (c *crd) check(o any) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	var u map[string]any
	if err := json.Unmarshal(b, &u); err != nil {
		return err
	}
	errs := apiextvalidation.ValidateCustomResource(nil, u, c.validate)
	more, _ := c.cel.Validate(context.Background(), nil, c.structural, u, nil, celconfig.RuntimeCELCostBudget)
	errs = append(errs, more...)
	if unknown := pruning.PruneWithOptions(u, c.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}); len(unknown) > 0 {
		errs = append(errs, field.Invalid(field.NewPath(""), unknown, "unknown fields"))
	}
	return errs.ToAggregate()
}

// Every object of every profile passes the API server's validation, and no two share a name.
func TestObjectsAreValid(t *testing.T) {
	poolCRD, claimCRD := loadCRD(t, filepath.Join(crds, "nodepools.yaml")), loadCRD(t, filepath.Join(crds, "nodeclaims.yaml"))
	for profile := range Profiles {
		for seed := uint64(1); seed <= 25; seed++ {
			size := Size{}
			if profile == "huge" {
				size = Size{Pods: 300, Nodes: 40, Types: 80}
			}
			g, err := New(profile, seed, size)
			if err != nil {
				t.Fatal(err)
			}
			names := map[string]bool{}
			for file, objs := range g.objs {
				for _, o := range objs {
					where := fmt.Sprintf("%s seed %d %s", profile, seed, file)
					switch x := o.(type) {
					case *cluster.NodePool:
						if err := poolCRD.check(x); err != nil {
							t.Errorf("%s: NodePool %s: %v", where, x.Name, err)
						}
					case *cluster.NodeClaim:
						if err := claimCRD.check(x); err != nil {
							t.Errorf("%s: NodeClaim %s: %v", where, x.Name, err)
						}
					case runtime.Object:
						if errs := validate(t, x); len(errs) > 0 {
							t.Errorf("%s: %T: %v", where, x, errs.ToAggregate())
						}
					}
					b, _ := json.Marshal(o)
					var m struct {
						Kind     string
						Metadata struct{ Namespace, Name string }
					}
					_ = json.Unmarshal(b, &m)
					k := m.Kind + "/" + m.Metadata.Namespace + "/" + m.Metadata.Name
					if names[k] {
						t.Errorf("%s: %s twice", where, k)
					}
					names[k] = true
				}
			}
			if profile == "tiny" && len(g.objs["pods"]) > 10 {
				t.Errorf("tiny seed %d has %d pods", seed, len(g.objs["pods"]))
			}
			if t.Failed() {
				return
			}
		}
	}
}

// The checks above do refuse: one broken object for each way of checking.
func TestValidatorsRefuse(t *testing.T) {
	g, err := New("constraints", 1, Size{})
	if err != nil {
		t.Fatal(err)
	}
	p := g.objs["pods"][0].(*v1.Pod).DeepCopy()
	p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: "a b", Operator: v1.TolerationOpExists})
	if len(validate(t, p)) == 0 {
		t.Error("a toleration key with a blank passes")
	}
	c := loadCRD(t, filepath.Join(crds, "nodepools.yaml"))
	for _, q := range []cluster.Requirement{in("kubernetes.io/hostname", "x"), {Key: "a", Operator: "Equals"}, {Key: "a", Operator: "Gt", Values: []string{"x"}}} {
		if c.check(g.pool("bad", q)) == nil {
			t.Errorf("NodePool with %v passes", q)
		}
	}
}
