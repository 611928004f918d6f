#include "planner/packing/fill.h"

void fill_init(struct fill *f, const struct stock *s)
{
    *f = (struct fill){.stock = s};
    f->left = ARENA_ARRAY(s->arena, double, s->column_count);
    f->per = ARENA_ARRAY(s->arena, double, s->column_count);
    f->open = ARENA_ARRAY(s->arena, uint32_t, s->family_count);
    f->at = ARENA_ARRAY(s->arena, uint32_t, s->family_count);
    f->start = ARENA_ARRAY(s->arena, uint32_t, s->family_count);
    f->lots = ARENA_ARRAY(s->arena, struct fill_lot, s->lot_count);
}

void fill_restart(struct fill *f)
{
    memset(f->start, 0, f->stock->family_count * sizeof(*f->start));
}

static void set_left(struct fill *f, uint32_t column, double left)
{
    f->left[column] = left;
    f->per[column] = left > 0 ? 1 / left : 0;
}

static bool is_used_up(const struct fill *f, const struct family *x, uint32_t at)
{
    const struct lot *l = &f->stock->lots[f->stock->order[x->first + at]];
    return l->next == l->count;
}

/* Opens all families that the machine may take. */
static void open_families(struct fill *f, uint64_t suits)
{
    const struct stock *s = f->stock;
    f->open_count = 0;
    f->looks += s->family_count;
    for (uint32_t i = 0; i < s->family_count; i++) {
        const struct family *x = &s->families[i];
        while (f->start[i] < x->count && is_used_up(f, x, f->start[i]))
            f->start[i]++;
        f->at[i] = f->start[i];
        if (f->start[i] < x->count && (suits >> x->suit & 1))
            f->open[f->open_count++] = i;
    }
}

void fill_begin(struct fill *f, const struct product *p, const amount *requests)
{
    const struct stock *s = f->stock;
    for (uint32_t c = 0; c < s->column_count; c++)
        set_left(f, c, p->room[c] - (requests != NULL ? (double)requests[s->columns[c]] : 0));
    memcpy(f->cap_left, s->cap, s->cap_count);
    f->machine++;
    f->full = 0;
    f->value = 0;
    f->script_count = 0;
    f->took_count = 0;
    open_families(f, p->suits);
}

void fill_follow(struct fill *f, const struct fill_step *steps, uint32_t count)
{
    f->script = steps;
    f->script_count = count;
    f->script_at = 0;
}

/* How many of the size there is room for; *share_out: of what is left, by one of it. */
static uint32_t fits(const struct fill *f, const double *size, double *share_out)
{
    double share = 0, most = 0;
    for (uint32_t c = 0; c < f->stock->column_count; c++) {
        if (size[c] > f->left[c])
            return 0;
        double part = size[c] * f->per[c];
        share += part;
        most = part > most ? part : most;
    }
    *share_out = share;
    return most > 1e-9 ? (uint32_t)(1 / most + 1e-9) : UINT32_MAX;
}

static struct fill_lot *here(const struct fill *f, uint32_t lot)
{
    struct fill_lot *x = &f->lots[lot];
    if (x->machine != f->machine)
        *x = (struct fill_lot){.machine = f->machine};
    return x;
}

static void take(struct fill *f, uint32_t lot, uint32_t count)
{
    const struct lot *l = &f->stock->lots[lot];
    for (uint32_t c = 0; c < f->stock->column_count; c++)
        set_left(f, c, f->left[c] - count * l->size[c]);
    for (uint64_t caps = l->caps; caps != 0; caps &= caps - 1) {
        uint32_t cap = (uint32_t)__builtin_ctzll(caps);
        f->cap_left[cap] = (uint8_t)(f->cap_left[cap] - count);
        if (f->cap_left[cap] == 0)
            f->full |= UINT64_C(1) << cap;
    }
    here(f, lot)->taken += count;
    f->value += count * l->value;
    if (count != 0)
        ARENA_PUSH(f->stock->arena, f->took, f->took_count, f->took_capacity,
                   ((struct fill_step){lot, count}));
}

/* At most `count` of the lot, as far as they are there and its groups let them. */
static uint32_t available(const struct fill *f, uint32_t lot, uint32_t count)
{
    const struct lot *l = &f->stock->lots[lot];
    uint32_t there = l->count - l->next - here(f, lot)->taken;
    for (uint64_t caps = l->caps; caps != 0; caps &= caps - 1) {
        uint32_t left = f->cap_left[__builtin_ctzll(caps)];
        count = left < count ? left : count;
    }
    return there < count ? there : count;
}

static bool is_useless(const struct fill *f, uint32_t lot)
{
    const struct lot *l = &f->stock->lots[lot];
    const struct fill_lot *x = here(f, lot);
    return l->next + x->taken >= l->count || (l->caps & f->full) != 0 || x->closed || l->value <= 0;
}

/* The most valuable lot of the family that is of use, in the groups (0: any), or UINT32_MAX. */
static uint32_t first_lot(struct fill *f, uint32_t family, uint64_t groups)
{
    const struct family *x = &f->stock->families[family];
    const uint32_t *lots = f->stock->order + x->first;
    while (f->at[family] < x->count && is_useless(f, lots[f->at[family]])) {
        f->at[family]++;
        f->looks++;
    }
    for (uint32_t i = f->at[family]; i < x->count; i++) {
        if (groups == 0 ||
            ((f->stock->lots[lots[i]].caps & groups) != 0 && !is_useless(f, lots[i])))
            return lots[i];
        f->looks++;
    }
    return UINT32_MAX;
}

/* The lot with most value for its share, of those in the groups (0: all), or UINT32_MAX. */
static uint32_t best_lot(struct fill *f, uint64_t groups, uint32_t *room_out)
{
    const struct stock *s = f->stock;
    uint32_t kept = 0, best = UINT32_MAX;
    double best_score = 0;
    f->looks += f->open_count;
    for (uint32_t i = 0; i < f->open_count; i++) {
        uint32_t family = f->open[i], room;
        double share;
        if ((room = fits(f, s->families[family].size, &share)) == 0)
            continue;
        uint32_t lot = first_lot(f, family, groups);
        if (f->at[family] == s->families[family].count)
            continue;
        f->open[kept++] = family;
        if (lot == UINT32_MAX)
            continue;
        double score = s->lots[lot].value / (share + 1e-12) * (1 + f->bulk * share);
        if (score <= best_score * (1 + 1e-9))
            continue;
        best_score = score;
        best = lot;
        *room_out = room;
    }
    f->open_count = kept;
    return best;
}

bool fill_next(struct fill *f, uint32_t *lot_out, uint32_t *count_out)
{
    enum { PORTION = 6 }; /* not so many at once that the balance of the rest is decided by one lot */
    uint32_t room = 0, best = UINT32_MAX;
    if (f->script_at < f->script_count) {
        const struct fill_step *step = &f->script[f->script_at++];
        *lot_out = step->lot;
        *count_out = available(f, step->lot, step->count);
        take(f, *lot_out, *count_out);
        if (*count_out < step->count)
            f->script_count = 0;
        return true;
    }
    if (f->script_count != 0)
        return false;
    if (f->value <= 0 && f->seed != 0)
        best = best_lot(f, f->seed, &room);
    if (best == UINT32_MAX)
        best = best_lot(f, 0, &room);
    if (best == UINT32_MAX)
        return false;
    *lot_out = best;
    *count_out = available(f, best, room / PORTION + 1);
    take(f, best, *count_out);
    return true;
}

void fill_commit(struct fill *f, uint32_t lot, uint32_t proposed, uint32_t went)
{
    const struct lot *l = &f->stock->lots[lot];
    here(f, lot)->taken -= proposed;
    if (went == proposed)
        return;
    uint32_t back = proposed - went;
    for (uint32_t c = 0; c < f->stock->column_count; c++)
        set_left(f, c, f->left[c] + back * l->size[c]);
    for (uint64_t caps = l->caps; caps != 0; caps &= caps - 1) {
        uint32_t cap = (uint32_t)__builtin_ctzll(caps);
        f->cap_left[cap] = (uint8_t)(f->cap_left[cap] + back);
        f->full &= ~(UINT64_C(1) << cap);
    }
    f->value -= back * l->value;
    here(f, lot)->closed = true;
    f->script_count = 0; /* not like the one before */
}

/* --- better than one after the other --- */

struct swap { /* one of what was taken goes, and another comes */
    uint32_t at, lot; /* of `took`; UINT32_MAX: none */
    double gain;
};

static bool fits_without(const struct fill *f, const double *size, const double *gone)
{
    for (uint32_t c = 0; c < f->stock->column_count; c++)
        if (size[c] > f->left[c] + gone[c])
            return false;
    return true;
}

/* Groups that limit pods on a node are left alone. */
static void look_for_swap(struct fill *f, uint32_t at, uint64_t suits, struct swap *best)
{
    const struct stock *s = f->stock;
    const struct lot *gone = &s->lots[f->took[at].lot];
    if (gone->caps != 0 || f->took[at].count == 0)
        return;
    f->looks += s->family_count / 2; /* most are seen through at once */
    for (uint32_t i = 0; i < s->family_count; i++) {
        const struct family *x = &s->families[i];
        if (!(suits >> x->suit & 1) || f->start[i] == x->count || !fits_without(f, x->size, gone->size))
            continue;
        uint32_t lot = first_lot(f, i, 0);
        if (lot == UINT32_MAX || s->lots[lot].caps != 0 || s->lots[lot].value - gone->value <= best->gain)
            continue;
        *best = (struct swap){at, lot, s->lots[lot].value - gone->value};
    }
}

static void make_swap(struct fill *f, const struct swap *x)
{
    struct fill_step *step = &f->took[x->at];
    const struct lot *gone = &f->stock->lots[step->lot];
    for (uint32_t c = 0; c < f->stock->column_count; c++)
        set_left(f, c, f->left[c] + gone->size[c]);
    here(f, step->lot)->taken--;
    f->at[gone->family] = f->start[gone->family]; /* it can be had again */
    f->value -= gone->value;
    step->count--;
    take(f, x->lot, 1);
}

double fill_value(struct fill *f, const struct product *p)
{
    uint32_t lot, count;
    fill_begin(f, p, NULL);
    while (fill_next(f, &lot, &count))
        continue;
    return f->value;
}

void fill_improve(struct fill *f, const struct product *p)
{
    enum { MOST_SWAPS = 8, MOST_TAKEN = 16, MOST_FAMILIES = 256 };
    if (f->stock->family_count > MOST_FAMILIES) /* of so many sizes one fits nearly always */
        return;
    for (uint32_t n = 0; n < MOST_SWAPS && f->took_count <= MOST_TAKEN; n++) {
        struct swap best = {UINT32_MAX, 0, f->value * 1e-6};
        for (uint32_t i = 0; i < f->took_count; i++)
            look_for_swap(f, i, p->suits, &best);
        if (best.at == UINT32_MAX)
            break;
        make_swap(f, &best);
    }
}
