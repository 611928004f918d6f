/* Registered: the Node with the claim's provider id gets the claim's labels, annotations and
 * taints, our finalizer and owner reference, and loses the taint that kept everything away until
 * then; all of it in one patch, bound to the version we saw. When the Node shows it, the claim is
 * registered. */
#include "base/json.h"
#include "reconciler/lifecycle/lifecycle.h"

static const struct span REGISTERED = SPAN_INIT("Registered");

static bool has_taint(const struct node *n, const struct taint *t)
{
    for (uint32_t i = 0; i < n->taints.count; i++)
        if (n->taints.items[i].key == t->key && n->taints.items[i].effect == t->effect)
            return true;
    return false;
}

static bool is_registered(const struct node *n)
{
    static const struct taint unregistered = {.key = SYM_UNREGISTERED, .effect = TAINT_NO_EXECUTE};
    return sym_pairs_get(n->meta.labels, SYM_REGISTERED) == SYM_TRUE &&
           !has_taint(n, &unregistered);
}

static void put_taint(struct json *j, struct arena *a, const struct taint *t,
                      const struct symtab *syms)
{
    json_object_begin(j);
    json_put_string(j, "key", sym_text(syms, t->key));
    if (t->value != SYM_NONE && t->value != SYM_EMPTY)
        json_put_string(j, "value", sym_text(syms, t->value));
    json_put_string(j, "effect", span_of(taint_effect_name(t->effect)));
    if (t->added != 0)
        json_put_string(j, "timeAdded", time_text(a, t->added));
    json_object_end(j);
}

static void put_missing(struct json *j, struct arena *a, const struct lifecycle_facts *f,
                        struct taints taints)
{
    for (uint32_t i = 0; i < taints.count; i++)
        if (!has_taint(f->node, &taints.items[i]))
            put_taint(j, a, &taints.items[i], f->syms);
}

static void put_taints(struct json *j, struct arena *a, const struct lifecycle_facts *f)
{
    const struct node *n = f->node;
    json_put_array(j, "taints");
    for (uint32_t i = 0; i < n->taints.count; i++)
        if (n->taints.items[i].key != SYM_UNREGISTERED ||
            n->taints.items[i].effect != TAINT_NO_EXECUTE)
            put_taint(j, a, &n->taints.items[i], f->syms);
    if (sym_pairs_get(n->meta.labels, SYM_DO_NOT_SYNC_TAINTS) != SYM_TRUE) {
        put_missing(j, a, f, f->claim->taints);
        put_missing(j, a, f, f->claim->startup_taints);
    }
    json_array_end(j);
}

static void put_finalizers(struct json *j, const struct lifecycle_facts *f)
{
    const struct syms *have = &f->node->meta.finalizers;
    json_put_array(j, "finalizers");
    for (uint32_t i = 0; i < have->count; i++)
        json_text(j, sym_text(f->syms, have->items[i]));
    if (!syms_has(*have, SYM_TERMINATION))
        json_text(j, wellknown_text[SYM_TERMINATION - 1]);
    json_array_end(j);
}

static void put_owner(struct json *j, struct span api_version, struct span kind, struct span name,
                      struct span uid, bool controller, bool blocks)
{
    json_object_begin(j);
    json_put_string(j, "apiVersion", api_version);
    json_put_string(j, "kind", kind);
    json_put_string(j, "name", name);
    json_put_string(j, "uid", uid);
    if (controller)
        json_put_bool(j, "controller", true);
    if (blocks)
        json_put_bool(j, "blockOwnerDeletion", true);
    json_object_end(j);
}

static void put_owners(struct json *j, const struct lifecycle_facts *f)
{
    const struct owners *have = &f->node->meta.owners;
    json_put_array(j, "ownerReferences");
    for (uint32_t i = 0; i < have->count; i++)
        if (!span_eq(have->items[i].uid, f->claim->meta.uid))
            put_owner(j, sym_text(f->syms, have->items[i].api_version),
                      sym_text(f->syms, have->items[i].kind), have->items[i].name,
                      have->items[i].uid, have->items[i].controller, have->items[i].blocks);
    put_owner(j, wellknown_text[SYM_API_KARPENTER_V1 - 1], wellknown_text[SYM_KIND_NODE_CLAIM - 1],
              f->claim->meta.name, f->claim->meta.uid, false, true);
    json_array_end(j);
}

static void put_metadata(struct json *j, const struct lifecycle_facts *f)
{
    const struct meta *m = &f->claim->meta;
    json_put_object(j, "metadata");
    json_put_object(j, "labels");
    for (uint32_t i = 0; i < m->labels.count; i++) {
        json_key(j, sym_text(f->syms, m->labels.items[i].key));
        json_text(j, sym_text(f->syms, m->labels.items[i].value));
    }
    json_put_string(j, "karpenter.sh/registered", SPAN("true"));
    json_object_end(j);
    json_put_object(j, "annotations");
    for (uint32_t i = 0; i < m->annotations.count; i++) {
        json_key(j, sym_text(f->syms, m->annotations.items[i].key));
        json_text(j, m->annotations.items[i].value);
    }
    json_object_end(j);
    put_finalizers(j, f);
    put_owners(j, f);
    json_object_end(j);
}

static struct span node_patch(struct arena *a, const struct lifecycle_facts *f)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    put_metadata(&j, f);
    json_put_object(&j, "spec");
    put_taints(&j, a, f);
    json_object_end(&j);
    json_object_end(&j);
    struct span body = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return body;
}

void lifecycle_register(struct arena *a, const struct lifecycle_facts *f, struct lifecycle_step *s)
{
    static const struct taint unregistered = {.key = SYM_UNREGISTERED, .effect = TAINT_NO_EXECUTE};
    if (lifecycle_status(s, REGISTERED) != CONDITION_UNKNOWN || f->claim->provider_id.len == 0)
        return;
    if (f->nodes == 0 || (f->nodes == 1 && f->node->meta.deleted != 0)) {
        condition_set_put(&s->conditions, REGISTERED, CONDITION_UNKNOWN, SPAN("NodeNotFound"),
                          SPAN("Node not registered with cluster"));
    } else if (f->nodes > 1) {
        condition_set_put(&s->conditions, REGISTERED, CONDITION_FALSE, SPAN("MultipleNodesFound"),
                          SPAN("Invariant violated, matched multiple nodes"));
    } else if (is_registered(f->node)) {
        condition_set_true(&s->conditions, REGISTERED);
    } else {
        s->taint_missing = sym_pairs_get(f->node->meta.labels, SYM_REGISTERED) != SYM_TRUE &&
                           !has_taint(f->node, &unregistered);
        s->node_patch = node_patch(a, f);
        s->node_registers = true;
    }
}
