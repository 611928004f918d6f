#include "reconciler/groups/keeper.h"

#include <stdlib.h>

#include "kube/config_map.h"
#include "planner/groups/explain.h"
#include "reconciler/groups/coming.h"
#include "reconciler/groups/counted.h"
#include "reconciler/groups/look.h"
#include "reconciler/groups/marks.h"
#include "reconciler/groups/orders.h"
#include "reconciler/groups/removal.h"
#include "reconciler/groups/quotas.h"
#include "reconciler/groups/requests.h"
#include "reconciler/groups/status_map.h"
#include "reconciler/groups/templates_map.h"
#include "reconciler/groups/told.h"
#include "reconciler/stages.h"

enum {
    REST_MS = 1 * MS_SECOND, /* between passes that pods bring on: who came meanwhile is too young to be looked at anyway */
    YOUNG_MS = 2 * MS_SECOND, /* so long pods are (3.5) */
    NO_READY_MS = 10 * MS_MINUTE, /* so long after the start nobody is told that no node is ready yet (G1) */
    AGAIN = 2,                /* passes that follow one that did something (1.2) */
};

static void forget_priority(struct keeper *k)
{
    free((void *)(uintptr_t)k->priority.ptr);
    k->priority = (struct span){NULL, 0};
}

void keeper_release(struct keeper *k)
{
    if (k->memory == NULL)
        return;
    group_memory_free(k->memory);
    learned_free(k->learned);
    templates_map_forget(k);
    removals_forget(k);
    orders_forget(k);
    status_map_forget(k);
    group_kept_drop(&k->kept);
    wishes_release(&k->wishes);
    memos_release(&k->stale);
    coming_forget(k);
    forget_priority(k);
    *k = (struct keeper){.last = 0};
}

void groups_begin(struct pass *p)
{
    struct keeper *k = &p->r->keeper;
    if (k->memory != NULL || p->r->config.groups.provider == NULL)
        return;
    k->memory = group_memory_new(p->wall);
    k->learned = learned_new();
    status_words_init(&k->status_words);
    marks_stale_init(&k->stale);
    k->began = p->mono;
}

void groups_wake(struct reconciler *r)
{
    r->keeper.woken = true;
}

/* --- the ConfigMap of priorities, live --- */

static bool goes_by_priority(const struct group_settings *s)
{
    for (uint32_t i = 0; i < s->flags.expander_count; i++)
        if (s->flags.expanders[i] == EXPANDER_PRIORITY)
            return true;
    return false;
}

static void on_priority(struct reconciler *r, struct call *c)
{
    struct keeper *k = &r->keeper;
    k->priority_known = true;
    k->priority_read = r->mono;
    if (c->err.kind != ERR_NONE && c->err.kind != ERR_NOT_FOUND) { /* what was read before holds, else nothing is filtered */
        told_priorities_unread(r, &c->err);
        return;
    }
    forget_priority(k);
    k->priority_unread = false;
    if (c->err.kind != ERR_NONE || c->data.ptr == NULL)
        return;
    char *copy = mem_new(c->data.len + 1);
    memcpy(copy, c->data.ptr, c->data.len);
    k->priority = (struct span){copy, c->data.len};
}

/* It is read for each pass: asked for as the one before begins to be old. False: it is being read. */
static bool know_priority(struct pass *p)
{
    struct keeper *k = &p->r->keeper;
    const struct group_settings *s = &p->r->config.groups;
    if (!goes_by_priority(s))
        return true;
    if ((!k->priority_known || p->mono - k->priority_read >= REST_MS) && gate_open(&k->priority_gate, UINT64_MAX, p->mono)) {
        struct call *c = call_new(p->r, &k->priority_gate, on_priority);
        c->wants = "priorities";
        call_get(c, KIND_CONFIG_MAP, s->flags.config_namespace, SPAN(PRIORITY_CONFIG_MAP));
    }
    return k->priority_known && p->mono - k->priority_read < REST_MS;
}

/* --- when --- */

static mono_ms due(const struct pass *p)
{
    const struct keeper *k = &p->r->keeper;
    const struct group_settings *s = &p->r->config.groups;
    if (k->last == 0)
        return p->mono;
    if (s->frequent && k->again != 0)
        return k->last + REST_MS;
    if (k->woken && (s->frequent || k->all_new))
        return k->last + (k->all_new ? YOUNG_MS : REST_MS);
    return k->last + s->scan_interval;
}

/* --- a pass --- */

static void tell_asides(struct pass *p)
{
    struct group_provider *g = p->r->config.groups.provider;
    const struct span *list;
    uint32_t count = g->ops->asides(g, &list);
    for (uint32_t i = 0; i < count; i++)
        told_aside(p, list[i]);
}

/* Nothing is done until there are nodes again (G1), or until enough of them are well (G3). */
static void tell_standing(struct pass *p, const struct group_pass *decided)
{
    struct span why = p->node_count == 0 ? SPAN("Cluster has no nodes.") : SPAN("Cluster has no ready nodes.");
    if (decided->found == NULL) {
        status_map_write(p, NULL, why);
        if (p->node_count == 0 || p->mono - p->r->keeper.began >= NO_READY_MS)
            told_unhealthy(p, why);
        return;
    }
    status_map_write(p, decided, (struct span){NULL, 0});
    if (decided->unhealthy)
        told_unhealthy(p, SPAN("Cluster is unhealthy"));
}

static void carry_out(struct pass *p, const struct group_pass *decided)
{
    struct keeper *k = &p->r->keeper;
    orders_take(p, decided);
    requests_follow(p, decided);
    if (pass_may(p, GUARDS_GROUPS)) {
        removals_begin(p, decided);
        marks_follow(p, decided);
    }
    coming_publish(p, decided);
    told_failures(p, decided);
    told_left(p, decided);
    if (decided->up.result == SCALE_UP_LIMITED_BY_MAX_NODES)
        told_limit(p);
    if (decided->error.len != 0) {
        told_pass_failed(p, decided->error);
        counted_error(p->r, "cloudProviderError");
    }
    bool did = decided->decision_count != 0 || decided->down.result == SCALE_DOWN_DELETE_STARTED ||
               k->requests_served;
    k->again = did ? AGAIN : k->again != 0 ? k->again - 1 : 0;
    k->all_new = decided->up.result == SCALE_UP_IN_COOLDOWN;
    k->woken = k->all_new;
}

static double seconds_since(const struct pass *p, uint64_t began)
{
    const struct reconciler_listener *l = &p->r->config.listener;
    return l->now_ns != NULL ? (double)(l->now_ns(l->user) - began) / 1e9 : NAN;
}

static struct group_refusal *refusals_of(struct pass *p, const struct group_scale_up *up)
{
    struct group_refusal *out = ARENA_ARRAY(p->a, struct group_refusal, up->left_count);
    for (uint32_t i = 0; i < up->left_count; i++)
        out[i] = (struct group_refusal){up->left[i].pod->meta.uid, group_reasons_text(up->left[i].reasons, p->a)};
    return out;
}

static struct group_answer answer_of(const struct pass *p, const struct group *g, struct span json)
{
    struct span *nodes = ARENA_ARRAY(p->a, struct span, g->node_count);
    for (uint32_t i = 0; i < g->node_count; i++)
        nodes[i] = g->nodes[i]->meta.name;
    return (struct group_answer){.group = g->spec->name, .json = json, .nodes = nodes, .node_count = g->node_count,
                                 .has_price = g->spec->has_price, .price = g->spec->price};
}

/* What people may ask of each group, and of pods that none takes, until the next pass. */
static void answer(struct pass *p, const struct group_pass *decided, const struct group_flags *flags)
{
    const struct group_settings *s = &p->r->config.groups;
    uint32_t count = decided->model->group_count;
    struct group_answer *answers = ARENA_ARRAY(p->a, struct group_answer, count + 1);
    if (s->answered == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct explanation e;
        struct buf text = {0};
        struct json j = JSON_TO(&text);
        group_explain(decided, flags, p->snapshot->syms, i, p->wall, p->a, &e);
        explanation_json(&j, &e);
        answers[i] = answer_of(p, &decided->model->groups[i], arena_dup(p->a, buf_span(&text)));
        buf_release(&text);
    }
    s->answered(s->user, &(struct groups_told){.groups = answers,
                                               .group_count = count,
                                               .refusals = refusals_of(p, &decided->up),
                                               .refusal_count = decided->up.left_count});
}

static void learn_templates(struct pass *p, const struct group_model *m)
{
    if (p->r->config.groups.flags.as_upstream)
        return;
    learned_take(p->r->keeper.learned, m, p->snapshot->syms);
    templates_map_write(p);
}

static void decide(struct pass *p)
{
    struct keeper *k = &p->r->keeper;
    const struct reconciler_listener *l = &p->r->config.listener;
    uint64_t began = l->now_ns != NULL ? l->now_ns(l->user) : 0;
    const struct group_settings *s = &p->r->config.groups;
    struct group_look look;
    struct err err;
    k->last = p->mono;
    counted_begins(p);
    bool seen = group_look_begin(p, &look, &err);
    tell_asides(p);
    if (!seen) {
        told_pass_failed(p, span_of(err.msg));
        counted_error(p->r, "cloudProviderError");
        status_map_write(p, NULL, span_of(err.msg));
        return;
    }
    counted_world(p->r, look.how);
    marks_clean(p, look.model);
    group_look_wishes(p, &look);
    struct group_pass *decided = groups_pass(look.world, look.model, &look.flags, &look.objects, p->wall, p->a);
    answer(p, decided, &look.flags);
    group_memory_learn(k->memory, decided, &s->flags, p->wall);
    learn_templates(p, look.model);
    carry_out(p, decided);
    tell_standing(p, decided);
    counted_pass(p, decided, seconds_since(p, began));
    group_look_end(&look);
}

static void follow_guard(struct pass *p)
{
    struct keeper *k = &p->r->keeper;
    bool held = !pass_may(p, GUARDS_GROUPS);
    if (held && k->held_since == 0)
        k->held_since = p->wall;
    if (held || k->held_since == 0)
        return;
    group_memory_hold(k->memory, k->held_since, p->wall);
    k->held_since = 0;
}

void groups_run(struct pass *p)
{
    const struct group_settings *s = &p->r->config.groups;
    struct keeper *k = &p->r->keeper;
    if (s->provider == NULL)
        return;
    groups_begin(p);
    follow_guard(p);
    group_kept_look(p);
    requests_look(p);
    quotas_look(p);
    removals_run(p);
    orders_run(p);
    if (!orders_are_done(k))
        return; /* each answer brings a pass */
    bool known = templates_map_known(p);
    if (due(p) > p->mono || !know_priority(p) || !known) {
        pass_wake(p, due(p) > p->mono ? due(p) : p->mono + REST_MS);
        return;
    }
    quotas_keep(p);
    decide(p);
    orders_run(p);
    removals_run(p);
    pass_wake(p, due(p));
}
