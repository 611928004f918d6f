#include "tests/sim/support_loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cloud/machines.h"
#include "kube/events.h"
#include "planner/places.h"
#include "reconciler/move.h"
#include "tests/sim/support_rules.h"

/* ---- the store's thread ---- */

static void on_list_begin(void *user, enum kind k)
{
    store_list_begin(((struct loop *)user)->store, k);
}

static void on_list_end(void *user, enum kind k, bool asked)
{
    store_list_end_as(((struct loop *)user)->store, k, asked);
}

static void on_event(void *user, enum kind k, enum watch_event e, struct doc_value object)
{
    store_event(((struct loop *)user)->store, k, e, object);
}

static mono_ms mono_of(const struct loop *l, wall_ms now)
{
    return now - START + 1000 - l->stepped;
}

static void on_state(void *user, enum kind k, const struct err *broken)
{
    struct loop *l = user;
    store_state(l->store, k, broken, mono_of(l, sim_now(l->sim)));
}

/* ---- what the reconciler tells ---- */

static void on_wake(void *user)
{
    ((struct loop *)user)->woken = true;
}

static void on_decided(void *user, const struct decision *d)
{
    struct loop *l = user;
    l->decided[d->kind]++;
    if (l->rules != NULL)
        rules_hear_decision(l->rules, d);
    bool named = d->about.kind == KIND_NODE || d->about.kind == KIND_NODE_CLAIM;
    if (named && d->subject != NULL && d->said.len >= d->sentence.len)
        fail_msg("does not begin with %.*s: %.*s", SPAN_ARG(d->about.name), SPAN_ARG(d->sentence));
    if (d->sentence.len != 0 || d->takes_back)
        snprintf(l->last[d->kind], sizeof(l->last[0]), "%.*s", SPAN_ARG(d->sentence));
    if (l->keeps && d->reason.len != 0)
        buf_addf(&l->history, "event %.*s %.*s: %.*s\n", SPAN_ARG(d->reason),
                 SPAN_ARG(d->about.name), SPAN_ARG(d->note.len != 0 ? d->note : d->sentence));
    if (l->keeps && d->put_off.sentence.len != 0)
        buf_addf(&l->history, "put off %.*s: %.*s. Fix: %.*s\n", SPAN_ARG(d->about.name),
                 SPAN_ARG(d->put_off.sentence), SPAN_ARG(d->put_off.fix));
    if (l->keeps && d->side.len != 0)
        buf_addf(&l->history, "%.*s of %.*s waits%s%.*s\n", SPAN_ARG(d->side), SPAN_ARG(d->about.name),
                 d->takes_back ? " no more" : ": ", SPAN_ARG(d->sentence));
    if (l->keeps && d->takes_back)
        buf_addf(&l->history, "taken back %.*s\n", SPAN_ARG(d->about.name));
    struct event_note note;
    if (l->events != NULL && decision_event(d, &note))
        events_record(l->events, &note, mono_of(l, d->at), d->at);
    if (getenv("LOOP_VERBOSE") != NULL && (d->subject != NULL || getenv("LOOP_VERBOSE")[0] == '2'))
        printf("%8.3f %-9s %.*s %s\n", (double)(d->at - START) / 1000,
               d->subject != NULL ? d->subject : "-", SPAN_ARG(d->sentence), d->id);
}

static void on_moved(void *user, const struct moves *m)
{
    struct loop *l = user;
    struct moves_seen *seen = &l->moves;
    if (l->rules != NULL)
        rules_hear_moves(l->rules, m);
    seen->under_way = seen->recommended = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        seen->under_way += m->items[i].state != MOVE_RECOMMENDED;
        seen->recommended += m->items[i].state == MOVE_RECOMMENDED;
        seen->states |= UINT64_C(1) << m->items[i].state;
    }
}

static uint64_t now_ns(void *user)
{
    struct loop *l = user;
    l->looked_ns += l->look_ns;
    return (uint64_t)sim_now(l->sim) * 1000000 + l->looked_ns;
}

static void on_measured(void *user, const struct measure *m)
{
    struct loop *l = user;
    if (l->keeps) {
        buf_addf(&l->history, "%s", measure_infos[m->id].name);
        for (int i = 0; i < MEASURE_LABELS_MAX && measure_infos[m->id].labels[i] != NULL; i++)
            buf_addf(&l->history, " %s=%.*s", measure_infos[m->id].labels[i],
                     SPAN_ARG(m->labels[i]));
        if (m->gone)
            buf_addf(&l->history, " gone\n");
        else
            buf_addf(&l->history, " %g\n", m->value);
    }
    if (measure_infos[m->id].type == MEASURE_COUNTER)
        l->measured[m->id] += m->value;
    else
        l->measured[m->id] = m->value;
}

static uint32_t sent_pods(void *user, mono_ms now, struct arena *a, const struct sent_pod **out)
{
    struct loop *l = user;
    (void)a;
    if (l->before_sent != NULL)
        l->before_sent(l, now);
    *out = l->sent;
    return l->sent_count;
}

static mono_ms asked(void *user)
{
    return ((const struct loop *)user)->asked;
}

static bool goes_on(void *user)
{
    struct loop *l = user;
    l->beats++;
    return l->deposed_at == 0 || l->beats < l->deposed_at;
}

/* ---- a Stowage ---- */

static struct catalogue_source *catalogue_of(const struct loop *l)
{
    struct catalogue_source *types;
    struct err err;
    if (l->catalogue == NULL)
        return catalogue_builtin();
    if (!catalogue_decode(span_of(l->catalogue), SPAN("types.json"), &types, &err))
        fail_msg("%s", err.msg);
    return types;
}

void loop_start(struct loop *l)
{
    l->world.reserved_capacity = true;
    struct api_sink sink = {l, on_list_begin, on_list_end, on_event, on_state};
    l->starts++;
    l->moves.under_way = l->moves.recommended = 0; /* nobody says so of those of a leader that is no more */
    if (l->rules != NULL)
        rules_new_leader(l->rules);
    l->died = 0;
    l->api = sim_client_new(sim_cluster(l->sim));
    sim_client_set_faults(l->api, &l->faults);
    if (l->posts)
        l->events = events_new(&(struct events_config){.controller = SPAN("stowage")}, l->api);
    l->provider = kwok_new(&(struct kwok_config){.api = l->api,
                                                 .types = catalogue_of(l),
                                                 .in_stock = l->in_stock,
                                                 .user = l->in_stock_user});
    if (l->on_machines)
        l->beside = machines_new(&(struct machines_config){.api = l->api});
    struct providers providers = {{l->provider, l->beside}, l->beside != NULL ? 2 : 1};
    l->derive = derive_new(&providers, &l->lister, &l->world);
    struct store_deriver deriver = derive_deriver(l->derive);
    l->store = store_new(&deriver);
    if (l->world.capacity_buffer)
        store_read_scale(l->store);
    if (l->on_machines)
        machines_watch(l->beside, store_share(l->store));
    share_init(&l->places, places_destroy);
    l->groups.provider = l->open_groups != NULL ? l->open_groups(l) : NULL;
    l->reconciler = reconciler_new(&(struct reconciler_config){
        .api = l->api,
        .providers = providers,
        .snapshots = store_share(l->store),
        .places = &l->places,
        .options = l->options,
        .listener = {.user = l, .wake = on_wake, .decided = on_decided, .measured = on_measured, .moved = on_moved,
                     .now_ns = now_ns, .goes_on = goes_on},
        .scheduler = {.user = l, .sent = sent_pods, .asked = l->hears ? asked : NULL},
        .groups = l->groups,
    });
    reconciler_lead(l->reconciler, true);
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        l->api->ops->watch(l->api, k, &sink);
}

void loop_stop(struct loop *l)
{
    if (l->reconciler == NULL)
        return;
    sim_client_free(l->api);
    events_free(l->events);
    l->events = NULL;
    reconciler_free(l->reconciler);
    l->provider->ops->free(l->provider);
    if (l->on_machines)
        l->beside->ops->free(l->beside);
    if (l->groups.provider != NULL)
        l->groups.provider->ops->free(l->groups.provider);
    store_free(l->store);
    derive_free(l->derive);
    share_release(&l->places);
    l->reconciler = NULL;
    l->died = sim_now(l->sim);
}

static wall_ms step(void *user, wall_ms now)
{
    struct loop *l = user;
    if (l->reconciler != NULL && sim_client_dead(l->api))
        loop_stop(l);
    if (l->reconciler == NULL) {
        if (now < l->died + l->restart_after)
            return l->died + l->restart_after;
        loop_start(l);
        return now;
    }
    if (derive_look(l->derive, mono_of(l, now)))
        store_touch(l->store);
    if (!derive_waits(l->derive) && store_due(l->store) <= mono_of(l, now))
        store_publish(l->store, mono_of(l, now));
    if (l->looks_anew)
        reconciler_look_anew(l->reconciler);
    l->woken = false;
    mono_ms next = reconciler_step(l->reconciler, mono_of(l, now), now - l->behind);
    next = l->wakes && l->woken ? mono_of(l, now) : next;
    mono_ms due = derive_waits(l->derive) ? INT64_MAX : store_due(l->store);
    next = due < next ? due : next;
    due = l->events != NULL ? events_step(l->events, mono_of(l, now)) : INT64_MAX;
    next = due < next ? due : next;
    return next == INT64_MAX ? INT64_MAX : next - mono_of(l, 0);
}

void loop_begin(struct loop *l, struct sim *s)
{
    l->sim = s;
    loop_start(l);
    sim_add_actor(s, (struct sim_actor){.user = l, .step = step});
}

void loop_step_clock(struct loop *l, span_ms by)
{
    l->stepped += by;
    sim_step(l->sim, sim_now(l->sim) + by);
}

void loop_end(struct loop *l)
{
    buf_release(&l->history);
    loop_stop(l);
    sim_free(l->sim);
}

/* ---- objects ---- */

const char *node_class_yaml(void)
{
    return "{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":\"KWOKNodeClass\","
           "\"metadata\":{\"name\":\"default\"}}";
}

#define OFFERING(zone, price)                                                                      \
    "{\"Price\":" price ",\"Requirements\":[{\"key\":\"karpenter.sh/capacity-type\",\"operator\":" \
    "\"In\",\"values\":[\"on-demand\"]},{\"key\":\"topology.kubernetes.io/"                        \
    "zone\",\"operator\":\"In\","                                                                  \
    "\"values\":[\"" zone "\"]}]}"
#define TYPE(name, cpu, memory, price)                                                             \
    "{\"name\":\"" name "\",\"architecture\":\"amd64\",\"operatingSystems\":[\"linux\"],"          \
    "\"resources\":{\"cpu\":\"" cpu "\",\"memory\":\"" memory                                      \
    "\"},\"offerings\":[" OFFERING("test-zone-a", price) "," OFFERING("test-zone-b", price) "]}"
const char two_types[] =
    "[" TYPE("small", "16", "32Gi", "0.4") "," TYPE("large", "32", "64Gi", "0.8") "]";

const char *pool_yaml(const char *name, const char *disruption, const char *more)
{
    static char text[4096];
    if (disruption[0] == '\0')
        disruption = "{\"consolidationPolicy\":\"WhenEmpty\",\"consolidateAfter\":\"0s\","
                     "\"budgets\":[{\"nodes\":\"100%\"}]}";
    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodePool\",\"metadata\":{\"name\":"
             "\"%s\"},\"spec\":{\"disruption\":%s,\"template\":{\"spec\":{\"nodeClassRef\":{"
             "\"group\":\"karpenter.kwok.sh\",\"kind\":\"KWOKNodeClass\",\"name\":\"default\"},"
             "\"requirements\":[{\"key\":\"kubernetes.io/os\",\"operator\":\"In\",\"values\":["
             "\"linux\"]},{\"key\":\"kubernetes.io/arch\",\"operator\":\"In\",\"values\":["
             "\"amd64\"]},{\"key\":\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":"
             "[\"on-demand\"]}]%s}}}}",
             name, disruption, more);
    return text;
}

size_t count_objects(struct sim *s, enum kind k)
{
    return sim_cluster_count(sim_cluster(s), k);
}

static void count_in(void *user, struct span object)
{
    json_t *o = tree_parse(object);
    json_object_set_new(user, json_string_value(tree_get(o, "metadata.uid")), json_true());
    json_decref(o);
}

static wall_ms take_census(void *user, wall_ms now)
{
    struct census *c = user;
    uint64_t version = sim_cluster_version(sim_cluster(c->sim));
    (void)now;
    if (version == c->version)
        return INT64_MAX;
    size_t here = count_objects(c->sim, c->kind);
    c->version = version;
    c->most = here > c->most ? here : c->most;
    sim_cluster_each(sim_cluster(c->sim), c->kind, count_in, c->uids);
    return INT64_MAX;
}

void census_begin(struct census *c, struct sim *s, enum kind k)
{
    *c = (struct census){.sim = s, .kind = k, .uids = json_object()};
    sim_add_actor(s, (struct sim_actor){.user = c, .step = take_census});
}

size_t census_count(const struct census *c)
{
    return json_object_size(c->uids);
}

void census_end(struct census *c)
{
    json_decref(c->uids);
}

size_t count_bound(struct sim *s, const char *app)
{
    return count_pods(s, app, NULL) - count_pods(s, app, "");
}

void assert_no_orphans(struct sim *s)
{
    json_t *nodes = objects_of(s, KIND_NODE), *claims = objects_of(s, KIND_NODE_CLAIM), *n, *c;
    size_t i, k;
    json_array_foreach(nodes, i, n)
    {
        json_t *annotations = tree_get(n, "metadata.annotations");
        const char *own =
            json_string_value(json_object_get(annotations, "stowage.dev/nodeclaim-uid"));
        bool found = false;
        json_array_foreach(claims, k, c) found =
            found ||
            (own != NULL && strcmp(own, json_string_value(tree_get(c, "metadata.uid"))) == 0);
        if (!found)
            fail_msg("Node %.*s has no NodeClaim", SPAN_ARG(tree_string(n, "metadata.name")));
    }
    json_decref(nodes);
    json_decref(claims);
}
