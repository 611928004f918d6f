/* The spreading of pods that state none (spec provisioning 4.11), as kube-scheduler's
 * PodTopologySpread plugin gives it when it is configured with default constraints. */
#include "inner.h"

#include <stdlib.h>

#include "planner/pods/default_spread.h"

static int by_name(const void *a, const void *b)
{
    return span_cmp((*(const struct service *const *)a)->meta.name,
                    (*(const struct service *const *)b)->meta.name);
}

static bool service_selects(const struct service *s, const struct pod *p)
{
    struct label_selector selector = {.match_labels = s->selector};
    return s->has_selector && span_eq(s->meta.ns, p->meta.ns) &&
           label_selector_matches(&selector, p->meta.labels);
}

static void lay_over(struct check *k, struct sym_pairs *labels, uint32_t *capacity,
                     struct sym_pairs more)
{
    for (uint32_t i = 0; i < more.count; i++) {
        bool found = false;
        for (uint32_t n = 0; n < labels->count; n++)
            if (labels->items[n].key == more.items[i].key) {
                labels->items[n].value = more.items[i].value;
                found = true;
            }
        if (!found)
            ARENA_PUSH(&k->arena, labels->items, labels->count, *capacity, more.items[i]);
    }
}

static const struct controller *controller_named(const struct check *k, enum kind kind,
                                                 const struct pod *p, struct span name)
{
    for (size_t i = 0; i < COUNT(k, kind); i++) {
        const struct controller *c = AT(k, kind, struct controller, i);
        if (span_eq(c->meta.ns, p->meta.ns) && span_eq(c->meta.name, name))
            return c;
    }
    return NULL;
}

static void add_controller(struct check *k, const struct pod *p, struct label_selector *out,
                           uint32_t *labels_capacity)
{
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < p->meta.owners.count; i++) {
        const struct owner *o = &p->meta.owners.items[i];
        const struct controller *c = NULL;
        bool plain = o->kind == SYM_KIND_REPLICATION_CONTROLLER && o->api_version == SYM_API_V1;
        if (!o->controller)
            continue;
        if (plain)
            c = controller_named(k, KIND_REPLICATION_CONTROLLER, p, o->name);
        else if (o->api_version == SYM_API_APPS_V1 && o->kind == SYM_KIND_REPLICA_SET)
            c = controller_named(k, KIND_REPLICA_SET, p, o->name);
        else if (o->api_version == SYM_API_APPS_V1 && o->kind == SYM_KIND_STATEFUL_SET)
            c = controller_named(k, KIND_STATEFUL_SET, p, o->name);
        if (c == NULL)
            continue;
        if (plain) {
            lay_over(k, &out->match_labels, labels_capacity, c->selector.match_labels);
            continue;
        }
        struct expressions *list = &out->match_expressions;
        for (uint32_t n = 0; n < c->selector.match_labels.count; n++) {
            struct sym_pair *pair = &c->selector.match_labels.items[n];
            struct expression e = {.key = pair->key, .op = OP_IN, .values = {&pair->value, 1}};
            ARENA_PUSH(&k->arena, list->items, list->count, capacity, e);
        }
        for (uint32_t n = 0; n < c->selector.match_expressions.count; n++)
            ARENA_PUSH(&k->arena, list->items, list->count, capacity,
                       c->selector.match_expressions.items[n]);
    }
}

static struct label_selector fellows(struct check *k, const struct pod *p)
{
    struct label_selector s = {0};
    const struct service **services =
        ARENA_ARRAY(&k->arena, const struct service *, COUNT(k, KIND_SERVICE));
    size_t count = 0;
    uint32_t capacity = 0;
    for (size_t i = 0; i < COUNT(k, KIND_SERVICE); i++)
        if (service_selects(AT(k, KIND_SERVICE, struct service, i), p))
            services[count++] = AT(k, KIND_SERVICE, struct service, i);
    if (count != 0)
        qsort(services, count, sizeof(const struct service *), by_name);
    for (size_t i = 0; i < count; i++)
        lay_over(k, &s.match_labels, &capacity, services[i]->selector);
    add_controller(k, p, &s, &capacity);
    return s;
}

const struct pod *with_default_spread(struct check *k, const struct pod *p)
{
    const struct default_spread_config *config = k->c->options.default_spread;
    if (config == NULL || p->spreads.count != 0)
        return p;
    struct label_selector selector = fellows(k, p);
    if (selector.match_labels.count == 0 && selector.match_expressions.count == 0)
        return p;
    struct pod *copy = ARENA_NEW(&k->arena, struct pod);
    *copy = *p;
    copy->spreads = (struct spreads){ARENA_ARRAY(&k->arena, struct spread, config->count),
                                     config->count};
    for (uint32_t i = 0; i < config->count; i++) {
        const struct default_constraint *c = &config->items[i];
        copy->spreads.items[i] = (struct spread){
            .max_skew = c->max_skew,
            .min_domains = c->min_domains,
            .topology_key = sym_intern(k->syms, c->topology_key),
            .hard = c->hard,
            .ignore_affinity = c->ignore_affinity,
            .honor_taints = c->honor_taints,
            .has_selector = true,
            .selector = selector,
        };
    }
    return copy;
}
