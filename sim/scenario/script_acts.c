#include "sim/scenario/script_inner.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct span cluster_wide = {NULL, 0};

static void tell(const struct script *s, const char *subject, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void tell(const struct script *s, const char *subject, const char *format, ...)
{
    char text[512];
    va_list args;
    if (s->listener.told == NULL)
        return;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    s->listener.told(s->listener.user, subject, (struct span){text, len});
}

/* As kubectl would ask; the HTTP status. */
static int ask(struct script *s, struct api_request r)
{
    struct arena scratch;
    arena_init(&scratch, 0);
    int status = sim_cluster_do(s->cluster, &scratch, &r).status;
    arena_release(&scratch);
    return status;
}

/* ---- workloads ---- */

const json_t *script_workload(const struct sim_cluster *c, const struct scenario_workload *w)
{
    struct scenario_object o = scenario_object_of(scenario_text_of(w));
    return objects_find(&c->objects, scenario_kind_of(w), o.ns, o.name);
}

static void patch(struct script *s, const struct scenario_workload *w, const char *body)
{
    struct scenario_object o = scenario_object_of(scenario_text_of(w));
    ask(s, (struct api_request){.verb = API_MERGE, .kind = scenario_kind_of(w), .ns = o.ns, .name = o.name,
                                .body = span_of(body)});
}

/* To so many, or by so many; returns by how many. */
static int64_t scale(struct script *s, const struct scenario_scale *e, bool absolute, int64_t by)
{
    char body[64];
    const json_t *workload = script_workload(s->cluster, &e->of);
    const char *kind = kind_info(scenario_kind_of(&e->of))->name;
    struct span name = scenario_text_of(&e->of);
    if (workload == NULL) {
        tell(s, "scale", "%s %.*s is gone", kind, SPAN_ARG(name));
        return 0;
    }
    int64_t old = tree_int(workload, "spec.replicas", 1), fresh = absolute ? e->replicas : old + by;
    fresh = fresh < 0 ? 0 : fresh;
    snprintf(body, sizeof body, "{\"spec\":{\"replicas\":%lld}}", (long long)fresh);
    patch(s, &e->of, body);
    tell(s, "scale", "%s %.*s from %lld to %lld pods", kind, SPAN_ARG(name), (long long)old, (long long)fresh);
    return fresh - old;
}

static void act_scale(struct script *s, const struct scenario_scale *e)
{
    int64_t by = scale(s, e, e->has_replicas, e->by);
    if (e->has_for && by != 0)
        script_put_off(s, &(struct script_later){.when = sim_now(s->sim) + e->keeps, .scale = e, .by = -by});
}

static void act_rollout(struct script *s, const struct scenario_rollout *e)
{
    struct buf body = {0};
    struct arena scratch;
    arena_init(&scratch, 0);
    buf_addf(&body, "{\"spec\":{\"template\":{\"metadata\":{\"annotations\":{"
                    "\"kubectl.kubernetes.io/restartedAt\":\"%.*s\"}}}}}",
             SPAN_ARG(time_text(&scratch, sim_now(s->sim))));
    tell(s, "rollout", "%s %.*s", kind_info(scenario_kind_of(&e->of))->name, SPAN_ARG(scenario_text_of(&e->of)));
    patch(s, &e->of, arena_cstr(&scratch, buf_span(&body)));
    arena_release(&scratch);
    buf_release(&body);
}

static void act_delete(struct script *s, const struct scenario_delete *e)
{
    for (enum kind k = 0; k < KIND_COUNT; k++) {
        if (!span_eq(e->kind, span_of(kind_info(k)->name)))
            continue;
        struct span ns = !kind_info(k)->namespaced ? cluster_wide : e->ns.len != 0 ? e->ns : SPAN("default");
        int status = ask(s, (struct api_request){.verb = API_DELETE, .kind = k, .ns = ns, .name = e->name});
        tell(s, "delete", "%.*s %.*s%s", SPAN_ARG(e->kind), SPAN_ARG(e->name),
             status >= 300 ? ": it is not there" : "");
    }
}

/* ---- some of many ---- */

/* So many of an array of objects, by chance; a new array, in the order of the first. */
static json_t *some_of(struct chance *c, const json_t *all, uint32_t wanted)
{
    json_t *out = json_array();
    uint32_t left = (uint32_t)json_array_size(all);
    for (size_t i = 0; i < json_array_size(all) && wanted > 0; i++, left--)
        if (chance_below(c, left) < wanted) {
            json_array_append(out, json_array_get(all, i));
            wanted--;
        }
    return out;
}

/* Its controller, or the Deployment of its ReplicaSet, by its uid. */
static bool is_of(const struct script *s, const json_t *pod, struct span uid)
{
    const json_t *owner = tree_controller(pod);
    if (span_eq(tree_string(owner, "uid"), uid))
        return true;
    const json_t *set = objects_find(&s->cluster->objects, KIND_REPLICA_SET,
                                     tree_string(pod, "metadata.namespace"), tree_string(owner, "name"));
    return set != NULL && tree_owned_by(set, uid);
}

static bool may_restart(const struct script *s, const json_t *pod, struct span workload_uid)
{
    const json_t *owner = tree_controller(pod);
    if (owner == NULL || tree_get(pod, "spec.nodeName") == NULL ||
        tree_get(pod, "metadata.deletionTimestamp") != NULL || tree_is(owner, "kind", "DaemonSet"))
        return false;
    return workload_uid.len == 0 || is_of(s, pod, workload_uid);
}

static void act_restart(struct script *s, struct script_event *event, const struct scenario_restart *e)
{
    const char *key;
    size_t i;
    json_t *pod, *all = json_array();
    bool of_all = scenario_kind_of(&e->of) == KIND_NONE;
    const json_t *workload = of_all ? NULL : script_workload(s->cluster, &e->of);
    json_object_foreach(s->cluster->objects.kinds[KIND_POD], key, pod) {
        if ((of_all || workload != NULL) && may_restart(s, pod, tree_string(workload, "metadata.uid")))
            json_array_append(all, pod);
    }
    uint32_t count = scenario_share_of(e->pods, (uint32_t)json_array_size(all));
    json_t *chosen = some_of(&event->chance, all, count);
    json_array_foreach(chosen, i, pod) {
        ask(s, (struct api_request){.verb = API_DELETE, .kind = KIND_POD,
                                    .ns = tree_string(pod, "metadata.namespace"),
                                    .name = tree_string(pod, "metadata.name")});
    }
    tell(s, "restart", "%u pods are deleted, of %zu", count, json_array_size(all));
    json_decref(chosen);
    json_decref(all);
}

/* ---- the cloud ---- */

static struct span label(const json_t *object, const char *key)
{
    return span_of(json_string_value(json_object_get(tree_get(object, "metadata.labels"), key)));
}

static const json_t *claim_of(const struct script *s, const json_t *node)
{
    const char *key;
    json_t *claim;
    struct span id = tree_string(node, "spec.providerID");
    json_object_foreach(s->cluster->objects.kinds[KIND_NODE_CLAIM], key, claim) {
        if (id.len != 0 && span_eq(tree_string(claim, "status.providerID"), id))
            return claim;
    }
    return NULL;
}

static void interrupt(struct script *s, const json_t *node, span_ms notice)
{
    struct script_later l = {.when = sim_now(s->sim) + notice};
    const json_t *claim = notice > 0 ? claim_of(s, node) : NULL;
    struct span name = tree_string(node, "metadata.name");
    snprintf(l.node, sizeof l.node, "%.*s", SPAN_ARG(name));
    snprintf(l.uid, sizeof l.uid, "%.*s", SPAN_ARG(tree_string(node, "metadata.uid")));
    if (notice > 0)
        tell(s, "interrupt", "%.*s is taken away in %lld s", SPAN_ARG(name), (long long)(notice / MS_SECOND));
    if (claim != NULL)
        ask(s, (struct api_request){.verb = API_DELETE, .kind = KIND_NODE_CLAIM,
                                    .name = tree_string(claim, "metadata.name")});
    script_put_off(s, &l);
}

static bool is_meant(const struct scenario_interrupt *e, const json_t *node)
{
    return (e->pool.len == 0 || span_eq(e->pool, label(node, "karpenter.sh/nodepool"))) &&
           market_of(&e->of, label(node, "node.kubernetes.io/instance-type"),
                     label(node, "topology.kubernetes.io/zone"), label(node, "karpenter.sh/capacity-type")) &&
           tree_get(node, "metadata.deletionTimestamp") == NULL;
}

static void act_interrupt(struct script *s, struct script_event *event, const struct scenario_interrupt *e)
{
    const char *key;
    size_t i;
    json_t *node, *all = json_array();
    struct scenario_share one = {.value = 1};
    json_object_foreach(s->cluster->objects.kinds[KIND_NODE], key, node) {
        if (is_meant(e, node))
            json_array_append(all, node);
    }
    json_t *chosen = some_of(&event->chance, all,
                             scenario_share_of(e->has_nodes ? e->nodes : one, (uint32_t)json_array_size(all)));
    if (json_array_size(chosen) == 0)
        tell(s, "interrupt", "no node is like that");
    json_array_foreach(chosen, i, node) {
        interrupt(s, node, e->has_notice ? e->notice : SCENARIO_NOTICE_MS);
    }
    json_decref(chosen);
    json_decref(all);
}

/* With whatever finalizers its Node has: there is nothing left that they could wait for. */
static void take_away(struct script *s, const struct script_later *l)
{
    struct objects *o = &s->cluster->objects;
    const json_t *node = objects_find(o, KIND_NODE, cluster_wide, span_of(l->node));
    if (node == NULL || !tree_is(node, "metadata.uid", l->uid))
        return;
    tell(s, "interrupt", "%s is gone", l->node);
    objects_remove(o, KIND_NODE, node);
}

static struct span market_text(struct arena *a, const struct scenario_market *of)
{
    struct span parts[] = {of->type, of->zone, of->capacity_type}, out = {NULL, 0};
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (parts[i].len != 0)
            out = arena_printf(a, "%.*s %.*s", SPAN_ARG(out), SPAN_ARG(parts[i]));
    return out.len != 0 ? out : SPAN(" all");
}

static void act_price(struct script *s, struct script_event *event, const struct scenario_price *e)
{
    struct arena scratch;
    arena_init(&scratch, 0);
    struct span of = market_text(&scratch, &e->of);
    uint32_t count = e->has_factor ? market_price_factor(s->market, &e->of, e->factor)
                                   : market_price_vary(s->market, &e->of, e->vary.value / 100, &event->chance);
    if (e->has_factor)
        tell(s, "price", "of%.*s: %.4g of what is listed (%u offerings)", SPAN_ARG(of), e->factor, count);
    else
        tell(s, "price", "of%.*s: up to %.4g%% off what is listed (%u offerings)", SPAN_ARG(of), e->vary.value,
             count);
    arena_release(&scratch);
    s->listener.repriced(s->listener.user);
}

static void act_stockout(struct script *s, const struct scenario_stockout *e)
{
    struct arena scratch;
    wall_ms now = sim_now(s->sim);
    arena_init(&scratch, 0);
    market_stockout(s->market, &e->of, now, now + e->keeps);
    tell(s, "stockout", "of%.*s, for %.*s", SPAN_ARG(market_text(&scratch, &e->of)),
         SPAN_ARG(duration_text(&scratch, e->keeps)));
    arena_release(&scratch);
}

static void act_trouble(struct script *s, const struct scenario_trouble *e, wall_ms *until, const char *subject,
                        const char *what)
{
    struct arena scratch;
    arena_init(&scratch, 0);
    *until = sim_now(s->sim) + e->keeps;
    tell(s, subject, "%s for %.*s", what, SPAN_ARG(duration_text(&scratch, e->keeps)));
    arena_release(&scratch);
}

/* ---- the table ---- */

void script_act(struct script *s, struct script_event *event)
{
    const struct scenario_event *e = event->event;
    if (e->scale != NULL)
        act_scale(s, e->scale);
    else if (e->rollout != NULL)
        act_rollout(s, e->rollout);
    else if (e->gone != NULL)
        act_delete(s, e->gone);
    else if (e->restart != NULL)
        act_restart(s, event, e->restart);
    else if (e->price != NULL)
        act_price(s, event, e->price);
    else if (e->interrupt != NULL)
        act_interrupt(s, event, e->interrupt);
    else if (e->stockout != NULL)
        act_stockout(s, e->stockout);
    else if (e->fails != NULL)
        act_trouble(s, e->fails, &s->fails_until, "trouble", "launches fail");
    else
        act_trouble(s, e->lost, &s->lost_until, "trouble", "machines that are launched never register");
}

void script_act_later(struct script *s, const struct script_later *l)
{
    if (l->scale != NULL)
        scale(s, l->scale, false, l->by);
    else
        take_away(s, l);
}
