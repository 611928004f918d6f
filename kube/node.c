#include "kube/node.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "kube/pod.h"

struct span node_class_label(struct arena *a, const struct node_class_ref *ref)
{
    struct span label = arena_printf(a, "%.*s/%.*s", SPAN_ARG(ref->group), SPAN_ARG(ref->kind));
    char *lower = arena_alloc(a, label.len + 1);
    for (size_t i = 0; i < label.len; i++)
        lower[i] = i > ref->group.len ? (char)tolower((unsigned char)label.ptr[i]) : label.ptr[i];
    return (struct span){lower, label.len};
}

/* Digits, and perhaps a point with digits behind it. */
static bool read_number(struct span text, double *out)
{
    enum { LONGEST = 15 }; /* what a double holds without loss */
    char copy[LONGEST + 1] = "";
    size_t points = 0;
    if (text.len == 0 || text.len > LONGEST)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        bool point = text.ptr[i] == '.' && i != 0 && i + 1 < text.len;
        if (!point && (text.ptr[i] < '0' || text.ptr[i] > '9'))
            return false;
        points += point;
    }
    if (points > 1)
        return false;
    memcpy(copy, text.ptr, text.len);
    *out = strtod(copy, NULL);
    return true;
}

bool node_pool_cost(const struct node_pool *p, double *out)
{
    struct span text = annotations_get(p->meta.annotations, SYM_NODE_COST);
    *out = 0;
    return text.ptr == NULL || read_number(text, out);
}

bool node_pool_min_savings(const struct node_pool *p, struct min_savings *out)
{
    struct span text = annotations_get(p->meta.annotations, SYM_MIN_SAVINGS);
    span_ms payback;
    *out = (struct min_savings){.payback = INT64_MAX};
    if (text.ptr == NULL)
        return true;
    if (span_has_suffix(text, SPAN("%"))) {
        struct span number = {text.ptr, text.len - 1};
        double percent;
        if (!read_number(number, &percent) || percent > 100)
            return false;
        out->share = percent / 100;
        return true;
    }
    if (read_number(text, &out->per_hour))
        return true;
    if (!duration_parse(text, &payback) || payback < 0)
        return false;
    out->payback = payback;
    return true;
}

bool node_pool_daemon_room(const struct node_pool *p, bool *out)
{
    struct span text = annotations_get(p->meta.annotations, SYM_DAEMON_ROOM);
    *out = span_eq(text, SPAN("true"));
    return *out || text.ptr == NULL || span_eq(text, SPAN("false"));
}

bool node_is_ready(const struct node *n)
{
    return conditions_true(n->conditions, SPAN("Ready"));
}

bool node_is_initialized(const struct node *n)
{
    return sym_pairs_get(n->meta.labels, SYM_INITIALIZED) == SYM_TRUE;
}

static bool keeps_off(const struct node *n, const struct pod *pod, const struct symtab *syms)
{
    for (uint32_t i = 0; i < n->taints.count; i++) {
        const struct taint *t = &n->taints.items[i];
        bool hard = t->effect == TAINT_NO_SCHEDULE || t->effect == TAINT_NO_EXECUTE;
        if (hard && t->key != SYM_NOT_READY && !taint_tolerated(t, pod->tolerations, syms))
            return true;
    }
    return false;
}

static bool has_resources(const struct node *n, const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->requests.count; i++)
        if (resources_get(n->allocatable, pod->requests.items[i].name) < pod->requests.items[i].value)
            return false;
    return true;
}

bool node_is_virtual(const struct node *n, const struct symtab *syms)
{
    return span_eq(sym_text(syms, sym_pairs_get(n->meta.labels, sym_find(syms, SPAN("type")))), SPAN("virtual-kubelet"));
}

bool node_lets_in(const struct node *n, const struct pod *pod, const struct symtab *syms)
{
    return node_is_ready(n) && n->meta.deleted == 0 && !n->unschedulable && !keeps_off(n, pod, syms) &&
           has_resources(n, pod);
}

bool taint_is_ephemeral(const struct taint *t, const struct symtab *syms)
{
    switch (t->key) {
    case SYM_NOT_READY:
        return t->effect == TAINT_NO_SCHEDULE || t->effect == TAINT_NO_EXECUTE;
    case SYM_UNREACHABLE:
    case SYM_CLOUD_UNINITIALIZED:
        return t->effect == TAINT_NO_SCHEDULE;
    case SYM_UNREGISTERED:
        return t->effect == TAINT_NO_EXECUTE;
    default:
        return span_has_prefix(sym_text(syms, t->key), SPAN("readiness.k8s.io/"));
    }
}
