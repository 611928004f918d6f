/* Growth as a plan over pools and groups has it: pods go to the machines that it names where filters, limits and ranges bear it
 * out, and all others ask as they do without a plan. It is noon; nodes have four CPUs; "b" is the dearer one. */
#include "support_pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define POD_WITH(name, cpu, labels, spec)                                                                               \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: w, uid: " name ", labels: {" labels "}"         \
    ", creationTimestamp: '2026-01-01T11:50:00Z', ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: w"     \
    ", uid: w, controller: true}]}\nspec: {" spec "containers: [{name: c, resources: {requests: {cpu: " cpu              \
    ", memory: 1Gi}}}]}\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: "           \
    "Unschedulable}]}\n"
#define POD(name, cpu) POD_WITH(name, cpu, "", "")
#define BESIDE(app)                                                                                                     \
    "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, "   \
    "labelSelector: {matchLabels: {app: " app "}}}]}}, "
#define SPREAD                                                                                                          \
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, " \
    "labelSelector: {matchLabels: {app: web}}}], "
#define GROUP(name, max, price_, more)                                                                                  \
    "{name: " name ", minSize: 0, maxSize: " #max ", price: " price_ ", template: {metadata: {labels: "                    \
    "{topology.kubernetes.io/zone: " name "}}, status: {allocatable: {cpu: 4, memory: 16Gi, pods: 110}, capacity: {cpu: 4, " \
    "memory: 16Gi, pods: 110}}}" more "}"
#define AB GROUP("a", 9, "1", "") ", " GROUP("b", 9, "2", "")

static void four_cores(struct group_flags *f) { f->cores_max = 4; }
static void one_node(struct group_flags *f) { f->max_nodes_total = 1; }
static void as_upstream(struct group_flags *f) { f->as_upstream = true; }

/* Places by the pods' names, and who has none. */
static const struct {
    const char *label, *objects, *groups;
    const char *plan; /* "pod→group/machine", in the order in which they come; machines are the plan's */
    const char *want;
    void (*set)(struct group_flags *f);
} rows[] = {
    {"nothing is planned", POD("p1", "2") POD("p2", "2"), AB, "", "p1→a/1 p2→a/1", NULL},
    {"though one node would do", POD("p1", "2") POD("p2", "2"), AB, "p1→b/1 p2→a/2", "p1→b/1 p2→a/1", NULL},
    {"of one group two", POD("p1", "1") POD("p2", "1") POD("p3", "1"), AB, "p1→b/4 p2→b/7 p3→b/4", "p1→b/1 p2→b/2 p3→b/1", NULL},
    {"who does not fit asks for one more there", POD("p1", "3") POD("p2", "3"), AB, "p1→b/1 p2→b/1", "p1→b/1 p2→b/2", NULL},
    {"a group that is full", POD("p1", "3") POD("p2", "3"), GROUP("a", 9, "1", "") ", " GROUP("b", 1, "2", ""), "p1→b/1 p2→b/2",
     "p1→b/1 p2→a/1", NULL},
    {"one that is backed off", POD("p1", "3"), GROUP("a", 9, "1", "") ", " GROUP("b", 9, "2", ", backoff: {until: "
     "'2026-01-01T12:05:00Z'}"), "p1→b/1", "p1→a/1", NULL},
    {"one that is no more", POD("p1", "3"), AB, "p1→c/1", "p1→a/1", NULL},
    {"as many cores as there may be", POD("p1", "3") POD("p2", "3"), AB, "p1→b/1 p2→a/2", "p1→b/1 p2 waits", four_cores},
    {"as many nodes", POD("p1", "3") POD("p2", "3"), AB, "p1→b/1 p2→a/2", "p1→b/1 p2 waits", one_node},
    {"who was not planned takes the room that is left", POD("p1", "2") POD("p2", "2") POD("p3", "2"), AB, "p1→b/1",
     "p1→b/1 p2→b/1 p3→a/1", NULL},
    {"but not where it would rather not be", POD("p1", "2")
     "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p2, namespace: w, uid: p2, annotations: {stowage.dev/prefer: a}, "
     "creationTimestamp: '2026-01-01T11:50:00Z'}\nspec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}\nstatus: "
     "{phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}\n",
     AB, "p1→b/1", "p1→b/1 p2→a/1", NULL},
    {"what is planned stays where it is", POD("p1", "2") POD("p2", "3") POD("p3", "1") POD("p4", "2") POD("p5", "2"), AB,
     "p1→b/1 p2→b/2 p3→b/2 p4→b/1", "p1→b/1 p2→b/2 p3→b/2 p4→b/1 p5→a/1", NULL},
    {"others come first", POD_WITH("p1", "1", "app: x", BESIDE("db")) POD_WITH("p2", "1", "app: db", ""), AB, "p1→b/1 p2→b/1",
     "p1→b/1 p2→b/1", NULL},
    {"a machine for somebody who may not be there", POD_WITH("p1", "1", "app: x", BESIDE("db")) POD("p2", "1"), AB, "p1→b/1 p2→b/2",
     "p1 waits p2→b/1", NULL},
    {"over zones in which nothing stands", POD_WITH("p1", "1", "app: web", SPREAD) POD_WITH("p2", "1", "app: web", SPREAD), AB,
     "p1→b/1 p2→a/2", "p1→b/1 p2→a/1", NULL},
    {"with --search greedy there is no such plan", POD("p1", "2") POD("p2", "2"), GROUP("a", 9, "1", ""), "p1→a/1 p2→a/2",
     "p1→a/1 p2→a/1", as_upstream},
};

static const struct pod *pod_named(const struct group_objects *o, struct span name)
{
    for (size_t i = 0; i < o->pod_count; i++)
        if (span_eq(o->pods[i]->meta.name, name))
            return o->pods[i];
    fail_msg("no pod %.*s", SPAN_ARG(name));
    return NULL;
}

static void read_plan(struct arena *a, const char *text, struct group_objects *o)
{
    struct group_wish *items = ARENA_ARRAY(a, struct group_wish, 8);
    for (struct span rest = span_of(text), item, pod, on; rest.len != 0;) {
        struct span machine, group;
        item = span_cut(rest, ' ', &rest);
        pod = span_cut(item, '\xe2', &on); /* the arrow's first byte */
        group = span_cut((struct span){on.ptr + 2, on.len - 2}, '/', &machine);
        uint32_t number = (uint32_t)(machine.ptr[0] - '0'), turn = (uint32_t)o->wish_count;
        items[o->wish_count++] = (struct group_wish){pod_named(o, pod), group, number, turn};
    }
    qsort(items, o->wish_count, sizeof(*items), group_wishes_by_name);
    o->wishes = items;
}

static const struct group_coming *coming_of(const struct group_pass *p, const struct pod *pod)
{
    for (uint32_t i = 0; i < p->coming_count; i++)
        if (p->coming[i].pod == pod)
            return &p->coming[i];
    return NULL;
}

/* Machines are those that were asked for, and no others. */
static void tell(struct buf *b, const struct group_objects *o, const struct group_pass *p)
{
    uint32_t most[3] = {0};
    for (char name[] = "p1"; name[1] <= '0' + (char)o->pod_count; name[1]++) {
        const struct group_coming *c = coming_of(p, pod_named(o, span_of(name)));
        buf_addf(b, "%s%s", name[1] != '1' ? " " : "", name);
        if (c == NULL) {
            buf_addf(b, " waits");
            continue;
        }
        buf_addf(b, "→%.*s/%u", SPAN_ARG(p->model->groups[c->group].spec->name), c->machine);
        most[c->group] = c->machine > most[c->group] ? c->machine : most[c->group];
    }
    for (uint32_t i = 0; i < p->decision_count; i++) {
        assert_int_equal(p->decisions[i].delta, most[p->decisions[i].group]);
        most[p->decisions[i].group] = 0;
    }
    assert_int_equal(most[0] + most[1], 0);
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
        flags.by_cost = flags.salvo = true;
        if (rows[i].set != NULL)
            rows[i].set(&flags);
        cluster_init(&c);
        cluster_add(&c, rows[i].objects);
        snprintf(text, sizeof(text), "groups: [%s]\n", rows[i].groups);
        pass_read(&c, text, &node_groups_schema, &file);
        struct group_objects objects = pass_objects(&c);
        read_plan(&c.arena, rows[i].plan, &objects);
        const struct group_pass *p = pass_run(&c, &objects, &file, &flags, now, &c.arena, &w);
        tell(&got, &objects, p);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
