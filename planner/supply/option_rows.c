#include "planner/supply/option_rows.h"

#include "planner/columns.h"

/* Where a DaemonSet puts its pods, by one of its OR'd terms. */
struct reach {
    uint32_t daemon;
    const struct requirements *term;
    uint64_t *types, *kinds;
};

struct row {
    uint32_t group; /* the type's, of offerings with the same overrides */
    uint32_t part;  /* see part_kinds */
    uint32_t daemons;
};

struct rows { /* in the making */
    struct option *o;
    struct world *w;
    struct reach *reaches;
    uint32_t reach_count, reach_capacity;
    bool overridden;   /* some type's offerings differ by overrides */
    uint32_t *part_of; /* by kind of offering */
    struct intern groups; /* of DaemonSets */
    uint32_t group_capacity;
    struct row *items;
    uint32_t count, capacity;
};

/* --- DaemonSets --- */

/* The option's requirements and the term's. */
static struct requirements joined(struct world *w, const struct requirements *option,
                                  const struct requirements *term)
{
    struct requirements r = {ARENA_ARRAY(w->arena, struct requirement, option->count),
                             option->count};
    if (r.count != 0)
        memcpy(r.items, option->items, r.count * sizeof(*r.items));
    requirements_add_all(w->arena, &r, term, w->syms);
    return r;
}

static void add_reaches(struct rows *r, uint32_t daemon)
{
    const struct option *o = r->o;
    struct world *w = r->w;
    const struct types *t = &w->types;
    const struct pod_class *k = &w->classes.items[w->daemons[daemon]];
    for (uint32_t i = 0; i < k->strict_count; i++) {
        const struct attempt *try = &w->classes.attempts[k->first_strict + i];
        const struct signature *s = &w->classes.signatures[try->signature];
        if (world_untolerated(w, s, true, o->taints) != NULL)
            return;
        if (s->impossible || !requirements_compatible(&o->requirements, &s->requirements, t->catalogue->well_known, w->syms,
                                                      NULL, NULL))
            continue;
        struct reach x = {daemon, &s->requirements, ARENA_ARRAY(w->arena, uint64_t, t->words),
                          ARENA_ARRAY(w->arena, uint64_t, t->kind_words)};
        memcpy(x.types, o->types, t->words * sizeof(*x.types));
        for (uint32_t n = 0; n < s->requirements.count; n++)
            types_cut(t, x.types, &s->requirements.items[n], w->syms);
        struct requirements both = joined(w, &o->requirements, &s->requirements);
        types_kinds(t, x.kinds, &both, w->syms);
        ARENA_PUSH(w->arena, r->reaches, r->reach_count, r->reach_capacity, x);
    }
}

/* Whether some DaemonSet that comes here asks for the label. */
static bool is_selected(const struct rows *r, sym key)
{
    for (uint32_t i = 0; i < r->reach_count; i++)
        if (requirements_get(r->reaches[i].term, key) != NULL)
            return true;
    return false;
}

static void add_niches(struct rows *r)
{
    struct world *w = r->w;
    struct intern known;
    uint32_t capacity = 0;
    intern_init(&known, w->arena);
    for (BITS_EACH(kind, r->o->kinds, w->types.kind_words)) {
        const struct requirements *all = w->types.kinds[kind];
        struct requirements x = {ARENA_ARRAY(w->arena, struct requirement, all->count), 0};
        for (uint32_t i = 0; i < all->count; i++)
            if (r->overridden || is_selected(r, all->items[i].key))
                x.items[x.count++] = all->items[i];
        struct words words;
        bool is_new;
        words_init(&words, w->arena);
        requirements_words(&words, &x);
        intern_put(&known, &words, &is_new);
        if (is_new)
            ARENA_PUSH(w->arena, r->o->niches, r->o->niche_count, capacity, x);
    }
}

/* Kinds of offering that get the same DaemonSets, whatever the type, are one part. */
static void part_kinds(struct rows *r)
{
    struct world *w = r->w;
    struct intern known;
    intern_init(&known, w->arena);
    r->part_of = ARENA_ARRAY(w->arena, uint32_t, w->types.kind_count);
    for (BITS_EACH(kind, r->o->kinds, w->types.kind_words)) {
        struct words there;
        words_init(&there, w->arena);
        for (uint32_t i = 0; i < r->reach_count; i++)
            if (bits_has(r->reaches[i].kinds, kind))
                words_put(&there, i);
        r->part_of[kind] = intern_put(&known, &there, NULL);
    }
    for (BITS_EACH(type, r->o->types, w->types.words))
        r->overridden |= w->types.first_group[type + 1] - w->types.first_group[type] > 1;
    if (known.count > 1 || r->overridden)
        add_niches(r);
}

static void add_ports(struct arena *a, struct host_ports *into, struct host_ports more)
{
    if (more.count == 0)
        return;
    struct host_port *items = ARENA_ARRAY(a, struct host_port, (size_t)into->count + more.count);
    if (into->count != 0)
        memcpy(items, into->items, into->count * sizeof(*items));
    memcpy(items + into->count, more.items, more.count * sizeof(*items));
    *into = (struct host_ports){items, into->count + more.count};
}

/* Whether offerings or types say something of the label, so that rows tell its values apart. */
static bool is_told(const struct types *t, sym key)
{
    for (uint32_t i = 0; i < t->facet_count; i++)
        if (t->facets[i].key == key)
            return true;
    for (uint32_t k = 0; k < t->kind_count; k++)
        if (requirements_get(t->kinds[k], key) != NULL)
            return true;
    return false;
}

static bool always_meets(const struct rows *r, const struct requirement *asked)
{
    const struct requirement *own = requirements_get(&r->o->requirements, asked->key);
    if (is_told(&r->w->types, asked->key))
        return true;
    if (own == NULL)
        return asked->complement;
    for (uint32_t i = 0; !own->complement && i < own->count; i++)
        if (!requirement_has(asked, own->values[i], r->w->syms))
            return false;
    return !own->complement;
}

/* Whether the pod comes to every node, whatever value a label gets that is the claim's to choose. */
static bool comes_for_sure(const struct rows *r, uint32_t daemon)
{
    bool sure = false;
    for (uint32_t i = 0; i < r->reach_count && !sure; i++) {
        const struct requirements *term = r->reaches[i].term;
        sure = r->reaches[i].daemon == daemon;
        for (uint32_t n = 0; sure && n < term->count; n++)
            sure = always_meets(r, &term->items[n]);
    }
    return sure;
}

static struct daemon_group sum_daemons(const struct rows *r, const struct words *members)
{
    struct world *w = r->w;
    uint32_t *list = ARENA_ARRAY(w->arena, uint32_t, members->count);
    struct daemon_group g = {.overhead = ARENA_ARRAY(w->arena, amount, w->column_count),
                             .unsure = ARENA_ARRAY(w->arena, amount, w->column_count),
                             .members = list,
                             .member_count = members->count};
    if (members->count != 0)
        memcpy(list, members->items, members->count * sizeof(*members->items));
    for (uint32_t m = 0; m < members->count; m++) {
        uint32_t class_id = w->daemons[members->items[m]];
        const amount *more = classes_requests(&w->classes, class_id);
        bool sure = comes_for_sure(r, members->items[m]);
        for (uint32_t c = 0; c < w->column_count; c++) {
            g.overhead[c] = amount_add(g.overhead[c], more[c]);
            g.unsure[c] = amount_add(g.unsure[c], sure ? 0 : more[c]);
        }
        add_ports(w->arena, &g.ports, w->classes.items[class_id].example->ports);
    }
    return g;
}

/* The group of those that come to a node of the type, bought as the kind. */
static uint32_t daemons_of(struct rows *r, uint32_t type, uint32_t kind)
{
    struct words members;
    bool is_new;
    words_init(&members, r->w->arena);
    for (uint32_t i = 0; i < r->reach_count; i++) {
        const struct reach *x = &r->reaches[i];
        bool known = members.count != 0 && members.items[members.count - 1] == x->daemon;
        if (!known && bits_has(x->types, type) && bits_has(x->kinds, kind))
            words_put(&members, x->daemon);
    }
    uint32_t id = intern_put(&r->groups, &members, &is_new);
    if (is_new)
        ARENA_PUSH(r->w->arena, r->o->daemons, r->o->daemon_count, r->group_capacity,
                   sum_daemons(r, &members));
    return id;
}

/* --- rows --- */

/* Whether some offering of the kind, of those before `end`, has another row than `row`. */
static bool has_twin(const struct rows *r, uint32_t type, uint32_t end, uint32_t row)
{
    const struct types *t = &r->w->types;
    for (uint32_t k = t->first_offer[type]; k < end; k++)
        if (t->offers[k].kind == t->offers[end].kind && r->o->row_of[k] != row)
            return true;
    return false;
}

static void add_rows(struct rows *r, uint32_t type)
{
    struct option *o = r->o;
    const struct types *t = &r->w->types;
    uint32_t first = r->count;
    for (uint32_t k = t->first_offer[type]; k < t->first_offer[type + 1]; k++) {
        const struct type_offer *offer = &t->offers[k];
        if (!bits_has(o->kinds, offer->kind))
            continue;
        uint32_t part = r->part_of[offer->kind], row = first;
        while (row < r->count && (r->items[row].group != offer->group || r->items[row].part != part))
            row++;
        if (row == r->count)
            ARENA_PUSH(r->w->arena, r->items, r->count, r->capacity,
                       ((struct row){offer->group, part, daemons_of(r, type, offer->kind)}));
        o->row_of[k] = row;
        if (has_twin(r, type, k, row))
            bits_add(o->twins, type);
    }
    if (r->count - first > 1)
        bits_add(o->several, type);
}

static bool fill_room(const struct rows *r, uint32_t row)
{
    const struct option *o = r->o;
    size_t columns = r->w->column_count;
    const amount *overhead = o->daemons[r->items[row].daemons].overhead;
    const amount *allocatable = world_vector(r->w, r->w->types.allocatable, r->items[row].group);
    amount *room = o->room + row * columns;
    bool negative = false;
    for (size_t c = 0; c < columns; c++) {
        room[c] = allocatable[c] - overhead[c];
        negative |= room[c] < 0;
    }
    for (size_t c = 0; negative && c < columns; c++)
        room[c] = -1;
    return !negative;
}

static void fill_rooms(const struct rows *r)
{
    struct option *o = r->o;
    const struct types *t = &r->w->types;
    o->room = ARENA_ARRAY(r->w->arena, amount, (size_t)r->count * r->w->column_count);
    o->daemon_of = ARENA_ARRAY(r->w->arena, uint32_t, r->count);
    for (uint32_t row = 0; row < r->count; row++)
        o->daemon_of[row] = r->items[row].daemons;
    for (BITS_EACH(type, o->types, t->words)) {
        bool usable = false;
        for (uint32_t row = o->first_row[type]; row < o->first_row[type + 1]; row++)
            usable |= fill_room(r, row);
        if (!usable)
            bits_drop(o->types, type);
    }
    o->by_room = room_build(r->w->arena, o->types, t->words, o->first_row, o->room,
                            r->w->column_count);
}

void option_rows(struct option *o, struct world *w)
{
    const struct types *t = &w->types;
    struct rows r = {.o = o, .w = w};
    intern_init(&r.groups, w->arena);
    for (uint32_t d = 0; d < w->daemon_count; d++)
        add_reaches(&r, d);
    part_kinds(&r);
    o->first_row = ARENA_ARRAY(w->arena, uint32_t, (size_t)t->count + 1);
    o->row_of = ARENA_ARRAY(w->arena, uint32_t, t->first_offer[t->count]);
    o->several = ARENA_ARRAY(w->arena, uint64_t, t->words);
    o->twins = ARENA_ARRAY(w->arena, uint64_t, t->words);
    for (uint32_t type = 0; type < t->count; type++) {
        o->first_row[type] = r.count;
        if (bits_has(o->types, type))
            add_rows(&r, type);
    }
    o->first_row[t->count] = r.count;
    fill_rooms(&r);
}
