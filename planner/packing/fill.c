#include "planner/packing/fill.h"

void fill_init(struct fill *f, const struct stock *s)
{
    *f = (struct fill){.stock = s};
    f->left = ARENA_ARRAY(s->arena, double, s->column_count);
    f->per = ARENA_ARRAY(s->arena, double, s->column_count);
    f->open = ARENA_ARRAY(s->arena, uint32_t, s->lot_count);
    f->taken = ARENA_ARRAY(s->arena, uint32_t, s->lot_count);
}

static void set_left(struct fill *f, uint32_t column, double left)
{
    f->left[column] = left;
    f->per[column] = left > 0 ? 1 / left : 0;
}

void fill_begin(struct fill *f, const struct product *p, const amount *requests)
{
    const struct stock *s = f->stock;
    for (uint32_t c = 0; c < s->column_count; c++)
        set_left(f, c, p->room[c] - (requests != NULL ? (double)requests[s->columns[c]] : 0));
    memcpy(f->cap_left, s->cap, s->cap_count);
    f->full = 0;
    f->value = 0;
    f->open_count = 0;
    for (uint32_t i = 0; i < s->lot_count; i++) {
        const struct lot *l = &s->lots[i];
        f->taken[i] = 0;
        if (l->next < l->count && l->value > 0 && (p->suits >> l->suit & 1))
            f->open[f->open_count++] = i;
    }
}

/* How many of the lot there is room for; *share_out: of what is left, by one of it. */
static uint32_t fits(const struct fill *f, const struct lot *l, double *share_out)
{
    double share = 0, most = 0;
    for (uint32_t c = 0; c < f->stock->column_count; c++) {
        if (l->size[c] > f->left[c])
            return 0;
        double part = l->size[c] * f->per[c];
        share += part;
        most = part > most ? part : most;
    }
    *share_out = share;
    return most > 1e-9 ? (uint32_t)(1 / most + 1e-9) : UINT32_MAX;
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
    f->taken[lot] += count;
    f->value += count * l->value;
}

/* Many at once, but not so many that the balance of the rest is decided by one lot. */
static uint32_t portion(const struct fill *f, uint32_t lot, uint32_t room)
{
    enum { PORTION = 6 };
    const struct lot *l = &f->stock->lots[lot];
    uint32_t count = room / PORTION + 1, there = l->count - l->next - f->taken[lot];
    for (uint64_t caps = l->caps; caps != 0; caps &= caps - 1) {
        uint32_t left = f->cap_left[__builtin_ctzll(caps)];
        count = left < count ? left : count;
    }
    return there < count ? there : count;
}

/* The lot with most value for its share, of those in the groups (0: all), or UINT32_MAX. */
static uint32_t best_lot(struct fill *f, uint64_t groups, uint32_t *room_out)
{
    const struct stock *s = f->stock;
    uint32_t kept = 0, best = UINT32_MAX;
    double best_score = 0;
    f->looks += f->open_count;
    for (uint32_t i = 0; i < f->open_count; i++) {
        const struct lot *l = &s->lots[f->open[i]];
        double share;
        uint32_t room;
        if (l->next + f->taken[f->open[i]] >= l->count || (l->caps & f->full) != 0 ||
            (room = fits(f, l, &share)) == 0)
            continue;
        f->open[kept++] = f->open[i];
        double score = l->value / (share + 1e-12) * (1 + f->bulk * share);
        if ((groups != 0 && (l->caps & groups) == 0) || score <= best_score * (1 + 1e-9))
            continue;
        best_score = score;
        best = f->open[kept - 1];
        *room_out = room;
    }
    f->open_count = kept;
    return best;
}

bool fill_next(struct fill *f, uint32_t *lot_out, uint32_t *count_out)
{
    uint32_t room = 0, best = UINT32_MAX;
    if (f->value <= 0 && f->seed != 0)
        best = best_lot(f, f->seed, &room);
    if (best == UINT32_MAX)
        best = best_lot(f, 0, &room);
    if (best == UINT32_MAX)
        return false;
    *lot_out = best;
    *count_out = portion(f, best, room);
    take(f, best, *count_out);
    return true;
}

void fill_commit(struct fill *f, uint32_t lot, uint32_t proposed, uint32_t went)
{
    const struct lot *l = &f->stock->lots[lot];
    f->taken[lot] -= proposed;
    if (went == proposed)
        return;
    uint32_t back = proposed - went, kept = 0;
    for (uint32_t c = 0; c < f->stock->column_count; c++)
        set_left(f, c, f->left[c] + back * l->size[c]);
    for (uint64_t caps = l->caps; caps != 0; caps &= caps - 1) {
        uint32_t cap = (uint32_t)__builtin_ctzll(caps);
        f->cap_left[cap] = (uint8_t)(f->cap_left[cap] + back);
        f->full &= ~(UINT64_C(1) << cap);
    }
    f->value -= back * l->value;
    for (uint32_t i = 0; i < f->open_count; i++)
        if (f->open[i] != lot)
            f->open[kept++] = f->open[i];
    f->open_count = kept;
}

double fill_value(struct fill *f, const struct product *p)
{
    uint32_t lot, count;
    fill_begin(f, p, NULL);
    while (fill_next(f, &lot, &count))
        continue;
    return f->value;
}
