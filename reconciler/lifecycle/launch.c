/* Launched. The provider is asked once a claim; what it answered is kept until the claim shows it.
 * Of a claim that is launched and has no Node, a new leader asks again: the machine that an earlier
 * one asked for may not have been made yet. */
#include "base/json.h"
#include "reconciler/lifecycle/lifecycle.h"

static const struct span LAUNCHED = SPAN_INIT("Launched");

static void put_map(struct json *j, const char *key, const struct plain_labels *map)
{
    json_put_object(j, key);
    for (uint32_t i = 0; i < map->count; i++) {
        json_key(j, map->items[i].key);
        json_text(j, map->items[i].value);
    }
    json_object_end(j);
}

/* The provider's labels under the claim's own, its annotations over them. */
static struct span labels_patch(struct arena *a, const struct lifecycle_facts *f)
{
    struct plain_labels labels = {ARENA_ARRAY(a, struct plain_label, f->machine->labels.count), 0};
    for (uint32_t i = 0; i < f->machine->labels.count; i++) {
        struct plain_label l = f->machine->labels.items[i];
        sym key = sym_find(f->syms, l.key);
        if (key == SYM_NONE || sym_pairs_get(f->claim->meta.labels, key) == SYM_NONE)
            labels.items[labels.count++] = l;
    }
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    json_put_object(&j, "metadata");
    put_map(&j, "labels", &labels);
    put_map(&j, "annotations", &f->machine->annotations);
    json_object_end(&j);
    json_object_end(&j);
    struct span body = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return body;
}

static void after_failure(const struct lifecycle_facts *f, struct lifecycle_step *s)
{
    switch (f->launch_error->kind) {
    case ERR_CAPACITY:
        s->end = LIFECYCLE_NO_CAPACITY;
        break;
    case ERR_CONFLICT:
        s->end = LIFECYCLE_CLASS_NOT_READY;
        break;
    case ERR_NOT_FOUND: /* the claim is gone or going: the next snapshot will say so */
    case ERR_CANCELLED:
        break;
    default:
        condition_set_put(&s->conditions, LAUNCHED, CONDITION_UNKNOWN, SPAN("LaunchFailed"),
                          span_of(f->launch_error->msg));
    }
}

void lifecycle_launch(struct arena *a, const struct lifecycle_facts *f, struct lifecycle_step *s)
{
    bool launched = lifecycle_status(s, LAUNCHED) == CONDITION_TRUE;
    if (launched) {
        s->launch = f->nodes == 0 && f->machine == NULL &&
                    lifecycle_status(s, SPAN("Registered")) == CONDITION_UNKNOWN;
        return;
    }
    if (f->machine == NULL) {
        s->launch = true;
        if (f->launch_error != NULL)
            after_failure(f, s);
        return;
    }
    if (!f->labels_written) {
        s->claim_patch = labels_patch(a, f);
        s->claim_patch_labels = true;
        return;
    }
    condition_set_true(&s->conditions, LAUNCHED);
}
