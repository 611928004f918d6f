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
    TAKE(out, quotas, quota_count, KIND_CAPACITY_QUOTA);
    return out;
}

struct group_pass *pass_run(const struct cluster *c, const struct group_objects *objects, const struct node_groups *file,
                            const struct group_flags *flags, wall_ms now, struct arena *a, struct world **world_out)
{
    struct err err = {0};
    struct world_options options = {.unbound_classes = true, .capacity_buffer = true};
    struct group_model *m = group_model_make(file, flags, objects, now, a, &err);
    if (m == NULL)
        fail_msg("%s", err.msg);
    struct world_input in = cluster_input(c);
    in.options = &options;
    struct group_ground g = group_model_ground(m, objects, a);
    in.nodes = g.nodes;
    in.node_count = g.node_count;
    in.pods = g.pods;
    in.pod_count = g.pod_count;
    *world_out = world_build(&in);
    return groups_pass(*world_out, m, flags, objects, now, a);
}
