#include "tests/sim/support_ward.h"

#include <stdio.h>
#include <string.h>

#define APART                                                                                                           \
    ",\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"labelSelector\":{"      \
    "\"matchLabels\":{\"app\":\"web\"}},\"topologyKey\":\"kubernetes.io/hostname\"}]}}"

static void say_all_ready(struct sim *s)
{
    json_t *all = objects_of(s, KIND_NODE), *one;
    size_t i;
    json_array_foreach(all, i, one)
        set_ready(s, json_string_value(tree_get(one, "metadata.name")), "True");
    json_decref(all);
}

void ward_begin(struct ward *w, const char *disruption, const char *more)
{
    char pods[512];
    w->sim = new_sim_with(&(struct sim_options){.delays = {.node_ready = w->by_hand ? MS_HOUR : 0}}, node_class_yaml());
    load(w->sim, pool_yaml("general", disruption, more));
    snprintf(pods, sizeof(pods), "%s%s", APART, w->pods != NULL ? w->pods : "");
    load(w->sim, deployment_yaml("web", PODS, "500m", pods));
    w->l.keeps = true;
    loop_begin(&w->l, w->sim);
    run_for(w->sim, 20 * MS_SECOND);
    if (w->by_hand)
        say_all_ready(w->sim);
    run_for(w->sim, 40 * MS_SECOND);
    json_t *all = objects_of(w->sim, KIND_NODE);
    assert_int_equal(json_array_size(all), PODS);
    snprintf(w->first, sizeof(w->first), "%s", json_string_value(tree_get(json_array_get(all, 0), "metadata.name")));
    snprintf(w->second, sizeof(w->second), "%s", json_string_value(tree_get(json_array_get(all, 1), "metadata.name")));
    json_decref(all);
    buf_clear(&w->l.history);
}

void ward_end(struct ward *w)
{
    loop_end(&w->l);
}

void say(struct ward *w, const char *node, const char *type, const char *status)
{
    char body[512];
    struct arena a;
    arena_init(&a, 0);
    struct span now = time_text(&a, sim_now(w->sim));
    snprintf(body, sizeof(body),
             "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},{\"type\":\"%s\",\"status\":\"%s\","
             "\"reason\":\"Injected\",\"lastTransitionTime\":\"%.*s\"}]}}",
             type, status, SPAN_ARG(now));
    struct api_request r = {.verb = API_MERGE, .kind = KIND_NODE, .name = span_of(node),
                            .subresource = SPAN("status"), .body = span_of(body)};
    assert_int_equal(sim_cluster_do(sim_cluster(w->sim), &a, &r).status, 200);
    arena_release(&a);
}

void fall_ill(struct ward *w, const char *node)
{
    say(w, node, "KWOKUnhealthy", "True");
}

bool is_there(struct ward *w, const char *node)
{
    json_t *n = object_of(w->sim, KIND_NODE, "", node);
    bool is = n != NULL;
    json_decref(n);
    return is;
}

bool said(const struct ward *w, const char *what)
{
    return span_contains(buf_span(&w->l.history), span_of(what));
}

void ward_expect_calm(struct ward *w)
{
    assert_int_equal(count_bound(w->sim, "web"), PODS);
    assert_no_orphans(w->sim);
    assert_no_overcommit(w->sim);
}

wall_ms deadline_of(struct ward *w, const char *name)
{
    wall_ms at = 0;
    json_t *claim = object_of(w->sim, KIND_NODE_CLAIM, "", name);
    const char *text = json_string_value(json_object_get(tree_get(claim, "metadata.annotations"),
                                                         "karpenter.sh/nodeclaim-termination-timestamp"));
    assert_true(text == NULL || time_parse(span_of(text), &at));
    json_decref(claim);
    return at;
}

bool is_leaving(struct ward *w, const char *name)
{
    json_t *claim = object_of(w->sim, KIND_NODE_CLAIM, "", name);
    bool is = claim == NULL || tree_get(claim, "metadata.deletionTimestamp") != NULL;
    json_decref(claim);
    return is;
}

wall_ms wait_for_deletion(struct ward *w, const char *name)
{
    for (int i = 0; i < 300 && !is_leaving(w, name); i++) {
        assert_int_equal(count_bound(w->sim, "web"), PODS);
        run_for(w->sim, MS_SECOND);
    }
    assert_true(is_leaving(w, name));
    return sim_now(w->sim);
}

json_t *condition_of(json_t *claim, const char *type)
{
    json_t *one;
    size_t i;
    json_array_foreach(tree_get(claim, "status.conditions"), i, one)
        if (span_eq(tree_string(one, "type"), span_of(type)))
            return one;
    return NULL;
}

const char *state_of(struct ward *w, const char *type)
{
    static char text[128];
    json_t *claim = object_of(w->sim, KIND_NODE_CLAIM, "", w->first), *c = condition_of(claim, type);
    text[0] = '\0';
    if (c != NULL)
        snprintf(text, sizeof(text), "%.*s %.*s", SPAN_ARG(tree_string(c, "status")), SPAN_ARG(tree_string(c, "reason")));
    json_decref(claim);
    return text;
}

const char *annotation_of(struct ward *w, const char *key)
{
    static char text[128];
    json_t *claim = object_of(w->sim, KIND_NODE_CLAIM, "", w->first);
    const char *value = json_string_value(json_object_get(tree_get(claim, "metadata.annotations"), key));
    snprintf(text, sizeof(text), "%s", value != NULL ? value : "");
    json_decref(claim);
    return text;
}

bool has_boot(struct ward *w)
{
    json_t *n = object_of(w->sim, KIND_NODE, "", w->first);
    bool has = span_has_prefix(tree_string(n, "status.nodeInfo.bootID"), SPAN("kwok-"));
    json_decref(n);
    return has;
}

void wait_for_state(struct ward *w, const char *want, int seconds)
{
    for (int i = 0; i < 4 * seconds && strcmp(state_of(w, "Rebooting"), want) != 0; i++)
        run_for(w->sim, MS_SECOND / 4);
    if (strcmp(state_of(w, "Rebooting"), want) != 0)
        fail_msg("is not %s but %s", want, state_of(w, "Rebooting"));
}
