/* remove, get and list: Nodes as machines. */
#include "base/json.h"
#include "cloud/kwok_operation.h"

static void on_node_deleted(void *user, const struct api_result *r)
{
    struct operation *o = user;
    if (r->err.kind == ERR_NONE || r->err.kind == ERR_NOT_FOUND)
        operation_fail_with(o, ERR_NOT_FOUND, "the instance is terminated");
    else if (r->status == 409)
        operation_fail_with(o, ERR_RETRY, "the Node %.*s has changed meanwhile",
                            SPAN_ARG(o->node_name));
    else
        operation_fail_request(o, r, "deleting Node");
}

/* Of the Node as it was read: it still was of this claim then. */
static struct span delete_options(struct arena *a, struct doc_value node)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    json_put_string(&j, "apiVersion", SPAN("v1"));
    json_put_string(&j, "kind", SPAN("DeleteOptions"));
    json_put_object(&j, "preconditions");
    json_put_string(&j, "uid", operation_meta(node, "uid"));
    json_put_string(&j, "resourceVersion", operation_meta(node, "resourceVersion"));
    json_object_end(&j);
    json_object_end(&j);
    struct span body = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return body;
}

static void on_node_to_remove(void *user, const struct api_result *r)
{
    struct operation *o = user;
    struct machine m;
    if (r->err.kind != ERR_NONE && r->err.kind != ERR_NOT_FOUND) {
        operation_fail_request(o, r, "reading Node");
        return;
    }
    if (r->err.kind == ERR_NOT_FOUND ||
        !kwok_machine_of_node(&o->arena, operation_body(r), o->syms, &m) || m.deleting ||
        !span_eq(m.claim_uid, o->claim_uid)) {
        operation_fail_with(o, ERR_NOT_FOUND, "the instance is terminated");
        return;
    }
    operation_send(o,
                   (struct api_request){.verb = API_DELETE,
                                        .kind = KIND_NODE,
                                        .name = o->node_name,
                                        .body = delete_options(&o->arena, operation_body(r))},
                   on_node_deleted);
}

/* Takes the waiting Node of a claim out of the list, so that it is not written any more. */
static void drop_waiting(struct kwok *k, struct span claim_uid)
{
    struct operation *dropped = NULL;
    pthread_mutex_lock(&k->lock);
    for (struct operation *o = k->operations; o != NULL && dropped == NULL; o = o->next)
        if (o->due != 0 && span_eq(o->claim_uid, claim_uid)) {
            *o->link = o->next;
            if (o->next != NULL)
                o->next->link = o->link;
            dropped = o;
        }
    pthread_mutex_unlock(&k->lock);
    if (dropped != NULL)
        operation_free(dropped);
}

static uint64_t start_by_id(struct provider *p, enum verb verb, struct span provider_id,
                            struct span claim_uid, machine_done *done, void *user, api_done *next)
{
    struct kwok *k = kwok_of(p);
    struct operation *o = operation_new(k, verb, done, user);
    uint64_t id = o->id;
    o->node_name = arena_dup(&o->arena, kwok_node_name(provider_id));
    o->claim_uid = arena_dup(&o->arena, claim_uid);
    if (o->node_name.len == 0) {
        operation_fail_with(o, ERR_INVALID, "\"%.*s\" is not an id of provider kwok",
                            SPAN_ARG(provider_id));
        return id;
    }
    operation_send(
        o, (struct api_request){.verb = API_GET, .kind = KIND_NODE, .name = o->node_name}, next);
    return id;
}

uint64_t kwok_remove(struct provider *p, struct span provider_id, struct span claim_uid,
                     machine_done *done, void *user)
{
    drop_waiting(kwok_of(p), claim_uid);
    return start_by_id(p, VERB_REMOVE, provider_id, claim_uid, done, user, on_node_to_remove);
}

static void on_node_read(void *user, const struct api_result *r)
{
    struct operation *o = user;
    struct machine m;
    if (r->err.kind != ERR_NONE && r->err.kind != ERR_NOT_FOUND)
        operation_fail_request(o, r, "reading Node");
    else if (r->err.kind == ERR_NOT_FOUND ||
             !kwok_machine_of_node(&o->arena, operation_body(r), o->syms, &m) || m.deleting)
        operation_fail_with(o, ERR_NOT_FOUND, "no machine of Node %.*s", SPAN_ARG(o->node_name));
    else
        operation_finish(o, &m, 1);
}

uint64_t kwok_get(struct provider *p, struct span provider_id, machine_done *done, void *user)
{
    return start_by_id(p, VERB_GET, provider_id, (struct span){0}, done, user, on_node_read);
}

/* A page. A Node takes some 10 KiB, with its images up to 20. */
enum { LIST_PAGE = 500 };

static void list_from(struct operation *o, struct span from);

static void on_nodes_listed(void *user, const struct api_result *r)
{
    static const char *const path[] = {"items"};
    struct operation *o = user;
    if (r->err.kind != ERR_NONE) {
        operation_fail_request(o, r, "listing Nodes");
        return;
    }
    struct doc_value items = operation_path(operation_body(r), path, 1);
    if (items.doc != NULL)
        for (struct doc_iter it = doc_iter_of(items); doc_next(&it);) {
            struct machine m;
            if (kwok_machine_of_node(&o->arena, it.value, o->syms, &m))
                ARENA_PUSH(&o->arena, o->listed, o->listed_count, o->listed_capacity, m);
        }
    struct span next = operation_meta(operation_body(r), "continue");
    if (next.len != 0)
        list_from(o, next);
    else
        operation_finish(o, o->listed, o->listed_count);
}

static void list_from(struct operation *o, struct span from)
{
    operation_send(o, (struct api_request){.verb = API_LIST, .kind = KIND_NODE, .limit = LIST_PAGE, .from = from},
                   on_nodes_listed);
}

uint64_t kwok_list(struct provider *p, machine_done *done, void *user)
{
    struct operation *o = operation_new(kwok_of(p), VERB_LIST, done, user);
    uint64_t id = o->id;
    list_from(o, (struct span){NULL, 0});
    return id;
}
