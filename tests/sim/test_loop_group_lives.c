/* Whatever happens to node groups and to who keeps them, in whatever order: what holds at any time (support_group_rules.h),
 * and what in the end. Each seed is a life of three groups: workloads grow and shrink, nodes vanish, are not ready for a
 * while or may not go, machines do not come, nothing can be had for a while, writes are lost, watches end, and leaders die
 * at some write and others take over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cloud/groups/kwok.h"
#include "tests/sim/support_crash.h"
#include "tests/sim/support_group_rules.h"

enum { SEEDS = 6, STEPS = 12, TEXT = 2048, MARKED = 4 };

struct life {
    struct loop l;
    struct crash crash;
    struct sim_faults dying; /* of it */
    struct sim *s;
    struct group_rules *rules;
    uint64_t chance, mishap;
    unsigned seed, deaths;
    bool sold_out, slips; /* machines do not all come */
};

static struct life *living; /* whose provider is asked */

static unsigned next(uint64_t *chance, unsigned below)
{
    *chance = *chance * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*chance >> 33) % below;
}

static unsigned roll(struct life *f, unsigned below)
{
    return next(&f->chance, below);
}

/* A write in so many is refused, or nobody hears what became of it; a machine in so many does not come. */
enum { REFUSED_OF = 60, LOST_OF = 60, FAULTY_OF = 10 };

static enum sim_fate before(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal)
{
    struct life *f = user;
    enum sim_fate fate = f->dying.before(f->dying.user, number, r, refusal);
    if (fate != SIM_PASS || f->crash.unarmed)
        return fate;
    return next(&f->mishap, REFUSED_OF) == 0 ? SIM_REFUSE : next(&f->mishap, LOST_OF) == 0 ? SIM_LOSE : SIM_PASS;
}

static enum sim_fate after(void *user, uint64_t number, const struct api_request *r)
{
    struct life *f = user;
    enum sim_fate fate = f->dying.after(f->dying.user, number, r);
    if (fate != SIM_PASS || f->crash.unarmed)
        return fate;
    return next(&f->mishap, LOST_OF) == 0 ? SIM_LOSE : SIM_PASS;
}

/* ---- what there is ---- */

#define GROUP(name_, cpu_, min_, max_, price_, taint_)                                                                  \
    "- apiVersion: v1\n  kind: Node\n  metadata:\n    name: of-" name_ "\n    labels: {pool: " name_                     \
    ", kubernetes.io/arch: amd64, kubernetes.io/os: linux}\n    annotations: {cluster-autoscaler.kwok.nodegroup/min-count: '" \
    min_ "', cluster-autoscaler.kwok.nodegroup/max-count: '" max_ "'" price_ "}\n  spec: {" taint_                       \
    "}\n  status: {capacity: {cpu: '" cpu_ "', memory: 16Gi, pods: 110}, allocatable: {cpu: '" cpu_                      \
    "', memory: 16Gi, pods: 110}}\n"
static const char templates[] = "apiVersion: v1\nkind: List\nitems:\n"
    GROUP("small", "4", "1", "30", ", stowage.dev/price: '0.2'", "")
    GROUP("large", "8", "0", "30", ", stowage.dev/price: '0.35'", "")
    GROUP("apart", "4", "2", "8", "", "taints: [{key: apart, effect: NoSchedule}]");
static const struct group_bounds bounds[] = {{"small", 1, 30}, {"large", 0, 30}, {"apart", 2, 8}, {NULL, 0, 0}};

static const struct {
    const char *name, *cpu, *annotation, *most_unavailable, *more; /* more: of the pod's spec */
    int pods;
} apps[] = {
    {"web", "900m", NULL, NULL, "", 10},
    {"api", "1500m", NULL, NULL, "", 5},
    {"kept", "500m", "cluster-autoscaler.kubernetes.io/safe-to-evict: 'false'", NULL, "", 2},
    {"guarded", "500m", NULL, "0",
     ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, "
     "labelSelector: {matchExpressions: [{key: app, operator: In, values: [guarded, kept, bare]}]}}]}}", 2},
    {"limited", "600m", NULL, "1", "", 5},
    {"alone", "700m", NULL, NULL,
     ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, "
     "labelSelector: {matchLabels: {app: alone}}}]}}", 2},
    {"special", "700m", NULL, NULL, ", nodeSelector: {pool: apart}, tolerations: [{key: apart, operator: Exists}]", 3},
};
static const char *const held[] = {"kept", "guarded", "bare", NULL};

static void load_app(struct sim *s, size_t i)
{
    char text[TEXT];
    snprintf(text, sizeof(text),
             "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s, namespace: default}\nspec:\n  replicas: %d\n"
             "  selector: {matchLabels: {app: %s}}\n  template:\n    metadata: {labels: {app: %s}, annotations: {%s}}\n"
             "    spec: {terminationGracePeriodSeconds: 20, containers: [{name: c, image: x, resources: {requests: {cpu: %s, "
             "memory: 64Mi}}}]%s}\n",
             apps[i].name, apps[i].pods, apps[i].name, apps[i].name, apps[i].annotation != NULL ? apps[i].annotation : "",
             apps[i].cpu, apps[i].more);
    load(s, text);
    if (apps[i].most_unavailable == NULL)
        return;
    snprintf(text, sizeof(text),
             "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: %s, namespace: default}\n"
             "spec: {maxUnavailable: %s, selector: {matchLabels: {app: %s}}}\n",
             apps[i].name, apps[i].most_unavailable, apps[i].name);
    load(s, text);
}

/* One that nobody makes anew, and one on every node. */
static const char others[] =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: bare, namespace: default, labels: {app: bare}}\n"
    "spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 300m}}}]}\n---\n"
    "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, namespace: default}\nspec:\n"
    "  selector: {matchLabels: {app: agent}}\n  template:\n    metadata: {labels: {app: agent}}\n"
    "    spec: {tolerations: [{operator: Exists}], containers: [{name: c, image: x, resources: {requests: {cpu: 100m}}}]}\n";

static bool in_stock(void *user, struct span group, int32_t more)
{
    (void)user, (void)group, (void)more;
    return !living->sold_out;
}

static enum group_kwok_fate fate(void *user, struct span group, struct span node, struct group_error_info *error)
{
    static const enum group_kwok_fate fates[] = {GROUP_KWOK_FAILS, GROUP_KWOK_NEVER_MADE, GROUP_KWOK_NEVER_REGISTERS,
                                                 GROUP_KWOK_BREAKS};
    (void)user, (void)group, (void)node;
    if (!living->slips || next(&living->mishap, FAULTY_OF) != 0)
        return GROUP_KWOK_COMES;
    enum group_kwok_fate f = fates[next(&living->mishap, COUNT_OF(fates))];
    if (f == GROUP_KWOK_BREAKS)
        *error = (struct group_error_info){INSTANCE_OUT_OF_RESOURCES, SPAN("QuotaExceeded"), SPAN("no quota")};
    return f;
}

static struct group_provider *open_groups(struct loop *l)
{
    static const struct group_kwok_text config = {
        SPAN_INIT("apiVersion: v1alpha1\nreadNodesFrom: configmap\nnodegroups: {fromNodeLabelKey: pool}\n"
                  "nodes: {skipTaint: true}\nconfigmap: {name: t}\n"),
        SPAN_INIT("config.yaml")};
    struct arena a;
    struct err err;
    struct group_provider *p = NULL;
    struct group_kwok_options o = {.api = l->api, .templates = {span_of(templates), SPAN("templates.yaml")},
                                   .in_stock = in_stock, .fate = fate};
    arena_init(&a, 0);
    if (!group_kwok_read(&a, &config, &o.config, &err) || (p = group_kwok_new(&o, &err)) == NULL)
        fail_msg("%s", err.msg);
    arena_release(&a);
    return p;
}

static int drained(unsigned seed) /* at once, at most */
{
    return 1 + (int)(seed % 3 == 0);
}

/* What takes ten minutes or half an hour by default takes two. */
static struct group_settings settings_of(unsigned seed)
{
    struct group_settings s = group_settings_default();
    s.write_status = false; /* it is written anew in each pass, whoever leads */
    s.flags.as_upstream = seed % 4 == 0;
    s.flags.enforce_min_size = true;
    s.flags.scaling.unneeded_time = s.flags.scaling.unready_time = 2 * MS_MINUTE;
    s.flags.scaling.utilization_threshold = 0.9; /* so that it is not this which keeps most of them */
    s.flags.scaling.provision_time = 3 * MS_MINUTE;
    s.flags.delay_after_add = s.flags.delay_after_failure = 1 * MS_MINUTE;
    s.flags.backoff_first = 30 * MS_SECOND;
    s.flags.backoff_max = s.flags.backoff_reset = 1 * MS_MINUTE;
    s.flags.unremovable_recheck = 30 * MS_SECOND;
    s.flags.max_parallelism = MARKED;
    s.flags.max_drains = drained(seed);
    return s;
}

static void begin(struct life *f, unsigned seed)
{
    static const span_ms delays[] = {0, 40, 300}; /* until a watch tells, and half of it until a write is there */
    span_ms delay = delays[seed % COUNT_OF(delays)];
    *f = (struct life){.seed = seed, .chance = seed, .mishap = seed, .crash = {.unarmed = true}, .slips = seed % 2 != 0,
                       .l = {.restart_after = 2 * MS_SECOND, .groups = settings_of(seed), .open_groups = open_groups}};
    living = f;
    f->dying = crash_faults(&f->crash);
    f->l.faults = (struct sim_faults){.user = f, .before = before, .after = after};
    f->s = new_sim_with(&(struct sim_options){.cluster = {.apply_delay = delay / 2, .reply_delay = delay / 2,
                                                          .watch_delay = delay}}, NULL);
    for (size_t i = 0; i < COUNT_OF(apps); i++)
        load_app(f->s, i);
    load(f->s, others);
    span_ms wait = f->slips ? 20 * MS_MINUTE : 6 * MS_MINUTE;
    f->rules = group_rules_watch(&(struct group_rules_config){.sim = f->s, .groups = bounds, .held = held, .marked = MARKED,
                                                              .drained = drained(seed), .wait = wait, .end = 12 * MS_MINUTE,
                                                              .rest = wait});
    loop_begin(&f->l, f->s);
}

/* ---- what happens ---- */

static void pass_time(struct life *f, span_ms d)
{
    run_for(f->s, d);
    const char *broken = group_rules_broken(f->rules);
    if (broken[0] != '\0')
        fail_msg("seed %u: %s", f->seed, broken);
}

/* The next leader dies some writes from now. */
static void arm(struct life *f)
{
    f->deaths += f->crash.done;
    f->crash = (struct crash){.at = 1 + roll(f, 6), .after = roll(f, 2) != 0};
    group_rules_happens(f->rules);
}

static bool some_node(struct life *f, char name[64])
{
    json_t *all = objects_of(f->s, KIND_NODE);
    size_t count = json_array_size(all);
    if (count != 0)
        snprintf(name, 64, "%s", json_string_value(tree_get(json_array_get(all, roll(f, (unsigned)count)), "metadata.name")));
    json_decref(all);
    return count != 0;
}

static void lose(struct life *f)
{
    char name[64];
    if (!some_node(f, name) || count_pods(f->s, "bare", name) != 0) /* nobody would make it anew */
        return;
    group_rules_lost(f->rules, name);
    do_request(f->s, API_DELETE, KIND_NODE, NULL, name, NULL, 200);
}

static void falter(struct life *f)
{
    char name[64];
    if (!some_node(f, name))
        return;
    group_rules_happens(f->rules);
    set_ready(f->s, name, "False");
    pass_time(f, (span_ms)(1 + roll(f, 60)) * MS_SECOND);
    if (!is_gone(f->s, KIND_NODE, NULL, name))
        set_ready(f->s, name, "True");
    group_rules_happens(f->rules);
}

static void pin(struct life *f, bool is)
{
    char name[64], body[160];
    if (!some_node(f, name))
        return;
    snprintf(body, sizeof(body), "{\"metadata\":{\"annotations\":{\"cluster-autoscaler.kubernetes.io/scale-down-disabled\":%s}}}",
             is ? "\"true\"" : "null");
    group_rules_happens(f->rules);
    do_request(f->s, API_MERGE, KIND_NODE, NULL, name, body, 200);
}

static void sell_out(struct life *f, bool is)
{
    f->sold_out = is;
    group_rules_sold_out(f->rules, is);
}

/* The watch of some kind ends, and goes on later or lists anew: what changes meanwhile nobody sees. */
static void break_watch(struct life *f)
{
    static const enum kind kinds[] = {KIND_POD, KIND_NODE, KIND_DISRUPTION_BUDGET};
    wall_ms until = sim_now(f->s) + (1 + roll(f, 80)) * MS_SECOND;
    enum kind k = kinds[roll(f, COUNT_OF(kinds))];
    bool expired = roll(f, 2) != 0;
    if (f->l.reconciler == NULL || sim_client_dead(f->l.api))
        return;
    group_rules_blind(f->rules, until);
    sim_client_break_watch(f->l.api, k, until, expired);
}

static void rescale(struct life *f)
{
    static const char *const scaled[] = {"web", "api", "limited", "alone", "special", "kept", "guarded"};
    static const unsigned most[] = {25, 10, 8, 5, 12, 6, 4};
    unsigned i = roll(f, COUNT_OF(scaled) + 2) % COUNT_OF(scaled); /* web and api more often */
    group_rules_happens(f->rules);
    scale(f->s, scaled[i], (int)roll(f, most[i]));
}

static void step(struct life *f)
{
    switch (roll(f, 16)) {
    case 0:
    case 1:
    case 2:
        arm(f);
        break;
    case 3:
        lose(f);
        break;
    case 4:
        falter(f);
        break;
    case 5:
        pin(f, true);
        break;
    case 6:
        pin(f, false);
        break;
    case 7:
        sell_out(f, !f->sold_out);
        break;
    case 8:
        break_watch(f);
        break;
    default:
        rescale(f);
        break;
    }
    pass_time(f, (span_ms)(1 + roll(f, 240)) * MS_SECOND);
}

/* ---- what comes of it ---- */

/* What the minimum of a group lacks is counted as if it was there. */
static double fleet_price(struct sim *s)
{
    static const double prices[] = {0.2, 0.35, 0};
    json_t *nodes = objects_of(s, KIND_NODE), *node;
    double sum = 0;
    size_t i;
    for (size_t g = 0; g < COUNT_OF(prices); g++) {
        int count = 0;
        json_array_foreach(nodes, i, node)
            count += strcmp(json_string_value(json_object_get(tree_get(node, "metadata.labels"), "pool")), bounds[g].name) == 0;
        sum += prices[g] * (count > bounds[g].min ? count : bounds[g].min);
    }
    json_decref(nodes);
    return sum;
}

/* It comes to rest, and then nothing that happens makes the fleet dearer. */
static double rest(struct life *f)
{
    enum { MOST = 40 };
    const char *restless = "";
    sell_out(f, false);
    f->deaths += f->crash.done;
    f->crash = (struct crash){.unarmed = true};
    f->slips = false;
    for (int i = 0; i < MOST && (i == 0 || restless[0] != '\0'); i++) {
        pass_time(f, MS_MINUTE);
        restless = group_rules_restless(f->rules);
    }
    if (restless[0] != '\0')
        fail_msg("seed %u: %s", f->seed, restless);
    double last = fleet_price(f->s);
    for (int i = 0; i < 20; i++) {
        pass_time(f, MS_MINUTE);
        double now = fleet_price(f->s);
        if (now > last + 1e-9)
            fail_msg("seed %u: $%.2f, and $%.2f before", f->seed, now, last);
        last = now;
    }
    return last;
}

static void add(struct group_rules_seen *sum, const struct group_rules_seen *seen)
{
    const uint32_t *from = (const uint32_t *)seen;
    for (size_t i = 0; i < sizeof(*sum) / sizeof(*from); i++)
        ((uint32_t *)sum)[i] += from[i];
}

/* Then what is asked for shrinks once, by half. */
static unsigned live(unsigned seed, struct group_rules_seen *sum)
{
    struct life f;
    begin(&f, seed);
    pass_time(&f, 2 * MS_MINUTE);
    for (unsigned i = 0; i < STEPS; i++)
        step(&f);
    group_rules_happens(f.rules);
    scale(f.s, "web", 20);
    scale(f.s, "api", 8);
    double before = rest(&f);
    group_rules_happens(f.rules);
    scale(f.s, "web", 5);
    scale(f.s, "api", 2);
    double after = rest(&f);
    if (after > before + 1e-9)
        fail_msg("seed %u: a quarter costs $%.2f, and all $%.2f before", seed, after, before);
    assert_int_equal(count_bound(f.s, "bare"), 1);
    unsigned deaths = f.deaths;
    add(sum, group_rules_seen(f.rules));
    group_rules_free(f.rules);
    loop_end(&f.l);
    return deaths;
}

/* GROUP_LIVES=FROM-TO: others. */
static void whatever_happens(void **state)
{
    (void)state;
    const char *only = getenv("GROUP_LIVES");
    struct group_rules_seen sum = {0};
    unsigned deaths = 0, first = 1, last = SEEDS;
    if (only != NULL && sscanf(only, "%u-%u", &first, &last) == 1)
        last = first;
    for (unsigned seed = first; seed <= last; seed++)
        deaths += live(seed, &sum);
    print_message("%u leaders died; %u nodes bought, %u marked, %u of them with pods, %u gone, %u let go, %u pods evicted\n", deaths,
                  sum.bought, sum.marked, sum.with_pods, sum.gone, sum.let_go, sum.evictions);
    if (only == NULL)
        assert_true(deaths >= SEEDS / 2 && sum.with_pods > SEEDS && sum.evictions > SEEDS && sum.gone > SEEDS && sum.let_go != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatever_happens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
