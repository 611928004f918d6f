/* What a next leader finds on a claim that is on its way, stowage.dev/planned, follows the plan: whom the claim
 * was bought for is written when it is created, who is planned there later, or no more, by a patch.
 *
 * Once the node is initialized nothing is written any more: its pods are bound in a moment, and places on nodes
 * that are there are planned anew. */
#include <stdlib.h>

#include "base/json.h"
#include "reconciler/stages.h"

struct seat { /* a pod that has its place on a claim on its way */
    uint32_t row;
    const struct pod *pod;
};

static int by_row(const void *x, const void *y)
{
    const struct seat *a = x, *b = y;
    return (a->row > b->row) - (a->row < b->row);
}

static bool is_on_its_way(const struct world_node *n)
{
    return n->claim != NULL && !n->leaving && (n->node == NULL || !node_is_initialized(n->node));
}

static struct seat *collect(const struct pass *p, uint32_t *count_out)
{
    const struct places *places = p->r->places;
    struct seat *seats = ARENA_ARRAY(p->a, struct seat, places->count);
    *count_out = 0;
    for (uint32_t i = 0; i < places->count; i++) {
        int32_t row = place_row(p->world, &places->items[i]);
        bool counts = row >= 0 && is_on_its_way(world_node_at(p->world, (uint32_t)row));
        const struct pod *pod = counts ? place_pod(p, &places->items[i]) : NULL;
        if (pod != NULL)
            seats[(*count_out)++] = (struct seat){(uint32_t)row, pod};
    }
    if (*count_out != 0)
        qsort(seats, *count_out, sizeof(*seats), by_row);
    return seats;
}

/* Those with a place there, and those who are bound there: a next leader counts them alike. */
static const struct pod **pods_of(const struct pass *p, const struct seat *seats, uint32_t count,
                                  uint32_t row, uint32_t *count_out)
{
    const struct world_node *n = world_node_at(p->world, row);
    const struct pod *const *bound = world_node_pods(p->world, row);
    uint32_t low = 0, high = count, total = 0;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (seats[mid].row < row)
            low = mid + 1;
        else
            high = mid;
    }
    for (high = low; high < count && seats[high].row == row;)
        high++;
    const struct pod **pods = ARENA_ARRAY(p->a, const struct pod *, high - low + n->pod_count);
    for (; low < high; low++)
        pods[total++] = seats[low].pod;
    for (uint32_t i = 0; i < n->pod_count; i++)
        if (!pod_is_daemon(bound[i]) && !pod_is_static(bound[i]))
            pods[total++] = bound[i];
    *count_out = total;
    return pods;
}

static uint64_t sum_of(const struct pod **pods, uint32_t count)
{
    uint64_t sum = 1;
    for (uint32_t i = 0; i < count; i++)
        sum += span_hash(pods[i]->meta.uid);
    return sum;
}

static void write_planned(struct pass *p, const struct claim_view *c, struct span text)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    json_put_object(&j, "metadata");
    json_put_object(&j, "annotations");
    json_put_string(&j, "stowage.dev/planned", text);
    json_object_end(&j);
    json_object_end(&j);
    json_object_end(&j);
    act(p, &(struct action){.verb = API_MERGE,
                            .kind = KIND_NODE_CLAIM,
                            .object = &c->claim->meta,
                            .memo = &c->memo->memo,
                            .rests = ACT_ON_UID,
                            .body = buf_span(&out)});
    buf_release(&out);
}

/* The world shows the two as one row, which is on its way no more. */
static bool has_arrived(const struct pass *p, const struct claim_view *c)
{
    return c->nodes == 1 && p->nodes[c->node].claims == 1 && p->nodes[c->node].initialized;
}

void planned_run(struct pass *p)
{
    uint32_t seat_count, count;
    if (p->r->places == NULL)
        return;
    const struct seat *seats = collect(p, &seat_count);
    for (uint32_t i = 0; i < p->claim_count; i++) {
        const struct claim_view *c = &p->claims[i];
        int32_t row = c->provider != NULL && !c->leaving && !has_arrived(p, c)
                          ? world_find_claim(p->world, c->claim->meta.name)
                          : -1;
        if (row < 0 || !is_on_its_way(world_node_at(p->world, (uint32_t)row)))
            continue;
        const struct pod **pods = pods_of(p, seats, seat_count, (uint32_t)row, &count);
        uint64_t sum = sum_of(pods, count);
        if (sum == c->memo->planned)
            continue;
        struct span text = places_planned_text(p->a, p->world, pods, count);
        if (span_eq(text, annotations_get(c->claim->meta.annotations, SYM_PLANNED)))
            c->memo->planned = sum;
        else
            write_planned(p, c, text);
    }
}
