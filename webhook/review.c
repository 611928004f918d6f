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
    struct decode *decode;
    struct findings *found;
    bool only_tells; /* upstream refuses nothing that its schema lets through */
};

static void on_mistake(void *user, uint32_t line, struct span path, struct span text)
{
    (void)line; /* nobody sees the bytes that the API server sends us */
    struct judging *j = user;
    struct arena *a = j->decode->arena;
    finding_add(a, j->found, !j->only_tells, arena_dup(a, path), arena_dup(a, text));
    if (findings_closed(j->found))
        j->decode->mistake = NULL; /* of further ones no text is made */
}

/* Appends what is wrong with the object itself. */
typedef void judge_object(struct arena *a, const struct webhook_rules *rules, struct doc_value object, struct findings *out);

/* False: it cannot be read, or not in time. */
static bool read_object(struct arena *a, struct symtab *syms, struct doc_value object, const struct schema *schema,
                        bool only_tells, void *out, struct findings *found)
{
    struct decode d = {.arena = a, .syms = syms, .mistake = on_mistake};
    struct judging j = {&d, found, only_tells};
    d.user = &j;
    return decode_value(&d, object, schema, out) && !findings_closed(found);
}

static void judge_pool(struct arena *a, const struct webhook_rules *rules, struct doc_value object, struct findings *out)
{
    struct symtab *syms = symtab_new_local(rules->syms, a);
    struct node_pool pool;
    if (!read_object(a, syms, object, &node_pool_schema, false, &pool, out))
        return;
    pool_validate(a, &pool, rules->labels, syms, out);
    pool_warnings(a, &pool, syms, out);
}

static void judge_overlay(struct arena *a, const struct webhook_rules *rules, struct doc_value object, struct findings *out)
{
    struct symtab *syms = symtab_new_local(rules->syms, a);
    struct node_overlay overlay;
    if (read_object(a, syms, object, &node_overlay_schema, false, &overlay, out)) {
        node_overlay_findings(a, &overlay, rules->labels, syms, out);
        own_annotations_warnings(a, overlay.meta.annotations, KIND_NODE_OVERLAY, syms, out);
    }
    if (!rules->overlays)
        finding_add(a, out, false, SPAN("spec"), SPAN("has no effect while the feature gate NodeOverlay is off. Fix: serve with "
                                                      "--feature-gates=NodeOverlay=true"));
}

static void judge_claim(struct arena *a, const struct webhook_rules *rules, struct doc_value object, struct findings *out)
{
    struct symtab *syms = symtab_new_local(rules->syms, a);
    struct node_claim claim;
    if (read_object(a, syms, object, &node_claim_schema, true, &claim, out))
        claim_warnings(a, &claim, syms, out);
}

static void judge_class(struct arena *a, const struct webhook_rules *rules, struct doc_value object, struct findings *out)
{
    struct symtab *syms = symtab_new_local(rules->syms, a);
    struct kwok_node_class class;
    if (read_object(a, syms, object, &kwok_node_class_schema, true, &class, out))
        class_warnings(a, &class, syms, out);
}

/* Appends what other objects make of it; `own` is what was found in itself. */
typedef void look_around(struct arena *a, const struct webhook_rules *rules, const struct snapshot *snapshot,
                         struct doc_value object, const struct findings *own, struct findings *out);

static void around_pool(struct arena *a, const struct webhook_rules *rules, const struct snapshot *snapshot,
                        struct doc_value object, const struct findings *own, struct findings *out)
{
    struct symtab *syms = symtab_new_local(snapshot->syms, a);
    struct node_pool pool;
    struct err unused;
    if (decode_one(a, syms, object, &node_pool_schema, &pool, &unused))
        neighbours_of_pool(a, snapshot, &pool, rules->labels, own, syms, out);
}

static void around_overlay(struct arena *a, const struct webhook_rules *rules, const struct snapshot *snapshot,
                           struct doc_value object, const struct findings *own, struct findings *out)
{
    (void)own;
    struct symtab *syms = symtab_new_local(snapshot->syms, a);
    struct node_overlay overlay;
    struct err unused;
    if (rules->overlays && decode_one(a, syms, object, &node_overlay_schema, &overlay, &unused))
        neighbours_of_overlay(a, snapshot, &overlay, syms, out);
}

static void around_claim(struct arena *a, const struct webhook_rules *rules, const struct snapshot *snapshot,
                         struct doc_value object, const struct findings *own, struct findings *out)
{
    struct symtab *syms = symtab_new_local(snapshot->syms, a);
    struct node_claim claim;
    struct err unused;
    if (decode_one(a, syms, object, &node_claim_schema, &claim, &unused))
        neighbours_of_claim(a, snapshot, &claim, rules->labels, own, syms, out);
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

/* What was wrong with it, sorted by what is said; nothing of what was not there. */
static void find_before(struct arena *a, const struct webhook_rules *rules, const struct webhook_request *r, judge_object *judge,
                        struct findings *out)
{
    if (r->has_old)
        judge(a, rules, r->old, out);
    if (out->count != 0)
        qsort(out->items, out->count, sizeof(*out->items), by_text);
}

/* Whether a full list may leave out findings of this sort. Faults are listed before warnings: a list with a warning has all
 * faults. */
static bool may_leave_out(const struct findings *list, bool refuses)
{
    if (list->count < FINDINGS_MAX)
        return false;
    for (uint32_t i = 0; refuses && i < list->count; i++)
        if (!list->items[i].refuses)
            return false;
    return true;
}

/* What the list of the object before may leave out counts as having been so. */
static bool was_so(const struct findings *before, const struct finding *f)
{
    return may_leave_out(before, f->refuses) ||
           (before->count != 0 && bsearch(f, before->items, before->count, sizeof(*f), by_text) != NULL);
}

struct verdict {
    struct arena *arena;
    const struct reviewed *of;
    struct span name;
    struct findings fresh; /* that refuse it */
    struct webhook_response response;
    bool more; /* than are counted */
};

static void add_warning(struct verdict *v, const struct finding *f, bool before)
{
    struct webhook_response *r = &v->response;
    if (r->warning_count++ >= FINDINGS_SHOWN)
        return;
    r->warnings[r->warning_count - 1] =
        arena_printf(v->arena, "%s %.*s: %.*s: %.*s%s%s%s", v->of->kind, SPAN_ARG(v->name), SPAN_ARG(f->path), SPAN_ARG(f->text),
                     before ? "; it was so before, and " : "", before ? v->of->until : "", before ? " until it is fixed" : "");
}

static void end_warnings(struct verdict *v)
{
    struct webhook_response *r = &v->response;
    if (r->warning_count <= FINDINGS_SHOWN)
        return;
    r->warnings[FINDINGS_SHOWN] = findings_and_more(v->arena, r->warning_count, v->more);
    r->warning_count = FINDINGS_SHOWN + 1;
}

static struct verdict verdict_of(struct arena *a, const struct reviewed *of, const struct webhook_request *r)
{
    enum {
        OTHERS = 2, /* "and 4 more", and that it was not fully checked */
        NAME_MAX_LEN = 253,
    };
    struct verdict v = {.arena = a, .of = of, .name = webhook_metadata(r->object, "name")};
    v.response.warnings = ARENA_ARRAY(a, struct span, FINDINGS_SHOWN + OTHERS);
    if (v.name.len > NAME_MAX_LEN) /* the API server will say so */
        v.name = SPAN("of a name that is too long");
    return v;
}

static void warn_unchecked(struct verdict *v, const char *text)
{
    v->response.warnings[v->response.warning_count++] =
        arena_printf(v->arena, "%s %.*s: %s; `stowage check -f` does", v->of->kind, SPAN_ARG(v->name), text);
}

/* What was wrong before is a warning and refuses nothing: another change of the object has to be possible. Nothing is refused
 * before all is known. *in_time_out: it was fully checked. */
static struct webhook_response decide(struct arena *a, const struct reviewed *of, const struct review_sources *from,
                                      const struct webhook_request *r, bool *in_time_out)
{
    struct findings now = {.stop = from->budget.stop, .user = from->budget.user}, old = now, around = now;
    struct verdict v = verdict_of(a, of, r);
    of->judge(a, from->rules, r->object, &now);
    if (now.count != 0 && !now.stopped)
        find_before(a, from->rules, r, of->judge, &old);
    bool judged = !now.stopped && !old.stopped;
    if (of->around != NULL && from->snapshot != NULL && !findings_closed(&now) && judged)
        of->around(a, from->rules, from->snapshot, r->object, &now, &around);
    for (uint32_t i = 0; i < now.count; i++) {
        const struct finding *f = &now.items[i];
        bool before = judged && was_so(&old, f);
        if ((f->refuses || from->rules->strict) && judged && !before)
            finding_add(a, &v.fresh, true, f->path, f->text);
        else
            add_warning(&v, f, before && f->refuses);
    }
    for (uint32_t i = 0; i < around.count; i++)
        add_warning(&v, &around.items[i], false);
    v.more = now.count >= FINDINGS_MAX || around.count >= FINDINGS_MAX;
    end_warnings(&v);
    v.response.refusal = findings_refusal(a, &v.fresh);
    *in_time_out = judged && !now.stopped && !around.stopped;
    if (!*in_time_out && v.response.refusal.len == 0)
        warn_unchecked(&v, "it was not fully checked, since that would have taken too long");
    return v.response;
}

static struct webhook_response let_through(struct arena *a, const struct reviewed *of, const struct webhook_request *r)
{
    struct verdict v = verdict_of(a, of, r);
    warn_unchecked(&v, "it was not checked, since it is too large");
    return v.response;
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

bool webhook_review(struct webhook_scratch *s, const struct review_sources *from, struct span body, struct buf *reply,
                    enum webhook_answer *answer_out, struct err *err)
{
    struct webhook_request r;
    struct webhook_response v = {.warning_count = 0};
    bool checked = true;
    if (!webhook_read(s, body, &r, err))
        return false;
    const struct reviewed *of = reviewed_of(&r);
    bool deletes = of != NULL && of->is_pool && span_eq(r.operation, SPAN("DELETE"));
    if (of != NULL && is_write(&r) && !r.has_object)
        return err_set(err, ERR_INVALID, "the review of a %s carries no object", of->kind);
    bool ours = of != NULL && (is_write(&r) || deletes) && !is_going(&r);
    if (ours && deletes) {
        v = on_delete(&s->arena, from->snapshot, &r);
    } else if (ours) {
        checked = body.len <= REVIEW_BYTES_MAX;
        v = checked ? decide(&s->arena, of, from, &r, &checked) : let_through(&s->arena, of, &r);
    }
    webhook_write(reply, &r, &v);
    *answer_out = !ours                  ? WEBHOOK_NOT_OURS
                  : v.refusal.len != 0   ? WEBHOOK_DENIED
                  : checked              ? WEBHOOK_ALLOWED
                                         : WEBHOOK_UNCHECKED;
    return true;
}
