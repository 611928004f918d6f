#include "webhook/review.h"

#include "base/decode.h"
#include "kube/claim_warnings.h"
#include "kube/class_warnings.h"
#include "kube/finding.h"
#include "kube/node.h"
#include "kube/overlay.h"
#include "kube/own_annotations.h"
#include "kube/pool_validate.h"
#include "kube/pool_warnings.h"
#include "webhook/neighbours.h"

#include <stdlib.h>

static bool is_write(const struct webhook_request *r)
{
    return span_eq(r->operation, SPAN("CREATE")) || span_eq(r->operation, SPAN("UPDATE"));
}

struct judging {
    struct arena *arena;
    struct findings found;
    bool only_tells; /* upstream refuses nothing that its schema lets through */
};

static void on_mistake(void *user, uint32_t line, struct span path, struct span text)
{
    (void)line; /* nobody sees the bytes that the API server sends us */
    struct judging *j = user;
    finding_add(j->arena, &j->found, !j->only_tells, arena_dup(j->arena, path), arena_dup(j->arena, text));
}

typedef struct findings judge_object(struct arena *a, const struct webhook_rules *rules, struct doc_value object);

static struct findings judge_pool(struct arena *a, const struct webhook_rules *rules, struct doc_value object)
{
    struct symtab *syms = symtab_new_local(rules->syms, a);
    struct judging j = {.arena = a};
    struct node_pool pool;
    struct decode d = {.arena = a, .syms = syms, .mistake = on_mistake, .user = &j};
    if (!decode_value(&d, object, &node_pool_schema, &pool))
        return j.found;
    pool_validate(a, &pool, rules->labels, syms, &j.found);
    pool_warnings(a, &pool, syms, &j.found);
    return j.found;
}

static struct findings judge_overlay(struct arena *a, const struct webhook_rules *rules, struct doc_value object)
{
    struct symtab *syms = symtab_new_local(rules->syms, a);
    struct judging j = {.arena = a};
    struct node_overlay overlay;
    struct decode d = {.arena = a, .syms = syms, .mistake = on_mistake, .user = &j};
    if (decode_value(&d, object, &node_overlay_schema, &overlay)) {
        node_overlay_findings(a, &overlay, rules->labels, syms, &j.found);
        own_annotations_warnings(a, overlay.meta.annotations, KIND_NODE_OVERLAY, syms, &j.found);
    }
    if (!rules->overlays)
        finding_add(a, &j.found, false, SPAN("spec"), SPAN("has no effect while the feature gate NodeOverlay is off. Fix: serve with "
                                                           "--feature-gates=NodeOverlay=true"));
    return j.found;
}

static struct findings judge_claim(struct arena *a, const struct webhook_rules *rules, struct doc_value object)
{
    struct symtab *syms = symtab_new_local(rules->syms, a);
    struct judging j = {.arena = a, .only_tells = true};
    struct node_claim claim;
    struct decode d = {.arena = a, .syms = syms, .mistake = on_mistake, .user = &j};
    if (decode_value(&d, object, &node_claim_schema, &claim))
        claim_warnings(a, &claim, syms, &j.found);
    return j.found;
}

static struct findings judge_class(struct arena *a, const struct webhook_rules *rules, struct doc_value object)
{
    struct symtab *syms = symtab_new_local(rules->syms, a);
    struct judging j = {.arena = a, .only_tells = true};
    struct kwok_node_class class;
    struct decode d = {.arena = a, .syms = syms, .mistake = on_mistake, .user = &j};
    if (decode_value(&d, object, &kwok_node_class_schema, &class))
        class_warnings(a, &class, syms, &j.found);
    return j.found;
}

/* What other objects make of it; `own` is what was found in itself. */
typedef struct findings look_around(struct arena *a, const struct webhook_rules *rules, const struct snapshot *snapshot,
                                    struct doc_value object, const struct findings *own);

static struct findings around_pool(struct arena *a, const struct webhook_rules *rules, const struct snapshot *snapshot,
                                   struct doc_value object, const struct findings *own)
{
    struct symtab *syms = symtab_new_local(snapshot->syms, a);
    struct findings found = {0};
    struct node_pool pool;
    struct err unused;
    if (decode_one(a, syms, object, &node_pool_schema, &pool, &unused))
        neighbours_of_pool(a, snapshot, &pool, rules->labels, own, syms, &found);
    return found;
}

static struct findings around_overlay(struct arena *a, const struct webhook_rules *rules, const struct snapshot *snapshot,
                                      struct doc_value object, const struct findings *own)
{
    (void)own;
    struct symtab *syms = symtab_new_local(snapshot->syms, a);
    struct findings found = {0};
    struct node_overlay overlay;
    struct err unused;
    if (rules->overlays && decode_one(a, syms, object, &node_overlay_schema, &overlay, &unused))
        neighbours_of_overlay(a, snapshot, &overlay, syms, &found);
    return found;
}

static struct findings around_claim(struct arena *a, const struct webhook_rules *rules, const struct snapshot *snapshot,
                                    struct doc_value object, const struct findings *own)
{
    struct symtab *syms = symtab_new_local(snapshot->syms, a);
    struct findings found = {0};
    struct node_claim claim;
    struct err unused;
    if (decode_one(a, syms, object, &node_claim_schema, &claim, &unused))
        neighbours_of_claim(a, snapshot, &claim, rules->labels, own, syms, &found);
    return found;
}

static const struct reviewed {
    const char *group, *version, *resource, *kind;
    judge_object *judge;
    look_around *around; /* NULL: others do not matter */
    const char *until;   /* what comes of it while it stays as it is, where something is refused */
    bool is_pool;        /* of which a deletion is told, too */
} all_reviewed[] = {
    {"karpenter.sh", "v1", "nodepools", "NodePool", judge_pool, around_pool, "no node is bought for the pool", true},
    {"karpenter.sh", "v1alpha1", "nodeoverlays", "NodeOverlay", judge_overlay, around_overlay, "the overlay has no effect", false},
    {"karpenter.sh", "v1", "nodeclaims", "NodeClaim", judge_claim, around_claim, NULL, false},
    {"karpenter.kwok.sh", "v1alpha1", "kwoknodeclasses", "KWOKNodeClass", judge_class, NULL, NULL, false},
};

static const struct reviewed *reviewed_of(const struct webhook_request *r)
{
    for (size_t i = 0; i < COUNT_OF(all_reviewed); i++)
        if (webhook_is(r, all_reviewed[i].group, all_reviewed[i].version, all_reviewed[i].resource))
            return &all_reviewed[i];
    return NULL;
}

/* The path does not count: what comes into a list before it moves it. */
static int by_text(const void *x, const void *y)
{
    return span_cmp(((const struct finding *)x)->text, ((const struct finding *)y)->text);
}

/* What is wrong with it, sorted by what is said; nothing of what was not there. */
static struct findings found_before(struct arena *a, const struct webhook_rules *rules, const struct webhook_request *r,
                                    judge_object *judge)
{
    struct findings f = {0};
    if (r->has_old)
        f = judge(a, rules, r->old);
    if (f.count != 0)
        qsort(f.items, f.count, sizeof(*f.items), by_text);
    return f;
}

/* What a person reads. The API server passes on 4,096 characters of warnings, and not even those of others after that. */
enum { TOLD_MOST = 16 };

static struct span and_more(struct arena *a, uint32_t count)
{
    return arena_printf(a, "and %u more", count - TOLD_MOST);
}

static struct span refusal_text(struct arena *a, struct findings *fresh)
{
    uint32_t all = fresh->count;
    if (all > TOLD_MOST)
        fresh->count = TOLD_MOST;
    struct span text = findings_refusal(a, fresh);
    return all <= TOLD_MOST ? text
                            : arena_printf(a, "%.*s; %.*s", SPAN_ARG(text), SPAN_ARG(and_more(a, all)));
}

static void add_warning(struct arena *a, struct webhook_response *v, const struct reviewed *of, struct span name,
                        const struct finding *f, bool before)
{
    if (v->warning_count++ >= TOLD_MOST)
        return;
    v->warnings[v->warning_count - 1] =
        arena_printf(a, "%s %.*s: %.*s: %.*s%s%s%s", of->kind, SPAN_ARG(name), SPAN_ARG(f->path), SPAN_ARG(f->text),
                     before ? "; it was so before, and " : "", before ? of->until : "", before ? " until it is fixed" : "");
}

static void end_warnings(struct arena *a, struct webhook_response *v)
{
    if (v->warning_count <= TOLD_MOST)
        return;
    v->warnings[TOLD_MOST] = and_more(a, v->warning_count);
    v->warning_count = TOLD_MOST + 1;
}

/* What was wrong before is told and not refused: who changes something else shall be able to. */
static struct webhook_response decide(struct arena *a, const struct reviewed *of, const struct webhook_rules *rules,
                                      const struct snapshot *snapshot, const struct webhook_request *r)
{
    struct findings now = of->judge(a, rules, r->object), old = {0}, fresh = {0}, around = {0};
    if (of->around != NULL && snapshot != NULL)
        around = of->around(a, rules, snapshot, r->object, &now);
    struct webhook_response v = {.warnings = ARENA_ARRAY(a, struct span, TOLD_MOST + 1)};
    struct span name = webhook_metadata(r->object, "name");
    if (now.count != 0)
        old = found_before(a, rules, r, of->judge);
    for (uint32_t i = 0; i < now.count; i++) {
        const struct finding *f = &now.items[i];
        bool before = old.count != 0 && bsearch(f, old.items, old.count, sizeof(*f), by_text) != NULL;
        if ((f->refuses || rules->strict) && !before)
            finding_add(a, &fresh, true, f->path, f->text);
        else
            add_warning(a, &v, of, name, f, before && f->refuses);
    }
    for (uint32_t i = 0; i < around.count; i++)
        add_warning(a, &v, of, name, &around.items[i], false);
    end_warnings(a, &v);
    v.refusal = refusal_text(a, &fresh);
    return v;
}

static bool leaves_its_nodes(const struct webhook_request *r)
{
    return r->has_options && span_eq(doc_text_at(r->options, SPAN("propagationPolicy")), SPAN("Orphan"));
}

static struct webhook_response on_delete(struct arena *a, const struct snapshot *snapshot, const struct webhook_request *r)
{
    struct webhook_response v = {.warnings = ARENA_ARRAY(a, struct span, 1)};
    struct span name = r->has_old ? webhook_metadata(r->old, "name") : (struct span){NULL, 0};
    struct span text = snapshot == NULL || leaves_its_nodes(r) ? (struct span){NULL, 0} : neighbours_of_deleted(a, snapshot, name);
    if (text.ptr != NULL)
        v.warnings[v.warning_count++] = arena_printf(a, "NodePool %.*s: %.*s", SPAN_ARG(name), SPAN_ARG(text));
    return v;
}

static bool is_going(const struct webhook_request *r)
{
    return (r->has_object && webhook_metadata(r->object, "deletionTimestamp").len != 0) ||
           (r->has_old && webhook_metadata(r->old, "deletionTimestamp").len != 0);
}

bool webhook_review(struct webhook_scratch *s, const struct webhook_rules *rules, const struct snapshot *snapshot,
                    struct span body, struct buf *reply, enum webhook_answer *answer_out, struct err *err)
{
    struct webhook_request r;
    struct webhook_response v = {.warning_count = 0};
    if (!webhook_read(s, body, &r, err))
        return false;
    const struct reviewed *of = reviewed_of(&r);
    bool deletes = of != NULL && of->is_pool && span_eq(r.operation, SPAN("DELETE"));
    if (of != NULL && is_write(&r) && !r.has_object)
        return err_set(err, ERR_INVALID, "the review of a %s carries no object", of->kind);
    bool ours = of != NULL && (is_write(&r) || deletes) && !is_going(&r);
    if (ours)
        v = deletes ? on_delete(&s->arena, snapshot, &r) : decide(&s->arena, of, rules, snapshot, &r);
    webhook_write(reply, &r, &v);
    *answer_out = !ours ? WEBHOOK_NOT_OURS : v.refusal.len != 0 ? WEBHOOK_DENIED : WEBHOOK_ALLOWED;
    return true;
}
