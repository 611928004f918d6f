/* Who has a place on a machine that is on its way: pods for whom a group grows in this pass, and those that fit what an
 * earlier one asked for; and pods keep the machine that they had. It is noon; nodes have four CPUs. */
#include "support_pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/places.h"

#define NODE(name, status, taint)                                                                                      \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name ", labels: {kubernetes.io/hostname: " name               \
    "}, creationTimestamp: '2026-01-01T11:59:00Z'}\nspec: {providerID: " name ", taints: [" taint "]}\n"               \
    "status: {allocatable: {cpu: 4, memory: 16Gi, pods: 110}, conditions: [{type: Ready, status: '" status             \
    "', lastTransitionTime: '2026-01-01T11:59:00Z'}]}\n"
#define UNREADY "{key: node.kubernetes.io/not-ready, effect: NoSchedule}"
#define POD(name, cpu)                                                                                                 \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: w, uid: " name                              \
    ", creationTimestamp: '2026-01-01T11:50:00Z', ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: w"   \
    ", uid: w, controller: true}]}\nspec: {containers: [{name: c, resources: {requests: {cpu: " cpu                    \
    ", memory: 1Gi}}}]}\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: "         \
    "Unschedulable}]}\n"
#define SHAPE "template: {status: {allocatable: {cpu: 4, memory: 16Gi, pods: 110}}}, "
#define A(target, more) "{name: a, minSize: 0, maxSize: 9, targetSize: " #target ", " SHAPE more "}"
#define B(target, more) "{name: b, minSize: 0, maxSize: 9, targetSize: " #target ", " SHAPE more "}"
#define ASKED(n) "scaleUpRequest: {increase: " #n ", time: '2026-01-01T11:58:00Z'}, "

/* Pods by name: "pod→group/number", or the Node. */
static const struct {
    const char *label, *objects, *groups;
    const char *places; /* "pod→Node" or "pod→group/name", where they were before */
    const char *want;
    const char *flag; /* "balance": --balance-similar-node-groups */
} rows[] = {
    {"nobody waits", "", A(0, ""), "", "", NULL},
    {"a group grows", POD("p1", "2") POD("p2", "2") POD("p3", "2"), A(0, ""), "", "p1→a/1 p2→a/1 p3→a/2", NULL},
    {"balanced over two", POD("p1", "3") POD("p2", "3") POD("p3", "3"), A(0, "") ", " B(0, ""), "",
     "p1→a/1 p2→a/2 p3→b/1", "balance"},
    {"what was asked for", POD("p1", "2") POD("p2", "2") POD("p3", "2"), A(2, ASKED(2)), "", "p1→a/2 p2→a/1 p3→a/2", NULL},
    {"and one more", POD("p1", "3") POD("p2", "3"), A(1, ASKED(1)), "", "p1→a/1 p2→a/2", NULL},
    {"each where it was", POD("p1", "2") POD("p2", "2") POD("p3", "2"), A(2, ASKED(2)), "p1→a/2 p2→a/1 p3→a/1",
     "p1→a/1 p2→a/2 p3→a/2", NULL},
    {"a Node that is not ready", NODE("n1", "False", UNREADY) POD("p1", "3") POD("p2", "3"),
     A(2, ASKED(2) "nodes: [n1]"), "p1→a/2 p2→n1", "p1→a/1 p2→n1", NULL},
    {"without a place before", NODE("n1", "False", UNREADY) POD("p1", "3") POD("p2", "3"), A(2, ASKED(2) "nodes: [n1]"), "",
     "p1→a/1 p2→n1", NULL},
    {"a Node that is ready is on its way no more", NODE("n1", "True", "") POD("p1", "3") POD("p2", "3"),
     A(2, ASKED(1) "nodes: [n1], instances: [{id: n1}]"), "p2→n1", "p1→a/1", NULL},
    {"nobody comes any more", POD("p1", "3"), A(9, ""), "p1→a/1", "", NULL},
};

static int by_uid(const void *a, const void *b)
{
    return span_cmp(((const struct place *)a)->uid, ((const struct place *)b)->uid);
}

static struct places read_places(struct arena *a, const char *text)
{
    struct place *items = ARENA_ARRAY(a, struct place, 8);
    uint32_t count = 0;
    for (struct span rest = span_of(text), item, pod, on; rest.len != 0;) {
        item = span_cut(rest, ' ', &rest);
        pod = span_cut(item, '\xe2', &on); /* the arrow's first byte */
        on = (struct span){on.ptr + 2, on.len - 2};
        struct span name, group = span_cut(on, '/', &name);
        items[count++] = (struct place){.uid = pod, .pod = pod, .ns = SPAN("w"), .target = on,
                                        .group = name.len != 0 ? group : (struct span){0}};
    }
    qsort(items, count, sizeof(*items), by_uid);
    return (struct places){.items = items, .count = count};
}

static int by_pod(const void *a, const void *b)
{
    return span_cmp(((const struct group_coming *)a)->pod->meta.name, ((const struct group_coming *)b)->pod->meta.name);
}

static void tell(struct buf *b, const struct group_pass *p)
{
    if (p->coming_count != 0)
        qsort(p->coming, p->coming_count, sizeof(p->coming[0]), by_pod);
    for (uint32_t i = 0; i < p->coming_count; i++) {
        const struct group_coming *c = &p->coming[i];
        buf_addf(b, "%s%.*s→", i != 0 ? " " : "", SPAN_ARG(c->pod->meta.name));
        if (c->row >= 0)
            buf_addf(b, "%.*s", SPAN_ARG(world_node_at(p->world, (uint32_t)c->row)->name));
        else
            buf_addf(b, "%.*s/%u", SPAN_ARG(p->model->groups[c->group].spec->name), c->machine);
    }
}

static void test_rows(void **state)
{
    (void)state;
    wall_ms now;
    int failed = 0;
    assert_true(time_parse(SPAN("2026-01-01T12:00:00Z"), &now));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct node_groups file = {0};
        struct world *w;
        struct buf got = {0};
        char text[2048];
        struct group_flags flags = group_flags_default();
        flags.balance_similar = rows[i].flag != NULL;
        cluster_init(&c);
        cluster_add(&c, rows[i].objects);
        snprintf(text, sizeof(text), "groups: [%s]\n", rows[i].groups);
        pass_read(&c, text, &node_groups_schema, &file);
        struct group_objects objects = pass_objects(&c);
        struct places places = read_places(&c.arena, rows[i].places);
        objects.places = &places;
        tell(&got, pass_run(&c, &objects, &file, &flags, now, &c.arena, &w));
        if (!span_eq(buf_span(&got), span_of(rows[i].want))) {
            print_message("%s: got \"%.*s\", want \"%s\"\n", rows[i].label, SPAN_ARG(buf_span(&got)), rows[i].want);
            failed++;
        }
        buf_release(&got);
        world_free(w);
        cluster_release(&c);
    }
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests_name("coming", tests, NULL, NULL);
}
