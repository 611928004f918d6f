#include "tests/sim/support_moves.h"

const char moves[] = "{\"consolidateAfter\":\"0s\",\"budgets\":[{\"nodes\":\"100%\"}]}";
const char all_drift[] = "{\"consolidateAfter\":\"Never\",\"budgets\":[{\"nodes\":\"100%\"}]}";
const char drifts[] = "{\"consolidateAfter\":\"Never\",\"budgets\":[{\"nodes\":\"1\"}]}";

void patch_pool(struct sim *s, const char *spec)
{
    do_request(s, API_MERGE, KIND_NODE_POOL, NULL, "general", spec, 200);
}

void change_template(struct sim *s)
{
    patch_pool(s, "{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"new\":\"yes\"}}}}}");
}

struct sim *cluster(const char *disruption, int pods, const char *cpu)
{
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", disruption, ""));
    load(s, deployment_yaml("web", pods, cpu, ""));
    return s;
}

struct sim *apart_in(struct sim *s, const char *disruption, int pods)
{
    load(s, pool_yaml("general", disruption, ""));
    load(s, deployment_yaml("web", pods, "500m",
                            ",\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"
                            "\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}},\"topologyKey\":"
                            "\"kubernetes.io/hostname\"}]}}"));
    return s;
}

struct sim *apart(const char *disruption, int pods)
{
    return apart_in(new_sim(node_class_yaml()), disruption, pods);
}

static bool is_marked(json_t *node)
{
    json_t *taint;
    size_t i;
    json_array_foreach(tree_get(node, "spec.taints"), i, taint)
        if (span_eq(tree_string(taint, "key"), SPAN("karpenter.sh/disrupted")))
            return true;
    return false;
}

size_t count_marked(struct sim *s)
{
    json_t *all = objects_of(s, KIND_NODE), *one;
    size_t i, n = 0;
    json_array_foreach(all, i, one)
        n += is_marked(one);
    json_decref(all);
    return n;
}

json_t *names(struct sim *s)
{
    json_t *all = objects_of(s, KIND_NODE_CLAIM), *list = json_object(), *one;
    size_t i;
    json_array_foreach(all, i, one)
        json_object_set(list, json_string_value(tree_get(one, "metadata.uid")), tree_get(one, "metadata.name"));
    json_decref(all);
    return list;
}

size_t count_kept(struct sim *s, json_t *before)
{
    json_t *now = names(s);
    const char *uid;
    json_t *name;
    size_t n = 0;
    json_object_foreach(before, uid, name)
        n += json_object_get(now, uid) != NULL;
    json_decref(now);
    return n;
}

static bool has_condition(json_t *claim, const char *type)
{
    json_t *one;
    size_t i;
    json_array_foreach(tree_get(claim, "status.conditions"), i, one)
        if (span_eq(tree_string(one, "type"), span_of(type)))
            return span_eq(tree_string(one, "status"), SPAN("True"));
    return false;
}

/* As budgets count them: a machine that goes for good is no node of the pool any more (spec disruption 5). */
static size_t count_leaving(struct sim *s)
{
    json_t *all = objects_of(s, KIND_NODE_CLAIM), *one;
    size_t i, n = 0;
    json_array_foreach(all, i, one)
        n += has_condition(one, "DisruptionReason") && !has_condition(one, "InstanceTerminating");
    json_decref(all);
    return n;
}

/* ---- watched all the time ---- */

static wall_ms look(void *user, wall_ms now)
{
    struct watch *w = user;
    uint64_t version = sim_cluster_version(sim_cluster(w->sim));
    (void)now;
    if (version == w->version)
        return INT64_MAX;
    w->version = version;
    size_t leaving = count_leaving(w->sim);
    w->most_leaving = leaving > w->most_leaving ? leaving : w->most_leaving;
    w->peak = leaving > w->peak ? leaving : w->peak;
    if (leaving == 0 && w->peak != 0) {
        if (w->peak_count < COUNT_OF(w->peaks))
            w->peaks[w->peak_count] = w->peak;
        w->peak_count++;
        w->peak = 0;
    }
    return INT64_MAX;
}

void watch(struct watch *w, struct sim *s)
{
    *w = (struct watch){.sim = s};
    sim_add_actor(s, (struct sim_actor){.user = w, .step = look});
}

void expect_calm(struct sim *s, int pods)
{
    assert_int_equal(count_bound(s, "web"), pods);
    assert_int_equal(count_marked(s), 0);
    assert_int_equal(count_objects(s, KIND_NODE), count_objects(s, KIND_NODE_CLAIM));
    assert_no_orphans(s);
    assert_no_overcommit(s);
}

json_t *begin_drift(struct loop *l, struct watch *w, struct sim *s)
{
    loop_begin(l, s);
    run_for(s, 60 * MS_SECOND);
    json_t *before = names(s);
    watch(w, s);
    change_template(s);
    return before;
}
