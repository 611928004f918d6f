#include "reconciler/groups/marks.h"

#include "base/json.h"
#include "planner/bits.h"
#include "reconciler/groups/removal.h"
#include "reconciler/stages.h"

static const struct span SOFT = SPAN_INIT("DeletionCandidateOfClusterAutoscaler");

bool mark_is_hard(const struct node_view *n)
{
    return node_has_taint(n->node, SYM_TO_BE_DELETED, TAINT_NO_SCHEDULE);
}

/* --- writing --- */

struct node_write {
    struct span without;      /* taints of this key are left out */
    struct span with;         /* of this key there is one; absent: none */
    const char *effect;
    bool writes_cordon, cordon;
};

static void put_taint(struct json *j, struct pass *p, struct span key, struct span value, const char *effect, wall_ms added)
{
    json_object_begin(j);
    json_put_string(j, "key", key);
    if (value.len != 0)
        json_put_string(j, "value", value);
    json_put_string(j, "effect", span_of(effect));
    if (added != 0)
        json_put_string(j, "timeAdded", time_text(p->a, added));
    json_object_end(j);
}

static void put_taints(struct json *j, struct pass *p, const struct node *n, const struct node_write *w)
{
    json_put_array(j, "taints");
    for (uint32_t i = 0; i < n->taints.count; i++) {
        const struct taint *t = &n->taints.items[i];
        bool valued = t->value != SYM_NONE && t->value != SYM_EMPTY;
        if (!span_eq(pass_text(p, t->key), w->without))
            put_taint(j, p, pass_text(p, t->key), valued ? pass_text(p, t->value) : (struct span){0},
                      taint_effect_name(t->effect), t->added);
    }
    if (w->with.len != 0)
        put_taint(j, p, w->with, arena_printf(p->a, "%lld", (long long)(p->wall / MS_SECOND)), w->effect, 0);
    json_array_end(j);
}

static void write_node(struct pass *p, const struct node_view *n, const struct node_write *w)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    json_put_object(&j, "spec");
    put_taints(&j, p, n->node, w);
    if (w->writes_cordon)
        json_put_bool(&j, "unschedulable", w->cordon);
    json_object_end(&j);
    json_object_end(&j);
    act(p, &(struct action){.verb = API_MERGE,
                            .kind = KIND_NODE,
                            .object = &n->node->meta,
                            .memo = &n->memo->memo,
                            .body = buf_span(&out)});
    buf_release(&out);
}

void mark_hard(struct pass *p, const struct node_view *n)
{
    struct span key = wellknown_text[SYM_TO_BE_DELETED - 1];
    write_node(p, n, &(struct node_write){.without = key, .with = key, .effect = "NoSchedule",
                                          .writes_cordon = p->r->config.groups.cordon, .cordon = true});
}

void unmark_hard(struct pass *p, const struct node_view *n, bool cordoned)
{
    write_node(p, n, &(struct node_write){.without = wellknown_text[SYM_TO_BE_DELETED - 1],
                                          .writes_cordon = p->r->config.groups.cordon, .cordon = cordoned});
}

/* --- soft ones --- */

/* Since when it says; -1: there is none. */
static wall_ms soft_since(const struct pass *p, const struct node *n)
{
    for (uint32_t i = 0; i < n->taints.count; i++) {
        const struct taint *t = &n->taints.items[i];
        int64_t seconds;
        if (!span_eq(pass_text(p, t->key), SOFT))
            continue;
        bool told = t->value != SYM_NONE && span_int64(pass_text(p, t->value), &seconds) && seconds > 0 &&
                    seconds <= INT64_MAX / MS_SECOND;
        return told ? seconds * MS_SECOND : 0;
    }
    return -1;
}

/* By row of the pass's world. */
static const uint64_t *unneeded_rows(struct pass *p, const struct group_pass *decided)
{
    uint64_t *rows = ARENA_ARRAY(p->a, uint64_t, bits_words(world_node_count(decided->world)));
    for (uint32_t i = 0; i < decided->down.unneeded_count; i++)
        bits_add(rows, decided->down.unneeded[i].row);
    return rows;
}

static bool write_soft(struct pass *p, const struct node_view *n, bool wanted)
{
    if (!act_may(p, &n->memo->memo, &n->node->meta))
        return false;
    write_node(p, n, &(struct node_write){.without = SOFT, .with = wanted ? SOFT : (struct span){0},
                                          .effect = "PreferNoSchedule"});
    return true;
}

/* First those that are needed again; of each kind by name. */
void marks_follow(struct pass *p, const struct group_pass *decided)
{
    const struct group_model *m = decided->model;
    int32_t left = p->r->config.groups.soft_taints;
    const uint64_t *unneeded = unneeded_rows(p, decided);
    if (left <= 0 || !p->r->config.groups.flags.scale_down_enabled)
        return;
    for (int wanted = 0; wanted < 2; wanted++)
        for (uint32_t i = 0; i < m->node_count && left > 0; i++) {
            const struct node_view *n = m->owners[i] >= 0 ? pass_node(p, m->nodes[i]->meta.name) : NULL;
            if (n == NULL || mark_is_hard(n) || removal_is_under_way(&p->r->keeper, n->node->meta.uid))
                continue;
            bool has = soft_since(p, n->node) >= 0;
            uint32_t row = (uint32_t)world_find_node(decided->world, n->node->meta.name);
            if (has != (bool)wanted && bits_has(unneeded, row) == (bool)wanted)
                left -= write_soft(p, n, wanted);
        }
}

/* --- at the start --- */

struct stale_mark { /* of a Node, by its UID */
    struct memo memo;
    bool told;
};

void marks_stale_init(struct memos *stale)
{
    memos_init(stale, sizeof(struct stale_mark), NULL);
}

/* A mark to be taken off; all others are the passes' to see to. */
static bool is_stale(const struct pass *p, const struct node_view *n, bool managed)
{
    return (managed && mark_is_hard(n)) || (p->r->config.groups.soft_taints == 0 && soft_since(p, n->node) >= 0);
}

static void find_stale(struct pass *p, const struct node_view *n, bool managed)
{
    const struct group_settings *s = &p->r->config.groups;
    wall_ms since = soft_since(p, n->node);
    if (is_stale(p, n, managed))
        memos_at(&p->r->keeper.stale, n->node->meta.uid);
    else if (managed && since > 0 && s->candidate_ttl > 0 && p->wall - since <= s->candidate_ttl)
        group_memory_unneeded(p->r->keeper.memory, n->node->meta.name, since);
}

static void clean(struct pass *p, const struct node_view *n, struct stale_mark *x)
{
    if (!act_may(p, &n->memo->memo, &n->node->meta))
        return;
    if (!mark_is_hard(n)) {
        write_soft(p, n, false);
        return;
    }
    if (!x->told)
        tell(p->r,
             (struct decision){.kind = DECISION_KEEP, .subject = "keep", .per_hour = NAN,
                               .reason = SPAN("ClusterAutoscalerCleanup"),
                               .about = object_of(KIND_NODE, &n->node->meta)},
             "%.*s  taken off its mark to be deleted: nobody knows any more why it was to go", SPAN_ARG(n->node->meta.name));
    x->told = true;
    unmark_hard(p, n, false);
}

void marks_clean(struct pass *p, const struct group_model *m)
{
    struct keeper *k = &p->r->keeper;
    for (uint32_t i = 0; i < m->node_count && (!k->cleaned || k->stale.count != 0); i++) {
        const struct node_view *n = pass_node(p, m->nodes[i]->meta.name);
        bool managed = m->owners[i] >= 0;
        if (n == NULL)
            continue;
        if (!k->cleaned)
            find_stale(p, n, managed);
        if (memos_find(&k->stale, n->node->meta.uid) != NULL && is_stale(p, n, managed) &&
            !removal_is_under_way(k, n->node->meta.uid))
            clean(p, n, memos_at(&k->stale, n->node->meta.uid));
    }
    memos_sweep(&k->stale); /* of those that are off nobody was seen */
    k->cleaned = true;
}
