#include "kube/pool_validate.h"

#include "kube/budget.h"

struct check {
    struct arena *arena;
    const struct label_rules *rules;
    struct symtab *syms;
    struct pool_faults found;
    uint32_t capacity;
};

static void fault(struct check *c, struct span path, struct span text)
{
    struct pool_fault f = {path, text};
    ARENA_PUSH(c->arena, c->found.items, c->found.count, c->capacity, f);
}

static void check_label(struct check *c, const struct sym_pair *label)
{
    struct arena *a = c->arena;
    struct span key = sym_text(c->syms, label->key), value = sym_text(c->syms, label->value);
    struct span path = arena_printf(a, "spec.template.metadata.labels[%.*s]", SPAN_ARG(key));
    if (label->key == SYM_NODEPOOL)
        fault(
            c, path,
            SPAN("invalid key name \"karpenter.sh/nodepool\" in labels, restricted: every node of "
                 "the pool gets it"));
    else if (!qualified_name_valid(key))
        fault(c, path,
              arena_printf(a, "\"%.*s\" is not a label key; " LABEL_KEY_RULE, SPAN_ARG(key)));
    else if (label_restricted(c->rules, label->key, c->syms))
        fault(c, path,
              arena_printf(a,
                           "label \"%.*s\" is restricted; use a key of a domain of your own, or a "
                           "well-known label",
                           SPAN_ARG(key)));
    else if (!label_value_valid(value))
        fault(c, path,
              arena_printf(a, "\"%.*s\" is not a label value; " LABEL_VALUE_RULE, SPAN_ARG(value)));
}

static struct span taint_fault(struct check *c, const struct taint *t)
{
    struct span key = sym_text(c->syms, t->key), value = sym_text(c->syms, t->value);
    if (key.len == 0)
        return SPAN("a taint needs a key");
    if (!qualified_name_valid(key))
        return arena_printf(c->arena, "\"%.*s\" is not a taint key", SPAN_ARG(key));
    if (value.len != 0 && !qualified_name_valid(value))
        return arena_printf(c->arena, "\"%.*s\" is not a taint value", SPAN_ARG(value));
    if (t->effect == TAINT_OTHER)
        return arena_printf(c->arena,
                            "the effect of taint \"%.*s\" must be NoSchedule, PreferNoSchedule or "
                            "NoExecute",
                            SPAN_ARG(key));
    return (struct span){NULL, 0};
}

static bool is_repeated(const struct taint *t, const struct taint *before, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (before[i].key == t->key && before[i].effect == t->effect)
            return true;
    return false;
}

/* `earlier` are taints of the list before, for a taint is unique over both. */
static void check_taints(struct check *c, const char *list, struct taints taints,
                         struct taints earlier)
{
    for (uint32_t i = 0; i < taints.count; i++) {
        const struct taint *t = &taints.items[i];
        struct span text = taint_fault(c, t);
        if (text.ptr == NULL &&
            (is_repeated(t, taints.items, i) || is_repeated(t, earlier.items, earlier.count)))
            text = arena_printf(c->arena, "taint \"%.*s:%s\" is there twice; leave one",
                                SPAN_ARG(sym_text(c->syms, t->key)), taint_effect_name(t->effect));
        if (text.ptr != NULL)
            fault(c, arena_printf(c->arena, "spec.template.spec.%s[%u]", list, i), text);
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

/* A limit below nothing is never met; the schema admits it, and who wrote it meant something else. */
static void check_limits(struct check *c, struct resources limits)
{
    for (uint32_t i = 0; i < limits.count; i++) {
        struct span name = sym_text(c->syms, limits.items[i].name);
        bool dotted = span_contains(name, SPAN("."));
        if (limits.items[i].value < 0)
            fault(c,
                  arena_printf(c->arena, "spec.limits%s%.*s%s", dotted ? "[" : ".", SPAN_ARG(name),
                               dotted ? "]" : ""),
                  SPAN("must not be negative"));
    }
}

struct pool_faults pool_validate(struct arena *a, const struct node_pool *p,
                                 const struct label_rules *rules, struct symtab *syms)
{
    struct check c = {.arena = a, .rules = rules, .syms = syms};
    for (uint32_t i = 0; i < p->labels.count; i++)
        check_label(&c, &p->labels.items[i]);
    check_taints(&c, "taints", p->taints, (struct taints){NULL, 0});
    check_taints(&c, "startupTaints", p->startup_taints, p->taints);
    for (uint32_t i = 0; i < p->requirements.count; i++)
        check_requirement(&c, &p->requirements.items[i], i);
    check_length(&c, "spec.template.spec.expireAfter", p->expire_after);
    check_length(&c, "spec.template.spec.terminationGracePeriod", p->grace);
    check_length(&c, "spec.disruption.consolidateAfter", p->consolidate_after);
    check_limits(&c, p->limits);
    return c.found;
}

struct pool_faults pool_warnings(struct arena *a, const struct node_pool *p)
{
    struct check c = {.arena = a};
    for (uint32_t i = 0; i < p->budgets.count; i++) {
        struct err err;
        if (!budget_valid(&p->budgets.items[i], &err))
            fault(&c, arena_printf(a, "spec.disruption.budgets[%u]", i),
                  arena_printf(a, "%s; until that is fixed, no node of the pool is disrupted",
                               err.msg));
    }
    return c.found;
}

struct span pool_faults_text(struct arena *a, struct pool_faults faults)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < faults.count; i++)
        buf_addf(&b, "%s%.*s: %.*s", i != 0 ? "; " : "", SPAN_ARG(faults.items[i].path),
                 SPAN_ARG(faults.items[i].text));
    struct span text = arena_dup(a, buf_span(&b));
    buf_release(&b);
    return text;
}
