#include "reconciler/act.h"

#include "base/json.h"
#include "reconciler/state.h"

bool act_may(struct pass *p, const struct memo *memo, const struct meta *object)
{
    const struct gate *g = &memo->gate;
    bool open = gate_open(g, object->resource_version, p->mono);
    if (!open && g->retry_at > p->mono)
        pass_wake(p, g->retry_at); /* a call that ends brings a pass by itself, and so does a snapshot */
    return open;
}

/* What the action rests on, as a member. */
static void put_rests(struct json *j, struct arena *a, const struct action *x)
{
    if (x->rests == ACT_ON_UID)
        json_put_string(j, "uid", x->object->uid);
    else
        json_put_string(j, "resourceVersion",
                        arena_printf(a, "%llu", (unsigned long long)x->object->resource_version));
}

/* The patch with what it rests on in its metadata, which comes first if there is any. */
static void put_patch(struct buf *out, struct arena *a, const struct action *x)
{
    static const struct span metadata = SPAN_INIT("{\"metadata\":{");
    bool has = span_has_prefix(x->body, metadata);
    size_t skip = has ? metadata.len : 1;
    struct span rest = {x->body.ptr + skip, x->body.len - skip};
    struct json j = JSON_TO(out);
    json_object_begin(&j);
    json_put_object(&j, "metadata");
    put_rests(&j, a, x);
    if (!has)
        buf_add_char(out, '}');
    if (rest.ptr[0] != '}')
        buf_add_char(out, ',');
    buf_add(out, rest);
}

/* The pod's UID is all that its end rests on: we do not keep the newest version of a pod that says nothing new to us
 * (kube/store.h), so that with a version it would fail of a write to the pod's status alone. */
static void put_delete_options(struct json *j, struct arena *a, const struct action *x)
{
    json_put_object(j, "preconditions");
    json_put_string(j, "uid", x->object->uid);
    if (x->rests == ACT_ON_VERSION)
        put_rests(j, a, x);
    json_object_end(j);
    if (x->grace != NULL)
        json_put_int(j, "gracePeriodSeconds", *x->grace);
}

static void put_deletion(struct buf *out, struct arena *a, const struct action *x)
{
    struct json j = JSON_TO(out);
    json_object_begin(&j);
    json_put_string(&j, "apiVersion", SPAN("v1"));
    json_put_string(&j, "kind", SPAN("DeleteOptions"));
    put_delete_options(&j, a, x);
    json_object_end(&j);
}

static void put_eviction(struct buf *out, struct arena *a, const struct action *x)
{
    struct json j = JSON_TO(out);
    json_object_begin(&j);
    json_put_string(&j, "apiVersion", SPAN("policy/v1"));
    json_put_string(&j, "kind", SPAN("Eviction"));
    json_put_object(&j, "metadata");
    json_put_string(&j, "name", x->object->name);
    json_put_string(&j, "namespace", x->object->ns);
    json_object_end(&j);
    json_put_object(&j, "deleteOptions");
    put_delete_options(&j, a, x);
    json_object_end(&j);
    json_object_end(&j);
}

static void put_body(struct buf *out, struct arena *a, const struct action *x)
{
    switch (x->verb) {
    case API_MERGE:
        put_patch(out, a, x);
        break;
    case API_DELETE:
        put_deletion(out, a, x);
        break;
    case API_EVICT:
        put_eviction(out, a, x);
        break;
    default:
        buf_add(out, x->body);
    }
}

static void on_last(void *user, const struct api_result *result)
{
    (void)user;
    (void)result;
}

void act_last(struct reconciler *r, enum kind k, const struct meta *object)
{
    struct action x = {.verb = API_DELETE, .kind = k, .object = object, .rests = ACT_ON_UID};
    struct buf body = {0};
    put_deletion(&body, &r->arena, &x);
    api_send(r->config.api,
             &(struct api_request){.verb = API_DELETE, .kind = k, .ns = object->ns, .name = object->name, .body = buf_span(&body)},
             on_last, NULL);
    buf_release(&body);
}

bool act(struct pass *p, const struct action *x)
{
    static const struct meta none;
    const struct meta *m = x->object != NULL ? x->object : &none;
    struct memo *paced = x->object != NULL ? x->memo : NULL;
    struct buf out = {0};
    if (paced != NULL && !act_may(p, paced, m))
        return false;
    struct call *c = call_new(p->r, paced != NULL ? &paced->gate : x->gate, x->done);
    if (x->memo != NULL)
        call_about(c, x->memo);
    call_topic(c, &x->topic);
    c->last = x->last || (x->verb == API_DELETE && x->kind != KIND_POD);
    put_body(&out, p->a, x);
    if (x->why != NULL)
        tell(p->r, *x->why, "%.*s", SPAN_ARG(x->why->sentence));
    call_send(c, &(struct api_request){.verb = x->verb,
                                       .kind = x->kind,
                                       .ns = m->ns,
                                       .name = m->name,
                                       .subresource = x->subresource,
                                       .body = buf_span(&out)});
    buf_release(&out);
    return true;
}
