#include "cloud/groups/cluster_api_shape.h"

#include <stdlib.h>

#include "base/safe_text.h"
#include "cloud/group_provider.h"
#include "kube/requirement.h"

#define CAPACITY "capacity.cluster-autoscaler.kubernetes.io/"
#define OPTION "cluster.x-k8s.io/autoscaling-options-"

enum { PODS_DEFAULT = 110 }; /* Kubernetes' own limit of a node, where maxPods says nothing */

struct span capi_annotation(const struct machine_group *g, const struct symtab *syms, struct span key)
{
    sym s = sym_find(syms, key);
    return s != SYM_NONE ? annotations_get(g->meta.annotations, s) : (struct span){0};
}

/* ---- bounds ---- */

static bool read_bound(const struct machine_group *g, const struct symtab *syms, struct span key, int32_t *out,
                       struct err *err)
{
    struct span text = capi_annotation(g, syms, key);
    int64_t n = 0;
    if (text.ptr != NULL && (!span_int64(text, &n) || n < 0 || n > GROUP_NODES_MAX))
        return err_set(err, ERR_INVALID, "annotation %.*s: \"%.*s\" is not a size; write a whole number from 0 to %d",
                       SPAN_ARG(key), SPAN_ARG(text), GROUP_NODES_MAX);
    *out = (int32_t)n;
    return true;
}

bool capi_bounds(const struct machine_group *g, const struct symtab *syms, int32_t *min_out, int32_t *max_out,
                 struct err *err)
{
    static const struct span min_key = SPAN_INIT("cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size");
    static const struct span max_key = SPAN_INIT(CAPI_MAX_KEY);
    if (!read_bound(g, syms, min_key, min_out, err) || !read_bound(g, syms, max_key, max_out, err))
        return false;
    if (*max_out < *min_out)
        return err_set(err, ERR_INVALID, "annotation %.*s: %d is less than the minimum, %d; raise it", SPAN_ARG(max_key),
                       *max_out, *min_out);
    return true;
}

/* ---- capacity ---- */

static struct span capacity_text(struct capi_telling *t, const char *name, struct span *key_out)
{
    *key_out = arena_printf(t->a, CAPACITY "%s", name);
    return capi_annotation(t->group, t->from, *key_out);
}

/* Of 0 nothing is said. */
static amount read_amount(struct capi_telling *t, const char *name, int32_t scale)
{
    struct span key, text = capacity_text(t, name, &key);
    amount value = 0;
    struct err err;
    if (text.len != 0 && (!quantity_parse(text, scale, &value, &err) || value < 0)) {
        t->aside(t->user, arena_printf(t->a, "annotation %.*s: \"%.*s\" is not a quantity; write it like \"4\" or \"16Gi\"",
                                       SPAN_ARG(key), SPAN_ARG(safe_value(t->a, text))));
        return 0;
    }
    return value;
}

static amount read_whole(struct capi_telling *t, const char *name)
{
    struct span key, text = capacity_text(t, name, &key);
    int64_t value = 0;
    if (text.len != 0 && (!span_int64(text, &value) || value < 0)) {
        t->aside(t->user, arena_printf(t->a, "annotation %.*s: \"%.*s\" is not a whole number", SPAN_ARG(key),
                                       SPAN_ARG(safe_value(t->a, text))));
        return 0;
    }
    return value;
}

static void set_amount(struct capi_telling *t, struct resources *r, sym name, amount value)
{
    if (value != 0)
        *resources_at(t->a, r, name) = value;
}

static struct resources read_capacity(struct capi_telling *t)
{
    struct resources r = {0};
    struct span key, type = capacity_text(t, "gpu-type", &key);
    amount pods = read_whole(t, "maxPods"), gpus = read_whole(t, "gpu-count");
    set_amount(t, &r, SYM_CPU, read_amount(t, "cpu", 1000));
    set_amount(t, &r, SYM_MEMORY, read_amount(t, "memory", 1));
    set_amount(t, &r, SYM_EPHEMERAL_STORAGE, read_amount(t, "ephemeral-disk", 1));
    if (type.len != 0)
        set_amount(t, &r, sym_intern(t->to, type), gpus);
    set_amount(t, &r, SYM_PODS, pods != 0 ? pods : PODS_DEFAULT);
    return r;
}

/* ---- labels ---- */

struct label_list {
    struct sym_pair *items;
    uint32_t count, capacity;
};

static void set_label(struct capi_telling *t, struct label_list *l, struct span key, struct span value)
{
    struct sym_pair pair = {sym_intern(t->to, key), sym_intern(t->to, value)};
    for (uint32_t i = 0; i < l->count; i++)
        if (l->items[i].key == pair.key) {
            l->items[i] = pair;
            return;
        }
    ARENA_PUSH(t->a, l->items, l->count, l->capacity, pair);
}

/* Cluster API hands on labels of these domains from Machines to their Nodes. */
static bool reaches_nodes(struct span key)
{
    struct span name;
    struct span domain = span_cut(key, '/', &name);
    return span_eq(domain, SPAN("node-role.kubernetes.io")) || span_eq(domain, SPAN("node-restriction.kubernetes.io")) ||
           span_has_suffix(domain, SPAN(".node-restriction.kubernetes.io")) ||
           span_eq(domain, SPAN("node.cluster.x-k8s.io")) || span_has_suffix(domain, SPAN(".node.cluster.x-k8s.io"));
}

struct sym_pairs capi_node_labels(struct capi_telling *t)
{
    struct label_list l = {0};
    struct span key, rest = capacity_text(t, "labels", &key), value;
    set_label(t, &l, wellknown_text[SYM_ARCH - 1], t->arch);
    set_label(t, &l, wellknown_text[SYM_OS - 1], SPAN("linux"));
    for (uint32_t i = 0; i < t->group->machine_labels.count; i++) {
        const struct sym_pair *p = &t->group->machine_labels.items[i];
        if (reaches_nodes(sym_text(t->from, p->key)))
            set_label(t, &l, sym_text(t->from, p->key), sym_text(t->from, p->value));
    }
    while (rest.ptr != NULL && rest.len != 0) {
        struct span one = span_cut(rest, ',', &rest), name = span_cut(one, '=', &value);
        if (value.ptr != NULL && qualified_name_valid(name))
            set_label(t, &l, name, value);
        else
            t->aside(t->user, arena_printf(t->a, "annotation %.*s: \"%.*s\" is not key=value", SPAN_ARG(key),
                                           SPAN_ARG(safe_value(t->a, one))));
    }
    return (struct sym_pairs){l.items, l.count};
}

/* ---- taints ---- */

struct taint_list {
    struct taint *items;
    uint32_t count, capacity;
};

static void set_taint(struct capi_telling *t, struct taint_list *l, struct taint taint)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->items[i].key == taint.key && l->items[i].effect == taint.effect) {
            l->items[i] = taint;
            return;
        }
    ARENA_PUSH(t->a, l->items, l->count, l->capacity, taint);
}

/* "key=value:Effect", "key:Effect". */
static bool read_taint(struct capi_telling *t, struct span one, struct taint *out)
{
    struct span effect, value, more;
    struct span key = span_cut(span_cut(one, ':', &effect), '=', &value);
    if (!qualified_name_valid(key) || (value.ptr != NULL && !label_value_valid(value)) || effect.ptr == NULL ||
        span_cut(effect, ':', &more).len != effect.len)
        return false;
    *out = (struct taint){.key = sym_intern(t->to, key), .value = value.len != 0 ? sym_intern(t->to, value) : SYM_NONE};
    for (int e = TAINT_NO_SCHEDULE; e <= TAINT_NO_EXECUTE; e++)
        if (span_eq(effect, span_of(taint_effect_name((enum taint_effect)e))))
            out->effect = (enum taint_effect)e;
    return out->effect != TAINT_NONE;
}

static struct taints read_taints(struct capi_telling *t)
{
    struct taint_list l = {0};
    struct span key, rest = capacity_text(t, "taints", &key);
    for (uint32_t i = 0; i < t->group->taints.count; i++) {
        struct taint taint = t->group->taints.items[i];
        taint.key = sym_intern(t->to, sym_text(t->from, taint.key));
        if (taint.value != SYM_NONE)
            taint.value = sym_intern(t->to, sym_text(t->from, taint.value));
        taint.added = 0;
        set_taint(t, &l, taint);
    }
    while (rest.ptr != NULL && rest.len != 0) {
        struct span one = span_cut(rest, ',', &rest);
        struct taint taint;
        if (read_taint(t, one, &taint))
            set_taint(t, &l, taint);
        else
            t->aside(t->user, arena_printf(t->a, "annotation %.*s: \"%.*s\" is not key=value:Effect", SPAN_ARG(key),
                                           SPAN_ARG(safe_value(t->a, one))));
    }
    return (struct taints){l.items, l.count};
}

struct node *capi_template(struct capi_telling *t)
{
    struct node *n = ARENA_NEW(t->a, struct node);
    n->capacity = read_capacity(t);
    if (resources_get(n->capacity, SYM_CPU) == 0 || resources_get(n->capacity, SYM_MEMORY) == 0)
        return NULL;
    n->allocatable = resources_dup(t->a, n->capacity);
    amount *cpu = resources_at(t->a, &n->allocatable, SYM_CPU);
    *cpu = *cpu > GROUP_KUBE_PROXY_MILLICPU ? *cpu - GROUP_KUBE_PROXY_MILLICPU : 0;
    n->meta.labels = capi_node_labels(t);
    n->taints = read_taints(t);
    return n;
}

/* ---- price ---- */

bool capi_price(struct capi_telling *t, double *out)
{
    struct span text = capi_annotation(t->group, t->from, SPAN(GROUP_PRICE_KEY));
    if (text.ptr == NULL)
        return false;
    if (node_group_price(text, out))
        return true;
    t->aside(t->user, arena_printf(t->a, "annotation " GROUP_PRICE_KEY ": \"%.*s\" is no price; write dollars an hour, like 0.0932",
                                   SPAN_ARG(safe_value(t->a, text))));
    return false;
}

/* ---- options ---- */

static struct span lower(struct arena *a, struct span text)
{
    char *out = arena_alloc(a, text.len + 1);
    for (size_t i = 0; i < text.len; i++)
        out[i] = text.ptr[i] >= 'A' && text.ptr[i] <= 'Z' ? (char)(text.ptr[i] - 'A' + 'a') : text.ptr[i];
    return (struct span){out, text.len};
}

static bool read_number(struct arena *a, struct span text, double *out)
{
    char *end;
    const char *cstr = arena_cstr(a, text);
    double v = strtod(cstr, &end);
    if (end != cstr + text.len || !(v >= 0 && v <= 1e9))
        return false;
    *out = v;
    return true;
}

static bool read_duration(struct span text, span_ms *out)
{
    span_ms v;
    if (!duration_parse(text, &v) || v < 0)
        return false;
    *out = v;
    return true;
}

static bool read_bool(struct span text, bool *out)
{
    *out = span_eq(text, SPAN("true")) || span_eq(text, SPAN("1")) || span_eq(text, SPAN("t"));
    return *out || span_eq(text, SPAN("false")) || span_eq(text, SPAN("0")) || span_eq(text, SPAN("f"));
}

static bool read_option(struct arena *a, struct span name, struct span text, struct group_options *o)
{
    struct {
        const char *name;
        double *number;
        span_ms *length;
        bool *truth;
        bool *has;
    } rows[] = {
        {"scaledownutilizationthreshold", &o->of.utilization_threshold, NULL, NULL, &o->has_utilization_threshold},
        {"scaledowngpuutilizationthreshold", &o->of.gpu_utilization_threshold, NULL, NULL, &o->has_gpu_utilization_threshold},
        {"scaledownunneededtime", NULL, &o->of.unneeded_time, NULL, &o->has_unneeded_time},
        {"scaledownunreadytime", NULL, &o->of.unready_time, NULL, &o->has_unready_time},
        {"maxnodeprovisiontime", NULL, &o->of.provision_time, NULL, &o->has_provision_time},
        {"maxnodestartuptime", NULL, &o->of.startup_time, NULL, &o->has_startup_time},
        {"ignoredaemonsetsutilization", NULL, NULL, &o->of.ignore_daemon_sets, &o->has_ignore_daemon_sets},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (!span_eq(name, span_of(rows[i].name)))
            continue;
        bool ok = rows[i].number != NULL   ? read_number(a, text, rows[i].number)
                  : rows[i].length != NULL ? read_duration(text, rows[i].length)
                                           : read_bool(text, rows[i].truth);
        *rows[i].has |= ok;
        return ok;
    }
    return true; /* an option of a newer version */
}

void capi_options(struct capi_telling *t, struct group_options *out)
{
    struct span prefix = SPAN(OPTION);
    for (uint32_t i = 0; i < t->group->meta.annotations.count; i++) {
        const struct annotation *of = &t->group->meta.annotations.items[i];
        struct span key = sym_text(t->from, of->key);
        if (!span_has_prefix(key, prefix) || of->value.len == 0)
            continue;
        struct span name = {key.ptr + prefix.len, key.len - prefix.len};
        if (!read_option(t->a, name, lower(t->a, of->value), out))
            t->aside(t->user, arena_printf(t->a, "annotation %.*s: \"%.*s\" cannot be read, and the flag holds", SPAN_ARG(key),
                                           SPAN_ARG(safe_value(t->a, of->value))));
    }
}
