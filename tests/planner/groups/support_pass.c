#include "support_pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

void pass_read(struct cluster *c, const char *yaml, const struct schema *schema, void *out)
{
    struct doc_parser *parser = doc_parser_new();
    const struct doc *doc;
    struct err err = {0};
    size_t at = 0;
    if (!doc_parse_yaml(parser, span_of(yaml), &at, &doc, &err) ||
        !decode_one(&c->arena, c->syms, doc_root(doc), schema, out, &err))
        fail_msg("%s: %s", yaml, err.msg);
    doc_parser_free(parser);
}

#define TAKE(out, member, count_, kind_) out.member = (const void *)c->kinds[kind_].items, out.count_ = c->kinds[kind_].count

struct group_objects pass_objects(const struct cluster *c)
{
    struct group_objects out = {.syms = c->syms};
    TAKE(out, nodes, node_count, KIND_NODE);
    TAKE(out, pods, pod_count, KIND_POD);
    TAKE(out, daemon_sets, daemon_set_count, KIND_DAEMON_SET);
    TAKE(out, replica_sets, replica_set_count, KIND_REPLICA_SET);
    TAKE(out, stateful_sets, stateful_set_count, KIND_STATEFUL_SET);
    TAKE(out, budgets, budget_count, KIND_DISRUPTION_BUDGET);
    return out;
}

/* The templates' nodes, with their pods, stand beside the cluster's. */
static void add_templates(struct world_input *in, const struct group_model *m, struct arena *a)
{
    size_t pods = in->pod_count;
    for (uint32_t g = 0; g < m->group_count; g++)
        pods += m->groups[g].template.pod_count;
    const struct node **nodes = ARENA_ARRAY(a, const struct node *, in->node_count + m->group_count);
    const struct pod **all = ARENA_ARRAY(a, const struct pod *, pods);
    for (size_t i = 0; i < in->node_count; i++)
        nodes[i] = in->nodes[i];
    for (size_t i = 0; i < in->pod_count; i++)
        all[i] = in->pods[i];
    for (uint32_t g = 0; g < m->group_count; g++) {
        const struct group_template *t = &m->groups[g].template;
        if (t->node != NULL)
            nodes[in->node_count++] = t->node;
        for (uint32_t i = 0; i < t->pod_count; i++)
            all[in->pod_count++] = t->pods[i];
    }
    in->nodes = nodes;
    in->pods = all;
}

struct group_pass *pass_run(const struct cluster *c, const struct group_objects *objects, const struct node_groups *file,
                            const struct group_flags *flags, wall_ms now, struct arena *a, struct world **world_out)
{
    struct err err = {0};
    struct world_options options = {.unbound_classes = true};
    struct group_model *m = group_model_make(file, flags, objects, now, a, &err);
    if (m == NULL)
        fail_msg("%s", err.msg);
    struct world_input in = cluster_input(c);
    in.options = &options;
    add_templates(&in, m, a);
    *world_out = world_build(&in);
    return groups_pass(*world_out, m, flags, objects, now, a);
}
