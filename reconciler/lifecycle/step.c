#include "base/json.h"
#include "kube/patch.h"
#include "reconciler/lifecycle/lifecycle.h"

const char *lifecycle_end_name(enum lifecycle_end e)
{
    static const char *const names[LIFECYCLE_END_COUNT] = {
        [LIFECYCLE_GOES_ON] = "",
        [LIFECYCLE_NO_CAPACITY] = "insufficient_capacity",
        [LIFECYCLE_CLASS_NOT_READY] = "nodeclass_not_ready",
        [LIFECYCLE_LAUNCH_TIMEOUT] = "launch_timeout",
        [LIFECYCLE_REGISTRATION_TIMEOUT] = "registration_timeout",
    };
    return e < LIFECYCLE_END_COUNT ? names[e] : "";
}

enum condition_status lifecycle_status(const struct lifecycle_step *s, struct span type)
{
    const struct condition *c = conditions_find(s->conditions.list, type);
    return c != NULL ? c->status : CONDITION_UNKNOWN;
}

/* Only ours first: nothing is launched before the finalizer is there. */
static struct span finalizer_patch(struct arena *a, const struct lifecycle_facts *f)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    const struct meta *m = &f->claim->meta;
    json_object_begin(&j);
    json_put_object(&j, "metadata");
    json_put_array(&j, "finalizers");
    for (uint32_t i = 0; i < m->finalizers.count; i++)
        json_text(&j, sym_text(f->syms, m->finalizers.items[i]));
    json_text(&j, wellknown_text[SYM_TERMINATION - 1]);
    json_array_end(&j);
    json_object_end(&j);
    json_object_end(&j);
    struct span body = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return body;
}

static bool pod_event_is_new(const struct lifecycle_facts *f)
{
    return f->pod_event != 0 && lifecycle_pod_event_is_new(f->claim, f->pod_event);
}

static void put_machine(struct json *j, const struct lifecycle_facts *f)
{
    json_put_string(j, "providerID", f->machine->provider_id);
    if (f->machine->image_id.len != 0)
        json_put_string(j, "imageID", f->machine->image_id);
    json_key(j, SPAN("capacity"));
    json_raw(j, f->machine->capacity);
    json_key(j, SPAN("allocatable"));
    json_raw(j, f->machine->allocatable);
}

static struct span status_patch(struct arena *a, const struct lifecycle_facts *f,
                                const struct lifecycle_step *s)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    patch_status_begin(&j, a, s->conditions.list);
    if (f->machine != NULL && f->claim->provider_id.len == 0 &&
        lifecycle_status(s, SPAN("Launched")) == CONDITION_TRUE)
        put_machine(&j, f);
    if (f->node != NULL && f->claim->node_name == SYM_NONE &&
        lifecycle_status(s, SPAN("Registered")) == CONDITION_TRUE)
        json_put_string(&j, "nodeName", f->node->meta.name);
    if (pod_event_is_new(f))
        json_put_string(&j, "lastPodEventTime", time_text(a, f->pod_event));
    patch_status_end(&j);
    struct span body = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return body;
}

void lifecycle_step(struct arena *a, const struct lifecycle_facts *f, struct lifecycle_step *out)
{
    *out = (struct lifecycle_step){0};
    if (!syms_has(f->claim->meta.finalizers, SYM_TERMINATION)) {
        out->claim_patch = finalizer_patch(a, f);
        return;
    }
    out->conditions =
        condition_set_of(a, &node_claim_conditions, &f->claim->meta, f->claim->conditions, f->now);
    lifecycle_launch(a, f, out);
    lifecycle_register(a, f, out);
    lifecycle_initialize(a, f, out);
    lifecycle_check_consistency(a, f, out);
    lifecycle_drift(a, f, out);
    lifecycle_consolidatable(f, out);
    lifecycle_liveness(f, out);
    if (out->conditions.changed || pod_event_is_new(f))
        out->status_patch = status_patch(a, f, out);
}
