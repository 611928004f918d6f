#include "server/explain.h"

#include "base/doc.h"
#include "base/nearest.h"
#include "planner/disruption/allowance_told.h"
#include "planner/explain/tell.h"
#include "planner/pods/pod_workload.h"
#include "reconciler/guards.h"
#include "reconciler/termination/detach.h"
#include "reconciler/termination/drain.h"
#include "server/clock.h"

/* --- the question --- */

/* As kubectl calls them: one, several, short. */
static const struct {
    enum kind kind;
    const char *workload;
    const char *words[4];
} asked_kinds[] = {
    {KIND_POD, NULL, {"pod", "pods", "po"}},
    {KIND_NODE, NULL, {"node", "nodes", "no"}},
    {KIND_NODE_POOL, NULL, {"nodepool", "nodepools"}},
    {KIND_NONE, NULL, {"group", "groups", "nodegroup"}},
    {KIND_NONE, NULL, {"move", "moves"}},
    {KIND_POD, "Deployment", {"deployment", "deployments", "deploy"}},
    {KIND_POD, "StatefulSet", {"statefulset", "statefulsets", "sts"}},
    {KIND_POD, "DaemonSet", {"daemonset", "daemonsets", "ds"}},
    {KIND_POD, "ReplicaSet", {"replicaset", "replicasets", "rs"}},
    {KIND_POD, "ReplicationController", {"replicationcontroller", "replicationcontrollers", "rc"}},
    {KIND_POD, "Job", {"job", "jobs"}},
    {KIND_POD, "CronJob", {"cronjob", "cronjobs", "cj"}},
};

const char *explain_word(const struct explain_question *q)
{
    if (q->group || q->move)
        return q->group ? "group" : "move";
    for (size_t i = 0; i < COUNT_OF(asked_kinds); i++)
        if (asked_kinds[i].kind == q->kind &&
            span_eq(asked_kinds[i].workload != NULL ? span_of(asked_kinds[i].workload) : SPAN(""), q->workload))
            return asked_kinds[i].words[0];
    return "object";
}

static bool read_kind(struct span word, struct explain_question *out)
{
    for (size_t i = 0; i < COUNT_OF(asked_kinds); i++)
        for (size_t k = 0; k < COUNT_OF(asked_kinds[i].words) && asked_kinds[i].words[k] != NULL; k++)
            if (span_eq(word, span_of(asked_kinds[i].words[k]))) {
                out->kind = asked_kinds[i].kind;
                out->group = word.ptr[0] == 'g';
                out->move = word.ptr[0] == 'm';
                out->workload = asked_kinds[i].workload != NULL ? span_of(asked_kinds[i].workload) : (struct span){NULL, 0};
                return true;
            }
    return false;
}

bool explain_parse(struct span kind, struct span name, struct span ns, struct explain_question *out,
                   struct err *err)
{
    *out = (struct explain_question){.kind = KIND_NONE, .name = name};
    if (!read_kind(kind, out))
        return err_set(err, ERR_INVALID, "\"%.*s\" is not pod, node, nodepool, group or a workload like deployment",
                       SPAN_ARG(kind));
    struct span rest;
    struct span first = span_cut(name, '/', &rest);
    if (out->kind == KIND_POD) {
        out->ns = rest.ptr != NULL ? first : ns.len != 0 ? ns : SPAN("default");
        out->name = rest.ptr != NULL ? rest : first;
    }
    return out->name.len != 0 || err_set(err, ERR_INVALID, "the name of the %.*s is missing", SPAN_ARG(kind));
}

struct explain_objects explain_objects_of(struct arena *a, const struct snapshot *s)
{
    static const enum kind kinds[] = {KIND_POD, KIND_NODE_POOL, KIND_DISRUPTION_BUDGET,
                                      KIND_VOLUME_ATTACHMENT, KIND_VOLUME_CLAIM};
    const void **lists[COUNT_OF(kinds)];
    size_t counts[COUNT_OF(kinds)];
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        uint32_t n = s->state[kinds[k]].count, at = 0;
        lists[k] = ARENA_ARRAY(a, const void *, n);
        struct snapshot_iter it = snapshot_each(s, kinds[k]);
        for (const void *o; at < n && (o = snapshot_next(&it)) != NULL;)
            lists[k][at++] = o;
        counts[k] = at;
    }
    return (struct explain_objects){
        .pods = (const struct pod *const *)lists[0],
        .pools = (const struct node_pool *const *)lists[1],
        .budgets = pod_budgets_make(a, (const struct disruption_budget *const *)lists[2],
                                    (uint32_t)counts[2]),
        .attachments = (const struct volume_attachment *const *)lists[3],
        .claims = (const struct volume_claim *const *)lists[4],
        .pod_count = counts[0],
        .pool_count = counts[1],
        .attachment_count = counts[3],
        .claim_count = counts[4],
        .loss = guards_snapshot_text(a, s),
    };
}

/* --- names that are not there --- */

struct names {
    struct arena *a;
    const char **items;
    uint32_t count, capacity;
};

static void add_name(struct names *n, struct span name)
{
    ARENA_PUSH(n->a, n->items, n->count, n->capacity, arena_cstr(n->a, name));
}

/* "shop/web-0" when only the namespace is wrong: of several the first. NULL: it is not. */
static const char *elsewhere(struct arena *a, const struct explain_objects *all, struct span name)
{
    const struct pod *found = NULL;
    for (size_t i = 0; i < all->pod_count; i++)
        if (span_eq(all->pods[i]->meta.name, name) &&
            (found == NULL || span_cmp(all->pods[i]->meta.ns, found->meta.ns) < 0))
            found = all->pods[i];
    if (found == NULL)
        return NULL;
    return arena_printf(a, "%.*s/%.*s", SPAN_ARG(found->meta.ns), SPAN_ARG(name)).ptr;
}

static bool unknown_workload(struct plan *p, const struct explain_objects *all, const struct explain_question *q,
                             struct err *err)
{
    struct names n = {.a = &p->arena};
    for (size_t i = 0; i < all->pod_count; i++) {
        struct pod_workload w = pod_workload(all->pods[i], NULL, p->syms);
        if (span_eq(w.kind, q->workload))
            add_name(&n, arena_printf(&p->arena, "%.*s/%.*s", SPAN_ARG(w.ns), SPAN_ARG(w.name)));
    }
    const char *near = nearest_word(arena_printf(&p->arena, "%.*s/%.*s", SPAN_ARG(q->ns), SPAN_ARG(q->name)).ptr,
                                    n.items, n.count);
    return err_set(err, ERR_NOT_FOUND, "no pod here is of a %.*s %.*s/%.*s%s%s%s", SPAN_ARG(q->workload), SPAN_ARG(q->ns),
                   SPAN_ARG(q->name), near != NULL ? "; did you mean " : "", near != NULL ? near : "",
                   near != NULL ? "?" : "");
}

static bool unknown(struct plan *p, const struct explain_objects *all,
                    const struct explain_question *q, struct err *err)
{
    struct names n = {.a = &p->arena};
    struct span name = q->name;
    if (q->workload.len != 0)
        return unknown_workload(p, all, q, err);
    if (q->kind == KIND_POD) {
        name = arena_printf(&p->arena, "%.*s/%.*s", SPAN_ARG(q->ns), SPAN_ARG(q->name));
        for (size_t i = 0; i < all->pod_count; i++)
            add_name(&n, arena_printf(&p->arena, "%.*s/%.*s", SPAN_ARG(all->pods[i]->meta.ns),
                                      SPAN_ARG(all->pods[i]->meta.name)));
    }
    for (uint32_t i = 0; q->kind == KIND_NODE && i < world_node_count(p->world); i++)
        add_name(&n, world_node_at(p->world, i)->name);
    for (size_t i = 0; q->kind == KIND_NODE_POOL && i < all->pool_count; i++)
        add_name(&n, all->pools[i]->meta.name);
    const char *near = q->kind == KIND_POD ? elsewhere(&p->arena, all, q->name) : NULL;
    if (near == NULL)
        near = nearest_word(arena_cstr(&p->arena, name), n.items, n.count);
    if (near == NULL)
        return err_set(err, ERR_NOT_FOUND, "there is no %s %.*s", explain_word(q), SPAN_ARG(name));
    return err_set(err, ERR_NOT_FOUND, "there is no %s %.*s; did you mean %s?", explain_word(q),
                   SPAN_ARG(name), near);
}

/* --- nodes --- */

static bool is_planned_on(const struct plan *p, uint32_t row)
{
    for (uint32_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].row == row)
            return true;
    return false;
}

static const struct volume_claim *find_claim(const void *objects, struct span ns, struct span name)
{
    const struct explain_objects *all = objects;
    for (size_t i = 0; i < all->claim_count; i++)
        if (span_eq(all->claims[i]->meta.name, name) && span_eq(all->claims[i]->meta.ns, ns))
            return all->claims[i];
    return NULL;
}

/* Of a node that is drained, which volumes are to be detached first; absent: none. */
static struct span still_attached(struct plan *p, const struct explain_objects *all, uint32_t row,
                                  wall_ms now)
{
    const struct world_node *n = world_node_at(p->world, row);
    const struct detach_node node = {.name = sym_find(p->syms, n->name),
                                     .pods = world_node_pods(p->world, row),
                                     .pod_count = n->pod_count,
                                     .claim = find_claim,
                                     .from = all,
                                     .now = now};
    struct attachments x = {NULL, 0, 0};
    for (size_t i = 0; i < all->attachment_count; i++)
        detach_look(&p->arena, &x, &node, all->attachments[i]);
    return detach_sentence(&p->arena, &x);
}

/* Who or what is still waited for, of a node that leaves; absent: nothing. */
static struct span waits_for(struct plan *p, const struct explain_objects *all, uint32_t row,
                             wall_ms now)
{
    const struct world_node *n = world_node_at(p->world, row);
    wall_ms deadline = n->claim != NULL ? claim_deadline(n->claim) : 0;
    struct drain d =
        drain_pick(&p->arena, world_node_pods(p->world, row), n->pod_count, deadline, now);
    struct empty_answer x = drain_judge(&p->arena, &d, &all->budgets, now);
    bool over = deadline != 0 && now > deadline;
    return d.waiting != 0 ? drain_sentence(&p->arena, &d, &x)
           : over         ? (struct span){NULL, 0}
                          : still_attached(p, all, row, now);
}

/* Why it is not removed, by the rules that remove nodes today; absent: nothing keeps it. */
static struct span keeps(struct plan *p, const struct explain_objects *all, uint32_t row,
                         wall_ms now)
{
    const struct world_node *n = world_node_at(p->world, row);
    if (n->leaving)
        return waits_for(p, all, row, now);
    if (n->node == NULL)
        return SPAN("it is on its way, no Node has come of it yet");
    if (all->loss.len != 0)
        return arena_printf(&p->arena, "no node is removed now, since %.*s", SPAN_ARG(all->loss));
    struct empty_facts facts = {.node = n->node,
                                .claim = n->claim,
                                .nominated = is_planned_on(p, row),
                                .pods = world_node_pods(p->world, row),
                                .pod_count = n->pod_count,
                                .budgets = &all->budgets,
                                .now = now};
    for (size_t i = 0; n->claim != NULL && i < all->pool_count; i++)
        if (sym_find(p->syms, all->pools[i]->meta.name) ==
            sym_pairs_get(n->claim->meta.labels, SYM_NODEPOOL))
            facts.pool = all->pools[i];
    if (n->claim != NULL)
        facts.pool_name = sym_text(p->syms, sym_pairs_get(n->claim->meta.labels, SYM_NODEPOOL));
    struct empty_answer x = empty_judge(&facts);
    return x.verdict == EMPTY_YES ? (struct span){NULL, 0} : empty_sentence(&p->arena, &x);
}

static int32_t row_named(const struct world *w, struct span name)
{
    int32_t row = world_find_node(w, name);
    return row >= 0 ? row : world_find_claim(w, name);
}

static void explain_node(struct plan *p, const struct explain_objects *all, uint32_t row,
                         const struct plan_options *o, struct explanation *out)
{
    struct plan_options removal = *o;
    struct plan *without = NULL;
    removal.removed = &row;
    removal.removed_count = 1;
    if (o->removed_count == 0 && answer_may_remove(p, row))
        without = plan_solve(p->world, &removal);
    answer_node(p, row, keeps(p, all, row, o->now), without, out);
    if (without != NULL)
        plan_free(without);
}

/* --- NodePools --- */

static void add_lines(struct plan *p, const struct answer_line *more, uint32_t count, struct explanation *e)
{
    struct answer_line *lines = ARENA_ARRAY(&p->arena, struct answer_line, (size_t)e->line_count + count);
    if (e->line_count != 0)
        memcpy(lines, e->lines, e->line_count * sizeof(*lines));
    if (count != 0)
        memcpy(lines + e->line_count, more, count * sizeof(*lines));
    e->lines = lines;
    e->line_count += count;
}

/* "may go   at 2026-…: for any reason 2 of 20 nodes, …" */
static void add_allowances(struct plan *p, const struct node_pool *pool, wall_ms at, struct explanation *e)
{
    struct allowance_told told[REASON_COUNT];
    uint32_t count = allowance_tell(&p->arena, p->world, pool, at, told);
    struct answer_line *lines = ARENA_ARRAY(&p->arena, struct answer_line, count);
    for (uint32_t i = 0; i < count; i++)
        lines[i] = (struct answer_line){
            SPAN("may go"), arena_printf(&p->arena, "at %.*s for %.*s: %.*s", SPAN_ARG(time_text(&p->arena, at)),
                                         SPAN_ARG(told[i].reasons), SPAN_ARG(told[i].text))};
    add_lines(p, lines, count, e);
}

/* --- several pods --- */

/* "api" or "api-" of api-0. */
static bool goes_on(struct span name, struct span start)
{
    return name.len > start.len && span_has_prefix(name, start) &&
           (start.ptr[start.len - 1] == '-' || name.ptr[start.len] == '-');
}

/* A CronJob's Jobs are its name and the time, which is all that their pods tell of it. */
static bool is_job_of(struct span job, struct span cron_job)
{
    if (!goes_on(job, cron_job))
        return false;
    for (size_t i = cron_job.len + 1; i < job.len; i++)
        if (job.ptr[i] < '0' || job.ptr[i] > '9')
            return false;
    return job.len > cron_job.len + 1;
}

static bool is_of_workload(const struct pod *pod, const struct explain_question *q, const struct symtab *syms)
{
    const struct owner *c = meta_controller(&pod->meta);
    if (c == NULL)
        return false;
    if (span_eq(sym_text(syms, c->kind), q->workload) && span_eq(c->name, q->name))
        return true; /* a ReplicaSet, too, whose Deployment is another question */
    struct pod_workload w = pod_workload(pod, NULL, syms);
    if (span_eq(q->workload, SPAN("CronJob")))
        return span_eq(w.kind, SPAN("Job")) && is_job_of(w.name, q->name);
    return span_eq(w.kind, q->workload) && span_eq(w.name, q->name);
}

static bool is_asked_about(const struct pod *pod, const struct explain_question *q, const struct symtab *syms)
{
    if (!span_eq(pod->meta.ns, q->ns))
        return false;
    return q->workload.len != 0 ? is_of_workload(pod, q, syms) : goes_on(pod->meta.name, q->name);
}

static struct span place_text(struct arena *a, const struct place *place)
{
    bool coming = place->on_claim || place->group.len != 0;
    return arena_printf(a, "%s%.*s%s", place->on_claim ? "NodeClaim " : coming ? "" : "node ", SPAN_ARG(place->target),
                        coming ? ", which is on its way" : "");
}

/* Where it has its place that is no matter of the plan; absent: nowhere. */
static struct span place_beside(struct plan *p, const struct pod *pod, const struct places *places, const struct explain_groups *groups)
{
    const struct place *place = places != NULL && pod->node == SYM_NONE ? places_find(places, pod->meta.uid) : NULL;
    if (place != NULL)
        return place_text(&p->arena, place);
    return groups->place != NULL && pod->node == SYM_NONE ? groups->place(groups->user, &p->arena, pod) : (struct span){NULL, 0};
}

/* False: there are none. */
static bool explain_pods(struct plan *p, const struct explain_objects *all, const struct explain_question *q,
                         const struct places *places, const struct explain_groups *groups, struct explanation *out)
{
    struct answer_member *members = ARENA_ARRAY(&p->arena, struct answer_member, all->pod_count);
    uint32_t count = 0;
    for (size_t i = 0; i < all->pod_count; i++) {
        const struct pod *pod = all->pods[i];
        if (!is_asked_about(pod, q, p->syms))
            continue;
        members[count++] = (struct answer_member){pod, place_beside(p, pod, places, groups)};
    }
    if (count == 0)
        return false;
    struct span who = q->workload.len != 0
                          ? arena_printf(&p->arena, "%.*s %.*s/%.*s", SPAN_ARG(q->workload), SPAN_ARG(q->ns), SPAN_ARG(q->name))
                          : arena_printf(&p->arena, "Pods %.*s/%.*s%s", SPAN_ARG(q->ns), SPAN_ARG(q->name),
                                         q->name.ptr[q->name.len - 1] == '-' ? "*" : "-*");
    answer_workload(p, who, members, count, out);
    return true;
}

/* --- node groups --- */

/* Where there is no NodePool the groups' words are all there is to say; else they come behind those of the pools. */
static void add_refusal(struct plan *p, struct plan_unschedulable *u, struct span text)
{
    if (u->reason == UNSCHEDULABLE_NO_POOLS) {
        u->reason = UNSCHEDULABLE;
        u->why.sentence = arena_printf(&p->arena, "fits no node group: %.*s", SPAN_ARG(text));
        u->why.fix = SPAN("add a node group that it fits, or see with `stowage explain group NAME` what one more node of a group is");
        return;
    }
    struct plan_detail *details = ARENA_ARRAY(&p->arena, struct plan_detail, (size_t)u->detail_count + 1);
    for (uint32_t i = 0; i < u->detail_count; i++)
        details[i] = u->details[i];
    details[u->detail_count++] = (struct plan_detail){.about = SPAN("node groups"), .text = text};
    u->details = details;
}

static void add_refusals(struct plan *p, const struct explain_groups *groups)
{
    struct plan_unschedulable *all = ARENA_ARRAY(&p->arena, struct plan_unschedulable, p->unschedulable_count);
    for (uint32_t i = 0; i < p->unschedulable_count; i++) {
        all[i] = p->unschedulable[i];
        struct span text = groups->refusal(groups->user, &p->arena, all[i].pod);
        if (text.len != 0)
            add_refusal(p, &all[i], text);
    }
    p->unschedulable = all;
}

/* --- the answer --- */

static void explain_pod(struct plan *p, const struct pod *pod, const struct explain_groups *groups, struct explanation *out)
{
    struct span place = place_beside(p, pod, NULL, groups);
    if (place.len == 0)
        answer_pod(p, pod, out);
    else
        *out = (struct explanation){.has_place = true,
                                    .sentence = arena_printf(&p->arena, "%.*s/%.*s has a place: %.*s.", SPAN_ARG(pod->meta.ns),
                                                             SPAN_ARG(pod->meta.name), SPAN_ARG(place))};
}

bool explain_answer(struct plan *p, const struct explain_objects *all, const struct explain_groups *groups,
                    const struct explain_question *q, const struct plan_options *o,
                    struct explanation *out, struct err *err)
{
    int32_t row = q->kind == KIND_NODE ? row_named(p->world, q->name) : -1;
    if (row >= 0) {
        explain_node(p, all, (uint32_t)row, o, out);
        return true;
    }
    if (q->kind == KIND_POD && groups->refusal != NULL)
        add_refusals(p, groups);
    for (size_t i = 0; q->kind == KIND_POD && q->workload.len == 0 && i < all->pod_count; i++)
        if (span_eq(all->pods[i]->meta.name, q->name) && span_eq(all->pods[i]->meta.ns, q->ns)) {
            explain_pod(p, all->pods[i], groups, out);
            return true;
        }
    if (q->kind == KIND_POD && explain_pods(p, all, q, o->places, groups, out))
        return true;
    for (size_t i = 0; q->kind == KIND_NODE_POOL && i < all->pool_count; i++)
        if (span_eq(all->pools[i]->meta.name, q->name)) {
            answer_pool(p, all->pools[i], out);
            add_allowances(p, all->pools[i], q->at != 0 ? q->at : o->now, out);
            return true;
        }
    return unknown(p, all, q, err);
}

/* --- live --- */

static const struct place *place_of(const struct explain_live *live, const struct explain_question *q)
{
    if (q->kind != KIND_POD || q->workload.len != 0 || live->places == NULL)
        return NULL;
    const struct pod *pod = snapshot_find(live->snapshot, KIND_POD, q->ns, q->name);
    return pod != NULL && pod->node == SYM_NONE ? places_find(live->places, pod->meta.uid) : NULL;
}

static void write_place(const struct place *place, const struct explain_question *q, struct buf *out)
{
    struct json j = JSON_TO(out);
    struct arena a;
    arena_init(&a, 0);
    struct span text = arena_printf(&a, "%.*s/%.*s has a place: %.*s.", SPAN_ARG(q->ns), SPAN_ARG(q->name),
                                    SPAN_ARG(place_text(&a, place)));
    explanation_json(&j, &(struct explanation){.has_place = true, .sentence = text});
    arena_release(&a);
}

struct asked { /* what a plan's callbacks need */
    const struct explain_live *live;
    struct arena a; /* outlives the plan */
};

static bool is_late(void *user)
{
    mono_ms until = ((const struct asked *)user)->live->until;
    return clock_is_past(&until);
}

static struct why put_off(void *user, const struct pod *pod)
{
    struct asked *x = user;
    return x->live->put_off != NULL ? x->live->put_off(x->live->user, &x->a, pod) : (struct why){0};
}

/* The NodePool that is asked about, or that of a node that has drifted; NULL: drift is no matter here. */
static const struct node_pool *drifting_pool(const struct plan *p, const struct explain_objects *all,
                                             const struct explain_question *q)
{
    struct span name = q->kind == KIND_NODE_POOL ? q->name : (struct span){NULL, 0};
    int32_t row = q->kind == KIND_NODE ? row_named(p->world, q->name) : -1;
    const struct node_claim *claim = row >= 0 ? world_node_at(p->world, (uint32_t)row)->claim : NULL;
    if (claim != NULL && conditions_true(claim->conditions, SPAN("Drifted")))
        name = sym_text(p->syms, sym_pairs_get(claim->meta.labels, SYM_NODEPOOL));
    for (size_t i = 0; name.len != 0 && i < all->pool_count; i++)
        if (span_eq(all->pools[i]->meta.name, name))
            return all->pools[i];
    return NULL;
}

static void add_pause(struct plan *p, const struct explain_live *live, const struct explain_objects *all,
                      const struct explain_question *q, struct explanation *e)
{
    const struct node_pool *pool = live->drift_paused != NULL ? drifting_pool(p, all, q) : NULL;
    struct span why = pool != NULL ? live->drift_paused(live->user, &p->arena, &pool->meta) : (struct span){NULL, 0};
    if (why.len != 0)
        add_lines(p,
                  &(struct answer_line){SPAN("drift"),
                                        arena_printf(&p->arena, "nodes of NodePool %.*s that have drifted are let alone: %.*s",
                                                     SPAN_ARG(pool->meta.name), SPAN_ARG(why))},
                  1, e);
}

bool explain_write(const struct explain_live *live, const struct explain_question *q,
                   struct buf *out, struct err *err)
{
    const struct place *place = place_of(live, q);
    if (place != NULL) {
        write_place(place, q, out);
        return true;
    }
    struct asked asked = {.live = live};
    struct plan_options o = live->options != NULL ? *live->options : (struct plan_options){0};
    o.places = live->places;
    o.now = live->now;
    o.no_bound = true; /* nobody asks for its price */
    o.stop = is_late;
    o.put_off = put_off;
    o.user = &asked;
    arena_init(&asked.a, 0);
    struct plan *p = plan_solve(live->world, &o);
    plan_tell(p);
    struct explain_objects all = explain_objects_of(&p->arena, live->snapshot);
    struct explanation e;
    bool ok = explain_answer(p, &all, &live->groups, q, &o, &e, err);
    if (ok) {
        add_pause(p, live, &all, q, &e);
        struct json j = JSON_TO(out);
        explanation_json(&j, &e);
    }
    plan_free(p);
    arena_release(&asked.a);
    return ok;
}

/* --- an answer from elsewhere --- */

static void decode_lines(struct arena *a, struct doc_value root, struct explanation *out)
{
    struct answer_line *lines = NULL;
    uint32_t count = 0, capacity = 0;
    struct doc_value list;
    if (!doc_find(root, SPAN("lines"), &list))
        return;
    for (struct doc_iter i = doc_iter_of(list); doc_next(&i);) {
        struct answer_line line = {arena_dup(a, doc_text_at(i.value, SPAN("about"))),
                                   arena_dup(a, doc_text_at(i.value, SPAN("text")))};
        ARENA_PUSH(a, lines, count, capacity, line);
    }
    out->lines = lines;
    out->line_count = count;
}

bool explain_decode(struct arena *a, struct span json, struct explanation *out, struct err *err)
{
    struct doc_parser *parser = doc_parser_new();
    const struct doc *doc;
    struct doc_value place;
    bool ok = doc_parse_json(parser, json, &doc, err);
    if (ok) {
        struct doc_value root = doc_root(doc);
        *out = (struct explanation){.sentence = arena_dup(a, doc_text_at(root, SPAN("sentence")))};
        if (doc_find(root, SPAN("hasPlace"), &place) && doc_type(place) == DOC_BOOL)
            out->has_place = doc_bool(place);
        decode_lines(a, root, out);
        ok = out->sentence.len != 0 || err_set(err, ERR_INVALID, "the answer has no sentence");
    }
    doc_parser_free(parser);
    return ok;
}
