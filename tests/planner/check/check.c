#include "inner.h"

#include <stdarg.h>
#include <stdio.h>

#include "planner/plan/plan_json.h"

bool broken(struct check *k, const char *format, ...)
{
    char line[600];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    buf_addf(k->out, "%s\n", line);
    k->broken++;
    return false;
}

struct span text_of(const struct check *k, sym s)
{
    return sym_text(k->syms, s);
}

struct span pod_name(struct check *k, const struct pod *p)
{
    return arena_printf(&k->arena, "%.*s/%.*s", SPAN_ARG(p->meta.ns), SPAN_ARG(p->meta.name));
}

/* A claim's name stands for its node: two must not share one. */
static bool names_differ(struct check *k)
{
    for (uint32_t i = 0; i < k->host_count; i++)
        for (uint32_t n = 0; n < i; n++)
            if (k->hosts[i].planned != NULL && span_eq(k->hosts[i].name, k->hosts[n].name))
                return broken(k, "claim %.*s: its name is taken", SPAN_ARG(k->hosts[i].name));
    return true;
}

static void check_all(struct check *k, struct span plan)
{
    if (!read_plan(k, plan))
        return;
    hosts_find(k);
    if (!names_differ(k))
        return;
    check_pass(k);
    check_unschedulable(k);
    check_claims(k);
    if (k->broken != 0)
        return; /* what follows would be its consequence */
    check_rooms(k);
    check_limits(k);
    check_split(k);
    check_cost(k);
    check_left_out(k);
    if (k->broken == 0)
        check_order(k);
}

uint32_t check_text(const struct cluster *c, struct span plan, struct buf *out)
{
    struct check k = {.c = c, .out = out};
    arena_init(&k.arena, 0);
    k.syms = symtab_new_local(c->syms, &k.arena);
    check_all(&k, plan);
    arena_release(&k.arena);
    return k.broken;
}

bool check_plan(const struct cluster *c, const struct plan *p, struct err *err)
{
    struct buf plan = {0}, sentences = {0};
    struct json j = JSON_TO(&plan);
    plan_json(&j, p, NULL, 0);
    bool good = check_text(c, buf_span(&plan), &sentences) == 0;
    if (!good)
        err_set(err, ERR_INVALID, "%.*s", SPAN_ARG(buf_span(&sentences)));
    buf_release(&plan);
    buf_release(&sentences);
    return good;
}
