/* What a plan does with the room of pods that the scheduler is binding. */
#include "support_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "planner/arrivals.h"

#define POOL                                                                                       \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: "          \
    "{template: {spec: {requirements: []}}}\n"
#define NODE(name_)                                                                                \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name_ "}\nspec: {}\nstatus: "             \
    "{allocatable: {cpu: 2, memory: 4Gi, pods: 10}}\n"
#define POD(name_, cpu_, more_)                                                                    \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", uid: u-" name_ "}\nspec: {"       \
    "containers: [{name: c, resources: {requests: {cpu: " cpu_ "}}}]" more_ "}\nstatus: {"         \
    "conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n"

enum { MOST = 3 };

/* "2 1": rows of n2 and n1, in that order; "!" first: that was the only name. */
static struct arrival arrival_of(struct arena *a, const struct cluster *c, const char *rows, const char *waits,
                                 amount cpu)
{
    amount *requests = ARENA_ARRAY(a, amount, world_resource_count(c->world));
    uint32_t *list = ARENA_ARRAY(a, uint32_t, MOST);
    struct arrival x = {.requests = requests, .rows = list, .sure = rows[0] == '!'};
    requests[0] = cpu;
    requests[3] = 1;
    for (const char *at = rows; *at != '\0'; at++)
        if (*at >= '1' && *at <= '9') {
            const char name[] = {'n', *at, '\0'};
            list[x.row_count++] = (uint32_t)world_find_node(c->world, span_of(name));
        }
    if (waits != NULL)
        x.waits = world_waiting_pod(c->world, span_of(waits));
    return x;
}

static void room_of_who_is_on_the_way(void **state)
{
    (void)state;
    static const struct {
        const char *label, *pods;
        struct {
            const char *rows, *waits;
            amount cpu;
        } x[2];
        const char *plan;
    } rows[] = {
        {"nobody", POD("a", "1500m", ""), {{0}}, "node n1: a\n"},
        {"the only name", POD("a", "1500m", ""), {{"!1", NULL, 1500}}, "node n2: a\n"},
        {"each name, while there are others", POD("a", "1500m", ""), {{"2 1", NULL, 1500}}, "node n3: a\n"},
        {"only as much as it needs", POD("a", "1500m", ""), {{"2 1", NULL, 500}}, "node n1: a\n"},
        {"the likeliest, when all would cost a node", POD("a", "1500m", "") POD("b", "1500m", ""),
         {{"2 1", NULL, 1500}}, "node n1: a\nnode n3: b\n"},
        {"what it takes is bought, as if it were bound",
         POD("a", "1500m", "") POD("b", "1500m", "") POD("c", "1500m", ""),
         {{"2 1 3", NULL, 1500}}, "default-1 small-instance-type/6: c\nnode n1: a\nnode n3: b\n"},
        {"two, each of whom may be anywhere", POD("a", "1500m", ""),
         {{"1 2 3", NULL, 1500}, {"1 2 3", NULL, 1500}}, "node n3: a\n"},
        {"one that waited is in no plan", POD("a", "1500m", "") POD("x", "1500m", ""),
         {{"2 1", "u-x", 1500}}, "node n3: a\n"},
        {"nor is it moved for others who wait", POD("a", "2", "") POD("b", "2", "") POD("x", "1500m", ""),
         {{"2 1", "u-x", 1500}}, "node n1: a\nnode n3: b\n"},
        {"room that is not there is not needed twice", POD("a", "1500m", ""),
         {{"!1", NULL, 9000}}, "node n2: a\n"},
        {"and none is bought for what the others of its names would have", POD("a", "1500m", ""),
         {{"2 1 3", NULL, 9000}}, "node n1: a\n"},
        {"nor when it waited", POD("a", "1500m", "") POD("x", "3", ""), {{"1 2 3", "u-x", 3000}}, "node n2: a\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct arrival list[2];
        uint32_t count = 0;
        cluster_init(&c);
        cluster_types_c0(&c);
        cluster_add(&c, POOL NODE("n1") NODE("n2") NODE("n3"));
        cluster_add(&c, rows[i].pods);
        cluster_plan(&c); /* for its world */
        for (; count < 2 && rows[i].x[count].rows != NULL; count++)
            list[count] = arrival_of(&c.arena, &c, rows[i].x[count].rows, rows[i].x[count].waits,
                                     rows[i].x[count].cpu);
        plan_free(c.plan);
        c.plan_options.arrivals = list;
        c.plan_options.arrival_count = count;
        c.plan = plan_solve(c.world, &c.plan_options);
        plan_tell(c.plan);
        struct span got = cluster_summary(&c);
        if (strcmp(got.ptr, rows[i].plan) != 0)
            fail_msg("%s: got\n%s", rows[i].label, got.ptr);
        cluster_release(&c);
    }
}

/* Places come before a guess, but not before what is certain. */
static void places_and_who_is_on_the_way(void **state)
{
    (void)state;
    static const struct {
        const char *rows, *plan;
    } rows[] = {{"1 2", "node n1: a\n"}, {"!1", "node n2: a\n"}};
    const struct place at_n1 = {
        .uid = SPAN("u-a"), .ns = SPAN("default"), .pod = SPAN("a"), .target = SPAN("n1")};
    const struct places places = {.items = &at_n1, .count = 1};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        cluster_init(&c);
        cluster_types_c0(&c);
        cluster_add(&c, POOL NODE("n1") NODE("n2") NODE("n3") POD("a", "1500m", ""));
        cluster_plan(&c);
        const struct arrival x = arrival_of(&c.arena, &c, rows[i].rows, NULL, 1500);
        plan_free(c.plan);
        c.plan_options.places = &places;
        c.plan_options.arrivals = &x;
        c.plan_options.arrival_count = 1;
        c.plan = plan_solve(c.world, &c.plan_options);
        plan_tell(c.plan);
        assert_string_equal(cluster_summary(&c).ptr, rows[i].plan);
        cluster_release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_of_who_is_on_the_way),
        cmocka_unit_test(places_and_who_is_on_the_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
