#include "webhook/shape.h"

#include "base/base64.h"
#include "base/json.h"
#include "base/decode.h"
#include "base/nearest.h"
#include "base/safe_text.h"
#include "kube/node.h"
#include "kube/pod_placement.h"
#include "kube/requirement.h"
#include "kube/shaped_by.h"
#include "kube/wellknown.h"
#include "kube/workload.h"
#include "planner/world.h"
#include "webhook/budget.h"

/* Of system-cluster-critical (scheduling.k8s.io/v1); nothing a person makes may be above 1,000,000,000. */
enum { CRITICAL_PRIORITY = 2000000000 };

enum wish { WISH_POOL, WISH_SCHEDULER, WISH_SPLIT, WISH_COUNT };
static const char *const wish_keys[WISH_COUNT] = {"nodepool", "scheduler", "split"}; /* in stowage.dev/shaped-by */
enum { WARNINGS_MAX = WISH_COUNT }; /* one of each wish at the most */

struct shaping {
    struct arena *arena;
    const struct shape_sources *sources;
    const struct symtab *shared; /* what `syms` continues */
    struct symtab *syms;
    const struct webhook_request *request;
    struct doc_value spec;
    struct pod pod;
    struct decode decode; /* that reads the Pod */
    struct span name; /* for warnings */
    struct buf patch;
    struct json json; /* of the patch */
    uint32_t steps;   /* in it */
    struct span done[WISH_COUNT]; /* the pool's name, say: now, or before; absent */
    struct span review;           /* that gave the side of the split, now or before; absent */
    struct webhook_response response;
};

/* --- warnings --- */

static void warn(struct shaping *s, struct span where, struct span text)
{
    s->response.warnings[s->response.warning_count++] = arena_printf(s->arena, "Pod %.*s: %.*s: %.*s; it is admitted without that",
                                                                     SPAN_ARG(s->name), SPAN_ARG(where), SPAN_ARG(text));
}

static struct span annotation_at(struct shaping *s, sym key)
{
    return arena_printf(s->arena, "metadata.annotations[%.*s]", SPAN_ARG(sym_text(s->syms, key)));
}

/* --- the patch: against the object as it was sent --- */

static void step_begin(struct shaping *s, const char *path)
{
    if (s->steps++ == 0)
        json_array_begin(&s->json);
    json_object_begin(&s->json);
    json_put_string(&s->json, "op", SPAN("add"));
    json_put_string(&s->json, "path", span_of(path));
    json_key(&s->json, SPAN("value"));
}

static void step_text(struct shaping *s, const char *path, struct span value)
{
    step_begin(s, path);
    json_text(&s->json, value);
    json_object_end(&s->json);
}

/* A key of a map of texts, whose parent may not be there yet; `path` is that of the key, as a JSON pointer has it. */
static void step_entry(struct shaping *s, struct doc_value parent, const char *member, const char *map, const char *path,
                       sym key, struct span value)
{
    struct doc_value have;
    if (doc_find(parent, span_of(member), &have) && doc_type(have) == DOC_OBJECT) {
        step_text(s, path, value);
        return;
    }
    step_begin(s, map);
    json_object_begin(&s->json);
    json_key(&s->json, sym_text(s->syms, key));
    json_text(&s->json, value);
    json_object_end(&s->json);
    json_object_end(&s->json);
}

static void put_toleration(struct shaping *s, const struct taint *t)
{
    struct span value = sym_text(s->syms, t->value);
    json_object_begin(&s->json);
    json_put_string(&s->json, "key", sym_text(s->syms, t->key));
    json_put_string(&s->json, "operator", value.len == 0 ? SPAN("Exists") : SPAN("Equal"));
    if (value.len != 0)
        json_put_string(&s->json, "value", value);
    json_put_string(&s->json, "effect", span_of(taint_effect_name(t->effect)));
    json_object_end(&s->json);
}

static bool is_lacking(const struct shaping *s, const struct taint *t)
{
    return t->effect != TAINT_OTHER && !taint_tolerated(t, s->pod.tolerations, s->syms);
}

/* Returns whether there was one to be added. */
static bool tolerate(struct shaping *s, struct taints taints)
{
    struct doc_value have;
    bool some = false, is_list = doc_find(s->spec, SPAN("tolerations"), &have) && doc_type(have) == DOC_ARRAY;
    for (uint32_t i = 0; i < taints.count; i++) {
        if (!is_lacking(s, &taints.items[i]))
            continue;
        if (is_list || !some)
            step_begin(s, is_list ? "/spec/tolerations/-" : "/spec/tolerations");
        if (!is_list && !some)
            json_array_begin(&s->json);
        put_toleration(s, &taints.items[i]);
        if (is_list)
            json_object_end(&s->json);
        some = true;
    }
    if (some && !is_list) {
        json_array_end(&s->json);
        json_object_end(&s->json);
    }
    return some;
}

/* --- stowage.dev/shaped-by --- */

/* Done now, or by an earlier call of ours: the API server may ask again after others have changed the Pod. */
static void note(struct shaping *s, enum wish wish, struct span value, bool now)
{
    struct span before = shaped_by_get(annotations_get(s->pod.meta.annotations, SYM_SHAPED_BY), span_of(wish_keys[wish]));
    if (now || (before.ptr != NULL && span_eq(before, value)))
        s->done[wish] = value;
}

static void add_part(struct buf *text, const char *key, struct span value)
{
    if (value.ptr == NULL)
        return;
    buf_add(text, text->len != 0 ? SPAN(", ") : SPAN(""));
    buf_add(text, span_of(key));
    buf_add_char(text, '=');
    buf_add(text, value);
}

static void note_in_pod(struct shaping *s)
{
    struct doc_value meta;
    struct buf text = {0};
    for (int w = 0; w < WISH_COUNT; w++)
        add_part(&text, wish_keys[w], s->done[w]);
    add_part(&text, "review", s->review);
    if (s->steps != 0 && doc_find(s->request->object, SPAN("metadata"), &meta) &&
        !span_eq(buf_span(&text), annotations_get(s->pod.meta.annotations, SYM_SHAPED_BY)))
        step_entry(s, meta, "annotations", "/metadata/annotations", "/metadata/annotations/stowage.dev~1shaped-by", SYM_SHAPED_BY,
                   buf_span(&text));
    buf_release(&text);
}

/* --- stowage.dev/nodepool --- */

static bool terms_speak_of_pool(struct node_terms terms)
{
    for (uint32_t i = 0; i < terms.count; i++)
        for (uint32_t k = 0; k < terms.items[i].match_expressions.count; k++)
            if (terms.items[i].match_expressions.items[k].key == SYM_NODEPOOL)
                return true;
    return false;
}

/* Which pool it asks for, absent: none; a Pod's own word goes before its namespace's. */
static struct span wished_pool(struct shaping *s, struct span own)
{
    struct span ns = s->request->ns;
    if (own.ptr != NULL)
        return own;
    const struct ns *known = s->sources->snapshot == NULL ? NULL : snapshot_find(s->sources->snapshot, KIND_NAMESPACE, (struct span){NULL, 0}, ns);
    sym label = known == NULL ? SYM_NONE : sym_pairs_get(known->meta.labels, SYM_SHAPE_POOL);
    return label == SYM_NONE ? (struct span){NULL, 0} : sym_text(s->shared, label);
}

static struct span no_such_pool(struct shaping *s, struct span name)
{
    struct nearest n = {.given = name};
    struct snapshot_iter it = snapshot_each(s->sources->snapshot, KIND_NODE_POOL);
    for (const struct node_pool *p; (p = snapshot_next(&it)) != NULL;)
        nearest_try(&n, p->meta.name);
    return n.best.ptr == NULL
               ? arena_printf(s->arena, "there is no NodePool \"%.*s\"", SPAN_ARG(name))
               : arena_printf(s->arena, "there is no NodePool \"%.*s\", did you mean %.*s?", SPAN_ARG(name), SPAN_ARG(n.best));
}

/* It says itself where it belongs, or others that it was shaped for before. */
static bool keeps_its_own(const struct shaping *s, struct span name)
{
    sym own = sym_pairs_get(s->pod.node_selector, SYM_NODEPOOL);
    if (own != SYM_NONE)
        return !span_eq(sym_text(s->syms, own), name);
    return s->pod.affinity != NULL && terms_speak_of_pool(s->pod.affinity->required_node);
}

static void warn_of_pool(struct shaping *s, bool own, struct span text)
{
    warn(s, own ? annotation_at(s, SYM_SHAPE_POOL)
                : arena_printf(s->arena, "label stowage.dev/nodepool of namespace %.*s", SPAN_ARG(s->request->ns)), text);
}

/* Returns whether a wish was left undone. */
static bool shape_pool(struct shaping *s)
{
    struct span own = annotations_get(s->pod.meta.annotations, SYM_SHAPE_POOL), name = wished_pool(s, own);
    if (name.ptr == NULL && !s->sources->by_namespace)
        return false;
    if (name.ptr == NULL || s->sources->snapshot == NULL) {
        warn_of_pool(s, own.ptr != NULL, SPAN("Stowage has not heard of it yet"));
        return true;
    }
    const struct node_pool *pool = snapshot_find(s->sources->snapshot, KIND_NODE_POOL, (struct span){NULL, 0}, name);
    if (keeps_its_own(s, name))
        return false;
    if (pool == NULL) {
        warn_of_pool(s, own.ptr != NULL, no_such_pool(s, name));
        return true;
    }
    bool selects = sym_pairs_get(s->pod.node_selector, SYM_NODEPOOL) == SYM_NONE;
    if (selects)
        step_entry(s, s->spec, "nodeSelector", "/spec/nodeSelector", "/spec/nodeSelector/karpenter.sh~1nodepool", SYM_NODEPOOL, name);
    bool tolerates = tolerate(s, pool->taints);
    note(s, WISH_POOL, name, selects || tolerates);
    return false;
}

/* --- stowage.dev/scheduler --- */

static bool shape_scheduler(struct shaping *s)
{
    struct span name = annotations_get(s->pod.meta.annotations, SYM_SHAPE_SCHEDULER);
    if (name.ptr == NULL)
        return false;
    if (!subdomain_valid(name)) {
        warn(s, annotation_at(s, SYM_SHAPE_SCHEDULER),
             arena_printf(s->arena, "\"%.*s\" is no scheduler's name", SPAN_ARG(safe_value(s->arena, name))));
        return true;
    }
    struct span own = sym_text(s->syms, s->pod.scheduler);
    bool changes = !span_eq(own, name) && (own.len == 0 || span_eq(own, SPAN("default-scheduler")));
    if (changes)
        step_text(s, "/spec/schedulerName", name);
    note(s, WISH_SCHEDULER, name, changes);
    return false;
}

/* --- a side of the split --- */

#define NODE_AFFINITY "nodeAffinity"
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define TERMS "nodeSelectorTerms"
#define MATCHES "matchExpressions"

/* On-demand is what is not spot: reserved, and nodes that do not say. */
static void put_side(struct shaping *s, enum split_side side)
{
    json_object_begin(&s->json);
    json_put_string(&s->json, "key", sym_text(s->syms, SYM_CAPACITY_TYPE));
    json_put_string(&s->json, "operator", side == SPLIT_SPOT ? SPAN("In") : SPAN("NotIn"));
    json_put_array(&s->json, "values");
    json_text(&s->json, sym_text(s->syms, SYM_SPOT));
    json_array_end(&s->json);
    json_object_end(&s->json);
}

static void put_sides(struct shaping *s, enum split_side side)
{
    json_array_begin(&s->json);
    put_side(s, side);
    json_array_end(&s->json);
}

/* A term that says nothing matches nothing, and is left alone: with more in it, it would match something. */
static bool narrow_term(struct shaping *s, struct doc_value term, uint32_t at, enum split_side side)
{
    struct doc_value list, fields;
    bool has_list = doc_find(term, SPAN(MATCHES), &list) && doc_count(list) != 0;
    bool has_fields = doc_find(term, SPAN("matchFields"), &fields) && doc_count(fields) != 0;
    if (!has_list && !has_fields)
        return false;
    step_begin(s, arena_printf(s->arena, "/spec/affinity/" NODE_AFFINITY "/" REQUIRED "/" TERMS "/%u/" MATCHES "%s", at,
                               has_list ? "/-" : "").ptr);
    if (has_list)
        put_side(s, side);
    else
        put_sides(s, side);
    json_object_end(&s->json);
    return true;
}

static bool narrow_terms(struct shaping *s, struct doc_value required, enum split_side side)
{
    struct doc_value terms;
    bool some = false;
    uint32_t at = 0;
    if (!doc_find(required, SPAN(TERMS), &terms))
        return false; /* no API server takes it */
    struct doc_iter it = doc_iter_of(terms);
    for (; doc_next(&it); at++)
        some |= narrow_term(s, it.value, at, side);
    return some;
}

/* Whether some node that there may be is still one for it. */
static bool narrow(struct shaping *s, enum split_side side)
{
    static const char *const levels[] = {"affinity", NODE_AFFINITY, REQUIRED},
                             *const paths[] = {"/spec/affinity", "/spec/affinity/" NODE_AFFINITY, "/spec/affinity/" NODE_AFFINITY "/" REQUIRED};
    struct doc_value parent = s->spec, here;
    for (size_t i = 0; i < COUNT_OF(levels); i++) {
        if (doc_find(parent, span_of(levels[i]), &here) && doc_type(here) == DOC_OBJECT) {
            parent = here;
            continue;
        }
        step_begin(s, paths[i]);
        for (size_t k = i + 1; k < COUNT_OF(levels); k++) {
            json_object_begin(&s->json);
            json_key(&s->json, span_of(levels[k]));
        }
        json_object_begin(&s->json);
        json_put_array(&s->json, TERMS);
        json_object_begin(&s->json);
        json_key(&s->json, SPAN(MATCHES));
        put_sides(s, side);
        json_object_end(&s->json);
        json_array_end(&s->json);
        for (size_t k = i; k < COUNT_OF(levels); k++)
            json_object_end(&s->json);
        json_object_end(&s->json);
        return true;
    }
    return narrow_terms(s, parent, side);
}

static const struct meta *replica_set_of(const struct shaping *s)
{
    const struct owner *c = meta_controller(&s->pod.meta);
    const struct controller *set = NULL;
    if (c != NULL && c->kind == SYM_KIND_REPLICA_SET)
        set = snapshot_find(s->sources->snapshot, KIND_REPLICA_SET, s->request->ns, c->name);
    return set != NULL ? &set->meta : NULL;
}

/* A review that comes again gets what it got. */
static enum split_side given_before(const struct split_sent *sent, uint32_t count, uint64_t id)
{
    for (uint32_t i = 0; i < count; i++)
        if (sent[i].id == id)
            return sent[i].side;
    return SPLIT_NONE;
}

static uint32_t count_unseen(const struct split_sent *sent, uint32_t count)
{
    uint32_t unseen = 0;
    for (uint32_t i = 0; i < count; i++)
        unseen += sent[i].pod == NULL;
    return unseen;
}

/* What the sides of a workload's Pods are remembered under. Reviews with other annotations than the workload's Pods have do not
 * count among these. */
static uint64_t sides_key(const struct split_wish *wish)
{
    const uint64_t parts[] = {wish->workload, wish->base, wish->percent};
    return span_hash((struct span){(const char *)parts, sizeof(parts)});
}

/* By the snapshot, and by the sides of the workload's Pods that it does not show yet: bounded, see sides.h. */
static enum split_side decide_beside(struct shaping *s, const struct split_wish *wish)
{
    const struct world *w = s->sources->snapshot->derived;
    struct split_sent sent[SIDES_MAX], own = {.id = span_hash(s->request->uid), .workload = sides_key(wish)};
    uint32_t ahead = wish->pods + SIDES_AHEAD;
    enum sides_added added;
    do {
        uint64_t version;
        uint32_t count = sides_copy(s->sources->sides, s->sources->now, own.workload, sent, &version);
        enum split_side before = given_before(sent, count, own.id);
        if (before != SPLIT_NONE)
            return before;
        own.side = world_split_newcomer(w, wish, sent, count);
        sides_settle(s->sources->sides, sent, count);
        if (count_unseen(sent, count) >= ahead)
            return world_split_draw(w, wish, own.id, ahead);
        if (s->request->dry_run)
            return own.side;
        added = sides_add(s->sources->sides, &own, version, s->sources->now);
    } while (added == SIDES_OUTDATED);
    return added == SIDES_ADDED ? own.side : world_split_draw(w, wish, own.id, ahead);
}

static enum split_side decide_side(struct shaping *s, struct span *fault_out)
{
    const struct world *w = s->sources->snapshot->derived;
    struct split_newcomer newcomer = {&s->pod, replica_set_of(s), s->syms};
    struct split_wish wish;
    if (!world_split_wish(w, &newcomer, s->arena, &wish, fault_out))
        return SPLIT_NONE;
    return wish.workload != 0 ? decide_beside(s, &wish) : world_split_newcomer(w, &wish, NULL, 0);
}

/* Returns whether a wish was left undone. */
static bool shape_split(struct shaping *s)
{
    static const char *const names[] = {[SPLIT_ON_DEMAND] = "on-demand", [SPLIT_SPOT] = "spot"};
    struct span before = annotations_get(s->pod.meta.annotations, SYM_SHAPED_BY), fault = {NULL, 0};
    struct span base = annotations_get(s->pod.meta.annotations, SYM_ON_DEMAND_BASE);
    if (base.ptr == NULL && annotations_get(s->pod.meta.annotations, SYM_SPOT_PERCENT).ptr == NULL)
        return false;
    if (s->sources->snapshot == NULL || s->sources->snapshot->derived == NULL) {
        warn(s, annotation_at(s, base.ptr != NULL ? SYM_ON_DEMAND_BASE : SYM_SPOT_PERCENT),
             SPAN("Stowage has not read the cluster yet"));
        return true;
    }
    s->pod.meta.ns = s->request->ns; /* the object may be without */
    enum split_side side = decide_side(s, &fault);
    if (fault.ptr != NULL)
        warn(s, SPAN("metadata.annotations"), fault);
    if (side != SPLIT_NONE && narrow(s, side)) {
        s->review = s->request->uid;
        note(s, WISH_SPLIT, span_of(names[side]), true);
        return false;
    }
    for (size_t i = SPLIT_ON_DEMAND; i <= SPLIT_SPOT; i++)
        note(s, WISH_SPLIT, span_of(names[i]), false);
    if (s->done[WISH_SPLIT].ptr != NULL)
        s->review = shaped_by_get(before, SPAN("review"));
    return fault.ptr != NULL;
}

/* --- the Pod --- */

static bool is_in_host_network(struct doc_value spec)
{
    struct doc_value v;
    return doc_find(spec, SPAN("hostNetwork"), &v) && doc_type(v) == DOC_BOOL && doc_bool(v);
}

static bool is_never_touched(const struct shaping *s)
{
    return s->pod.node != SYM_NONE || pod_is_daemon(&s->pod) || pod_is_static(&s->pod) ||
           s->pod.priority >= CRITICAL_PRIORITY || is_in_host_network(s->spec);
}

static void on_mistake(void *user, uint32_t line, struct span path, struct span text)
{
    (void)line;
    struct shaping *s = user;
    warn(s, arena_dup(s->arena, path), arena_dup(s->arena, text));
    s->decode.mistake = NULL; /* the first is enough */
}

static enum webhook_answer shape(struct shaping *s)
{
    s->decode = (struct decode){.arena = s->arena, .syms = s->syms, .mistake = on_mistake, .user = s};
    if (!doc_find(s->request->object, SPAN("spec"), &s->spec) || doc_type(s->spec) != DOC_OBJECT)
        return WEBHOOK_NOT_OURS;
    if (!decode_value(&s->decode, s->request->object, &pod_placement_schema, &s->pod))
        return WEBHOOK_UNSHAPED;
    if (is_never_touched(s))
        return WEBHOOK_NOT_OURS;
    bool undone = shape_pool(s);
    undone |= shape_scheduler(s);
    undone |= shape_split(s);
    note_in_pod(s);
    return undone ? WEBHOOK_UNSHAPED : s->steps != 0 ? WEBHOOK_SHAPED : WEBHOOK_ALLOWED;
}

static enum webhook_answer leave(struct shaping *s)
{
    warn(s, SPAN("metadata.annotations"), SPAN("the Pod is too large to be looked at"));
    return WEBHOOK_UNSHAPED;
}

bool webhook_shape(struct webhook_scratch *scratch, const struct shape_sources *sources, struct span body, struct buf *reply,
                   enum webhook_answer *answer_out, struct err *err)
{
    struct webhook_request r;
    if (!webhook_read(scratch, body, &r, err))
        return false;
    struct arena *a = &scratch->arena;
    struct shaping s = {.arena = a, .sources = sources, .request = &r};
    s.shared = sources->snapshot != NULL ? sources->snapshot->syms : sources->syms;
    s.json = (struct json)JSON_TO(&s.patch);
    s.syms = symtab_new_local(s.shared, a);
    s.response.warnings = ARENA_ARRAY(a, struct span, WARNINGS_MAX);
    *answer_out = WEBHOOK_NOT_OURS;
    if (webhook_is(&r, "", "v1", "pods") && span_eq(r.operation, SPAN("CREATE"))) {
        if (!r.has_object)
            return err_set(err, ERR_INVALID, "the review of a Pod carries no object");
        s.name = webhook_metadata(r.object, "name");
        if (s.name.len == 0)
            s.name = webhook_metadata(r.object, "generateName");
        *answer_out = body.len <= REVIEW_BYTES_MAX ? shape(&s) : leave(&s);
    }
    if (s.steps != 0) {
        json_array_end(&s.json);
        s.response.patch = base64_encode(a, buf_span(&s.patch));
    }
    buf_release(&s.patch);
    webhook_write(reply, &r, &s.response);
    return true;
}
