#include "extender/replicas.h"

#include <math.h>

#include "extender/score.h"
#include "kube/wellknown.h"

enum {
    APART = SCORE_MAX * 2 / 3, /* what the best gets: weight 2 beside NodeResourcesFit's 1 and the extender's 2 */
    HOST_SKEW = 3,
    ZONE_SKEW = 5,
    ZONES = 32,       /* told apart; more share one number */
    LOOKED_AT = 20000, /* pods of one shape: 1 ms */
};

struct zone {
    sym name;
    uint32_t fellows, nodes;
};

struct fellows {
    uint32_t *on; /* by row */
    struct zone zones[ZONES];
    uint32_t zone_count;
    bool any;
};

uint64_t replicas_controller(const struct pod *p)
{
    const struct owner *o = meta_controller(&p->meta);
    if (o == NULL || p->spreads.count != 0 ||
        (o->kind != SYM_KIND_REPLICA_SET && o->kind != SYM_KIND_STATEFUL_SET &&
         o->kind != SYM_KIND_REPLICATION_CONTROLLER))
        return 0;
    uint64_t words[] = {span_hash(p->meta.ns), o->kind, span_hash(o->name)};
    return span_hash((struct span){(const char *)words, sizeof(words)});
}

bool replicas_can_tell(const struct pod *p)
{
    const struct owner *o = meta_controller(&p->meta);
    if (o == NULL || p->spreads.count != 0 || o->kind == SYM_KIND_JOB)
        return true;
    return replicas_controller(p) != 0 && p->volumes.count == 0;
}

static struct zone *zone_of(struct fellows *f, const struct world_node *n)
{
    sym name = sym_pairs_get(n->node != NULL ? n->node->meta.labels : n->claim->meta.labels, SYM_ZONE);
    for (uint32_t i = 0; i < f->zone_count; i++)
        if (f->zones[i].name == name)
            return &f->zones[i];
    if (f->zone_count == ZONES)
        return &f->zones[ZONES - 1];
    f->zones[f->zone_count].name = name;
    return &f->zones[f->zone_count++];
}

static void count_one(struct fellows *f, const struct world *w, uint32_t row)
{
    f->on[row]++;
    zone_of(f, world_node_at(w, row))->fellows++;
    f->any = true;
}

static void count_standing(struct fellows *f, const struct world *w, const struct pod *pod)
{
    int32_t class = world_class_of(w, pod);
    uint32_t left = LOOKED_AT;
    for (uint32_t row = 0; class >= 0 && row < world_node_count(w); row++) {
        const struct world_node *n = world_node_at(w, row);
        const struct pod *const *pods = world_node_pods(w, row);
        for (uint32_t i = 0; i < n->pod_count && left != 0; i++) {
            if (n->pod_classes[i] != (uint32_t)class)
                continue;
            left--;
            if (pods[i]->meta.deleted == 0 && pod_same_controller(pods[i], pod))
                count_one(f, w, row);
        }
    }
}

static void count_sent(struct fellows *f, const struct world *w, const struct desk *d, uint64_t controller)
{
    for (uint32_t i = 0; i < d->replica_count; i++)
        if (d->replicas[i].controller == controller)
            count_one(f, w, d->replicas[i].row);
}

/* As PodTopologySpread's scoreForCount: the more, the worse. */
static double crowd(struct fellows *f, const struct world *w, uint32_t row, double hosts, double zones)
{
    const struct world_node *n = world_node_at(w, row);
    return (f->on[row] * hosts + HOST_SKEW - 1) + (zone_of(f, n)->fellows * zones + ZONE_SKEW - 1);
}

static void add_shares(struct fellows *f, const struct world *w, const int32_t *rows, uint32_t count,
                       double *crowds, double *scores)
{
    double hosts = 0, zones = 0, least = INFINITY, most = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (isnan(scores[i]))
            continue;
        hosts++;
        zones += zone_of(f, world_node_at(w, (uint32_t)rows[i]))->nodes++ == 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (isnan(scores[i]))
            continue;
        crowds[i] = crowd(f, w, (uint32_t)rows[i], log(hosts + 2), log(zones + 2));
        least = crowds[i] < least ? crowds[i] : least;
        most = crowds[i] > most ? crowds[i] : most;
    }
    for (uint32_t i = 0; i < count; i++)
        if (!isnan(scores[i]))
            scores[i] += APART * (most + least - crowds[i]) / most;
}

void replicas_part(struct arena *a, const struct extender_view *v, const struct subject *s, const int32_t *rows,
                   uint32_t count, double *scores)
{
    uint64_t controller = replicas_controller(s->pod);
    if (controller == 0)
        return;
    struct fellows f = {.on = ARENA_ARRAY(a, uint32_t, world_node_count(v->world))};
    count_standing(&f, v->world, s->pod);
    count_sent(&f, v->world, s->desk, controller);
    if (f.any)
        add_shares(&f, v->world, rows, count, ARENA_ARRAY(a, double, count), scores);
}
