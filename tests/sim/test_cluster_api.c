/* Provider clusterapi at an API server with Cluster API's controllers: each rule of the contract of providers (spec node-groups
 * 2.2, 2.6), which machine goes, and that nothing goes or comes twice, whenever the process dies. */
#include <stdio.h>
#include <string.h>

#include "cloud/groups/cluster_api.h"
#include "tests/sim/support_groups.h"
#include "tests/sim/support_machines.h"

#define MIN_MAX(min_, max_)                                                                                             \
    "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size: '" min_                                               \
    "', cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size: '" max_ "'"
#define SHAPE                                                                                                           \
    ", capacity.cluster-autoscaler.kubernetes.io/cpu: '4', capacity.cluster-autoscaler.kubernetes.io/memory: 16Gi"
#define OBJECT(version_, kind_, name_, annotations_, replicas_, more_)                                                  \
    "---\n{apiVersion: cluster.x-k8s.io/" version_ ", kind: " kind_ ", metadata: {name: " name_ ", namespace: apps,"    \
    " labels: {color: green}, annotations: {" annotations_ "}}, spec: {clusterName: one, replicas: " replicas_          \
    ", selector: {matchLabels: {of: " name_ "}}, template: {metadata: {labels: {of: " name_ more_ "}}}}}\n"
#define DEPLOYMENT(name_, annotations_, replicas_) OBJECT("v1beta2", "MachineDeployment", name_, annotations_, replicas_, "")

#define MD "MachineDeployment/apps/md"

struct desk {
    struct group_desk groups; /* first member */
    struct machine_keeper keeper;
    struct cluster_api_options options;
};

static struct group_provider *make(struct group_desk *d)
{
    struct cluster_api_options o = ((struct desk *)d)->options;
    o.api = d->api;
    return cluster_api_new(&o);
}

static void begin_with(struct desk *d, const char *objects)
{
    d->groups.make = make;
    group_desk_begin(&d->groups, objects);
    machine_keeper_begin(&d->keeper, d->groups.sim);
    group_desk_look(&d->groups);
}

static void begin(struct desk *d, const char *objects)
{
    *d = (struct desk){0};
    begin_with(d, objects);
}

static void end(struct desk *d)
{
    group_desk_end(&d->groups);
    machine_keeper_end(&d->keeper);
}

static void expect(enum err_kind got, enum err_kind want, struct desk *d, const char *label)
{
    if (got != want)
        fail_msg("%s: %s (%s), want %s", label, err_kind_name(got), d->groups.err.msg, err_kind_name(want));
}

static void expect_size(struct desk *d, const char *group, int32_t target, uint32_t machines, uint32_t nodes)
{
    const struct node_group *g = group_looked(&d->groups, group);
    if (g->target != target || g->machines.count != machines || g->nodes.count != nodes)
        fail_msg("%s: target %d, %u machines, %u Nodes; want %d, %u and %u", group, g->target, g->machines.count,
                 g->nodes.count, target, machines, nodes);
}

static void expect_aside(struct desk *d, const char *want)
{
    const struct span *list;
    uint32_t count = d->groups.provider->ops->asides(d->groups.provider, &list);
    struct span told = count != 0 ? list[0] : SPAN("");
    if (count != (want[0] != '\0') || !span_has_prefix(told, span_of(want)))
        fail_msg("%u aside: %.*s, want %s", count, SPAN_ARG(told), want);
}

/* Names of the Machines that the controllers chose, a blank between; static storage. */
static const char *ended(struct desk *d)
{
    static char text[512];
    size_t i, at = 0;
    json_t *name;
    text[0] = '\0';
    json_array_foreach(d->keeper.ended, i, name)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i != 0 ? " " : "", json_string_value(name));
    return text;
}

static size_t count_marks(struct desk *d)
{
    json_t *list = objects_of(d->groups.sim, KIND_MACHINE), *m;
    size_t i, n = 0;
    json_array_foreach(list, i, m)
        n += json_object_get(tree_get(m, "metadata.annotations"), "cluster.x-k8s.io/delete-machine") != NULL;
    json_decref(list);
    return n;
}

/* ---- what is a group ---- */

static void finds_groups(void **state)
{
    (void)state;
    static const struct {
        const char *label, *objects, *group, *aside; /* "": none */
    } rows[] = {
        {"a MachineDeployment", DEPLOYMENT("md", MIN_MAX("1", "5"), "1"), MD, ""},
        {"a MachineSet of nobody", OBJECT("v1beta2", "MachineSet", "ms", MIN_MAX("1", "5"), "1", ""), "MachineSet/apps/ms", ""},
        {"a MachinePool", OBJECT("v1beta2", "MachinePool", "mp", MIN_MAX("1", "5"), "1", ""), "MachinePool/apps/mp", ""},
        {"not one without annotations", DEPLOYMENT("md", "", "1"), "", ""},
        {"not one of maximum 0", DEPLOYMENT("md", MIN_MAX("0", "0"), "1"), "", ""},
        {"not one that is paused", DEPLOYMENT("md", MIN_MAX("1", "5") ", cluster.x-k8s.io/paused: 'true'", "1"), "", ""},
        {"an empty one that says what it is", DEPLOYMENT("md", MIN_MAX("0", "5") SHAPE, "0"), MD, ""},
        {"an empty one that does not", DEPLOYMENT("md", MIN_MAX("0", "5"), "0"), "",
         "MachineDeployment apps/md: it has no machine and does not say what one would be; write "},
        {"a maximum below the minimum", DEPLOYMENT("md", MIN_MAX("6", "5"), "1"), "",
         "MachineDeployment apps/md: annotation cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size: 5 is less than the "
         "minimum, 6; raise it"},
        {"no number", DEPLOYMENT("md", MIN_MAX("one", "5"), "1"), "",
         "MachineDeployment apps/md: annotation cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size: \"one\" is not a size"},
        {"one that is wrong does not hide another",
         DEPLOYMENT("bad", MIN_MAX("one", "5"), "1") DEPLOYMENT("md", MIN_MAX("1", "5"), "1"), MD,
         "MachineDeployment apps/bad: "},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct desk d;
        begin(&d, rows[i].objects);
        group_desk_look(&d.groups);
        const struct group_list *l = &d.groups.groups.groups;
        if (l->count != (rows[i].group[0] != '\0') || (l->count != 0 && !span_eq(l->items[0].name, span_of(rows[i].group))))
            fail_msg("%s: %u groups", rows[i].label, l->count);
        expect_aside(&d, rows[i].aside);
        end(&d);
    }
}

static void is_restricted(void **state)
{
    (void)state;
    static const struct {
        const char *selector, *bounds;
        int32_t max; /* 0: it is no group */
    } rows[] = {
        {NULL, NULL, 5},
        {"clusterapi:namespace=apps", NULL, 5},
        {"clusterapi:namespace=other", NULL, 0},
        {"clusterapi:clusterName=one,color=green", NULL, 5},
        {"clusterapi:clusterName=two", NULL, 0},
        {"clusterapi:color=red", NULL, 0},
        {NULL, "0:9:" MD, 9},
        {NULL, "0:9:MachineDeployment/apps/other", 0},
        {"clusterapi:namespace=other", "0:9:" MD, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct desk d = {0};
        struct arena a;
        struct err err;
        struct cluster_api_selector s;
        struct cluster_api_bounds b;
        arena_init(&a, 0);
        d.options.selectors = &s;
        d.options.bounds = &b;
        if (rows[i].selector != NULL) {
            assert_true(cluster_api_selector_parse(&a, span_of(rows[i].selector), &s, &err));
            d.options.selector_count = 1;
        }
        if (rows[i].bounds != NULL) {
            assert_true(cluster_api_bounds_parse(&a, span_of(rows[i].bounds), &b, &err));
            d.options.bounds_count = 1;
        }
        begin_with(&d, DEPLOYMENT("md", MIN_MAX("1", "5"), "1"));
        const struct node_group *g = group_named(&d.groups, MD);
        if ((g != NULL) != (rows[i].max != 0) || (g != NULL && g->max != rows[i].max))
            fail_msg("row %zu: %s", i, g != NULL ? "a group" : "none");
        end(&d);
        arena_release(&a);
    }
}

/* ---- machines ---- */

static void tells_machines(void **state)
{
    (void)state;
    struct desk d;
    begin(&d, DEPLOYMENT("md", MIN_MAX("1", "9"), "2"));
    expect_size(&d, MD, 2, 2, 2);
    const struct node_group *g = group_named(&d.groups, MD);
    assert_int_equal(machine_named(g, "fake:///zone/md-1-m0")->state, INSTANCE_RUNNING);
    assert_int_equal(d.groups.groups.groups.count, 1); /* the MachineSet of the MachineDeployment is none */
    d.keeper.holds = true;
    expect(group_resize(&d.groups, MD, 2, 3), ERR_NONE, &d, "one that does not come");
    expect_size(&d, MD, 3, 3, 2);
    g = group_named(&d.groups, MD);
    assert_int_equal(machine_named(g, "pending-machine-apps_md-1-m2")->state, INSTANCE_CREATING);
    assert_int_equal(machine_named(g, "pending-machine-apps_md-1-m2")->error.class, INSTANCE_ERROR_NONE);
    d.keeper.holds = false;
    d.keeper.fails = true;
    machine_keeper_look(&d.keeper);
    g = group_looked(&d.groups, MD);
    const struct group_machine *failed = machine_named(g, "failed-machine-apps_md-1-m2");
    assert_int_equal(failed->state, INSTANCE_CREATING);
    assert_int_equal(failed->error.class, INSTANCE_OTHER_ERROR);
    assert_true(span_eq(failed->error.code, SPAN("ProvisioningFailed")));
    assert_true(span_eq(failed->error.message, SPAN("Machine provisioning failed: no quota")));
    d.keeper.lingers = true;
    do_request(d.groups.sim, API_DELETE, KIND_MACHINE, "apps", "md-1-m2", NULL, 200);
    do_request(d.groups.sim, API_DELETE, KIND_MACHINE, "apps", "md-1-m0", NULL, 200);
    g = group_looked(&d.groups, MD);
    failed = machine_named(g, "failed-machine-apps_md-1-m2");
    assert_int_equal(failed->state, INSTANCE_DELETING);
    assert_true(span_eq(failed->error.code, SPAN("DeletingFailed")));
    assert_int_equal(machine_named(g, "fake:///zone/md-1-m0")->state, INSTANCE_DELETING);
    assert_int_equal(machine_named(g, "fake:///zone/md-1-m0")->error.class, INSTANCE_ERROR_NONE);
    end(&d);
}

static void tells_of_older_versions(void **state)
{
    (void)state;
    struct desk d = {.keeper = {.old = true}};
    begin_with(&d, OBJECT("v1beta1", "MachineDeployment", "md", MIN_MAX("1", "9"), "1", ""));
    expect_size(&d, MD, 1, 1, 1);
    d.keeper.fails = true;
    expect(group_resize(&d.groups, MD, 1, 2), ERR_NONE, &d, "one more");
    const struct node_group *g = group_looked(&d.groups, MD);
    assert_true(span_eq(machine_named(g, "failed-machine-apps_md-1-m1")->error.message,
                        SPAN("Machine provisioning failed: no quota")));
    expect(group_remove(&d.groups, MD, "fake:///zone/md-1-m0", false), ERR_NONE, &d, "the one that is well");
    assert_string_equal(ended(&d), "md-1-m0");
    end(&d);
}

static void tells_the_rollout(void **state)
{
    (void)state;
    static const char old_set[] =
        "---\n{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineSet, metadata: {name: md-0, namespace: apps, labels:"
        " {cluster.x-k8s.io/deployment-name: md}, annotations: {machinedeployment.clusters.x-k8s.io/revision: '0'}, ownerReferences:"
        " [{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineDeployment, name: md, uid: x}]},"
        " spec: {replicas: 1, selector: {matchLabels: {of: nobody}}, template: {}}}\n";
    struct desk d;
    begin(&d, DEPLOYMENT("md", MIN_MAX("1", "9"), "1"));
    assert_false(group_looked(&d.groups, MD)->rolls_out);
    d.keeper.stands = true;
    load(d.groups.sim, old_set);
    assert_true(group_looked(&d.groups, MD)->rolls_out);
    do_request(d.groups.sim, API_MERGE, KIND_MACHINE_SET, "apps", "md-0", "{\"spec\":{\"replicas\":0}}", 200);
    assert_false(group_looked(&d.groups, MD)->rolls_out);
    end(&d);
}

/* ---- sizes ---- */

static void resizes(void **state)
{
    (void)state;
    struct desk d;
    begin(&d, DEPLOYMENT("md", MIN_MAX("1", "5"), "2"));
    expect_size(&d, MD, 2, 2, 2);
    expect(group_resize(&d.groups, MD, 2, 6), ERR_INVALID, &d, "above the maximum");
    expect(group_resize(&d.groups, "MachineSet/apps/md", 2, 3), ERR_INVALID, &d, "no such group");
    expect(group_resize(&d.groups, MD, 1, 3), ERR_CONFLICT, &d, "it is another size");
    d.groups.blind = true;
    expect(group_resize(&d.groups, MD, 2, 4), ERR_NONE, &d, "two more");
    expect_size(&d, MD, 4, 2, 2); /* at once, though no snapshot shows it */
    expect(group_resize(&d.groups, MD, 2, 4), ERR_NONE, &d, "the same again");
    d.groups.blind = false;
    expect_size(&d, MD, 4, 4, 4);
    do_request(d.groups.sim, API_MERGE, KIND_MACHINE_DEPLOYMENT, "apps", "md", "{\"spec\":{\"replicas\":3}}", 200);
    expect(group_resize(&d.groups, MD, 4, 5), ERR_CONFLICT, &d, "somebody else resized it");
    expect_size(&d, MD, 3, 3, 3); /* and a later size is not covered by ours */
    do_request(d.groups.sim, API_DELETE, KIND_MACHINE_DEPLOYMENT, "apps", "md", NULL, 200);
    expect(group_resize(&d.groups, MD, 3, 4), ERR_INVALID, &d, "it is gone");
    end(&d);
}

static void withdraws(void **state)
{
    (void)state;
    struct desk d;
    begin(&d, DEPLOYMENT("md", MIN_MAX("1", "9"), "2"));
    d.keeper.holds = true;
    expect_size(&d, MD, 2, 2, 2);
    expect(group_resize(&d.groups, MD, 2, 4), ERR_NONE, &d, "two that do not come");
    group_desk_look(&d.groups);
    expect(group_resize(&d.groups, MD, 4, 1), ERR_INVALID, &d, "below what is there");
    expect(group_resize(&d.groups, MD, 4, 2), ERR_NONE, &d, "both");
    expect_size(&d, MD, 2, 2, 2);
    assert_string_equal(ended(&d), "md-1-m3 md-1-m2");
    end(&d);
}

/* ---- removals ---- */

#define M0 "fake:///zone/md-1-m0"
#define M1 "fake:///zone/md-1-m1"
#define M2 "fake:///zone/md-1-m2"

static void removes(void **state)
{
    (void)state;
    struct desk d;
    begin(&d, DEPLOYMENT("md", MIN_MAX("1", "9") SHAPE, "4") DEPLOYMENT("other", MIN_MAX("0", "9"), "1"));
    expect_size(&d, MD, 4, 4, 4);
    expect(group_remove(&d.groups, MD, M0 " " M2, false), ERR_NONE, &d, "two");
    assert_string_equal(ended(&d), "md-1-m2 md-1-m0");
    expect_size(&d, MD, 2, 2, 2);
    expect(group_remove(&d.groups, MD, M0, false), ERR_NONE, &d, "what is gone already");
    expect_size(&d, MD, 2, 2, 2);
    expect(group_remove(&d.groups, MD, M1 " fake:///zone/md-1-m3", false), ERR_INVALID, &d, "below the minimum");
    expect(group_remove(&d.groups, MD, "fake:///zone/other-1-m4", false), ERR_INVALID, &d, "another group's");
    expect(group_remove(&d.groups, MD, M1 " " M1, false), ERR_INVALID, &d, "one twice");
    expect(group_remove(&d.groups, "MachineSet/apps/x", M1, false), ERR_INVALID, &d, "of no group");
    assert_int_equal(count_marks(&d), 0);
    expect_size(&d, MD, 2, 2, 2);
    expect(group_remove(&d.groups, MD, M1 " fake:///zone/md-1-m3", true), ERR_NONE, &d, "by force");
    expect_size(&d, MD, 0, 0, 0);
    end(&d);
}

static void removals_count_at_once(void **state)
{
    (void)state;
    struct desk d;
    begin(&d, DEPLOYMENT("md", MIN_MAX("1", "9"), "3"));
    expect_size(&d, MD, 3, 3, 3);
    d.keeper.stands = true; /* nobody looks at sizes yet */
    expect(group_remove(&d.groups, MD, M1, false), ERR_NONE, &d, "one");
    expect_size(&d, MD, 2, 3, 3);
    assert_int_equal(machine_named(group_named(&d.groups, MD), M1)->state, INSTANCE_DELETING);
    expect(group_remove(&d.groups, MD, M1, false), ERR_NONE, &d, "the same again");
    expect_size(&d, MD, 2, 3, 3);
    d.keeper.stands = false;
    machine_keeper_look(&d.keeper);
    expect_size(&d, MD, 2, 2, 2);
    assert_string_equal(ended(&d), "md-1-m1");
    end(&d);
}

static void note_kind(void *user, const struct err *err)
{
    *(enum err_kind *)user = err->kind;
}

/* Many at once, each of which writes the size: all come through, down to the minimum. */
static void removals_meet(void **state)
{
    (void)state;
    struct span ids[] = {SPAN_INIT(M0), SPAN_INIT(M1), SPAN_INIT(M2), SPAN_INIT("fake:///zone/md-1-m3")};
    enum err_kind kinds[COUNT_OF(ids)];
    struct desk d;
    begin(&d, DEPLOYMENT("md", MIN_MAX("2", "9"), "5"));
    expect_size(&d, MD, 5, 5, 5);
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        kinds[i] = ERR_INTERNAL;
        d.groups.provider->ops->remove(d.groups.provider, SPAN(MD), &ids[i], 1, false, note_kind, &kinds[i]);
    }
    run_for(d.groups.sim, 20000);
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        assert_int_equal(kinds[i], i < 3 ? ERR_NONE : ERR_INVALID);
    assert_string_equal(ended(&d), "md-1-m0 md-1-m1 md-1-m2"); /* and nobody in another's place */
    expect_size(&d, MD, 2, 2, 2);
    assert_int_equal(count_marks(&d), 0); /* who was refused has none */
    end(&d);
}

static void removes_of_pools(void **state)
{
    (void)state;
    struct desk d;
    begin(&d, OBJECT("v1beta2", "MachinePool", "mp", MIN_MAX("1", "9"), "3", ""));
    expect_size(&d, "MachinePool/apps/mp", 3, 3, 3);
    expect(group_remove(&d.groups, "MachinePool/apps/mp", "fake:///pool/mp-2", false), ERR_NONE, &d, "one");
    expect_size(&d, "MachinePool/apps/mp", 2, 2, 2);
    expect(group_remove(&d.groups, "MachinePool/apps/mp", "fake:///pool/mp-0 fake:///pool/mp-1", false), ERR_INVALID, &d,
           "below the minimum");
    end(&d);
}

/* ---- what goes wrong on the way ---- */

static struct {
    uint64_t at;
    enum sim_fate before, after;
} fault;

static enum sim_fate before(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal)
{
    (void)user;
    (void)r;
    *refusal = (struct sim_refusal){500, "InternalError", "etcd is tired", 0};
    return number == fault.at ? fault.before : SIM_PASS;
}

static enum sim_fate after(void *user, uint64_t number, const struct api_request *r)
{
    (void)user;
    (void)r;
    return number == fault.at ? fault.after : SIM_PASS;
}

static void set_fault(struct desk *d, uint64_t at, enum sim_fate first, enum sim_fate then)
{
    fault.at = at;
    fault.before = first;
    fault.after = then;
    sim_client_set_faults(d->groups.api, &(struct sim_faults){NULL, before, after});
}

static const struct {
    const char *label;
    enum sim_fate before, after;
} fates[] = {
    {"refused", SIM_REFUSE, SIM_PASS},     {"lost before", SIM_LOSE, SIM_PASS},  {"lost after", SIM_PASS, SIM_LOSE},
    {"killed before", SIM_KILL, SIM_PASS}, {"killed after", SIM_PASS, SIM_KILL},
};

/* Whatever write is lost, refused or the process's last: those two Machines go, whom nobody else follows. */
static void removals_survive(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(fates); i++)
        for (uint64_t at = 1; at <= 4; at++)
            for (int stands = 0; stands < 2; stands++) {
                struct desk d;
                begin(&d, DEPLOYMENT("md", MIN_MAX("0", "9") SHAPE, "4"));
                expect_size(&d, MD, 4, 4, 4);
                d.keeper.stands = stands != 0; /* the controllers come late */
                set_fault(&d, at, fates[i].before, fates[i].after);
                for (int again = 0; again < 3; again++) {
                    group_remove(&d.groups, MD, M0 " " M2, false);
                    if (sim_client_dead(d.groups.api))
                        group_desk_restart(&d.groups);
                    group_desk_look(&d.groups);
                }
                d.keeper.stands = false;
                machine_keeper_look(&d.keeper);
                group_desk_look(&d.groups);
                if (strcmp(ended(&d), "md-1-m0 md-1-m2") != 0 && strcmp(ended(&d), "md-1-m2 md-1-m0") != 0)
                    fail_msg("%s at %u: \"%s\" ended", fates[i].label, (unsigned)at, ended(&d));
                expect_size(&d, MD, 2, 2, 2);
                end(&d);
            }
}

/* A removal that is not taken up again leaves no mark that another one's machine would be spared for. */
static void marks_do_not_stay(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(fates); i++)
        for (uint64_t at = 1; at <= 2; at++) {
            struct desk d;
            begin(&d, DEPLOYMENT("md", MIN_MAX("1", "9"), "4"));
            expect_size(&d, MD, 4, 4, 4);
            set_fault(&d, at, fates[i].before, fates[i].after);
            group_remove(&d.groups, MD, M0, false);
            if (fates[i].before == SIM_REFUSE)
                assert_int_equal(count_marks(&d), 0); /* it takes its own back, when it can */
            if (sim_client_dead(d.groups.api))
                group_desk_restart(&d.groups);
            group_desk_look(&d.groups);
            bool went = strcmp(ended(&d), "md-1-m0") == 0;
            expect(group_remove(&d.groups, MD, M2, false), ERR_NONE, &d, fates[i].label);
            if (strcmp(ended(&d), went ? "md-1-m0 md-1-m2" : "md-1-m2") != 0)
                fail_msg("%s at %u: \"%s\" ended", fates[i].label, (unsigned)at, ended(&d));
            expect_size(&d, MD, went ? 2 : 3, went ? 2 : 3, went ? 2 : 3);
            assert_int_equal(count_marks(&d), 0);
            end(&d);
        }
}

/* Somebody writes the size between our reading and our writing. */
static struct {
    struct desk *desk;
    const char *body;
} rival;

static enum sim_fate come_between(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal)
{
    (void)user;
    (void)number;
    (void)refusal;
    if (rival.body != NULL && span_eq(r->subresource, SPAN("scale"))) {
        const char *body = rival.body;
        rival.body = NULL;
        do_request(rival.desk->groups.sim, API_MERGE, KIND_MACHINE_DEPLOYMENT, "apps", "md", body, 200);
    }
    return SIM_PASS;
}

static void loses_no_write(void **state)
{
    (void)state;
    static const struct {
        const char *label, *body;
        int32_t resize, want; /* resize 0: M1 is removed */
        enum err_kind kind;
    } rows[] = {
        {"another size, as we grow", "{\"spec\":{\"replicas\":6}}", 5, 6, ERR_CONFLICT},
        {"something else, as we grow", "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}", 5, 5, ERR_NONE},
        {"another size, as we remove", "{\"spec\":{\"replicas\":6}}", 0, 5, ERR_NONE},
        {"something else, as we remove", "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}", 0, 3, ERR_NONE},
        {"so few that ours may not go", "{\"spec\":{\"replicas\":2}}", 0, 2, ERR_INVALID},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct desk d;
        begin(&d, DEPLOYMENT("md", MIN_MAX("2", "9"), "4"));
        expect_size(&d, MD, 4, 4, 4);
        rival.desk = &d;
        rival.body = rows[i].body;
        sim_client_set_faults(d.groups.api, &(struct sim_faults){NULL, come_between, NULL});
        expect(rows[i].resize != 0 ? group_resize(&d.groups, MD, 4, rows[i].resize) : group_remove(&d.groups, MD, M1, false),
               rows[i].kind, &d, rows[i].label);
        if (group_looked(&d.groups, MD)->target != rows[i].want)
            fail_msg("%s: %d", rows[i].label, group_named(&d.groups, MD)->target);
        if (rows[i].resize == 0 && rows[i].kind == ERR_NONE)
            assert_string_equal(ended(&d), "md-1-m1");
        assert_int_equal(count_marks(&d), 0);
        end(&d);
    }
}

static void resizes_survive(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(fates); i++) {
        struct desk d;
        begin(&d, DEPLOYMENT("md", MIN_MAX("1", "9"), "1"));
        expect_size(&d, MD, 1, 1, 1);
        set_fault(&d, 1, fates[i].before, fates[i].after);
        for (int again = 0; again < 2; again++) {
            const struct node_group *g = group_looked(&d.groups, MD);
            if (g->target != 3)
                group_resize(&d.groups, MD, g->target, 3);
            if (sim_client_dead(d.groups.api))
                group_desk_restart(&d.groups);
        }
        group_desk_look(&d.groups);
        expect_size(&d, MD, 3, 3, 3);
        end(&d);
    }
}

static void gives_up(void **state)
{
    (void)state;
    struct desk d;
    begin(&d, DEPLOYMENT("md", MIN_MAX("1", "9"), "2"));
    expect_size(&d, MD, 2, 2, 2);
    struct span one = SPAN(M0);
    struct group_provider *p = d.groups.provider;
    d.groups.err = (struct err){0};
    p->ops->cancel(p, p->ops->resize(p, SPAN(MD), 2, 3, group_done_desk, &d));
    group_answered(&d.groups);
    expect(d.groups.err.kind, ERR_CANCELLED, &d, "a resize");
    d.groups.err = (struct err){0};
    p->ops->cancel(p, p->ops->remove(p, SPAN(MD), &one, 1, false, group_done_desk, &d));
    group_answered(&d.groups);
    expect(d.groups.err.kind, ERR_CANCELLED, &d, "a removal");
    expect_size(&d, MD, 2, 2, 2);
    assert_int_equal(count_marks(&d), 0);
    end(&d);
}

/* ---- Nodes of another form of id ---- */

static void knows_nodes(void **state)
{
    (void)state;
    struct desk d;
    begin(&d, DEPLOYMENT("md", MIN_MAX("1", "9"), "1"));
    d.keeper.holds = true;
    expect(group_resize(&d.groups, MD, 1, 2), ERR_NONE, &d, "one more");
    do_request(d.groups.sim, API_MERGE, KIND_MACHINE, "apps", "md-1-m1", "{\"spec\":{\"providerID\":\"fake:///zone/i-7\"}}", 200);
    load(d.groups.sim, "---\n{apiVersion: v1, kind: Node, metadata: {name: seven}, spec: {providerID: 'fake:////i-7'}}\n");
    expect_size(&d, MD, 2, 2, 2);
    const struct group_machine *m = machine_named(group_named(&d.groups, MD), "fake:////i-7"); /* as its Node says */
    assert_non_null(m);
    assert_int_equal(m->state, INSTANCE_CREATING);
    end(&d);
}

/* ---- another management cluster ---- */

static void on_begin(void *user, enum kind k)
{
    store_list_begin(user, k);
}

static void on_end(void *user, enum kind k, bool asked)
{
    store_list_end_as(user, k, asked);
}

static void on_event(void *user, enum kind k, enum watch_event e, struct doc_value object)
{
    store_event(user, k, e, object);
}

static void on_state(void *user, enum kind k, const struct err *broken)
{
    store_state(user, k, broken, 1);
}

/* Its objects come from a snapshot of their own; the other one has the Nodes alone. */
static void sees_another_cluster(void **state)
{
    (void)state;
    struct desk d = {0};
    struct store *store = store_new(NULL);
    struct err err;
    d.groups.make = make;
    d.options.management = store_share(store);
    group_desk_begin(&d.groups, DEPLOYMENT("md", MIN_MAX("1", "9"), "2"));
    machine_keeper_begin(&d.keeper, d.groups.sim);
    struct api *api = sim_client_new(sim_cluster(d.groups.sim));
    run_for(d.groups.sim, 1000);
    store_publish(d.groups.store, sim_now(d.groups.sim));
    struct snapshot *s = (struct snapshot *)share_take(store_share(d.groups.store));
    struct group_provider *p = d.groups.provider;
    assert_int_equal(p->ops->kinds[0], KIND_NONE); /* who watches that cluster knows */
    assert_false(p->ops->look(p, s, &d.groups.arena, d.groups.syms, &d.groups.groups, &err)); /* nothing is known yet */
    assert_int_equal(err.kind, ERR_RETRY);
    shared_unref(&s->shared);
    for (enum kind k = KIND_MACHINE_DEPLOYMENT; k <= KIND_MACHINE; k++)
        api->ops->watch(api, k, &(struct api_sink){store, on_begin, on_end, on_event, on_state});
    run_for(d.groups.sim, 1000);
    store_publish(store, sim_now(d.groups.sim));
    expect_size(&d, MD, 2, 2, 2);
    expect(group_remove(&d.groups, MD, M0, false), ERR_NONE, &d, "one");
    run_for(d.groups.sim, 1000);
    store_publish(store, sim_now(d.groups.sim));
    expect_size(&d, MD, 1, 1, 1);
    /* Away, it is not gone by as it was; back, it is. */
    struct err away = {.kind = ERR_RETRY};
    s = (struct snapshot *)share_take(store_share(d.groups.store));
    on_state(store, KIND_MACHINE_SET, &away);
    store_publish(store, sim_now(d.groups.sim));
    assert_false(p->ops->look(p, s, &d.groups.arena, d.groups.syms, &d.groups.groups, &err));
    assert_int_equal(err.kind, ERR_RETRY);
    assert_string_equal(err.msg, "the management cluster's API server is away: machinesets are not watched");
    shared_unref(&s->shared);
    on_state(store, KIND_MACHINE_SET, NULL);
    store_publish(store, sim_now(d.groups.sim));
    expect_size(&d, MD, 1, 1, 1);
    sim_client_free(api);
    end(&d);
    store_free(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_groups),
        cmocka_unit_test(is_restricted),
        cmocka_unit_test(tells_machines),
        cmocka_unit_test(tells_of_older_versions),
        cmocka_unit_test(tells_the_rollout),
        cmocka_unit_test(resizes),
        cmocka_unit_test(withdraws),
        cmocka_unit_test(removes),
        cmocka_unit_test(removals_count_at_once),
        cmocka_unit_test(removals_meet),
        cmocka_unit_test(removes_of_pools),
        cmocka_unit_test(removals_survive),
        cmocka_unit_test(marks_do_not_stay),
        cmocka_unit_test(loses_no_write),
        cmocka_unit_test(resizes_survive),
        cmocka_unit_test(gives_up),
        cmocka_unit_test(knows_nodes),
        cmocka_unit_test(sees_another_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
