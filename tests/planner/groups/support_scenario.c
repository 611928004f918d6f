#include "support_scenario.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kube/config_map.h"
#include "planner/groups/memory.h"
#include "support_cloud.h"
#include "support_pass.h"

enum { START_DAY = 20454, NODES_SEEN_MAX = 64 };
#define START (START_DAY * 24 * MS_HOUR + 12 * MS_HOUR) /* noon of 2026-01-01 */

struct run {
    const struct scenario *s;
    struct cluster c;
    struct cloud cloud;
    struct group_flags flags;
    struct group_memory *memory;
    struct arena pass; /* of one pass */
    const char *script; /* what is left of it */
    wall_ms now;
    bool taints_refused, unhealthy;
    struct config_map config_map; /* the priority expander's */
    bool has_config_map;
    struct span error;
    struct buf log;
    wall_ms until[CLOUD_GROUPS_MAX]; /* backed off */
    struct span seen_unneeded[NODES_SEEN_MAX];
    uint32_t seen_count;
    struct span last[WATCH_FOR + 1]; /* what a watch told last, by its bit; in the cluster's arena */
};

static void note(struct run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(struct run *r, const char *format, ...)
{
    char text[1000];
    va_list args;
    int64_t s = (r->now - START) / MS_SECOND;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    buf_addf(&r->log, "%d:%02d %s; ", (int)(s / 60), (int)(s % 60), text);
}

static struct span group_name(const struct run *r, uint32_t group)
{
    return r->cloud.file.groups.items[group].name;
}

/* --- the script --- */

struct line {
    struct span command, rest; /* of the line */
};

static struct span take_word(struct line *l)
{
    while (l->rest.len != 0 && l->rest.ptr[0] == ' ')
        l->rest = (struct span){l->rest.ptr + 1, l->rest.len - 1};
    struct span rest, word = span_cut(l->rest, ' ', &rest);
    l->rest = rest;
    if (word.len == 0)
        fail_msg("a word is missing behind %.*s", SPAN_ARG(l->command));
    return word;
}

static int64_t take_number(struct line *l)
{
    struct span word = take_word(l);
    int64_t n;
    if (!span_int64(word, &n))
        fail_msg("%.*s: %.*s is no number", SPAN_ARG(l->command), SPAN_ARG(word));
    return n;
}

static uint32_t take_group(struct run *r, struct line *l)
{
    return cloud_group_of(&r->cloud, take_word(l));
}

static struct cloud_machine *take_machine(struct run *r, struct line *l)
{
    return cloud_find(&r->cloud, take_word(l));
}

struct pod_words {
    struct span name, cpu, mem, gpu, port, on, nominated, ns, spec, meta;
    int64_t age;
    bool naked, unseen;
};

static void add_replica_set(struct run *r, const struct pod_words *w, int64_t count)
{
    struct span yaml =
        arena_printf(&r->c.arena,
                     "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: %.*s, namespace: %.*s}\nspec: {replicas: %lld}\n",
                     SPAN_ARG(w->name), SPAN_ARG(w->ns), (long long)count);
    cluster_add(&r->c, arena_cstr(&r->c.arena, yaml));
}

static void add_pod(struct run *r, const struct pod_words *w, int64_t number)
{
    struct arena *a = &r->c.arena;
    struct span owner = arena_printf(
        a, "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: %.*s, uid: %.*s, controller: true}], ",
        SPAN_ARG(w->name), SPAN_ARG(w->name));
    struct span place = arena_printf(a, "nodeName: %.*s, ", SPAN_ARG(w->on));
    struct span created = time_text(a, r->now - w->age * MS_SECOND);
    const char *status = w->on.len != 0 ? "Running"
                         : w->unseen    ? "Pending"
                                        : "Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]";
    struct span gpu = arena_printf(a, ", nvidia.com/gpu: %.*s", SPAN_ARG(w->gpu));
    struct span port = arena_printf(a, ", ports: [{containerPort: 1, hostPort: %.*s}]", SPAN_ARG(w->port));
    struct span nominated = arena_printf(a, ", nominatedNodeName: %.*s", SPAN_ARG(w->nominated));
    struct span yaml = arena_printf(
        a,
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %.*s-%lld, namespace: %.*s, creationTimestamp: '%.*s', "
        "labels: {app: %.*s}, %.*s%.*s}\nspec: {%.*s%.*scontainers: [{name: c, resources: {requests: {cpu: %.*s, memory: "
        "%.*s%.*s}}%.*s}]}\nstatus: {phase: %s%.*s}\n",
        SPAN_ARG(w->name), (long long)number, SPAN_ARG(w->ns), SPAN_ARG(created), SPAN_ARG(w->name),
        w->naked ? 0 : (int)owner.len, owner.ptr, SPAN_ARG(w->meta), w->on.len != 0 ? (int)place.len : 0, place.ptr,
        SPAN_ARG(w->spec), SPAN_ARG(w->cpu), SPAN_ARG(w->mem), w->gpu.len != 0 ? (int)gpu.len : 0, gpu.ptr,
        w->port.len != 0 ? (int)port.len : 0, port.ptr, status, w->nominated.len != 0 ? (int)nominated.len : 0, nominated.ptr);
    cluster_add(&r->c, arena_cstr(a, yaml));
}

static void do_pods(struct run *r, struct line *l)
{
    struct pod_words w = {.ns = SPAN("default"), .mem = SPAN("0"), .age = 60};
    const struct {
        const char *key;
        struct span *to;
    } texts[] = {{"on", &w.on}, {"ns", &w.ns}, {"mem", &w.mem}, {"gpu", &w.gpu}, {"port", &w.port}, {"nominated", &w.nominated}};
    struct span behind;
    struct span words = span_cut(l->rest, '|', &behind);
    w.spec = span_cut(behind, '|', &w.meta);
    l->rest = words;
    w.name = take_word(l);
    int64_t count = take_number(l);
    w.cpu = take_word(l);
    while (l->rest.len != 0 && !span_eq(l->rest, SPAN(" "))) {
        struct span value, key = span_cut(take_word(l), '=', &value);
        bool known = (span_eq(key, SPAN("age")) && span_int64(value, &w.age)) || span_eq(key, SPAN("naked")) ||
                     span_eq(key, SPAN("unseen"));
        w.naked |= span_eq(key, SPAN("naked"));
        w.unseen |= span_eq(key, SPAN("unseen"));
        for (size_t i = 0; i < COUNT_OF(texts); i++)
            if (span_eq(key, span_of(texts[i].key))) {
                *texts[i].to = value;
                known = true;
            }
        if (!known)
            fail_msg("pods: what is %.*s?", SPAN_ARG(key));
    }
    if (!w.naked)
        add_replica_set(r, &w, count);
    for (int64_t i = 0; i < count; i++)
        add_pod(r, &w, i);
}

static void do_end(struct run *r, struct line *l)
{
    struct span word = take_word(l), name = arena_printf(&r->c.arena, "%.*s-", SPAN_ARG(word));
    struct cluster_list *pods = &r->c.kinds[KIND_POD];
    size_t kept = 0;
    for (size_t i = 0; i < pods->count; i++)
        if (!span_has_prefix(((const struct pod *)pods->items[i])->meta.name, name))
            pods->items[kept++] = pods->items[i];
    pods->count = kept;
}

static void do_next(struct run *r, struct line *l)
{
    static const char *const fates[] = {"well", "never", "silent", "unready", "fails", "leaving"};
    struct cloud_group *g = &r->cloud.groups[take_group(r, l)];
    g->fate_count = (int32_t)take_number(l);
    struct span word = take_word(l);
    for (size_t i = 0; i < COUNT_OF(fates); i++)
        if (span_eq(word, span_of(fates[i])))
            g->fate = (enum fate)i;
    if (g->fate != FATE_FAILS)
        return;
    struct span class = take_word(l);
    g->error.class = span_eq(class, SPAN("OutOfResources")) ? INSTANCE_OUT_OF_RESOURCES : INSTANCE_OTHER_ERROR;
    g->error.code = arena_dup(&r->c.arena, take_word(l));
    g->error.message = arena_dup(&r->c.arena, l->rest);
}

static void set_ready(struct run *r, struct line *l, bool ready)
{
    struct cloud_machine *m = take_machine(r, l);
    m->node->conditions.items[0].status = ready ? CONDITION_TRUE : CONDITION_FALSE;
    m->node->conditions.items[0].transition = r->now;
}

static void do_annotate(struct run *r, struct line *l)
{
    struct node *n = take_machine(r, l)->node;
    struct annotation *x = ARENA_NEW(&r->c.arena, struct annotation);
    x->key = sym_intern(r->c.syms, take_word(l));
    x->value = arena_dup(&r->c.arena, take_word(l));
    n->meta.annotations = (struct annotations){x, 1};
}

static void do_label(struct run *r, struct line *l)
{
    struct cloud_machine *m = take_machine(r, l);
    sym key = sym_intern(r->c.syms, take_word(l));
    cloud_label(&r->cloud, m, key, take_word(l));
}

/* Its group's other nodes may have the same list. */
static void set_cores(struct run *r, struct resources *list, amount millis)
{
    struct resources own = resources_dup(&r->c.arena, *list);
    *resources_at(&r->c.arena, &own, SYM_CPU) = millis;
    *list = own;
}

static void do_cores(struct run *r, struct line *l)
{
    struct node *n = take_machine(r, l)->node;
    amount millis = take_number(l) * 1000;
    set_cores(r, &n->capacity, millis);
    set_cores(r, &n->allocatable, millis);
}

static void do_taint(struct run *r, struct line *l)
{
    struct node *n = take_machine(r, l)->node;
    struct taint *items = ARENA_ARRAY(&r->c.arena, struct taint, (size_t)n->taints.count + 1);
    for (uint32_t i = 0; i < n->taints.count; i++)
        items[i] = n->taints.items[i];
    items[n->taints.count].key = sym_intern(r->c.syms, take_word(l));
    items[n->taints.count].effect = span_eq(take_word(l), SPAN("NoSchedule")) ? TAINT_NO_SCHEDULE : TAINT_PREFER_NO_SCHEDULE;
    n->taints = (struct taints){items, n->taints.count + 1};
}

static void do_softly(struct run *r, struct line *l)
{
    struct span node = take_word(l);
    group_memory_unneeded(r->memory, node, r->now - take_number(l) * MS_SECOND);
}

static void do_priorities(struct run *r, struct line *l)
{
    struct config_entry *x = ARENA_NEW(&r->c.arena, struct config_entry);
    *x = (struct config_entry){SPAN("priorities"), arena_dup(&r->c.arena, l->rest)};
    r->config_map.meta.name = SPAN(PRIORITY_CONFIG_MAP);
    r->config_map.meta.ns = SPAN("kube-system");
    r->config_map.data.items = x;
    r->config_map.data.count = 1;
    r->has_config_map = true;
}

static void restart(struct run *r)
{
    group_memory_free(r->memory);
    r->memory = group_memory_new(r->now);
    memset(r->until, 0, sizeof(r->until));
}

static bool do_group(struct run *r, struct line *l)
{
    struct span word = l->command;
    if (span_eq(word, SPAN("nodes"))) {
        uint32_t g = take_group(r, l);
        cloud_stand(&r->cloud, g, (int32_t)take_number(l), r->now);
    } else if (span_eq(word, SPAN("machines"))) {
        uint32_t g = take_group(r, l);
        cloud_add(&r->cloud, g, (int32_t)take_number(l), r->now);
    } else if (span_eq(word, SPAN("delays"))) {
        struct cloud_group *g = &r->cloud.groups[take_group(r, l)];
        g->listed_s = take_number(l);
        g->registers_s = take_number(l);
        g->ready_s = take_number(l);
    } else if (span_eq(word, SPAN("next"))) {
        do_next(r, l);
    } else if (span_eq(word, SPAN("target"))) {
        struct cloud_group *g = &r->cloud.groups[take_group(r, l)];
        g->target = (int32_t)take_number(l);
    } else if (span_eq(word, SPAN("slow"))) {
        struct cloud_group *g = &r->cloud.groups[take_group(r, l)];
        g->dies_s = take_number(l);
    } else if (span_eq(word, SPAN("bare"))) {
        r->cloud.groups[take_group(r, l)].bare = true;
    } else if (span_eq(word, SPAN("refuse")) || span_eq(word, SPAN("accept"))) {
        r->cloud.groups[take_group(r, l)].refuses = span_eq(word, SPAN("refuse"));
    } else if (span_eq(word, SPAN("keep")) || span_eq(word, SPAN("release"))) {
        r->cloud.groups[take_group(r, l)].keeps = span_eq(word, SPAN("keep"));
    } else {
        return false;
    }
    return true;
}

static bool do_machine(struct run *r, struct line *l)
{
    struct span word = l->command;
    if (span_eq(word, SPAN("unready")) || span_eq(word, SPAN("ready")))
        set_ready(r, l, span_eq(word, SPAN("ready")));
    else if (span_eq(word, SPAN("cordon")) || span_eq(word, SPAN("uncordon")))
        take_machine(r, l)->node->unschedulable = span_eq(word, SPAN("cordon"));
    else if (span_eq(word, SPAN("label")))
        do_label(r, l);
    else if (span_eq(word, SPAN("cores")))
        do_cores(r, l);
    else if (span_eq(word, SPAN("taint")))
        do_taint(r, l);
    else if (span_eq(word, SPAN("softly")))
        do_softly(r, l);
    else if (span_eq(word, SPAN("unknown")))
        cloud_taint(&r->cloud, take_machine(r, l), r->now);
    else if (span_eq(word, SPAN("lose")))
        cloud_lose(&r->cloud, take_word(l));
    else if (span_eq(word, SPAN("vanish")))
        cloud_vanish(&r->cloud, take_word(l));
    else if (span_eq(word, SPAN("annotate")))
        do_annotate(r, l);
    else
        return false;
    return true;
}

static void do_line(struct run *r, struct line *l)
{
    if (do_group(r, l) || do_machine(r, l))
        return;
    if (span_eq(l->command, SPAN("pods")))
        do_pods(r, l);
    else if (span_eq(l->command, SPAN("end")))
        do_end(r, l);
    else if (span_eq(l->command, SPAN("taints")))
        r->taints_refused = span_eq(take_word(l), SPAN("off"));
    else if (span_eq(l->command, SPAN("scheduler")))
        r->cloud.no_scheduler = span_eq(take_word(l), SPAN("off"));
    else if (span_eq(l->command, SPAN("removal")))
        r->cloud.removal_s = take_number(l);
    else if (span_eq(l->command, SPAN("priorities")))
        do_priorities(r, l);
    else if (span_eq(l->command, SPAN("restart")))
        restart(r);
    else if (span_eq(l->command, SPAN("unbuffered")))
        r->c.kinds[KIND_CAPACITY_BUFFER].count = 0;
    else if (span_eq(l->command, SPAN("object")))
        cluster_add(&r->c, arena_cstr(&r->c.arena, l->rest));
    else
        fail_msg("%s: what is \"%.*s\"?", r->s->name, SPAN_ARG(l->command));
}

static void do_script(struct run *r)
{
    while (*r->script != '\0') {
        struct span rest, time, seconds;
        int64_t m, s;
        struct line l = {.rest = span_cut(span_of(r->script), '\n', &rest)};
        time = span_cut(take_word(&l), ':', &seconds);
        if (!span_int64(time, &m) || !span_int64(seconds, &s))
            fail_msg("%s: no time in \"%.*s\"", r->s->name, SPAN_ARG(l.rest));
        if (START + m * MS_MINUTE + s * MS_SECOND > r->now)
            return;
        l.command = take_word(&l);
        do_line(r, &l);
        r->script = rest.ptr != NULL ? rest.ptr : "";
    }
}

/* --- what a pass comes to --- */

static void on_left(void *user, const struct cloud_machine *m, bool well)
{
    struct run *r = user;
    note(r, "%.*s %s", SPAN_ARG(m->id), well ? "gone" : "kept");
    group_memory_removal_ended(r->memory, group_name(r, m->group), well, r->now);
}

static struct span model_name(const struct group_pass *p, uint32_t group)
{
    return p->model->groups[group].spec->name;
}

static void tell_found(struct run *r, const struct group_pass *p)
{
    for (uint32_t g = 0; p->found != NULL && g < p->model->group_count; g++) {
        const struct group_found *f = &p->found[g];
        struct span name = model_name(p, g);
        for (uint32_t i = 0; i < f->failure_count; i++)
            if (f->failures[i].timed_out)
                note(r, "%.*s timed out%s", SPAN_ARG(name), f->revert_refused ? ", not reverted" : "");
            else
                note(r, "%.*s fails %d %.*s", SPAN_ARG(name), f->failures[i].machines, SPAN_ARG(f->failures[i].code));
    }
}

static void tell_backoff(struct run *r)
{
    for (uint32_t g = 0; g < r->cloud.file.groups.count; g++) {
        struct span code, message;
        wall_ms until = group_memory_backoff(r->memory, group_name(r, g), r->now, &code, &message);
        int64_t s = (until - START) / MS_SECOND;
        if (until != 0 && until != r->until[g])
            note(r, "%.*s backed off until %d:%02d", SPAN_ARG(group_name(r, g)), (int)(s / 60), (int)(s % 60));
        r->until[g] = until;
    }
}

static void do_repairs(struct run *r, const struct group_pass *p)
{
    for (uint32_t i = 0; i < p->repairs.deleted_count; i++) {
        note(r, "delete %.*s", SPAN_ARG(p->repairs.deleted[i].id));
        cloud_delete(&r->cloud, p->repairs.deleted[i].id, r->now);
    }
    for (uint32_t i = 0; i < p->repairs.decreased_count; i++) {
        uint32_t g = cloud_group_of(&r->cloud, model_name(p, p->repairs.decreased[i].group));
        cloud_withdraw(&r->cloud, g, p->repairs.decreased[i].decreased, r->now);
        note(r, "%.*s shrinks to %d", SPAN_ARG(group_name(r, g)), r->cloud.groups[g].target);
    }
}

/* The first that is refused ends it (spec 3.11). */
static void do_growth(struct run *r, const struct group_pass *p)
{
    for (uint32_t i = 0; i < p->decision_count; i++) {
        const struct group_decision *d = &p->decisions[i];
        struct span name = model_name(p, d->group);
        uint32_t g = cloud_group_of(&r->cloud, name);
        if (!cloud_grow(&r->cloud, g, d->delta, r->now)) {
            note(r, "%.*s refused", SPAN_ARG(name));
            group_memory_failed(r->memory, &r->flags, name, SPAN("cloudProviderError"), SPAN("refused"), r->now);
            return;
        }
        note(r, "%.*s %d->%d", SPAN_ARG(name), r->cloud.groups[g].target - d->delta, r->cloud.groups[g].target);
        group_memory_grew(r->memory, name, d->delta, r->now);
    }
}

static void do_removals(struct run *r, const struct group_pass *p)
{
    const struct group_scale_down *d = &p->down;
    if (d->empty_count + d->drain_count == 0)
        return;
    if (r->taints_refused) {
        note(r, "not tainted");
        group_memory_removals_failed(r->memory, r->now);
        return;
    }
    group_memory_removals_began(r->memory, r->now);
    for (uint32_t i = 0; i < d->empty_count + d->drain_count; i++) {
        bool drains = i >= d->empty_count;
        struct span name = world_node_at(p->world, drains ? d->drain[i - d->empty_count] : d->empty[i])->name;
        note(r, "%s %.*s", drains ? "drain" : "remove", SPAN_ARG(name));
        cloud_remove(&r->cloud, name, drains, r->now);
    }
}

/* --- watches --- */

static void tell_change(struct run *r, unsigned watch, struct span text)
{
    struct span *last = &r->last[watch];
    if ((r->s->watch & watch) == 0 || span_eq(*last, text))
        return;
    if (text.len != 0)
        note(r, "%.*s", SPAN_ARG(text));
    *last = arena_dup(&r->c.arena, text);
}

static void join(struct buf *b, struct spans texts)
{
    for (uint32_t i = 0; i < texts.count; i++)
        buf_addf(b, "%s%.*s", i == 0 ? "" : ", ", SPAN_ARG(texts.items[i]));
}

static void tell_left(struct run *r, const struct group_pass *p)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < p->up.left_count; i++) {
        buf_addf(&b, "%s%.*s: ", b.len == 0 ? "" : ", ", SPAN_ARG(p->up.left[i].pod->meta.name));
        join(&b, p->up.left[i].reasons);
    }
    for (uint32_t i = 0; i < p->up.skipped_count; i++) {
        buf_addf(&b, "%s%.*s skipped: ", b.len == 0 ? "" : ", ", SPAN_ARG(model_name(p, p->up.skipped[i].group)));
        join(&b, p->up.skipped[i].reasons);
    }
    tell_change(r, WATCH_LEFT, buf_span(&b));
    buf_release(&b);
}

static void tell_options(struct run *r, const struct group_pass *p)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < p->up.option_count; i++)
        buf_addf(&b, "%s%.*s: %d nodes for %u", i == 0 ? "" : ", ", SPAN_ARG(model_name(p, p->up.options[i].group)),
                 p->up.options[i].nodes, p->up.options[i].pod_count);
    for (uint32_t i = 0; p->up.equally_good_count > 1 && i < p->up.equally_good_count; i++)
        buf_addf(&b, "%s%.*s", i == 0 ? ", best: " : " ", SPAN_ARG(model_name(p, p->up.equally_good[i])));
    tell_change(r, WATCH_OPTIONS, buf_span(&b));
    buf_clear(&b);
    for (uint32_t i = 0; i < p->up.triggered_count; i++)
        buf_addf(&b, "%s%.*s", i == 0 ? "for " : " ", SPAN_ARG(p->up.triggered[i]->meta.name));
    tell_change(r, WATCH_FOR, buf_span(&b));
    buf_release(&b);
}

static void tell_stays(struct run *r, const struct group_pass *p)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < p->down.unremovable_count; i++) {
        const struct node_unremovable *u = &p->down.unremovable[i];
        buf_addf(&b, "%s%.*s stays: %s", i == 0 ? "" : ", ", SPAN_ARG(world_node_at(p->world, u->row)->name),
                 unremovable_name(u->why));
        if (u->blocking != NULL)
            buf_addf(&b, " %.*s %s", SPAN_ARG(u->blocking->meta.name), u->block_reason);
    }
    tell_change(r, WATCH_STAYS, buf_span(&b));
    buf_release(&b);
}

static void tell_status(struct run *r, const struct group_pass *p)
{
    struct buf words = {0}, counts = {0};
    for (uint32_t i = 0; i < p->status_count; i++) {
        const struct group_status *s = &p->status[i];
        struct span name = model_name(p, s->group);
        buf_addf(&words, "%s%.*s %s%s", i == 0 ? "" : ", ", SPAN_ARG(name), group_growth_name(s->growth),
                 s->healthy || s->growth == GROWTH_UNHEALTHY ? "" : " Unhealthy");
        buf_addf(&counts, "%s%.*s %u of %d ready", i == 0 ? "" : ", ", SPAN_ARG(name), s->nodes.ready, s->target);
        const struct {
            uint32_t n;
            const char *word;
        } others[] = {{s->nodes.not_started, "starting"}, {s->nodes.unready, "unready"},
                      {s->nodes.unregistered, "unregistered"}, {s->nodes.long_unregistered, "late"},
                      {s->nodes.deleted, "lost"}};
        for (size_t k = 0; k < COUNT_OF(others); k++)
            if (others[k].n != 0)
                buf_addf(&counts, ", %u %s", others[k].n, others[k].word);
    }
    tell_change(r, WATCH_STATUS, buf_span(&words));
    tell_change(r, WATCH_COUNTS, buf_span(&counts));
    buf_release(&words);
    buf_release(&counts);
}

static bool is_in(const struct span *list, uint32_t count, struct span name)
{
    for (uint32_t i = 0; i < count; i++)
        if (span_eq(list[i], name))
            return true;
    return false;
}

static void tell_unneeded(struct run *r, const struct group_pass *p)
{
    struct span now[NODES_SEEN_MAX];
    uint32_t count = 0;
    for (; count < p->down.unneeded_count; count++) {
        assert_true(count < NODES_SEEN_MAX);
        now[count] = arena_dup(&r->c.arena, world_node_at(p->world, p->down.unneeded[count].row)->name);
    }
    if ((r->s->watch & WATCH_UNNEEDED) == 0)
        return;
    for (uint32_t i = 0; i < r->seen_count; i++)
        if (!is_in(now, count, r->seen_unneeded[i]))
            note(r, "%.*s needed", SPAN_ARG(r->seen_unneeded[i]));
    for (uint32_t i = 0; i < count; i++)
        if (!is_in(r->seen_unneeded, r->seen_count, now[i]))
            note(r, "%.*s unneeded", SPAN_ARG(now[i]));
    memcpy(r->seen_unneeded, now, count * sizeof(*now));
    r->seen_count = count;
}

static void tell_watched(struct run *r, const struct group_pass *p)
{
    tell_change(r, WATCH_UP, span_of(scale_up_result_name(p->up.result)));
    tell_change(r, WATCH_DOWN, span_of(scale_down_result_name(p->down.result)));
    tell_status(r, p);
    tell_options(r, p);
    tell_left(r, p);
    tell_stays(r, p);
    tell_unneeded(r, p);
}

/* --- a step --- */

static void pass(struct run *r)
{
    struct world *w;
    struct node_groups *file = cloud_look(&r->cloud, r->now, &r->pass);
    struct group_objects objects = pass_objects(&r->c);
    group_memory_recall(r->memory, file, &objects, r->now, &r->pass);
    const struct config_map *config_maps[] = {&r->config_map};
    objects.config_maps = config_maps;
    objects.config_map_count = r->has_config_map;
    const struct group_pass *p = pass_run(&r->c, &objects, file, &r->flags, r->now, &r->pass, &w);
    group_memory_learn(r->memory, p, &r->flags, r->now);
    if (p->unhealthy != r->unhealthy)
        note(r, p->unhealthy ? "unhealthy" : "healthy");
    r->unhealthy = p->unhealthy;
    tell_found(r, p);
    tell_watched(r, p);
    do_repairs(r, p);
    if (p->error.len != 0 && r->error.len == 0)
        note(r, "error: %.*s", SPAN_ARG(p->error));
    r->error = arena_dup(&r->c.arena, p->error);
    do_growth(r, p);
    tell_backoff(r);
    do_removals(r, p);
    world_free(w);
    arena_clear(&r->pass);
}

static bool run(const struct scenario *s)
{
    struct run r = {.s = s, .now = START, .script = s->script, .flags = group_flags_default()};
    r.memory = group_memory_new(START);
    arena_init(&r.pass, 0);
    cluster_init(&r.c);
    cloud_init(&r.cloud, &r.c, s->groups);
    if (s->flags != NULL)
        s->flags(&r.flags);
    for (; r.now <= START + s->end * MS_MINUTE; r.now += (s->every != 0 ? s->every : 10) * MS_SECOND) {
        do_script(&r);
        cloud_advance(&r.cloud, r.now, on_left, &r);
        pass(&r);
    }
    bool right = span_eq(buf_span(&r.log), span_of(s->want));
    if (!right)
        print_error("%s:\n     %.*s\nnot: %s\n", s->name, SPAN_ARG(buf_span(&r.log)), s->want);
    buf_release(&r.log);
    group_memory_free(r.memory);
    arena_release(&r.pass);
    cluster_release(&r.c);
    return right;
}

void scenarios_run(const struct scenario *rows, size_t count)
{
    int failed = 0;
    for (size_t i = 0; i < count; i++)
        failed += !run(&rows[i]);
    assert_int_equal(failed, 0);
}
