// Package permissions compares what the roles of manifests/ grant with what was used of it, by the audit
// logs of the control planes on which it was tried.
package permissions

import (
	"fmt"
	"slices"
	"strings"

	rbac "k8s.io/api/rbac/v1"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/manifests"
)

// Grant is the least that could be left out of a rule: one verb on one resource or path, of one name where the
// rule has names, for those whom one binding names.
type Grant struct {
	Role      string // as ClusterRole NAME or Role NAMESPACE/NAME
	Namespace string // where it holds; "": everywhere
	Verb      string
	Group     string
	Resource  string // with /SUBRESOURCE; "": Path is what is granted
	Name      string // "": all
	Path      string
	Option    string // the folder of manifests that grants it to those who apply that, too; "": everybody has it

	users []string
}

// String names it as roles do: `Role stowage-system/stowage: get secrets "stowage-certs"`.
func (g Grant) String() string {
	what := g.Path
	if g.Resource != "" {
		resource, sub, _ := strings.Cut(g.Resource, "/")
		what = resource
		if g.Group != "" {
			what += "." + g.Group
		}
		if sub != "" {
			what += "/" + sub
		}
	}
	if g.Name != "" {
		what += fmt.Sprintf(" %q", g.Name)
	}
	return g.Role + ": " + g.Verb + " " + what
}

// allows tells whether the request needs it, or another that grants the same.
func (g Grant) allows(r controlplane.Request) bool {
	resource := r.Resource
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	switch {
	case g.Verb != r.Verb || !slices.Contains(g.users, r.User):
		return false
	case g.Resource == "" || resource == "":
		path, _, _ := strings.Cut(r.URI, "?")
		return g.Resource == resource && g.Path == path
	}
	return g.Group == r.Group && g.Resource == resource &&
		(g.Namespace == "" || g.Namespace == r.Namespace) && (g.Name == "" || g.Name == r.Name)
}

// covers tells whether whatever the other allows is allowed without it.
func (g Grant) covers(other Grant) bool {
	return g.Verb == other.Verb && g.Group == other.Group && g.Resource == other.Resource && g.Path == other.Path &&
		(g.Namespace == "" || g.Namespace == other.Namespace) && (g.Name == "" || g.Name == other.Name) &&
		!slices.ContainsFunc(other.users, func(user string) bool { return !slices.Contains(g.users, user) })
}

// replaces tells whether the other need not be granted where this one is: what an option grants is not there for
// those who leave the option out.
func (g Grant) replaces(other Grant) bool {
	return (g.Option == "" || g.Option == other.Option) && g.covers(other)
}

// role is a Role or a ClusterRole.
type role struct {
	name  string
	rules []rbac.PolicyRule
	bound bool
}

// binding is a RoleBinding or a ClusterRoleBinding, which has no namespace.
type binding struct {
	name, namespace string
	to              rbac.RoleRef
	subjects        []rbac.Subject
}

// Grants are those of the roles among the manifests, by the bindings among them. Refused is what grants more than
// it names, and a role that nobody has.
func Grants(set *manifests.Set) ([]Grant, error) {
	roles, err := rolesOf(set)
	if err != nil {
		return nil, err
	}
	bindings, err := bindingsOf(set)
	if err != nil {
		return nil, err
	}
	var all []Grant
	for _, b := range bindings {
		key := "ClusterRole " + b.to.Name
		if b.to.Kind == "Role" {
			key = "Role " + b.namespace + "/" + b.to.Name
		}
		r := roles[key]
		if r == nil {
			continue // one that every cluster has
		}
		r.bound = true
		users, err := usersOf(b)
		if err != nil {
			return nil, err
		}
		for i, rule := range r.rules {
			grants, err := grantsOf(rule)
			if err != nil {
				return nil, fmt.Errorf("%s: rules[%d]: %w", r.name, i, err)
			}
			for _, g := range grants {
				g.Role, g.Namespace, g.users = r.name, b.namespace, users
				all = append(all, g)
			}
		}
	}
	for _, r := range roles {
		if !r.bound {
			return nil, fmt.Errorf("%s: nobody has it", r.name)
		}
	}
	return all, nil
}

func rolesOf(set *manifests.Set) (map[string]*role, error) {
	roles := map[string]*role{}
	whole, err := manifests.Of[rbac.ClusterRole](set, "ClusterRole")
	if err != nil {
		return nil, err
	}
	for _, r := range whole {
		name := "ClusterRole " + r.Name
		if r.AggregationRule != nil {
			return nil, fmt.Errorf("%s: what it aggregates is not known", name)
		}
		roles[name] = &role{name: name, rules: r.Rules}
	}
	local, err := manifests.Of[rbac.Role](set, "Role")
	for _, r := range local {
		name := "Role " + r.Namespace + "/" + r.Name
		roles[name] = &role{name: name, rules: r.Rules}
	}
	return roles, err
}

func bindingsOf(set *manifests.Set) ([]binding, error) {
	var all []binding
	whole, err := manifests.Of[rbac.ClusterRoleBinding](set, "ClusterRoleBinding")
	if err != nil {
		return nil, err
	}
	for _, b := range whole {
		all = append(all, binding{"ClusterRoleBinding " + b.Name, "", b.RoleRef, b.Subjects})
	}
	local, err := manifests.Of[rbac.RoleBinding](set, "RoleBinding")
	for _, b := range local {
		all = append(all, binding{"RoleBinding " + b.Namespace + "/" + b.Name, b.Namespace, b.RoleRef, b.Subjects})
	}
	return all, err
}

func usersOf(b binding) ([]string, error) {
	var users []string
	for _, subject := range b.subjects {
		if subject.Kind != rbac.ServiceAccountKind {
			return nil, fmt.Errorf("%s: a subject is a %s, not a %s", b.name, subject.Kind, rbac.ServiceAccountKind)
		}
		users = append(users, "system:serviceaccount:"+subject.Namespace+":"+subject.Name)
	}
	return users, nil
}

func grantsOf(rule rbac.PolicyRule) ([]Grant, error) {
	for _, words := range [][]string{rule.Verbs, rule.APIGroups, rule.Resources, rule.ResourceNames, rule.NonResourceURLs} {
		for _, word := range words {
			if strings.Contains(word, "*") {
				return nil, fmt.Errorf("%q is more than anybody can use", word)
			}
		}
	}
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	var all []Grant
	for _, verb := range rule.Verbs {
		for _, path := range rule.NonResourceURLs {
			all = append(all, Grant{Verb: verb, Path: path})
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, name := range names {
					all = append(all, Grant{Verb: verb, Group: group, Resource: resource, Name: name})
				}
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("it grants nothing: %v", rule)
	}
	return all, nil
}
