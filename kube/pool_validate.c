#include "kube/pool_validate.h"

#include <stdlib.h>

struct check {
    struct arena *arena;
    const struct label_rules *rules;
    struct symtab *syms;
    struct findings *found;
};

static void fault(struct check *c, struct span path, struct span text)
{
    finding_add(c->arena, c->found, true, path, text);
}

/* Absent: none. */
static struct span label_fault(const struct check *c, const struct sym_pair *label)
{
    struct arena *a = c->arena;
    struct span key = sym_text(c->syms, label->key), value = sym_text(c->syms, label->value);
    if (label->key == SYM_NODEPOOL)
        return SPAN("invalid key name \"karpenter.sh/nodepool\" in labels, restricted: every node of the pool gets it");
    if (!qualified_name_valid(key))
        return arena_printf(a, "\"%.*s\" is not a label key; " LABEL_KEY_RULE, SPAN_ARG(key));
    if (label_restricted(c->rules, label->key, c->syms))
        return arena_printf(a, "label \"%.*s\" is restricted; use a key of a domain of your own, or a well-known label", SPAN_ARG(key));
    if (!label_value_valid(value))
        return arena_printf(a, "\"%.*s\" is not a label value; " LABEL_VALUE_RULE, SPAN_ARG(value));
    return (struct span){NULL, 0};
}

static void check_label(struct check *c, const struct sym_pair *label)
{
    struct span text = label_fault(c, label);
    if (text.ptr != NULL)
        fault(c, arena_printf(c->arena, "spec.template.metadata.labels[%.*s]", SPAN_ARG(sym_text(c->syms, label->key))), text);
}

static struct span taint_fault(struct check *c, const struct taint *t)
{
    struct span key = sym_text(c->syms, t->key), value = sym_text(c->syms, t->value);
    if (key.len == 0)
        return SPAN("a taint needs a key");
    if (!qualified_name_valid(key))
        return arena_printf(c->arena, "\"%.*s\" is not a taint key; " LABEL_KEY_RULE, SPAN_ARG(key));
    if (value.len != 0 && !qualified_name_valid(value))
        return arena_printf(c->arena, "\"%.*s\" is not a taint value; " LABEL_VALUE_RULE, SPAN_ARG(value));
    if (t->effect == TAINT_OTHER)
        return arena_printf(c->arena,
                            "the effect of taint \"%.*s\" must be NoSchedule, PreferNoSchedule or "
                            "NoExecute",
                            SPAN_ARG(key));
    return (struct span){NULL, 0};
}

/* A taint is unique over both lists. */
struct listed_taint {
    const struct taint *taint;
    uint32_t at; /* in the order of both lists */
};

static int compare_listed(const void *x, const void *y)
{
    const struct listed_taint *l = x, *r = y;
    if (l->taint->key != r->taint->key)
        return l->taint->key < r->taint->key ? -1 : 1;
    if (l->taint->effect != r->taint->effect)
        return l->taint->effect < r->taint->effect ? -1 : 1;
    return l->at < r->at ? -1 : 1;
}

/* By its place in both lists, whether the same stands before it. The API bounds neither list: no pair is compared. */
static bool *repeated_taints(struct check *c, const struct taints lists[2])
{
    uint32_t count = lists[0].count + lists[1].count;
    bool *repeated = ARENA_ARRAY(c->arena, bool, count);
    struct listed_taint *sorted = ARENA_ARRAY(c->arena, struct listed_taint, count);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (struct listed_taint){
            i < lists[0].count ? &lists[0].items[i] : &lists[1].items[i - lists[0].count], i};
    if (count != 0)
        qsort(sorted, count, sizeof(*sorted), compare_listed);
    for (uint32_t i = 0; i < count; i++)
        repeated[sorted[i].at] = i != 0 && sorted[i].taint->key == sorted[i - 1].taint->key &&
                                 sorted[i].taint->effect == sorted[i - 1].taint->effect;
    return repeated;
}

static void check_taints(struct check *c, const struct node_pool *p)
{
    static const char *const names[] = {"taints", "startupTaints"};
    const struct taints lists[] = {p->taints, p->startup_taints};
    const bool *repeated = repeated_taints(c, lists);
    for (uint32_t l = 0; l < COUNT_OF(lists); l++)
        for (uint32_t i = 0; i < lists[l].count && !findings_closed(c->found); i++, repeated++) {
            const struct taint *t = &lists[l].items[i];
            struct span text = taint_fault(c, t);
            if (text.ptr == NULL && *repeated)
                text = arena_printf(c->arena, "taint \"%.*s:%s\" is there twice; leave one",
                                    SPAN_ARG(sym_text(c->syms, t->key)), taint_effect_name(t->effect));
            if (text.ptr != NULL)
                fault(c, arena_printf(c->arena, "spec.template.spec.%s[%u]", names[l], i), text);
        }
}

/* The member of a requirement that its first fault is about. */
static const char *faulty_member(const struct check *c, const struct expression *e)
{
    sym key = requirement_key(c->syms, e->key);
    if (e->op == OP_NONE)
        return "operator";
    return label_restricted(c->rules, key, c->syms) || !qualified_name_valid(sym_text(c->syms, key))
               ? "key"
               : "values";
}

static void check_requirement(struct check *c, const struct expression *e, uint32_t index)
{
    struct err err;
    const char *member = "key";
    struct span text = SPAN("label \"karpenter.sh/nodepool\" is restricted: every node of the pool "
                            "gets it");
    if (e->key != SYM_NODEPOOL) {
        if (expression_valid(c->rules, e, c->syms, &err))
            return;
        member = faulty_member(c, e);
        text = arena_dup(c->arena, span_of(err.msg));
    }
    fault(c, arena_printf(c->arena, "spec.template.spec.requirements[%u].%s", index, member), text);
}

static void check_length(struct check *c, const char *path, span_ms length)
{
    if (length == DURATION_TOO_LONG)
        fault(c, span_of(path),
              SPAN("the duration is longer than the 2562047h that the API can hold"));
}

void pool_validate(struct arena *a, const struct node_pool *p, const struct label_rules *rules, struct symtab *syms,
                   struct findings *out)
{
    struct check c = {.arena = a, .rules = rules, .syms = syms, .found = out};
    if (p->meta.excess != SYM_NONE) {
        struct span text, path = span_cut(sym_text(syms, p->meta.excess), ' ', &text);
        fault(&c, path, text);
        return;
    }
    for (uint32_t i = 0; i < p->labels.count && !findings_closed(out); i++)
        check_label(&c, &p->labels.items[i]);
    check_taints(&c, p);
    for (uint32_t i = 0; i < p->requirements.count && !findings_closed(out); i++)
        check_requirement(&c, &p->requirements.items[i], i);
    check_length(&c, "spec.template.spec.expireAfter", p->expire_after);
    check_length(&c, "spec.template.spec.terminationGracePeriod", p->grace);
    check_length(&c, "spec.disruption.consolidateAfter", p->consolidate_after);
}
