#include "server/embedded.h"

#include "base/json.h"
#include "cloud/kwok.h"
#include "kube/node.h"
#include "server/command.h"

static bool add(void *user, enum kind kind, struct doc_value object, struct err *err)
{
    return sim_cluster_add(user, kind, object, err);
}

/* Such a pool would be planned by `plan`; here it gets no condition, so that it never becomes ready. */
static void tell_unserved(struct input *in, const struct node_pool *pool)
{
    const struct node_class_ref *ref = &pool->node_class;
    input_warn(in, arena_printf(&in->arena,
                                "NodePool %.*s refers to %.*s %.*s (%.*s), which cannot be served here: there are "
                                "machines for KWOKNodeClass of karpenter.kwok.sh alone; nothing is bought for the pool",
                                SPAN_ARG(pool->meta.name), SPAN_ARG(ref->kind), SPAN_ARG(ref->name),
                                SPAN_ARG(ref->group)));
}

/* `plan` needs no node classes, so files may be without: what a pool refers to is made. */
static void add_classes(struct sim_cluster *c, struct input *in, const struct log *log)
{
    struct arena a;
    arena_init(&a, 0);
    const struct input_list *pools = &in->kinds[KIND_NODE_POOL];
    for (size_t i = 0; i < pools->count; i++) {
        const struct node_pool *pool = pools->items[i];
        const struct node_class_ref *ref = &pool->node_class;
        struct span none = {NULL, 0};
        struct err err;
        if (ref->name.len == 0)
            continue;
        if (!kwok_serves(ref)) {
            tell_unserved(in, pool);
            continue;
        }
        if (sim_cluster_get(c, &a, KIND_KWOK_NODE_CLASS, none, ref->name).len != 0)
            continue;
        struct buf b = {0};
        struct json j = JSON_TO(&b);
        json_object_begin(&j);
        json_put_string(&j, "apiVersion", SPAN("karpenter.kwok.sh/v1alpha1"));
        json_put_string(&j, "kind", SPAN("KWOKNodeClass"));
        json_put_object(&j, "metadata");
        json_put_string(&j, "name", ref->name);
        json_object_end(&j);
        json_object_end(&j);
        if (sim_cluster_load(c, buf_span(&b), NULL, &err) && log != NULL)
            log_info(log, "load", "KWOKNodeClass %.*s is not in the files: made, for NodePool %.*s",
                     SPAN_ARG(ref->name),
                     SPAN_ARG(pool->meta.name));
        buf_release(&b);
    }
    arena_release(&a);
}

bool embedded_read(struct sim_cluster *c, struct input *in, const struct options *o, const struct log *log,
                   struct err *err)
{
    in->taken = add;
    in->user = c;
    if (!input_read(in, &o->files, o->instance_types, err))
        return false;
    input_gates(in, &o->gates);
    input_check(in);
    add_classes(c, in, log);
    return true;
}

bool embedded_load(struct sim_cluster *c, const struct options *o, const struct log *log,
                   struct err *err)
{
    struct input in;
    input_init(&in);
    in.undone = "started";
    bool ok = embedded_read(c, &in, o, log, err);
    if (!ok)
        command_complain_lines(&in.mistake_lines);
    for (size_t i = 0; ok && i < in.warning_count; i++)
        log_warn(log, "load", "%.*s", SPAN_ARG(in.warnings[i]));
    input_release(&in);
    return ok;
}
