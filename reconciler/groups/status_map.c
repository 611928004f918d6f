#include "reconciler/groups/status_map.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/buf.h"
#include "reconciler/groups/keeper.h"
#include "reconciler/stages.h"

/* --- since when each word stands --- */

struct word { /* of one thing: GROUP and "health", "scaleUp" or "scaleDown"; three a group, and three for all */
    struct memo memo;
    const char *text;
    wall_ms since;
};

void status_words_init(struct memos *words)
{
    memos_init(words, sizeof(struct word), NULL);
}

/* --- the text --- */

struct status { /* being written */
    struct buf *out;
    const struct group_pass *decided;
    const struct group_memory *memory;
    struct memos *words;
    struct arena arena;
    wall_ms now;
};

static wall_ms since(struct status *s, struct span group, const char *what, const char *text)
{
    struct word *w = memos_at(s->words, arena_printf(&s->arena, "%s %.*s", what, SPAN_ARG(group)));
    if (w->text == NULL || strcmp(w->text, text) != 0) {
        w->text = text;
        w->since = s->now;
    }
    return w->since;
}

static void put_times(struct status *s, const char *indent, struct span group, const char *what, const char *word)
{
    struct span last = time_text(&s->arena, since(s, group, what, word));
    struct span now = time_text(&s->arena, s->now);
    buf_addf(s->out, "%slastProbeTime: \"%.*s\"\n%slastTransitionTime: \"%.*s\"\n", indent, SPAN_ARG(now), indent,
             SPAN_ARG(last));
}

static void put_counts(struct status *s, const char *indent, const struct group_readiness *n)
{
    buf_addf(s->out,
             "%snodeCounts:\n%s  registered:\n%s    total: %u\n%s    ready: %u\n%s    notStarted: %u\n%s    suspended: %u\n"
             "%s    beingDeleted: %u\n%s    unready:\n%s      total: %u\n%s      resourceUnready: 0\n%s  longUnregistered: %u\n"
             "%s  unregistered: %u\n",
             indent, indent, indent, n->registered, indent, n->ready, indent, n->not_started, indent, n->suspended, indent,
             n->deleted, indent, indent, n->unready, indent, indent, n->long_unregistered, indent, n->unregistered);
}

/* By group; the last is of all. */
static uint32_t *count_candidates(struct status *s)
{
    const struct group_pass *d = s->decided;
    uint32_t *counts = ARENA_ARRAY(&s->arena, uint32_t, d->model->group_count + 1);
    for (uint32_t i = 0; i < d->down.unneeded_count; i++) {
        int32_t node = group_model_node(d->model, world_node_at(d->world, d->down.unneeded[i].row)->name);
        if (node >= 0 && d->model->owners[node] >= 0)
            counts[d->model->owners[node]]++;
        counts[d->model->group_count]++;
    }
    return counts;
}

static void put_scale_down(struct status *s, const char *indent, struct span group, uint32_t candidates)
{
    const char *word = candidates != 0 ? "CandidatesPresent" : "NoCandidates";
    buf_addf(s->out, "%sscaleDown:\n%s  status: %s\n%s  candidates: %u\n", indent, indent, word, indent, candidates);
    char deeper[16];
    snprintf(deeper, sizeof(deeper), "%s  ", indent);
    put_times(s, deeper, group, "scaleDown", word);
}

static void put_cluster(struct status *s, uint32_t candidates)
{
    const struct group_pass *d = s->decided;
    bool grows = false;
    for (uint32_t i = 0; i < d->status_count; i++)
        grows |= d->status[i].growth == GROWTH_IN_PROGRESS;
    const char *health = d->unhealthy ? "Unhealthy" : "Healthy", *growth = grows ? "InProgress" : "NoActivity";
    buf_addf(s->out, "clusterWide:\n  health:\n    status: %s\n", health);
    put_counts(s, "    ", &d->all);
    put_times(s, "    ", SPAN(""), "health", health);
    buf_addf(s->out, "  scaleUp:\n    status: %s\n", growth);
    put_times(s, "    ", SPAN(""), "scaleUp", growth);
    put_scale_down(s, "  ", SPAN(""), candidates);
}

/* As a double-quoted scalar, which JSON's strings are. */
static void put_message(struct buf *out, const char *name, struct span text)
{
    static const struct span cut = SPAN_INIT("<truncated>");
    char whole[GROUP_MESSAGE_MAX];
    buf_addf(out, "%s: ", name);
    if (text.len > GROUP_MESSAGE_MAX) {
        memcpy(whole, text.ptr, GROUP_MESSAGE_MAX - cut.len);
        memcpy(whole + GROUP_MESSAGE_MAX - cut.len, cut.ptr, cut.len);
        text = (struct span){whole, GROUP_MESSAGE_MAX};
    }
    json_add_text(out, text);
    buf_add_char(out, '\n');
}

static void put_backoff(struct status *s, struct span group)
{
    struct span code, message;
    if (group_memory_backoff(s->memory, group, s->now, &code, &message) == 0)
        return;
    buf_addf(s->out, "    backoffInfo:\n");
    put_message(s->out, "      errorCode", code);
    put_message(s->out, "      errorMessage", message);
}

static void put_group(struct status *s, const struct group_status *g, uint32_t candidates)
{
    const struct node_group *spec = s->decided->model->groups[g->group].spec;
    const char *health = g->healthy ? "Healthy" : "Unhealthy", *growth = group_growth_name(g->growth);
    buf_addf(s->out, "- name: %.*s\n  health:\n    status: %s\n", SPAN_ARG(spec->name), health);
    put_counts(s, "    ", &g->nodes);
    buf_addf(s->out, "    cloudProviderTarget: %d\n    minSize: %d\n    maxSize: %d\n", g->target, spec->min, spec->max);
    put_times(s, "    ", spec->name, "health", health);
    buf_addf(s->out, "  scaleUp:\n    status: %s\n", growth);
    if (g->growth == GROWTH_BACKOFF)
        put_backoff(s, spec->name);
    put_times(s, "    ", spec->name, "scaleUp", growth);
    put_scale_down(s, "  ", spec->name, candidates);
}

void status_map_text(struct buf *out, const struct group_pass *decided, const struct group_memory *memory, struct memos *words,
                     wall_ms now)
{
    struct status s = {.out = out, .decided = decided, .memory = memory, .words = words, .now = now};
    arena_init(&s.arena, 0);
    uint32_t *candidates = count_candidates(&s);
    put_cluster(&s, candidates[decided->model->group_count]);
    if (decided->status_count != 0)
        buf_addf(out, "nodeGroups:\n");
    for (uint32_t i = 0; i < decided->status_count; i++)
        put_group(&s, &decided->status[i], candidates[decided->status[i].group]);
    memos_sweep(words);
    arena_release(&s.arena);
}

/* --- writing --- */

static void keep_uid(struct keeper *k, struct span uid)
{
    free((void *)(uintptr_t)k->status_uid.ptr);
    k->status_uid = (struct span){NULL, 0};
    if (uid.len == 0)
        return;
    char *copy = mem_new(uid.len);
    memcpy(copy, uid.ptr, uid.len);
    k->status_uid = (struct span){copy, uid.len};
}

void status_map_forget(struct keeper *k)
{
    keep_uid(k, (struct span){NULL, 0});
    memos_release(&k->status_words);
}

/* It is ours, another's of before, or nobody's yet: who of us wrote it does not matter. 409: there is one that we do not
 * know; 422: it is another than the one that we know. */
static void on_written(struct reconciler *r, struct call *c)
{
    struct keeper *k = &r->keeper;
    bool is_another = c->status == 409 || c->status == 422;
    if (c->err.kind == ERR_NONE && c->uid_now.len != 0) {
        keep_uid(k, c->uid_now);
        k->status_asks = false;
    } else if (c->err.kind == ERR_NOT_FOUND || is_another) {
        keep_uid(k, (struct span){NULL, 0});
        k->status_asks = is_another && !k->status_asks;
    }
}

/* In the layout of upstream, in UTC: 2006-01-02 15:04:05.999 +0000 UTC. */
static struct span updated_text(struct arena *a, wall_ms now)
{
    struct span t = time_text(a, now); /* 2006-01-02T15:04:05Z */
    return arena_printf(a, "%.*s %.*s.%03d +0000 UTC", 10, t.ptr, 8, t.ptr + 11, (int)(now % MS_SECOND));
}

static void put_body(struct buf *out, const struct group_settings *s, bool whole, struct span status, struct span updated)
{
    struct json j = JSON_TO(out);
    json_object_begin(&j);
    if (whole) {
        json_put_string(&j, "apiVersion", SPAN("v1"));
        json_put_string(&j, "kind", SPAN("ConfigMap"));
    }
    json_put_object(&j, "metadata");
    if (whole) {
        json_put_string(&j, "name", s->status_name);
        json_put_string(&j, "namespace", s->flags.config_namespace);
    }
    json_put_object(&j, "annotations");
    json_put_string(&j, "cluster-autoscaler.kubernetes.io/last-updated", updated);
    json_object_end(&j);
    json_object_end(&j);
    json_put_object(&j, "data");
    json_put_string(&j, "status", status);
    json_object_end(&j);
    json_object_end(&j);
}

static void send(struct pass *p, struct span status, struct span updated)
{
    struct keeper *k = &p->r->keeper;
    const struct group_settings *s = &p->r->config.groups;
    struct meta m = {.ns = s->flags.config_namespace, .name = s->status_name, .uid = k->status_uid};
    struct buf body = {0};
    if (k->status_asks) {
        call_get(call_new(p->r, &k->status_gate, on_written), KIND_CONFIG_MAP, m.ns, m.name);
        return;
    }
    put_body(&body, s, m.uid.len == 0, status, updated);
    act(p, &(struct action){.verb = m.uid.len != 0 ? API_MERGE : API_CREATE,
                            .kind = KIND_CONFIG_MAP,
                            .object = &m,
                            .gate = &k->status_gate,
                            .rests = ACT_ON_UID,
                            .body = buf_span(&body),
                            .done = on_written});
    buf_release(&body);
}

void status_map_write(struct pass *p, const struct group_pass *decided, struct span message)
{
    struct keeper *k = &p->r->keeper;
    struct span updated = updated_text(p->a, p->wall);
    struct buf text = {0};
    if (!p->r->config.groups.write_status || !gate_open(&k->status_gate, UINT64_MAX, p->mono))
        return; /* the next pass will */
    buf_addf(&text, "time: %.*s\nautoscalerStatus: %s\n", SPAN_ARG(updated), decided != NULL ? "Running" : "Initializing");
    if (message.len != 0)
        put_message(&text, "message", message);
    if (decided != NULL)
        status_map_text(&text, decided, k->memory, &k->status_words, p->wall);
    send(p, buf_span(&text), updated);
    buf_release(&text);
}

void status_map_end(struct reconciler *r)
{
    const struct group_settings *s = &r->config.groups;
    if (r->keeper.status_uid.len == 0 || !s->write_status)
        return;
    act_last(r, KIND_CONFIG_MAP, &(struct meta){.ns = s->flags.config_namespace, .name = s->status_name, .uid = r->keeper.status_uid});
}
