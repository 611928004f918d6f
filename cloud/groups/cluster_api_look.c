/* What there is: scalable objects and Machines of the management cluster, Nodes of the other (or the same). */
#include <stdlib.h>

#include "cloud/groups/cluster_api_inner.h"

static const struct span gpu_label = SPAN_INIT("cluster-api/accelerator");

struct by_id { /* a Node or a Machine by the end of its providerID */
    struct span end;
    const void *object;
};

struct index {
    struct by_id *items; /* NULL: not asked for yet */
    uint32_t count;
};

struct found { /* an object that may be a group */
    struct span id;
    enum kind kind;
    const struct machine_group *group;
};

struct looking {
    struct capi *c;
    const struct snapshot *nodes, *machines; /* of the cluster that has the Nodes; that has the Machines */
    struct arena *a; /* of what is told */
    struct symtab *syms;
    struct found *found;
    uint32_t found_count, found_capacity;
    const struct cluster_machine **all; /* Machines by namespace and name */
    uint32_t all_count;
    struct index node_ids, machine_ids;
    struct capi_machine *told;
    uint32_t told_count, told_capacity;
    const struct found *now; /* the group being told, for asides */
};

/* ---- asides ---- */

static void aside(void *user, struct span text)
{
    struct looking *l = user;
    struct capi *c = l->c;
    struct span sentence = arena_printf(&c->look_arena, "%s %.*s/%.*s: %.*s", kind_info(l->now->kind)->name,
                                        SPAN_ARG(l->now->group->meta.ns), SPAN_ARG(l->now->group->meta.name), SPAN_ARG(text));
    ARENA_PUSH(&c->look_arena, c->asides, c->aside_count, c->aside_capacity, sentence);
}

/* ---- which objects are groups ---- */

static struct span cluster_of(const struct looking *l, struct span cluster, struct sym_pairs labels)
{
    sym key = sym_find(l->machines->syms, SPAN(CAPI_CLUSTER_LABEL));
    return cluster.ptr != NULL || key == SYM_NONE ? cluster : sym_text(l->machines->syms, sym_pairs_get(labels, key));
}

static bool has_labels(const struct looking *l, const struct machine_group *g, struct plain_labels wanted)
{
    for (uint32_t i = 0; i < wanted.count; i++) {
        sym key = sym_find(l->machines->syms, wanted.items[i].key);
        sym value = key != SYM_NONE ? sym_pairs_get(g->meta.labels, key) : SYM_NONE;
        if (value == SYM_NONE || !span_eq(sym_text(l->machines->syms, value), wanted.items[i].value))
            return false;
    }
    return true;
}

static bool is_selected(const struct looking *l, const struct machine_group *g)
{
    const struct cluster_api_options *o = &l->c->options;
    for (uint32_t i = 0; i < o->selector_count; i++) {
        const struct cluster_api_selector *s = &o->selectors[i];
        if ((s->ns.len == 0 || span_eq(s->ns, g->meta.ns)) &&
            (s->cluster.len == 0 || span_eq(s->cluster, cluster_of(l, g->cluster, g->meta.labels))) &&
            has_labels(l, g, s->labels))
            return true;
    }
    return o->selector_count == 0;
}

static const struct cluster_api_bounds *bounds_of(const struct capi *c, struct span id)
{
    for (uint32_t i = 0; i < c->options.bounds_count; i++)
        if (span_eq(c->options.bounds[i].group, id))
            return &c->options.bounds[i];
    return NULL;
}

static bool is_owned_by_deployment(const struct looking *l, const struct machine_group *g)
{
    for (uint32_t i = 0; i < g->meta.owners.count; i++)
        if (span_eq(sym_text(l->machines->syms, g->meta.owners.items[i].kind), SPAN("MachineDeployment")))
            return true;
    return false;
}

static void find_groups(struct looking *l, enum kind kind)
{
    const struct machine_group *g;
    struct snapshot_iter it = snapshot_each(l->machines, kind);
    while ((g = snapshot_next(&it)) != NULL) {
        if (!is_selected(l, g) || (kind == KIND_MACHINE_SET && is_owned_by_deployment(l, g)) || g->meta.deleted != 0 ||
            capi_annotation(g, l->machines->syms, SPAN("cluster.x-k8s.io/paused")).ptr != NULL)
            continue;
        struct found f = {arena_printf(&l->c->look_arena, "%s/%.*s/%.*s", kind_info(kind)->name, SPAN_ARG(g->meta.ns),
                                       SPAN_ARG(g->meta.name)),
                          kind, g};
        if (l->c->options.bounds_count == 0 || bounds_of(l->c, f.id) != NULL)
            ARENA_PUSH(&l->c->look_arena, l->found, l->found_count, l->found_capacity, f);
    }
}

static int by_found_id(const void *a, const void *b)
{
    return span_cmp(((const struct found *)a)->id, ((const struct found *)b)->id);
}

/* ---- Machines and Nodes ---- */

static int by_place(const void *a, const void *b)
{
    const struct cluster_machine *x = *(const struct cluster_machine *const *)a, *y = *(const struct cluster_machine *const *)b;
    int order = span_cmp(x->meta.ns, y->meta.ns);
    return order != 0 ? order : span_cmp(x->meta.name, y->meta.name);
}

static void list_machines(struct looking *l)
{
    const struct cluster_machine *m;
    uint32_t most = l->machines->state[KIND_MACHINE].count;
    struct snapshot_iter it = snapshot_each(l->machines, KIND_MACHINE);
    l->all = ARENA_ARRAY(&l->c->look_arena, const struct cluster_machine *, most);
    while (l->all_count < most && (m = snapshot_next(&it)) != NULL)
        l->all[l->all_count++] = m;
    if (l->all_count != 0)
        qsort(l->all, l->all_count, sizeof(struct cluster_machine *), by_place);
}

/* Who writes providerIDs of Machines and who those of Nodes do not always agree on what comes before the last /. */
static struct span id_end(struct span id)
{
    if (span_has_prefix(id, SPAN("azure://")) && span_contains(id, SPAN("virtualMachineScaleSets")))
        return id;
    size_t from = id.len;
    while (from > 0 && id.ptr[from - 1] != '/')
        from--;
    return (struct span){id.ptr + from, id.len - from};
}

static int by_end(const void *a, const void *b)
{
    return span_cmp(((const struct by_id *)a)->end, ((const struct by_id *)b)->end);
}

static void index_add(struct index *x, struct span id, const void *object)
{
    if (id.len != 0)
        x->items[x->count++] = (struct by_id){id_end(id), object};
}

static void index_sort(struct index *x)
{
    if (x->count != 0)
        qsort(x->items, x->count, sizeof(*x->items), by_end);
}

static const void *index_find(const struct index *x, struct span id)
{
    struct by_id key = {id_end(id), NULL};
    const struct by_id *found =
        id.len != 0 && x->count != 0 ? bsearch(&key, x->items, x->count, sizeof(key), by_end) : NULL;
    return found != NULL ? found->object : NULL;
}

static const struct node *node_of_id(struct looking *l, struct span id)
{
    struct index *x = &l->node_ids;
    const struct node *n;
    if (x->items == NULL) {
        uint32_t left = l->nodes->state[KIND_NODE].count;
        struct snapshot_iter it = snapshot_each(l->nodes, KIND_NODE);
        x->items = ARENA_ARRAY(&l->c->look_arena, struct by_id, left);
        for (; left > 0 && (n = snapshot_next(&it)) != NULL; left--)
            index_add(x, n->provider_id, n);
        index_sort(x);
    }
    return index_find(x, id);
}

static const struct cluster_machine *machine_of_id(struct looking *l, struct span id)
{
    struct index *x = &l->machine_ids;
    if (x->items == NULL) {
        x->items = ARENA_ARRAY(&l->c->look_arena, struct by_id, l->all_count);
        for (uint32_t i = 0; i < l->all_count; i++)
            index_add(x, l->all[i]->provider_id, l->all[i]);
        index_sort(x);
    }
    return index_find(x, id);
}

static const struct node *node_of(struct looking *l, const struct cluster_machine *m)
{
    const struct node *n = m->node.len != 0 ? snapshot_find(l->nodes, KIND_NODE, (struct span){NULL, 0}, m->node) : NULL;
    return n != NULL ? n : node_of_id(l, m->provider_id);
}

/* ---- a group ---- */

struct filling {
    struct looking *l;
    struct capi_group *group;
    struct node_group *out;
    uint32_t machine_capacity, node_capacity;
};

static bool is_marked_by_us(const struct looking *l, const struct cluster_machine *m)
{
    sym key = sym_find(l->machines->syms, SPAN(CAPI_DELETE_KEY));
    return key != SYM_NONE && span_eq(annotations_get(m->meta.annotations, key), SPAN(CAPI_MARK));
}

static void add_machine(struct filling *f, struct group_machine m, struct span name, const struct node *n, bool marked)
{
    struct looking *l = f->l;
    struct capi_machine told = {arena_dup(&l->c->look_arena, m.id), (uint32_t)(f->group - l->c->groups),
                                arena_dup(&l->c->look_arena, name), marked};
    ARENA_PUSH(l->a, f->out->machines.items, f->out->machines.count, f->machine_capacity, m);
    ARENA_PUSH(&l->c->look_arena, l->told, l->told_count, l->told_capacity, told);
    if (n != NULL) {
        struct span node = arena_dup(l->a, n->meta.name);
        ARENA_PUSH(l->a, f->out->nodes.items, f->out->nodes.count, f->node_capacity, node);
    }
}

static struct span machine_id(struct looking *l, const struct cluster_machine *m, const struct node *n, bool failed)
{
    if (n != NULL)
        return arena_dup(l->a, n->provider_id.len != 0 ? n->provider_id : n->meta.name);
    if (m->provider_id.len != 0)
        return arena_dup(l->a, m->provider_id);
    return arena_printf(l->a, "%s-machine-%.*s_%.*s", failed ? "failed" : m->meta.deleted != 0 ? "deleting" : "pending",
                        SPAN_ARG(m->meta.ns), SPAN_ARG(m->meta.name));
}

static struct group_error_info failure_of(struct looking *l, const struct cluster_machine *m)
{
    bool ends = m->meta.deleted != 0;
    struct span text = ends ? SPAN("Machine deletion failed") : SPAN("Machine provisioning failed");
    if (m->failure.len != 0)
        text = arena_printf(l->a, "%.*s: %.*s", SPAN_ARG(text), SPAN_ARG(m->failure));
    return (struct group_error_info){INSTANCE_OTHER_ERROR, ends ? SPAN("DeletingFailed") : SPAN("ProvisioningFailed"), text};
}

static void tell_machine(struct filling *f, const struct cluster_machine *m)
{
    struct looking *l = f->l;
    const struct node *n = node_of(l, m);
    struct capi_leaving *leaving = capi_leaving_find(l->c, m->meta.ns, m->meta.name);
    bool failed = span_eq(m->phase, SPAN("Failed")), ends = m->meta.deleted != 0;
    bool starts = m->node.len == 0;
    struct group_machine out = {.id = machine_id(l, m, n, failed)};
    if (leaving != NULL)
        leaving->seen = !ends;
    out.state = ends || leaving != NULL ? INSTANCE_DELETING : starts ? INSTANCE_CREATING : INSTANCE_RUNNING;
    if (failed && (ends || starts))
        out.error = failure_of(l, m);
    f->group->existing += !ends;
    f->group->settled += !ends && !failed && !starts;
    add_machine(f, out, m->meta.name, n, !ends && leaving == NULL && is_marked_by_us(l, m));
}

static void tell_selected(struct filling *f, const struct machine_group *g)
{
    struct looking *l = f->l;
    struct span cluster = cluster_of(l, g->cluster, g->meta.labels);
    uint32_t low = 0, high = l->all_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (span_cmp(l->all[mid]->meta.ns, g->meta.ns) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < l->all_count && span_eq(l->all[low]->meta.ns, g->meta.ns); low++) {
        const struct cluster_machine *m = l->all[low];
        if (label_selector_matches(&g->selector, m->meta.labels) &&
            (cluster.len == 0 || span_eq(cluster, cluster_of(l, m->cluster, m->meta.labels))))
            tell_machine(f, m);
    }
}

static void tell_listed(struct filling *f, const struct machine_group *g)
{
    struct looking *l = f->l;
    for (uint32_t i = 0; i < g->ids.count; i++) {
        const struct cluster_machine *m = machine_of_id(l, g->ids.items[i]);
        if (m != NULL && span_eq(m->meta.ns, g->meta.ns)) {
            tell_machine(f, m);
            continue;
        }
        const struct node *n = node_of_id(l, g->ids.items[i]);
        struct span id = n != NULL ? n->provider_id : g->ids.items[i];
        f->group->existing++;
        f->group->settled++;
        add_machine(f, (struct group_machine){.id = arena_dup(l->a, id), .state = INSTANCE_RUNNING}, (struct span){NULL, 0}, n,
                    false);
    }
}

/* Machines of an older revision are left: the MachineDeployment replaces them itself. */
static bool rolls_out(const struct looking *l, const struct found *f)
{
    static const struct span revision = SPAN_INIT("machinedeployment.clusters.x-k8s.io/revision");
    const struct symtab *syms = l->machines->syms;
    sym label = sym_find(syms, SPAN("cluster.x-k8s.io/deployment-name"));
    int64_t newest = 0, one;
    if (f->kind != KIND_MACHINE_DEPLOYMENT || label == SYM_NONE)
        return false;
    for (int pass = 0; pass < 2; pass++) {
        const struct machine_group *set;
        struct snapshot_iter it = snapshot_each(l->machines, KIND_MACHINE_SET);
        while ((set = snapshot_next(&it)) != NULL) {
            sym owner = sym_pairs_get(set->meta.labels, label);
            if (!span_eq(set->meta.ns, f->group->meta.ns) || owner == SYM_NONE ||
                !span_eq(sym_text(syms, owner), f->group->meta.name))
                continue;
            if (!span_int64(capi_annotation(set, syms, revision), &one))
                one = 0;
            if (pass == 0)
                newest = one > newest ? one : newest;
            else if (one != newest && (set->replicas > 0 || set->status_replicas > 0))
                return true;
        }
    }
    return false;
}

static int32_t target_of(struct capi *c, const struct found *f)
{
    for (struct capi_sized **at = &c->sized; *at != NULL; at = &(*at)->next) {
        struct capi_sized *s = *at;
        if (!span_eq(s->group, f->id))
            continue;
        if (f->group->meta.resource_version < s->version)
            return s->target;
        *at = s->next;
        free(s);
        break;
    }
    return f->group->replicas;
}

static bool read_bounds(struct looking *l, const struct found *f, int32_t *min, int32_t *max)
{
    const struct cluster_api_bounds *b = bounds_of(l->c, f->id);
    struct err err;
    if (b != NULL) {
        *min = b->min;
        *max = b->max;
    } else if (!capi_bounds(f->group, l->machines->syms, min, max, &err)) {
        aside(l, span_of(err.msg));
        return false;
    }
    return *max != 0;
}

static void tell_group(struct looking *l, const struct found *f, struct node_groups *out)
{
    struct capi *c = l->c;
    struct capi_group g = {.id = f->id, .kind = f->kind, .ns = arena_dup(&c->look_arena, f->group->meta.ns),
                           .name = arena_dup(&c->look_arena, f->group->meta.name)};
    struct node_group told = {.name = arena_dup(l->a, f->id), .has_target = true, .has_machines = true};
    struct capi_telling t = {l->a, l->machines->syms, l->syms, f->group, c->options.default_arch, aside, l};
    l->now = f;
    if (!read_bounds(l, f, &g.min, &g.max))
        return;
    if (!f->group->has_replicas) {
        aside(l, SPAN("spec.replicas: is missing; write the size that it has now"));
        return;
    }
    told.template = capi_template(&t);
    told.target = target_of(c, f);
    if (told.template == NULL && told.target == 0) {
        aside(l, SPAN("it has no machine and does not say what one would be; write the annotations "
                      "capacity.cluster-autoscaler.kubernetes.io/cpu and capacity.cluster-autoscaler.kubernetes.io/memory"));
        return;
    }
    capi_options(&t, &told.options);
    told.has_price = capi_price(&t, &told.price);
    told.min = g.min;
    told.max = g.max;
    told.rolls_out = rolls_out(l, f);
    struct filling fill = {.l = l, .group = &c->groups[c->group_count], .out = &told};
    c->groups[c->group_count++] = g;
    if (f->kind == KIND_MACHINE_POOL)
        tell_listed(&fill, f->group);
    else
        tell_selected(&fill, f->group);
    out->groups.items[out->groups.count++] = told;
}

/* ---- all ---- */

static int by_told_id(const void *a, const void *b)
{
    return span_cmp(((const struct capi_machine *)a)->id, ((const struct capi_machine *)b)->id);
}

static void forget_left(struct capi *c)
{
    struct capi_leaving *l, **at = &c->leaving;
    while ((l = *at) != NULL) {
        if (l->seen) {
            l->seen = false;
            at = &l->next;
        } else {
            *at = l->next;
            free(l);
        }
    }
}

static void tell_all(struct looking *l, struct node_groups *out)
{
    struct capi *c = l->c;
    for (enum kind k = KIND_MACHINE_DEPLOYMENT; k <= KIND_MACHINE_POOL; k++)
        find_groups(l, k);
    if (l->found_count != 0)
        qsort(l->found, l->found_count, sizeof(*l->found), by_found_id);
    list_machines(l);
    c->groups = ARENA_ARRAY(&c->look_arena, struct capi_group, l->found_count);
    out->groups.items = ARENA_ARRAY(l->a, struct node_group, l->found_count);
    for (uint32_t i = 0; i < l->found_count; i++)
        tell_group(l, &l->found[i], out);
    forget_left(c);
    if (l->told_count != 0)
        qsort(l->told, l->told_count, sizeof(*l->told), by_told_id);
    c->machines = l->told;
    c->machine_count = l->told_count;
    c->looked_at = true;
}

/* Whether the snapshot of another management cluster can be gone by. */
static bool is_known(const struct snapshot *s, struct err *err)
{
    for (const enum kind *k = cluster_api_kinds; *k != KIND_NONE; k++) {
        const struct kind_state *state = s != NULL ? &s->state[*k] : NULL;
        if (state != NULL && state->broken_since != 0)
            return err_set(err, ERR_RETRY, "the management cluster's API server is away: %s are not watched",
                           kind_info(*k)->plural);
        if (state == NULL || !state->synced)
            return err_set(err, ERR_RETRY, "the management cluster's %s are not listed yet", kind_info(*k)->plural);
    }
    return true;
}

bool capi_look(struct group_provider *p, const struct snapshot *s, struct arena *a, struct symtab *syms,
               struct node_groups *out, struct err *err)
{
    struct capi *c = capi_of(p);
    struct snapshot *taken = c->options.management != NULL ? (struct snapshot *)share_take(c->options.management) : NULL;
    *out = (struct node_groups){0};
    if (c->options.management != NULL && !is_known(taken, err)) {
        if (taken != NULL)
            shared_unref(&taken->shared);
        return false;
    }
    struct looking l = {.c = c, .nodes = s, .machines = taken != NULL ? taken : s, .a = a, .syms = syms};
    pthread_mutex_lock(&c->operations.lock);
    arena_clear(&c->look_arena);
    c->asides = NULL;
    c->aside_count = c->aside_capacity = c->group_count = 0;
    tell_all(&l, out);
    pthread_mutex_unlock(&c->operations.lock);
    out->gpu_label = sym_intern(syms, gpu_label);
    if (taken != NULL)
        shared_unref(&taken->shared);
    return true;
}
