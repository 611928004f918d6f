package chart

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"stowage.dev/tests/e2e/manifests"
)

// aVersion of Kubernetes stands for the cluster's where there is none.
var aVersion = []string{"--kube-version", "v1.36.0"}

// render is what the chart makes of values, in a namespace.
func render(t *testing.T, namespace, values string, more ...string) (*manifests.Set, error) {
	t.Helper()
	args := []string{"template", "any-name", Folder(), "--namespace", namespace, "--include-crds", "--values", "-"}
	args = append(args, aVersion...)
	text, err := Helm{Home: t.TempDir()}.Run(values, append(args, more...)...)
	if err != nil {
		return nil, err
	}
	return manifests.Parse("helm template", []byte(text))
}

// must is what a call returns that may not fail: must(os.ReadFile(name))(t).
func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func named(t *testing.T, set *manifests.Set) map[string]map[string]any {
	t.Helper()
	return must(set.ByName())(t)
}

// plain are the objects of manifests/ itself and of some of its folders.
func plain(t *testing.T, folders []string) map[string]map[string]any {
	t.Helper()
	set := must(manifests.Load(manifests.Folder()))(t)
	for _, folder := range folders {
		switch folder {
		case policy:
			continue
		case dashboard:
			set = set.And(boarded(t))
			continue
		}
		set = set.And(must(manifests.Load(filepath.Join(manifests.Folder(), folder)))(t))
	}
	objects := named(t, set)
	delete(objects, "Namespace stowage-system")   // helm's to make
	delete(objects, "KubeSchedulerConfiguration") // a file for kube-scheduler, not an object
	if !slices.Contains(folders, policy) {
		dropAddresses(objects["NetworkPolicy stowage-system/stowage"])
	}
	return objects
}

// dropAddresses takes `except` out of each ipBlock below the value.
func dropAddresses(value any) {
	switch value := value.(type) {
	case map[string]any:
		if block, ok := value["ipBlock"].(map[string]any); ok {
			delete(block, "except")
		}
		for _, child := range value {
			dropAddresses(child)
		}
	case []any:
		for _, child := range value {
			dropAddresses(child)
		}
	}
}

// boarded is the dashboard as Grafana's sidecar looks for it.
func boarded(t *testing.T) *manifests.Set {
	t.Helper()
	text := must(os.ReadFile(filepath.Join(manifests.Folder(), dashboard, "stowage.json")))(t)
	configMap := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{
			"name": "stowage-dashboard", "namespace": "stowage-system", "labels": map[string]any{"grafana_dashboard": "1"},
		},
		"data": map[string]any{"stowage.json": string(text)},
	}
	return must(manifests.Parse(dashboard, must(yaml.Marshal(configMap))(t)))(t)
}

// differ returns one line for each place at which the objects of the chart are not those of the plain manifests.
func differ(want, got map[string]map[string]any) []string {
	var lines []string
	for name, object := range want {
		if got[name] == nil {
			lines = append(lines, name+": is missing")
			continue
		}
		for _, line := range manifests.Differences(any(object), any(got[name])) {
			lines = append(lines, name+": "+line)
		}
	}
	for name := range got {
		if want[name] == nil {
			lines = append(lines, name+": is one more")
		}
	}
	slices.Sort(lines)
	return lines
}

// The second scheduler's Pods say of which configuration they are, which those of the plain manifests cannot.
func takeChecksum(t *testing.T, objects map[string]map[string]any) string {
	t.Helper()
	deployment := objects["Deployment stowage-scheduler/stowage-scheduler"]
	if deployment == nil {
		return ""
	}
	metadata := deployment["spec"].(map[string]any)["template"].(map[string]any)["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	sum, _ := annotations["checksum/configuration"].(string)
	if len(annotations) != 1 || len(sum) != 64 {
		t.Errorf("annotations of the second scheduler are %v", annotations)
	}
	delete(metadata, "annotations")
	return sum
}

func TestChartIsThePlainManifests(t *testing.T) {
	for _, row := range rows {
		t.Run(row.label, func(t *testing.T) {
			t.Parallel()
			got := named(t, must(render(t, "stowage-system", row.values))(t))
			takeChecksum(t, got)
			lines, want := differ(plain(t, row.folders), got), slices.Sorted(slices.Values(row.differences))
			if !slices.Equal(lines, want) {
				t.Errorf("beside the plain manifests the chart has\n%s\nnot\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// All that has a namespace is in the release's but the second scheduler, and all that names one names that.
func TestChartInAnotherNamespace(t *testing.T) {
	const all = likePlainScheduler + `
clusterAPIPools: true
nodeGroups: {provider: clusterapi}
shaping: {enabled: true}
featureGates: {PodDeletionCostManagement: true}
kwok: {enabled: true}
networkPolicy: {enabled: true, podCIDRs: [10.244.0.0/16]}
prometheus: {podMonitor: true, alerts: true}`
	in := func(namespace string) map[string]map[string]any {
		return named(t, must(render(t, namespace, all))(t))
	}
	text := must(json.Marshal(in("harbour-office")))(t)
	if strings.Contains(string(text), "stowage-system") {
		t.Errorf("stowage-system is left in %s", regexp.MustCompile(`.{60}stowage-system.{20}`).Find(text))
	}
	var back map[string]map[string]any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), "harbour-office", "stowage-system")), &back); err != nil {
		t.Fatal(err)
	}
	want := in("stowage-system")
	if takeChecksum(t, back) == takeChecksum(t, want) {
		t.Error("another configuration of the second scheduler takes no other Pods")
	}
	whole := map[string]map[string]any{} // as JSON alone has numbers
	if err := json.Unmarshal(must(json.Marshal(want))(t), &whole); err != nil {
		t.Fatal(err)
	}
	if lines := differ(whole, back); lines != nil {
		t.Errorf("in another namespace\n%s", strings.Join(lines, "\n"))
	}
}

func TestChartRefusesValues(t *testing.T) {
	for _, row := range refused {
		t.Run(row.label, func(t *testing.T) {
			t.Parallel()
			_, err := render(t, "stowage-system", row.values)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}

// The image of the second scheduler is of the cluster's version, without what its vendor appends.
func TestChartFollowsTheClustersVersion(t *testing.T) {
	set := must(render(t, "stowage-system", "placement: second-scheduler", "--kube-version", "v1.35.2-eks-3abc4f5"))(t)
	text := must(json.Marshal(named(t, set)["Deployment stowage-scheduler/stowage-scheduler"]))(t)
	if want := `"image":"registry.k8s.io/kube-scheduler:v1.35.2"`; !strings.Contains(string(text), want) {
		t.Errorf("there is no %s in %s", want, text)
	}
	if _, err := render(t, "stowage-system", "", "--kube-version", "v1.29.0"); err == nil ||
		!strings.Contains(err.Error(), "which is incompatible with Kubernetes v1.29.0") {
		t.Errorf("where webhooks have no matchConditions: %v", err)
	}
}

// leaves are the names of values, "image.tag", of which nothing is said deeper in the schema.
func leaves(path string, schema map[string]any, visit func(path string, schema map[string]any)) {
	visit(path, schema)
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		child := properties[name].(map[string]any)
		leaves(strings.TrimPrefix(path+"."+name, "."), child, visit)
	}
}

func read(t *testing.T, name string) map[string]any {
	t.Helper()
	text := must(os.ReadFile(filepath.Join(Folder(), name)))(t)
	value := map[string]any{}
	if err := yaml.UnmarshalStrict(text, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// at is what a tree has at a path.
func at(tree map[string]any, path string) (any, bool) {
	var value any = tree
	for _, name := range strings.Split(path, ".") {
		here, _ := value.(map[string]any)
		found := false
		if value, found = here[name]; !found {
			return nil, false
		}
	}
	return value, true
}

// Each value is described in the schema, has its default, is told of in README.md, and does what a row of this test says.
func TestChartTellsOfEachValue(t *testing.T) {
	defaults := read(t, "values.yaml")
	readme := must(os.ReadFile(filepath.Join(Folder(), "README.md")))(t)
	leaves("", read(t, "values.schema.json"), func(path string, schema map[string]any) {
		if strings.HasPrefix(path, "global") || strings.Contains(path, ".requests") || strings.Contains(path, ".limits") {
			return
		}
		if text, _ := schema["description"].(string); !strings.HasSuffix(text, ".") {
			t.Errorf("%q is not described", path)
		}
		if _, deeper := schema["properties"]; deeper && schema["additionalProperties"] != false {
			t.Errorf("%q takes anything", path)
		}
		if _, deeper := schema["properties"]; path == "" || deeper && !strings.HasSuffix(path, "resources") {
			return
		}
		if _, found := at(defaults, path); !found && !strings.HasPrefix(path, "featureGates.") {
			t.Errorf("%s has no default", path)
		}
		shown := path
		if strings.HasPrefix(path, "featureGates.") {
			shown = "featureGates"
		}
		if !strings.Contains(string(readme), "| `"+shown+"`") {
			t.Errorf("README.md does not tell of %s", path)
		}
		for _, row := range rows {
			values := map[string]any{}
			if err := yaml.UnmarshalStrict([]byte(row.values), &values); err != nil {
				t.Fatalf("%s: %v", row.label, err)
			}
			if _, found := at(values, path); found {
				return
			}
		}
		t.Errorf("no row of this test says what %s does", path)
	})
}

// Each folder of manifests/ can be had by values.
func TestChartHasEachFolder(t *testing.T) {
	for _, entry := range must(os.ReadDir(manifests.Folder()))(t) {
		if !entry.IsDir() || entry.Name() == "chart" || entry.Name() == "crds" {
			continue
		}
		used := false
		for _, row := range rows {
			used = used || slices.Contains(row.folders, entry.Name())
		}
		if !used {
			t.Errorf("the chart does not have manifests/%s", entry.Name())
		}
	}
}

// Others than this checkout can use it: it is packed with what its links point to.
func TestChartCanBePacked(t *testing.T) {
	helm := Helm{Home: t.TempDir()}
	for _, lint := range []string{"", "placement: second-scheduler\n"} {
		if said, err := helm.Run(lint, "lint", "--strict", Folder(), "--values", "-"); err != nil {
			t.Errorf("%v\n%s", err, said)
		}
	}
	if _, err := helm.Run("", "package", Folder(), "--destination", helm.Home); err != nil {
		t.Fatal(err)
	}
	packed, err := filepath.Glob(filepath.Join(helm.Home, "stowage-*.tgz"))
	if err != nil || len(packed) != 1 {
		t.Fatalf("packed are %v, %v", packed, err)
	}
	// Away from the checkout, to which a link that was packed as one would lead.
	from := func(path string) string {
		args := append([]string{"template", "stowage", path, "--include-crds", "--namespace", "stowage-system"}, aVersion...)
		return must(helm.Run("", args...))(t)
	}
	if from(packed[0]) != from(Folder()) {
		t.Error("what is packed is not the chart")
	}
	if crds := strings.Count(from(packed[0]), "kind: CustomResourceDefinition\n"); crds != count(t, "crds") {
		t.Errorf("there are %d definitions in it", crds)
	}
}

func count(t *testing.T, folder string) int {
	t.Helper()
	return len(must(filepath.Glob(filepath.Join(manifests.Folder(), folder, "*.yaml")))(t))
}

// The chart's version is the program's.
func TestChartVersion(t *testing.T) {
	text := must(os.ReadFile(filepath.Join(manifests.Folder(), "..", "CMakeLists.txt")))(t)
	version := regexp.MustCompile(`project\(stowage VERSION ([0-9.]+)`).FindSubmatch(text)
	if version == nil {
		t.Fatal("CMakeLists.txt states no version")
	}
	about := read(t, "Chart.yaml")
	if got := fmt.Sprint(about["version"], " ", about["appVersion"]); got != string(version[1])+" "+string(version[1]) {
		t.Errorf("the chart is %s, the program %s", got, version[1])
	}
}

// The program takes the flags that values become: with all of them it goes as far as to the cluster, of which there is none.
func TestChartHasFlagsOfTheProgram(t *testing.T) {
	binary := os.Getenv("STOWAGE_BINARY")
	if binary == "" {
		t.Fatal("STOWAGE_BINARY must name the stowage program")
	}
	for _, row := range rows {
		t.Run(row.label, func(t *testing.T) {
			t.Parallel()
			set := must(render(t, "stowage-system", row.values))(t)
			deployments := must(manifests.Of[apps.Deployment](set, "Deployment"))(t)
			for _, d := range deployments {
				if d.Name != "stowage" {
					continue
				}
				args := append(d.Spec.Template.Spec.Containers[0].Args, "--kubeconfig=/nowhere")
				said, err := exec.Command(binary, args...).CombinedOutput()
				const want = "stowage serve: kubeconfig: /nowhere: No such file or directory\n"
				if err == nil || string(said) != want {
					t.Errorf("stowage %s: %v\n%s", strings.Join(args, " "), err, said)
				}
			}
		})
	}
}

// The schema has each gate that the program has.
func TestChartKnowsAllGates(t *testing.T) {
	source := must(os.ReadFile(filepath.Join(manifests.Folder(), "..", "server", "option_value.c")))(t)
	var gates []string
	for _, found := range regexp.MustCompile(`\{"(\w+)", offsetof\(struct gates, `).FindAllSubmatch(source, -1) {
		gates = append(gates, string(found[1]))
	}
	slices.Sort(gates)
	schema, _ := at(read(t, "values.schema.json"), "properties.featureGates.properties")
	if known := slices.Sorted(maps.Keys(schema.(map[string]any))); len(gates) == 0 || !slices.Equal(known, gates) {
		t.Errorf("the schema has gates %v, the program %v", known, gates)
	}
}
