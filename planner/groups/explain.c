#include "planner/groups/explain.h"

struct telling {
    const struct group_pass *p;
    const struct group_flags *flags;
    const struct symtab *syms;
    const struct group *g;
    const struct group_status *status; /* NULL: the pass ended before it looked */
    uint32_t at;
    wall_ms now;
    struct arena *a;
    struct answer_line *lines;
    uint32_t count, capacity;
};

int32_t group_find(const struct group_model *m, struct span name)
{
    for (uint32_t i = 0; i < m->group_count; i++)
        if (span_eq(m->groups[i].spec->name, name))
            return (int32_t)i;
    return -1;
}

static void add(struct telling *t, const char *head, struct span text)
{
    struct answer_line line = {span_of(head), text};
    ARENA_PUSH(t->a, t->lines, t->count, t->capacity, line);
}

static struct span take(struct telling *t, struct buf *b)
{
    struct span text = arena_dup(t->a, buf_span(b));
    buf_release(b);
    return text;
}

static void put_more(struct buf *b, uint32_t count)
{
    if (count > ANSWER_LISTED)
        buf_addf(b, " and %u more", count - ANSWER_LISTED);
}

static struct span pod_names(struct telling *t, const struct pod *const *pods, uint32_t count)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < count && i < ANSWER_LISTED; i++)
        buf_addf(&b, "%s%.*s/%.*s", i != 0 ? ", " : "", SPAN_ARG(pods[i]->meta.ns), SPAN_ARG(pods[i]->meta.name));
    put_more(&b, count);
    return take(t, &b);
}

static const char *s_of(uint32_t count)
{
    return count == 1 ? "" : "s";
}

/* --- what the pass found of it --- */

static const struct group_decision *decision_of(const struct telling *t, bool for_min_size)
{
    for (uint32_t i = 0; i < t->p->decision_count; i++)
        if (t->p->decisions[i].group == t->at && t->p->decisions[i].for_min_size == for_min_size)
            return &t->p->decisions[i];
    return NULL;
}

static const struct group_option *option_of(const struct telling *t)
{
    for (uint32_t i = 0; i < t->p->up.option_count; i++)
        if (t->p->up.options[i].group == t->at)
            return &t->p->up.options[i];
    return NULL;
}

static const struct group_skip *skip_of(const struct telling *t)
{
    for (uint32_t i = 0; i < t->p->up.skipped_count; i++)
        if (t->p->up.skipped[i].group == t->at)
            return &t->p->up.skipped[i];
    return NULL;
}

static bool is_equally_good(const struct telling *t)
{
    for (uint32_t i = 0; i < t->p->up.equally_good_count; i++)
        if (t->p->up.equally_good[i] == t->at)
            return true;
    return false;
}

static bool is_backed_off(const struct telling *t)
{
    return t->status != NULL && t->status->growth == GROWTH_BACKOFF;
}

/* --- the sentence --- */

static const char *expander_of(const struct telling *t)
{
    static const char *const names[EXPANDER_COUNT] = {
        [EXPANDER_RANDOM] = "random",           [EXPANDER_MOST_PODS] = "most-pods", [EXPANDER_LEAST_WASTE] = "least-waste",
        [EXPANDER_LEAST_NODES] = "least-nodes", [EXPANDER_PRICE] = "price",         [EXPANDER_PRIORITY] = "priority",
    };
    if (t->flags->by_cost)
        return "price";
    return t->flags->expander_count != 0 ? names[t->flags->expanders[0]] : "random";
}

static struct span joined(struct telling *t, struct spans texts)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < texts.count; i++)
        buf_addf(&b, "%s%.*s", i != 0 ? ", " : "", SPAN_ARG(texts.items[i]));
    return take(t, &b);
}

/* Which of the others grow, for whom this one could have. */
static struct span grown_instead(struct telling *t)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < t->p->decision_count; i++)
        buf_addf(&b, "%s%.*s", b.len != 0 ? ", " : "", SPAN_ARG(t->p->model->groups[t->p->decisions[i].group].spec->name));
    return take(t, &b);
}

static struct span not_chosen(struct telling *t, const struct group_option *o)
{
    struct span others = grown_instead(t);
    if (others.len == 0)
        return arena_printf(t->a, "%d node%s of it would take %u pod%s, but nothing grows%s%.*s", o->nodes,
                            s_of((uint32_t)o->nodes), o->pod_count, s_of(o->pod_count), t->p->up.error.len != 0 ? ": " : "",
                            SPAN_ARG(t->p->up.error));
    if (is_equally_good(t))
        return arena_printf(t->a, "%d node%s of it would take %u pod%s, as well as %.*s, which grows: of equals the first by name",
                            o->nodes, s_of((uint32_t)o->nodes), o->pod_count, s_of(o->pod_count), SPAN_ARG(others));
    return arena_printf(t->a, "%d node%s of it would take %u pod%s, but %s%s prefers %.*s", o->nodes,
                        s_of((uint32_t)o->nodes), o->pod_count, s_of(o->pod_count), t->flags->by_cost ? "the " : "--expander ", expander_of(t), SPAN_ARG(others));
}

static struct span why_not(struct telling *t)
{
    const struct group_option *o = option_of(t);
    const struct group_skip *skip = skip_of(t);
    if (t->p->found == NULL)
        return SPAN("no node of the cluster is ready, and --scale-up-from-zero=false");
    if (t->p->unhealthy)
        return SPAN("too many nodes of the cluster are not ready, and nothing is scaled until they are");
    if (t->p->error.len != 0)
        return t->p->error;
    if (o != NULL)
        return not_chosen(t, o);
    if (skip != NULL)
        return joined(t, skip->reasons);
    if (t->g->template.node == NULL)
        return SPAN("nobody knows what a node of it would be");
    switch (t->p->up.result) {
    case SCALE_UP_LIMITED_BY_MAX_NODES:
        return arena_printf(t->a, "the cluster has the %d nodes that --max-nodes-total allows", t->flags->max_nodes_total);
    case SCALE_UP_IN_COOLDOWN:
        return SPAN("the pods that wait came a moment ago, and others may follow");
    case SCALE_UP_NOT_TRIED:
        return SPAN("repairs come first");
    case SCALE_UP_SUCCESSFUL:
    case SCALE_UP_ERROR:
    case SCALE_UP_NO_OPTIONS:
        return SPAN("no pod that waits fits a node of it");
    case SCALE_UP_NOT_NEEDED:
    case SCALE_UP_UNSAID:
        break;
    }
    return SPAN("no pod waits for a node");
}

static struct span sentence(struct telling *t)
{
    struct span name = t->g->spec->name;
    const struct group_decision *d = decision_of(t, false), *min = decision_of(t, true);
    uint32_t pods = group_pods_for(t->p, t->at);
    if (d != NULL && pods != 0)
        return arena_printf(t->a, "%.*s grows from %d to %d nodes: %u pod%s wait%s for it.", SPAN_ARG(name), d->target - d->delta,
                            d->target, pods, s_of(pods), pods == 1 ? "s" : "");
    if (d != NULL)
        return arena_printf(t->a, "%.*s grows from %d to %d nodes: it is like the group that was chosen, and they are balanced.",
                            SPAN_ARG(name), d->target - d->delta, d->target);
    if (min != NULL)
        return arena_printf(t->a, "%.*s grows from %d to %d nodes: its minimum is %d.", SPAN_ARG(name), min->target - min->delta,
                            min->target, t->g->spec->min);
    struct span why = why_not(t);
    return arena_printf(t->a, "%.*s does not grow: %.*s.", SPAN_ARG(name), SPAN_ARG(why));
}

/* --- the lines --- */

static void add_size(struct telling *t)
{
    const struct group_readiness *n = t->status != NULL ? &t->status->nodes : NULL;
    struct buf b = {0};
    buf_addf(&b, "%d of %d to %d", t->g->target, t->g->spec->min, t->g->spec->max);
    if (n != NULL) {
        buf_addf(&b, "; %u Node%s, %u ready", n->registered, s_of(n->registered), n->ready);
        if (n->not_started != 0)
            buf_addf(&b, ", %u starting", n->not_started);
        if (n->unready != 0)
            buf_addf(&b, ", %u not ready", n->unready);
        if (n->unregistered + n->long_unregistered != 0)
            buf_addf(&b, "; %u machine%s without a Node", n->unregistered + n->long_unregistered,
                     s_of(n->unregistered + n->long_unregistered));
    }
    add(t, "size", take(t, &b));
    if (t->status != NULL && !t->status->healthy)
        add(t, "health", SPAN("too many of its machines are missing or not ready; it does not grow until they are"));
}

static void add_backoff(struct telling *t)
{
    const struct group_backoff *b = &t->g->spec->backoff;
    const struct group_found *f = t->p->found != NULL ? &t->p->found[t->at] : NULL;
    for (uint32_t i = 0; f != NULL && i < f->failure_count; i++)
        add(t, "back-off", arena_printf(t->a, "begins now: %.*s: %.*s", SPAN_ARG(f->failures[i].code), SPAN_ARG(f->failures[i].message)));
    if (b->until != 0 && b->until >= t->now)
        add(t, "back-off", arena_printf(t->a, "until %.*s: %.*s%s%.*s", SPAN_ARG(time_text(t->a, b->until)), SPAN_ARG(b->code),
                                        b->message.len != 0 ? ": " : "", SPAN_ARG(b->message)));
}

static void add_price(struct telling *t)
{
    if (t->g->spec->has_price)
        add(t, "price", arena_printf(t->a, "$%.4f an hour a node", t->g->spec->price));
    else if (t->flags->beside_pools)
        add(t, "price", SPAN("nobody knows it: NodePools come before it for whomever they take. Fix: write the annotation "
                             "stowage.dev/price, or in a file `price`"));
}

static void add_hold(struct telling *t)
{
    span_ms hold = t->g->spec->unneeded_at_least;
    if (hold > t->g->scaling.unneeded_time)
        add(t, "scale-down", arena_printf(t->a, "its nodes go once unneeded for %.*s: it grew again within an hour of a removal",
                                          SPAN_ARG(duration_text(t->a, hold))));
}

static void add_waiting(struct telling *t)
{
    const struct group_option *o = option_of(t);
    const struct group_scale_up *up = &t->p->up;
    if (o != NULL)
        add(t, "takes", pod_names(t, o->pods, o->pod_count));
    for (uint32_t i = 0; i < up->left_count && i < ANSWER_LISTED; i++) {
        struct span reasons = joined(t, up->left[i].reasons);
        add(t, "waits", arena_printf(t->a, "%.*s/%.*s, which no group takes: %.*s", SPAN_ARG(up->left[i].pod->meta.ns),
                                     SPAN_ARG(up->left[i].pod->meta.name), SPAN_ARG(reasons)));
    }
    if (up->left_count > ANSWER_LISTED)
        add(t, "waits", arena_printf(t->a, "and %u more", up->left_count - ANSWER_LISTED));
}

static void put_rows(struct telling *t, struct buf *b, const uint32_t *rows, uint32_t count, uint32_t *found)
{
    for (uint32_t i = 0; i < count; i++) {
        if (group_of_row(t->p, rows[i]) != (int32_t)t->at)
            continue;
        if (*found < ANSWER_LISTED)
            buf_addf(b, "%s%.*s", *found != 0 ? ", " : "", SPAN_ARG(world_node_at(t->p->world, rows[i])->name));
        ++*found;
    }
}

static void add_leaving(struct telling *t)
{
    struct buf b = {0};
    uint32_t found = 0;
    put_rows(t, &b, t->p->down.empty, t->p->down.empty_count, &found);
    put_rows(t, &b, t->p->down.drain, t->p->down.drain_count, &found);
    put_more(&b, found);
    struct span names = take(t, &b);
    if (found != 0)
        add(t, "go now", names);
}

/* --- its template --- */

static struct span origin(struct telling *t, const char *provider)
{
    const struct group_template *x = &t->g->template;
    if (x->origin == TEMPLATE_LEARNED)
        return SPAN("learned");
    if (x->origin == TEMPLATE_OF_PROVIDER)
        return span_of(provider);
    return arena_printf(t->a, "Node %.*s", SPAN_ARG(x->of->meta.name));
}

static void add_origin(struct telling *t)
{
    const struct group_template *x = &t->g->template;
    switch (x->origin) {
    case TEMPLATE_OF_NODE:
        add(t, "template", arena_printf(t->a, "as Node %.*s, which is ready", SPAN_ARG(x->of->meta.name)));
        break;
    case TEMPLATE_LEARNED:
        add(t, "template", t->g->node_count == 0 ? SPAN("learned: as its nodes were; it has none now")
                                                 : SPAN("learned: as its nodes were; none has been ready for a minute"));
        break;
    case TEMPLATE_OF_PROVIDER:
        add(t, "template", t->g->node_count == 0 ? SPAN("as its provider says: it has no node")
                                                 : SPAN("as its provider says: no node of it has been ready for a minute"));
        break;
    case TEMPLATE_OF_ANY_NODE:
        add(t, "template", arena_printf(t->a, "as Node %.*s, though it is not ready: its provider says nothing",
                                        SPAN_ARG(x->of->meta.name)));
        break;
    case TEMPLATE_NONE:
        add(t, "template", SPAN("none: it has no node, and its provider says nothing"));
        break;
    }
}

static bool has_taint(const struct node *n, const struct taint *x)
{
    for (uint32_t i = 0; i < n->taints.count; i++)
        if (n->taints.items[i].key == x->key && n->taints.items[i].effect == x->effect)
            return true;
    return false;
}

static struct span text_of(const struct telling *t, sym s)
{
    return s != SYM_NONE ? sym_text(t->syms, s) : SPAN("");
}

static void add_labels(struct telling *t)
{
    const struct group_template *x = &t->g->template;
    struct buf own = {0}, made = {0};
    for (uint32_t i = 0; i < x->node->meta.labels.count; i++) {
        const struct sym_pair *l = &x->node->meta.labels.items[i];
        struct buf *b = sym_pairs_get(x->of->meta.labels, l->key) == l->value ? &own : &made;
        buf_addf(b, "%s%.*s=%.*s", b->len != 0 ? ", " : "", SPAN_ARG(text_of(t, l->key)), SPAN_ARG(text_of(t, l->value)));
    }
    struct span from = origin(t, "its provider"), texts[] = {take(t, &own), take(t, &made)};
    if (texts[0].len != 0)
        add(t, "labels", arena_printf(t->a, "%.*s (%.*s)", SPAN_ARG(texts[0]), SPAN_ARG(from)));
    if (texts[1].len != 0)
        add(t, "labels", arena_printf(t->a, "%.*s (of every new node)", SPAN_ARG(texts[1])));
}

static void add_taints(struct telling *t)
{
    const struct group_template *x = &t->g->template;
    struct buf own = {0}, out = {0};
    for (uint32_t i = 0; i < x->of->taints.count; i++) {
        const struct taint *y = &x->of->taints.items[i];
        struct buf *b = has_taint(x->node, y) ? &own : &out;
        struct span value = text_of(t, y->value);
        buf_addf(b, "%s%.*s%s%.*s:%s", b->len != 0 ? ", " : "", SPAN_ARG(text_of(t, y->key)), value.len != 0 ? "=" : "",
                 SPAN_ARG(value), taint_effect_name(y->effect));
    }
    struct span from = origin(t, "its provider"), texts[] = {take(t, &own), take(t, &out)};
    if (texts[0].len != 0)
        add(t, "taints", arena_printf(t->a, "%.*s (%.*s)", SPAN_ARG(texts[0]), SPAN_ARG(from)));
    if (texts[1].len != 0)
        add(t, "taints", arena_printf(t->a, "without %.*s, which a new node loses or never has", SPAN_ARG(texts[1])));
}

static void add_room(struct telling *t)
{
    const struct group_template *x = &t->g->template;
    struct buf b = {0};
    for (uint32_t i = 0; i < x->node->allocatable.count; i++) {
        struct span name = text_of(t, x->node->allocatable.items[i].name);
        struct span much = quantity_text(t->a, name, x->node->allocatable.items[i].value);
        buf_addf(&b, "%s%.*s %.*s", i != 0 ? ", " : "", SPAN_ARG(name), SPAN_ARG(much));
    }
    struct span from = origin(t, x->of->allocatable.count == 0 ? "its provider's capacity" : "its provider"), text = take(t, &b);
    add(t, "allocatable", arena_printf(t->a, "%.*s (%.*s)", SPAN_ARG(text), SPAN_ARG(from)));
    if (x->pod_count != 0)
        add(t, "with", pod_names(t, x->pods, x->pod_count));
}

void group_explain(const struct group_pass *p, const struct group_flags *flags, const struct symtab *syms, uint32_t group,
                   wall_ms now, struct arena *a, struct explanation *out)
{
    struct telling t = {.p = p, .flags = flags, .syms = syms, .g = &p->model->groups[group], .at = group, .now = now, .a = a};
    for (uint32_t i = 0; i < p->status_count; i++)
        if (p->status[i].group == group)
            t.status = &p->status[i];
    add_size(&t);
    add_backoff(&t);
    add_price(&t);
    add_hold(&t);
    add_waiting(&t);
    add_leaving(&t);
    add_origin(&t);
    if (t.g->template.node != NULL) {
        add_labels(&t);
        add_taints(&t);
        add_room(&t);
    }
    bool well = t.status == NULL || (t.status->healthy && !is_backed_off(&t));
    *out = (struct explanation){.has_place = well && t.g->template.node != NULL, .sentence = sentence(&t), .lines = t.lines,
                                .line_count = t.count};
}
