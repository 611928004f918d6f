#include "planner/groups/template.h"

#include <stdlib.h>

#include "kube/requirement.h"
#include "planner/bits.h"
#include "planner/groups/down/drain.h"
#include "planner/groups/ready.h"
#include "planner/pods/object_index.h"

struct making {
    struct group_model *m;
    const struct group_flags *flags;
    const struct group_objects *objects;
    struct arena *a;
    wall_ms now;
    const struct pod **bound; /* to the Nodes that templates are made of: by its symbol, then by their names */
    uint32_t bound_count;
};

/* --- the node --- */

static void set_label(struct making *x, struct sym_pairs *labels, sym key, sym value)
{
    for (uint32_t i = 0; i < labels->count; i++) {
        if (labels->items[i].key != key)
            continue;
        labels->items[i].value = value;
        return;
    }
    struct sym_pair *items = ARENA_ARRAY(x->a, struct sym_pair, (size_t)labels->count + 1);
    if (labels->count != 0)
        memcpy(items, labels->items, labels->count * sizeof(*items));
    items[labels->count] = (struct sym_pair){key, value};
    *labels = (struct sym_pairs){items, labels->count + 1};
}

/* A template of the file may lack the older names of its labels, which kubelets set. */
static void add_older_labels(struct making *x, struct sym_pairs *labels)
{
    static const char *const twins[][2] = {
        {"kubernetes.io/arch", "beta.kubernetes.io/arch"},
        {"kubernetes.io/os", "beta.kubernetes.io/os"},
        {"node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"},
        {"topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"},
        {"topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"},
    };
    for (size_t i = 0; i < COUNT_OF(twins); i++) {
        sym value = sym_pairs_get(*labels, sym_intern(x->objects->syms, span_of(twins[i][0])));
        if (value != SYM_NONE)
            set_label(x, labels, sym_intern(x->objects->syms, span_of(twins[i][1])), value);
    }
}

static struct taints lasting_taints(struct making *x, struct taints taints)
{
    struct taints out = {ARENA_ARRAY(x->a, struct taint, taints.count), 0};
    for (uint32_t i = 0; i < taints.count; i++)
        if (!taint_is_passing(x->flags, x->objects->syms, taints.items[i].key))
            out.items[out.count++] = taints.items[i];
    return out;
}

static struct node *make_node(struct making *x, const struct group *g, const struct node *of)
{
    struct symtab *syms = x->objects->syms;
    struct node *n = ARENA_NEW(x->a, struct node);
    meta_copy_object(n, of, sizeof(*n));
    n->meta.name = arena_printf(x->a, "template-node-for-%.*s", SPAN_ARG(g->spec->name));
    n->meta.uid = n->meta.name;
    n->provider_id = n->meta.name;
    n->meta.labels.items = ARENA_ARRAY(x->a, struct sym_pair, of->meta.labels.count);
    if (of->meta.labels.count != 0)
        memcpy(n->meta.labels.items, of->meta.labels.items, of->meta.labels.count * sizeof(struct sym_pair));
    set_label(x, &n->meta.labels, SYM_HOSTNAME, sym_intern(syms, n->meta.name));
    set_label(x, &n->meta.labels, sym_intern(syms, SPAN("cluster-autoscaler.kubernetes.io/template-node")), SYM_TRUE);
    n->taints = lasting_taints(x, of->taints);
    n->unschedulable = of->unschedulable && !x->flags->scale_from_unschedulable;
    return n;
}

/* --- its pods --- */

struct capacities {
    uint32_t pods, of;
};

static void add_pod(struct making *x, struct group_template *t, struct capacities *c, const struct pod *of, const void *object)
{
    struct pod *p = ARENA_NEW(x->a, struct pod);
    uint32_t count = t->pod_count;
    meta_copy_object(p, of, sizeof(*p));
    p->node = sym_intern(x->objects->syms, t->node->meta.name);
    p->meta.uid = arena_printf(x->a, "%.*s/%.*s/%.*s", SPAN_ARG(t->node->meta.name), SPAN_ARG(of->meta.ns),
                               SPAN_ARG(of->meta.name));
    p->phase = POD_RUNNING;
    ARENA_PUSH(x->a, t->pods_of, count, c->of, object);
    ARENA_PUSH(x->a, t->pods, t->pod_count, c->pods, p);
}

static int by_node_and_name(const void *a, const void *b)
{
    const struct pod *x = *(const struct pod *const *)a, *y = *(const struct pod *const *)b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    int order = span_cmp(x->meta.ns, y->meta.ns);
    return order != 0 ? order : span_cmp(x->meta.name, y->meta.name);
}

static bool is_of_node(const struct group_template *t)
{
    return t->origin == TEMPLATE_OF_NODE || t->origin == TEMPLATE_OF_ANY_NODE;
}

/* Of all pods of a cluster only those are of interest that stand on the Nodes that were chosen. */
static void find_bound(struct making *x)
{
    struct symtab *syms = x->objects->syms;
    uint64_t *asked = ARENA_ARRAY(x->a, uint64_t, bits_words(symtab_limit(syms)));
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < x->m->group_count; i++) {
        const struct group_template *t = &x->m->groups[i].template;
        sym name = is_of_node(t) ? sym_find(syms, t->of->meta.name) : SYM_NONE;
        if (name != SYM_NONE)
            bits_add(asked, name);
    }
    for (size_t i = 0; i < x->objects->pod_count; i++) {
        const struct pod *p = x->objects->pods[i];
        if (p->node != SYM_NONE && bits_has(asked, p->node) && !pod_is_terminal(p) && p->priority >= x->flags->expendable_cutoff)
            ARENA_PUSH(x->a, x->bound, x->bound_count, capacity, p);
    }
    if (x->bound_count != 0)
        qsort(x->bound, x->bound_count, sizeof(x->bound[0]), by_node_and_name);
}

static size_t first_bound(const struct making *x, sym node)
{
    size_t low = 0, high = x->bound_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (x->bound[mid]->node < node)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool controls(const struct daemon_set *d, const struct pod *p)
{
    const struct owner *o = meta_controller(&p->meta);
    return o != NULL && o->kind == SYM_KIND_DAEMON_SET && span_eq(o->name, d->meta.name) &&
           span_eq(p->meta.ns, d->meta.ns);
}

static bool runs(const struct making *x, const struct daemon_set *d, sym node)
{
    for (size_t i = first_bound(x, node); i < x->bound_count && x->bound[i]->node == node; i++)
        if (x->bound[i]->meta.deleted == 0 && controls(d, x->bound[i]))
            return true;
    return false;
}

static bool expression_holds(struct making *x, const struct expression *e, struct sym_pairs labels)
{
    if (e->op != OP_GT && e->op != OP_LT) {
        struct expression one = *e;
        return label_selector_matches(&(struct label_selector){.match_expressions = {&one, 1}}, labels);
    }
    sym value = sym_pairs_get(labels, e->key);
    struct requirement r = requirement_of(x->a, x->objects->syms, e);
    return value != SYM_NONE && requirement_has(&r, value, x->objects->syms);
}

/* No node that is still to come has a name that a DaemonSet could ask for. */
static bool term_holds(struct making *x, const struct node_term *t, struct sym_pairs labels)
{
    for (uint32_t i = 0; i < t->match_expressions.count; i++)
        if (!expression_holds(x, &t->match_expressions.items[i], labels))
            return false;
    return t->match_expressions.count != 0 && t->match_fields.count == 0;
}

static bool affinity_holds(struct making *x, const struct pod *p, struct sym_pairs labels)
{
    for (uint32_t i = 0; i < p->node_selector.count; i++)
        if (sym_pairs_get(labels, p->node_selector.items[i].key) != p->node_selector.items[i].value)
            return false;
    if (p->affinity == NULL || !p->affinity->has_required_node)
        return true;
    struct node_terms terms = p->affinity->required_node;
    bool any = false;
    for (uint32_t i = 0; i < terms.count && !any; i++)
        any = term_holds(x, &terms.items[i], labels);
    return any;
}

static bool tolerates(struct making *x, const struct pod *p, struct taints taints)
{
    for (uint32_t i = 0; i < taints.count; i++)
        if (taints.items[i].effect != TAINT_PREFER_NO_SCHEDULE &&
            !taint_tolerated(&taints.items[i], p->tolerations, x->objects->syms))
            return false;
    return true;
}

/* By the DaemonSet controller's rule. */
static bool should_run(struct making *x, const struct daemon_set *d, const struct node *n)
{
    return d->template.node == SYM_NONE && affinity_holds(x, &d->template, n->meta.labels) &&
           tolerates(x, &d->template, n->taints);
}

static void add_daemon_pod(struct making *x, struct group_template *t, struct capacities *c, const struct daemon_set *d)
{
    struct owner *o = ARENA_NEW(x->a, struct owner);
    struct pod p = d->template;
    *o = (struct owner){.api_version = SYM_API_APPS_V1, .kind = SYM_KIND_DAEMON_SET, .name = d->meta.name,
                        .controller = true};
    p.meta.name = arena_printf(x->a, "%.*s-pod", SPAN_ARG(d->meta.name));
    p.meta.ns = d->meta.ns;
    p.meta.owners = (struct owners){o, 1};
    add_pod(x, t, c, &p, d);
}

/* Of a node those that stand there and come with every node; `all`: DaemonSets' pods that it lacks, too, not only those
 * that push others aside. */
static void add_pods(struct making *x, struct group_template *t, sym node, bool all)
{
    struct capacities c = {0};
    for (size_t i = node == SYM_NONE ? x->bound_count : first_bound(x, node);
         i < x->bound_count && x->bound[i]->node == node; i++)
        if (x->bound[i]->meta.deleted == 0 && (drain_is_mirror(x->bound[i]) || drain_is_daemon(x->bound[i])))
            add_pod(x, t, &c, x->bound[i], x->bound[i]);
    for (size_t i = 0; i < x->objects->daemon_set_count; i++) {
        const struct daemon_set *d = x->objects->daemon_sets[i];
        bool lacks = node == SYM_NONE || !runs(x, d, node);
        if (lacks && (all || d->template.node_critical) && should_run(x, d, t->node))
            add_daemon_pod(x, t, &c, d);
    }
}

/* --- where it comes from --- */

static void from_node(struct making *x, struct group *g, const struct node *n)
{
    g->template.node = make_node(x, g, n);
    add_pods(x, &g->template, sym_intern(x->objects->syms, n->meta.name), x->flags->force_daemon_sets);
}

/* Who writes a template by hand says one of capacity and allocatable; the API server knows the one way round. */
static void from_file(struct making *x, struct group *g)
{
    struct node *n = make_node(x, g, g->template.of);
    if (n->allocatable.count == 0)
        n->allocatable = n->capacity;
    else if (n->capacity.count == 0)
        n->capacity = n->allocatable;
    add_older_labels(x, &n->meta.labels);
    g->template.node = n;
    add_pods(x, &g->template, SYM_NONE, true);
}

static void choose(struct making *x, struct group *g)
{
    struct group_template *t = &g->template;
    for (uint32_t i = 0; i < g->node_count && t->of == NULL; i++)
        if (group_node_steady(x->m, x->flags, x->objects->syms, g->nodes[i], x->now)) {
            t->origin = TEMPLATE_OF_NODE;
            t->of = g->nodes[i];
        }
    /* Only where there is none: a node that has just come without a label that those before had says that it is gone. */
    if (t->of == NULL && g->node_count == 0 && g->spec->learned != NULL && !x->flags->as_upstream) {
        t->origin = TEMPLATE_LEARNED;
        t->of = g->spec->learned;
    } else if (t->of == NULL && g->spec->template != NULL) {
        t->origin = TEMPLATE_OF_PROVIDER;
        t->of = g->spec->template;
    } else if (t->of == NULL && g->node_count != 0) {
        t->origin = TEMPLATE_OF_ANY_NODE;
        t->of = g->nodes[0];
    }
}

void group_templates(struct group_model *m, const struct group_flags *flags, const struct group_objects *objects,
                     wall_ms now, struct arena *a)
{
    struct making x = {.m = m, .flags = flags, .objects = objects, .a = a, .now = now};
    for (uint32_t i = 0; i < m->group_count; i++)
        choose(&x, &m->groups[i]);
    find_bound(&x);
    for (uint32_t i = 0; i < m->group_count; i++) {
        struct group *g = &m->groups[i];
        if (is_of_node(&g->template))
            from_node(&x, g, g->template.of);
        else if (g->template.of != NULL)
            from_file(&x, g);
    }
}

/* --- whether it is as it was --- */

static bool same_amounts(struct resources x, struct resources y)
{
    for (uint32_t i = 0; i < x.count && i < y.count; i++)
        if (x.items[i].name != y.items[i].name || x.items[i].value != y.items[i].value)
            return false;
    return x.count == y.count;
}

static bool same_labels(struct sym_pairs x, struct sym_pairs y)
{
    for (uint32_t i = 0; i < x.count && i < y.count; i++)
        if (x.items[i].key != y.items[i].key || x.items[i].value != y.items[i].value)
            return false;
    return x.count == y.count;
}

static bool same_taints(struct taints x, struct taints y)
{
    for (uint32_t i = 0; i < x.count && i < y.count; i++)
        if (x.items[i].key != y.items[i].key || x.items[i].value != y.items[i].value || x.items[i].effect != y.items[i].effect)
            return false;
    return x.count == y.count;
}

static bool same_conditions(struct conditions x, struct conditions y)
{
    for (uint32_t i = 0; i < x.count && i < y.count; i++)
        if (!span_eq(x.items[i].type, y.items[i].type) || x.items[i].status != y.items[i].status)
            return false;
    return x.count == y.count;
}

bool group_node_same(const struct node *x, const struct node *y)
{
    return span_eq(x->meta.name, y->meta.name) && x->unschedulable == y->unschedulable &&
           same_labels(x->meta.labels, y->meta.labels) && same_taints(x->taints, y->taints) &&
           same_amounts(x->capacity, y->capacity) && same_amounts(x->allocatable, y->allocatable) &&
           same_conditions(x->conditions, y->conditions);
}

bool group_template_same(const struct group_template *x, const struct group_template *y)
{
    if (x->node == NULL || y->node == NULL)
        return x->node == y->node;
    for (uint32_t i = 0; i < x->pod_count && i < y->pod_count; i++)
        if (!span_eq(x->pods[i]->meta.uid, y->pods[i]->meta.uid)) /* of the node and of whom it is a copy */
            return false;
    return x->pod_count == y->pod_count && group_node_same(x->node, y->node);
}

bool group_template_of_same(const struct group_template *x, const struct group_template *y)
{
    bool same = x->origin == y->origin && x->pod_count == y->pod_count && (!is_of_node(x) || x->of == y->of);
    for (uint32_t i = 0; same && i < x->pod_count; i++)
        same = x->pods_of[i] == y->pods_of[i];
    return same;
}
