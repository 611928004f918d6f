/* The list is small (a dozen at most), so each change builds it anew in stored order; what is
 * shared with the decoded object is never written to. */
#include "kube/condition_set.h"

#include "base/safe_text.h"

static const struct span ready = SPAN_INIT("Ready");

static const struct span pool_dependents[] = {SPAN_INIT("ValidationSucceeded"),
                                              SPAN_INIT("NodeClassReady")};
static const struct span claim_dependents[] = {SPAN_INIT("Launched"), SPAN_INIT("Registered"),
                                               SPAN_INIT("Initialized")};
static const struct span overlay_dependents[] = {SPAN_INIT("ValidationSucceeded")};
#define ROOT_OF(list) {.dependents = list, .dependent_count = COUNT_OF(list)}
const struct condition_rules node_pool_conditions = ROOT_OF(pool_dependents);
const struct condition_rules node_claim_conditions = ROOT_OF(claim_dependents);
const struct condition_rules node_overlay_conditions = ROOT_OF(overlay_dependents);
const struct condition_rules capacity_buffer_conditions = {.no_root = true};
const struct condition_rules capacity_quota_conditions = {.no_root = true};
/* As Cluster Autoscaler stamps them: a back-off is counted from the last try (spec node-groups 6.1). */
const struct condition_rules provisioning_request_conditions = {.no_root = true, .put_is_transition = true};

static bool is_dependent(const struct condition_rules *rules, struct span type)
{
    for (uint32_t i = 0; i < rules->dependent_count; i++)
        if (span_eq(rules->dependents[i], type))
            return true;
    return false;
}

static bool same(const struct condition *x, const struct condition *y)
{
    return x->status == y->status && x->observed_generation == y->observed_generation &&
           x->transition == y->transition && span_eq(x->reason, y->reason) &&
           span_eq(x->message, y->message);
}

/* Ready last, the others by time of transition; equal ones keep their order. */
static bool comes_after(const struct condition *x, const struct condition *y)
{
    if (span_eq(x->type, ready) || span_eq(y->type, ready))
        return span_eq(x->type, ready);
    return x->transition > y->transition;
}

static void store_sorted(struct condition_set *s, struct condition *items, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct condition moving = items[i];
        uint32_t at = i;
        for (; at > 0 && comes_after(&items[at - 1], &moving); at--)
            items[at] = items[at - 1];
        items[at] = moving;
    }
    s->list = (struct conditions){items, count};
    s->changed = true;
}

static bool put_one(struct condition_set *s, struct condition c)
{
    const struct condition *old = conditions_find(s->list, c.type);
    bool first_is_creation = is_dependent(s->rules, c.type) || span_eq(c.type, ready);
    c.message = safe_line(s->arena, c.message);
    c.observed_generation = s->generation;
    c.transition = s->now;
    if (old == NULL && first_is_creation)
        c.transition = s->created;
    if (old != NULL && old->status == c.status && !s->rules->put_is_transition)
        c.transition = old->transition;
    if (old != NULL && same(old, &c))
        return false;
    struct condition *items = ARENA_ARRAY(s->arena, struct condition, s->list.count + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->list.count; i++) {
        if (&s->list.items[i] == old)
            continue;
        items[n] = s->list.items[i];
        if (s->deleting)
            items[n].observed_generation = s->generation;
        n++;
    }
    items[n++] = c;
    store_sorted(s, items, n);
    return true;
}

const char *condition_status_name(enum condition_status s)
{
    static const char *const names[] = {
        [CONDITION_UNKNOWN] = "Unknown", [CONDITION_FALSE] = "False", [CONDITION_TRUE] = "True"};
    return names[s];
}

static bool is_unhealthy(const struct condition_set *s, const struct condition *c)
{
    return is_dependent(s->rules, c->type) &&
           (c->status != CONDITION_TRUE || c->observed_generation != s->generation);
}

/* The newest one not yet told: later than none before it, and equal ones in stored order. */
static const struct condition *newest_unhealthy(const struct condition_set *s, uint64_t *told)
{
    const struct condition *newest = NULL;
    for (uint32_t i = 0; i < s->list.count && i < 64; i++) {
        const struct condition *c = &s->list.items[i];
        if ((*told >> i & 1) == 0 && is_unhealthy(s, c) &&
            (newest == NULL || c->transition > newest->transition))
            newest = c;
    }
    if (newest != NULL)
        *told |= 1ull << (newest - s->list.items);
    return newest;
}

/* What Ready follows from its dependents; newest transition first in the message. */
static void put_root(struct condition_set *s)
{
    bool any_false = false;
    if (s->rules->no_root)
        return;
    uint64_t told = 0;
    struct span text = {NULL, 0};
    for (const struct condition *c; (c = newest_unhealthy(s, &told)) != NULL;) {
        any_false |= c->status == CONDITION_FALSE && c->observed_generation == s->generation;
        text = arena_printf(s->arena, "%.*s%s%.*s=%s", SPAN_ARG(text), text.len != 0 ? ", " : "",
                            SPAN_ARG(c->type), condition_status_name(c->status));
    }
    struct condition root = {.type = ready, .message = text};
    if (text.len == 0) {
        root.status = CONDITION_TRUE;
        root.reason = ready;
    } else {
        root.status = any_false ? CONDITION_FALSE : CONDITION_UNKNOWN;
        root.reason = any_false ? SPAN("UnhealthyDependents") : SPAN("ReconcilingDependents");
    }
    put_one(s, root);
}

void condition_set_put(struct condition_set *s, struct span type, enum condition_status status,
                       struct span reason, struct span message)
{
    struct condition c = {.type = type, .status = status, .reason = reason, .message = message};
    if (put_one(s, c) && !span_eq(type, ready))
        put_root(s);
}

void condition_set_true(struct condition_set *s, struct span type)
{
    condition_set_put(s, type, CONDITION_TRUE, type, (struct span){NULL, 0});
}

void condition_set_clear(struct condition_set *s, struct span type)
{
    const struct condition *old = conditions_find(s->list, type);
    if (old == NULL || is_dependent(s->rules, type) || span_eq(type, ready))
        return;
    struct condition *items = ARENA_ARRAY(s->arena, struct condition, s->list.count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->list.count; i++)
        if (&s->list.items[i] != old)
            items[n++] = s->list.items[i];
    store_sorted(s, items, n);
    put_root(s);
}

struct condition_set condition_set_of(struct arena *a, const struct condition_rules *rules,
                                      const struct meta *meta, struct conditions before,
                                      wall_ms now)
{
    struct condition_set s = {.arena = a,
                              .rules = rules,
                              .generation = meta->generation,
                              .created = meta->created,
                              .now = now,
                              .deleting = meta->deleted != 0,
                              .list = before};
    for (uint32_t i = 0; i <= rules->dependent_count && !rules->no_root; i++) {
        struct condition missing = {
            .type = i < rules->dependent_count ? rules->dependents[i] : ready,
            .status = CONDITION_UNKNOWN,
            .reason = SPAN("AwaitingReconciliation"),
            .message = SPAN("object is awaiting reconciliation"),
        };
        if (conditions_find(s.list, missing.type) == NULL)
            put_one(&s, missing);
    }
    return s;
}

void conditions_json(struct json *j, struct arena *a, struct conditions list)
{
    json_array_begin(j);
    for (uint32_t i = 0; i < list.count; i++) {
        const struct condition *c = &list.items[i];
        json_object_begin(j);
        json_put_string(j, "type", c->type);
        json_put_string(j, "status", span_of(condition_status_name(c->status)));
        json_put_int(j, "observedGeneration", c->observed_generation);
        json_put_string(j, "lastTransitionTime", time_text(a, c->transition));
        json_put_string(j, "reason", c->reason);
        json_put_string(j, "message", c->message);
        json_object_end(j);
    }
    json_array_end(j);
}
