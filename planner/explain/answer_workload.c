/* Whoever is asked about has many pods, most of which fare alike: they are told by where they are, and the rules once. */
#include <stdlib.h>

#include "planner/explain/lines.h"
#include "planner/explain/unplanned.h"

enum fate {
    FATE_UNKNOWN,
    FATE_STANDS,
    FATE_KEPT,    /* a place is kept for it */
    FATE_PLANNED, /* by this plan */
    FATE_LEFT,    /* no place */
    FATE_SKIPPED, /* nothing is planned for it */
    FATE_ENDS,    /* it has ended or is being deleted */
    FATE_COUNT,
};

struct member {
    const struct pod *pod;
    enum fate fate;
    struct span text; /* where it is, or why it is nowhere */
};

struct members {
    struct plan *p;
    struct member *items;
    uint32_t count;
    uint32_t counts[FATE_COUNT];
};

static int by_pod(const void *a, const void *b)
{
    const struct pod *x = ((const struct member *)a)->pod, *y = ((const struct member *)b)->pod;
    return (x > y) - (x < y);
}

static void settle(struct members *all, const struct pod *pod, enum fate fate, struct span text)
{
    struct member key = {.pod = pod};
    struct member *m = bsearch(&key, all->items, all->count, sizeof(key), by_pod);
    if (m != NULL && m->fate == FATE_UNKNOWN) {
        m->fate = fate;
        m->text = text;
    }
}

/* What the plan decided; of a target the words are made once. */
static void settle_planned(struct members *all)
{
    struct plan *p = all->p;
    for (uint32_t i = 0; i < p->claim_count; i++) {
        const struct plan_claim *c = &p->claims[i];
        struct span text = lines_target(p, c, 0);
        for (uint32_t k = 0; k < c->pod_count; k++)
            settle(all, c->pods[k], FATE_PLANNED, text);
    }
    for (uint32_t i = 0; i < p->node_count; i++) {
        struct span text = lines_target(p, NULL, p->nodes[i].row);
        for (uint32_t k = 0; k < p->nodes[i].pod_count; k++)
            settle(all, p->nodes[i].pods[k], FATE_PLANNED, text);
    }
    for (uint32_t i = 0; i < p->unschedulable_count; i++)
        settle(all, p->unschedulable[i].pod, FATE_LEFT, p->unschedulable[i].why.sentence);
}

static void settle_rest(struct members *all, struct member *m)
{
    struct plan *p = all->p;
    if (pod_is_terminal(m->pod) || m->pod->meta.deleted != 0) {
        m->fate = FATE_ENDS;
        m->text = pod_is_terminal(m->pod) ? SPAN("ended") : SPAN("being deleted");
    } else if (m->pod->node != SYM_NONE) {
        m->fate = FATE_STANDS;
        m->text = sym_text(p->syms, m->pod->node);
    } else if (m->fate == FATE_UNKNOWN) {
        m->fate = FATE_SKIPPED;
        m->text = unplanned_why(p->world, &p->arena, m->pod);
    }
}

static int by_fate(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int order = (int)x->fate - (int)y->fate;
    order = order != 0 ? order : span_cmp(x->text, y->text);
    order = order != 0 ? order : span_cmp(x->pod->meta.ns, y->pod->meta.ns);
    return order != 0 ? order : span_cmp(x->pod->meta.name, y->pod->meta.name);
}

static void gather(struct members *all, const struct answer_member *members, uint32_t count)
{
    all->items = ARENA_ARRAY(&all->p->arena, struct member, count);
    all->count = count;
    for (uint32_t i = 0; i < count; i++)
        all->items[i] = (struct member){members[i].pod, members[i].place.len != 0 ? FATE_KEPT : FATE_UNKNOWN,
                                        members[i].place};
    qsort(all->items, count, sizeof(*all->items), by_pod);
    settle_planned(all);
    for (uint32_t i = 0; i < count; i++) {
        settle_rest(all, &all->items[i]);
        all->counts[all->items[i].fate]++;
    }
    qsort(all->items, count, sizeof(*all->items), by_fate);
}

/* --- in words --- */

struct stand {
    struct span node;
    uint32_t pods;
};

static int by_pods(const void *a, const void *b)
{
    const struct stand *x = a, *y = b;
    int order = (x->pods < y->pods) - (x->pods > y->pods);
    return order != 0 ? order : span_cmp(x->node, y->node);
}

static uint32_t run_of(const struct members *all, uint32_t from)
{
    uint32_t n = 1;
    while (from + n < all->count && all->items[from + n].fate == all->items[from].fate &&
           span_eq(all->items[from + n].text, all->items[from].text))
        n++;
    return n;
}

/* "general-1 4, general-2": where most of them stand first. */
static void add_stands(struct lines *l, const struct members *all, uint32_t from)
{
    uint32_t end = from + all->counts[FATE_STANDS], count = 0;
    struct stand *stands = ARENA_ARRAY(&l->p->arena, struct stand, all->counts[FATE_STANDS]);
    for (uint32_t i = from, n; i < end; i += n) {
        n = run_of(all, i);
        stands[count++] = (struct stand){all->items[i].text, n};
    }
    qsort(stands, count, sizeof(*stands), by_pods);
    uint32_t shown = count > ANSWER_LISTED ? ANSWER_LISTED - 1 : count;
    struct buf b = {0};
    for (uint32_t i = 0; i < shown; i++) {
        buf_addf(&b, "%s%.*s", i != 0 ? ", " : "", SPAN_ARG(stands[i].node));
        if (stands[i].pods != 1)
            buf_addf(&b, " %u", stands[i].pods);
    }
    if (shown < count)
        buf_addf(&b, " and %u more nodes", count - shown);
    lines_add(l, SPAN("stand on"), words_take(l->p, &b));
}

/* "shop/web-0 and 6 more": they are alike. */
static struct span names(struct plan *p, const struct members *all, uint32_t from, uint32_t n)
{
    const struct meta *first = &all->items[from].pod->meta;
    struct span name = arena_printf(&p->arena, "%.*s/%.*s", SPAN_ARG(first->ns), SPAN_ARG(first->name));
    return n == 1 ? name : arena_printf(&p->arena, "%.*s and %u more", SPAN_ARG(name), n - 1);
}

/* Those of one fate by what is said of them; of many sayings the first ones. */
static void add_alike(struct lines *l, const struct members *all, uint32_t from, const char *head)
{
    bool why = all->items[from].fate == FATE_LEFT; /* "asks for …" */
    uint32_t end = from + all->counts[all->items[from].fate], said = 0;
    for (uint32_t i = from, n; i < end; i += n, said++) {
        n = run_of(all, i);
        if (said == ANSWER_LISTED - 1 && i + n < end) {
            lines_addf(l, head, "%u more", end - i);
            return;
        }
        lines_addf(l, head, "%.*s: %s%.*s", SPAN_ARG(names(l->p, all, i, n)), !why ? "" : n == 1 ? "it " : "each ",
                   SPAN_ARG(all->items[i].text));
    }
}

static void add_fates(struct lines *l, const struct members *all)
{
    static const char *const heads[FATE_COUNT] = {
        [FATE_KEPT] = "wait for",       [FATE_PLANNED] = "planned", [FATE_LEFT] = "no place",
        [FATE_SKIPPED] = "not planned", [FATE_ENDS] = "go",
    };
    uint32_t from = 0;
    for (enum fate f = FATE_STANDS; f < FATE_COUNT; f++) {
        if (all->counts[f] == 0)
            continue;
        if (f == FATE_STANDS)
            add_stands(l, all, from);
        else
            add_alike(l, all, from, heads[f]);
        from += all->counts[f];
    }
}

static const struct member *first_of(const struct members *all, enum fate fate)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (all->items[i].fate == fate)
            return &all->items[i];
    return NULL;
}

/* "6 of 8 pods stand on nodes, 2 are planned". */
static struct span shares(struct plan *p, const struct members *all)
{
    static const struct {
        const char *one, *many;
    } words[FATE_COUNT] = {
        [FATE_STANDS] = {"stands on a node", "stand on nodes"},
        [FATE_KEPT] = {"waits for the place that is kept for it", "wait for the places that are kept for them"},
        [FATE_PLANNED] = {"is planned", "are planned"},
        [FATE_LEFT] = {"has no place", "have no place"},
        [FATE_SKIPPED] = {"is not planned", "are not planned"},
        [FATE_ENDS] = {"has ended or goes", "have ended or go"},
    };
    struct buf b = {0};
    for (enum fate f = FATE_STANDS; f < FATE_COUNT; f++) {
        uint32_t n = all->counts[f];
        if (n == 0)
            continue;
        bool first = b.len == 0;
        buf_addf(&b, "%s%u", first ? "" : ", ", n);
        if (n == all->count)
            buf_addf(&b, " pod%s", n == 1 ? "" : "s");
        else if (first)
            buf_addf(&b, " of %u pods", all->count);
        buf_addf(&b, " %s", n == 1 ? words[f].one : words[f].many);
    }
    return words_take(p, &b);
}

void answer_workload(struct plan *p, struct span who, const struct answer_member *members, uint32_t count,
                     struct explanation *out)
{
    struct members all = {.p = p};
    struct lines l = {.p = p};
    gather(&all, members, count);
    bool has_place = all.counts[FATE_LEFT] == 0 && all.counts[FATE_SKIPPED] == 0;
    struct span sentence = arena_printf(&p->arena, "%.*s: %.*s.", SPAN_ARG(who), SPAN_ARG(shares(p, &all)));
    add_fates(&l, &all);
    const struct member *example = first_of(&all, FATE_LEFT);
    if (example == NULL)
        example = first_of(&all, FATE_PLANNED);
    if (example != NULL) {
        struct explanation one;
        answer_pod(p, example->pod, &one);
        for (uint32_t i = 0; i < one.line_count; i++)
            lines_add(&l, one.lines[i].head, one.lines[i].text);
    }
    lines_end(&l, has_place, sentence, out);
}
