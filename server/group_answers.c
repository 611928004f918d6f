#include "server/group_answers.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/nearest.h"

struct group_member {
    struct span node, group;
    double price; /* NAN: not known */
};

struct group_answers {
    pthread_mutex_t lock;
    struct arena arena; /* of the answers */
    struct group_answer *items;
    uint32_t count;
    struct group_refusal *refusals; /* by uid */
    uint32_t refusal_count;
    struct group_member *members; /* by node */
    uint32_t member_count;
    uint64_t version;
};

struct group_answers *group_answers_new(void)
{
    struct group_answers *g = mem_new(sizeof(*g));
    pthread_mutex_init(&g->lock, NULL);
    arena_init(&g->arena, 0);
    return g;
}

void group_answers_free(struct group_answers *g)
{
    if (g == NULL)
        return;
    arena_release(&g->arena);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

static int by_uid(const void *a, const void *b)
{
    return span_cmp(((const struct group_refusal *)a)->uid, ((const struct group_refusal *)b)->uid);
}

static int by_node(const void *a, const void *b)
{
    return span_cmp(((const struct group_member *)a)->node, ((const struct group_member *)b)->node);
}

static void copy_members(struct group_answers *to, const struct groups_told *told)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < told->group_count; i++)
        count += told->groups[i].node_count;
    to->members = ARENA_ARRAY(&to->arena, struct group_member, count);
    to->member_count = 0;
    for (uint32_t i = 0; i < told->group_count; i++) {
        const struct group_answer *g = &told->groups[i];
        for (uint32_t k = 0; k < g->node_count; k++)
            to->members[to->member_count++] = (struct group_member){arena_dup(&to->arena, g->nodes[k]), to->items[i].group,
                                                                    g->has_price ? g->price : (double)NAN};
    }
    if (count > 1)
        qsort(to->members, count, sizeof(*to->members), by_node);
}

static void copy(struct group_answers *to, const struct groups_told *told)
{
    to->items = ARENA_ARRAY(&to->arena, struct group_answer, told->group_count);
    to->refusals = ARENA_ARRAY(&to->arena, struct group_refusal, told->refusal_count);
    to->count = told->group_count;
    to->refusal_count = told->refusal_count;
    for (uint32_t i = 0; i < told->group_count; i++)
        to->items[i] = (struct group_answer){.group = arena_dup(&to->arena, told->groups[i].group),
                                             .json = arena_dup(&to->arena, told->groups[i].json)};
    for (uint32_t i = 0; i < told->refusal_count; i++)
        to->refusals[i] =
            (struct group_refusal){arena_dup(&to->arena, told->refusals[i].uid), arena_dup(&to->arena, told->refusals[i].text)};
    copy_members(to, told);
    if (to->refusal_count > 1)
        qsort(to->refusals, to->refusal_count, sizeof(*to->refusals), by_uid);
}

void group_answers_set(struct group_answers *g, const struct groups_told *told)
{
    static const struct groups_told nothing = {NULL, NULL, 0, 0};
    struct group_answers fresh;
    arena_init(&fresh.arena, 0);
    copy(&fresh, told != NULL ? told : &nothing);
    pthread_mutex_lock(&g->lock);
    struct arena old = g->arena;
    g->arena = fresh.arena;
    g->items = fresh.items;
    g->count = fresh.count;
    g->refusals = fresh.refusals;
    g->refusal_count = fresh.refusal_count;
    g->members = fresh.members;
    g->member_count = fresh.member_count;
    g->version++;
    pthread_mutex_unlock(&g->lock);
    arena_release(&old);
}

uint64_t group_answers_version(struct group_answers *g)
{
    pthread_mutex_lock(&g->lock);
    uint64_t version = g->version;
    pthread_mutex_unlock(&g->lock);
    return version;
}

static const struct group_member *find_member(const struct group_answers *g, struct span node)
{
    struct group_member key = {.node = node};
    return g->member_count != 0 ? bsearch(&key, g->members, g->member_count, sizeof(key), by_node) : NULL;
}

double group_answers_price(struct group_answers *g, struct span node)
{
    pthread_mutex_lock(&g->lock);
    const struct group_member *found = find_member(g, node);
    double price = found != NULL ? found->price : (double)NAN;
    pthread_mutex_unlock(&g->lock);
    return price;
}

bool group_answers_node(struct group_answers *g, struct span node, struct arena *a, struct span *group_out, double *price_out)
{
    pthread_mutex_lock(&g->lock);
    const struct group_member *found = find_member(g, node);
    if (found != NULL) {
        *group_out = arena_dup(a, found->group);
        *price_out = found->price;
    }
    pthread_mutex_unlock(&g->lock);
    return found != NULL;
}

struct span group_answers_refusal(struct group_answers *g, struct span uid, struct arena *a)
{
    struct group_refusal key = {uid, {NULL, 0}};
    pthread_mutex_lock(&g->lock);
    const struct group_refusal *found =
        g->refusal_count != 0 ? bsearch(&key, g->refusals, g->refusal_count, sizeof(key), by_uid) : NULL;
    struct span out = found != NULL ? arena_dup(a, found->text) : (struct span){NULL, 0};
    pthread_mutex_unlock(&g->lock);
    return out;
}

/* Under the lock. */
static bool unknown(const struct group_answers *g, struct span group, struct err *err)
{
    struct arena a;
    arena_init(&a, 0);
    const char **names = ARENA_ARRAY(&a, const char *, g->count + 1);
    for (uint32_t i = 0; i < g->count; i++)
        names[i] = arena_cstr(&a, g->items[i].group);
    const char *near = nearest_word(arena_cstr(&a, group), names, g->count);
    if (g->count == 0)
        err_set(err, ERR_NOT_FOUND, "no node groups are kept here, or not yet, or this is not the leader");
    else if (near == NULL)
        err_set(err, ERR_NOT_FOUND, "there is no group %.*s", SPAN_ARG(group));
    else
        err_set(err, ERR_NOT_FOUND, "there is no group %.*s; did you mean %s?", SPAN_ARG(group), near);
    arena_release(&a);
    return false;
}

bool group_answers_write(struct group_answers *g, struct span group, struct buf *out, struct err *err)
{
    bool found = false;
    pthread_mutex_lock(&g->lock);
    for (uint32_t i = 0; i < g->count && !found; i++) {
        found = span_eq(g->items[i].group, group);
        if (found)
            buf_add(out, g->items[i].json);
    }
    if (!found)
        unknown(g, group, err);
    pthread_mutex_unlock(&g->lock);
    return found;
}

void group_answers_all(struct group_answers *g, struct buf *out)
{
    struct json j = JSON_TO(out);
    json_array_begin(&j);
    pthread_mutex_lock(&g->lock);
    for (uint32_t i = 0; i < g->count; i++) {
        json_object_begin(&j);
        json_put_string(&j, "group", g->items[i].group);
        json_key(&j, SPAN("answer"));
        json_raw(&j, g->items[i].json);
        json_object_end(&j);
    }
    pthread_mutex_unlock(&g->lock);
    json_array_end(&j);
}
