/* create: the class is read, then the claim, then the Node is written; what is there already is
 * looked at instead. */
#include "cloud/kwok_operation.h"

static void on_existing_node(void *user, const struct api_result *r)
{
    struct operation *o = user;
    struct machine m;
    if (r->err.kind == ERR_NOT_FOUND && o->launched_before && o->delay == 0)
        operation_fail_with(o, ERR_NOT_FOUND, "the Node %.*s is gone", SPAN_ARG(o->node_name));
    else if (r->err.kind != ERR_NONE)
        operation_fail_request(o, r, "reading Node");
    else if (!kwok_machine_of_node(&o->arena, operation_body(r), o->syms, &m) ||
             !span_eq(m.claim_uid, o->claim_uid))
        operation_fail_with(o, ERR_RETRY,
                            "a Node %.*s is there that was not made for this NodeClaim",
                            SPAN_ARG(o->node_name));
    else
        operation_finish(o, &m, 1);
}

static void read_existing_node(struct operation *o)
{
    operation_send(o,
                   (struct api_request){.verb = API_GET, .kind = KIND_NODE, .name = o->node_name},
                   on_existing_node);
}

static void on_node_created(void *user, const struct api_result *r)
{
    struct operation *o = user;
    if (r->err.kind == ERR_NONE)
        operation_finish(o, &o->machine, 1);
    else if (r->status == 409)
        read_existing_node(o);
    else
        operation_fail_request(o, r, "creating Node");
}

static void on_claim_read(void *user, const struct api_result *r)
{
    struct operation *o = user;
    if (r->err.kind != ERR_NONE && r->err.kind != ERR_NOT_FOUND)
        operation_fail_request(o, r, "reading NodeClaim");
    else if (r->err.kind == ERR_NOT_FOUND ||
             !span_eq(operation_meta(operation_body(r), "uid"), o->claim_uid))
        operation_fail_with(o, ERR_NOT_FOUND, "the NodeClaim %.*s is gone",
                            SPAN_ARG(o->claim_name));
    else if (operation_meta(operation_body(r), "deletionTimestamp").ptr != NULL)
        operation_fail_with(o, ERR_NOT_FOUND, "the NodeClaim %.*s is being deleted",
                            SPAN_ARG(o->claim_name));
    else
        operation_send(o,
                       (struct api_request){.verb = API_CREATE, .kind = KIND_NODE, .body = o->body},
                       on_node_created);
}

static void read_claim(struct operation *o)
{
    operation_send(
        o, (struct api_request){.verb = API_GET, .kind = KIND_NODE_CLAIM, .name = o->claim_name},
        on_claim_read);
}

/* Condition Ready of the class, when its status is False: *message_out says why. */
static bool class_not_ready(struct doc_value class, struct span *message_out)
{
    static const char *const path[] = {"status", "conditions"};
    struct doc_value list = operation_path(class, path, 2), v;
    if (list.doc == NULL)
        return false;
    for (struct doc_iter it = doc_iter_of(list); doc_next(&it);) {
        if (doc_type(it.value) != DOC_OBJECT || !doc_find(it.value, SPAN("type"), &v) ||
            !span_eq(doc_text(v), SPAN("Ready")) || !doc_find(it.value, SPAN("status"), &v) ||
            !span_eq(doc_text(v), SPAN("False")))
            continue;
        *message_out = doc_find(it.value, SPAN("message"), &v) ? doc_text(v) : SPAN("not ready");
        return true;
    }
    return false;
}

static span_ms registration_delay(struct doc_value class)
{
    static const char *const path[] = {"spec", "nodeRegistrationDelay"};
    struct doc_value v = operation_path(class, path, 2);
    span_ms delay = 0;
    if (v.doc != NULL && doc_type(v) == DOC_STRING && !duration_parse(doc_text(v), &delay))
        delay = 0;
    return delay > 0 ? delay : 0;
}

#define NEVER_MS (INT64_MAX / 4) /* room for sums with times */

static void on_class_read(void *user, const struct api_result *r)
{
    struct operation *o = user;
    struct kwok *k = o->kwok;
    struct span message;
    if (r->err.kind == ERR_NOT_FOUND) {
        operation_fail_with(o, ERR_CAPACITY, "KWOKNodeClass %.*s not found",
                            SPAN_ARG(o->class_name));
        return;
    }
    if (r->err.kind != ERR_NONE) {
        operation_fail_request(o, r, "reading the KWOKNodeClass of");
        return;
    }
    if (class_not_ready(operation_body(r), &message)) {
        operation_fail_with(o, ERR_CONFLICT, "KWOKNodeClass %.*s: %.*s", SPAN_ARG(o->class_name),
                            SPAN_ARG(message));
        return;
    }
    o->delay = o->never_registers ? NEVER_MS : registration_delay(operation_body(r));
    if (o->launched_before && o->delay == 0) {
        read_existing_node(o);
    } else if (o->delay == 0) {
        read_claim(o);
    } else {
        operation_answer(o, &o->machine, 1);
        pthread_mutex_lock(&k->lock);
        o->due = k->now + o->delay;
        pthread_mutex_unlock(&k->lock);
        if (k->config.wake != NULL)
            k->config.wake(k->config.user);
    }
}

/* Under the lock. */
bool kwok_is_sold_out(const struct kwok *k, const struct kwok_choice *c)
{
    for (size_t i = 0; i < k->sold_count; i++)
        if (span_eq(k->sold[i].type, c->type->name) && span_eq(k->sold[i].zone, c->zone) &&
            span_eq(k->sold[i].capacity_type, c->capacity_type))
            return true;
    return false;
}

static bool sold_out(void *user, const struct kwok_choice *c)
{
    struct kwok *k = user;
    return kwok_is_sold_out(k, c);
}

/* Under the lock. Spans of a choice live with the private catalogue. */
static void remember_sold_out(struct kwok *k, const struct kwok_choice *c)
{
    if (k->sold_count == k->sold_capacity) {
        k->sold_capacity = k->sold_capacity != 0 ? k->sold_capacity * 2 : 16;
        k->sold = mem_grow(k->sold, k->sold_capacity, sizeof(*k->sold));
    }
    k->sold[k->sold_count++] =
        (struct sold_out){c->type->name, c->zone, c->capacity_type, k->now + KWOK_SOLD_OUT_MS};
    k->generation++;
}

/* The cheapest that is to be had; what is found out of stock on the way is remembered. */
static bool choose(struct kwok *k, struct operation *o, const struct claim_order *order,
                   struct kwok_choice *out, struct err *err)
{
    bool ok;
    pthread_mutex_lock(&k->lock);
    for (;;) {
        ok = kwok_choose(&o->arena, order->claim, order->syms, &k->types, o->syms, sold_out, k, out,
                         err);
        if (!ok || k->config.in_stock == NULL ||
            k->config.in_stock(k->config.user, out->type->name, out->zone, out->capacity_type))
            break;
        remember_sold_out(k, out);
    }
    pthread_mutex_unlock(&k->lock);
    return ok;
}

/* The Node of this claim waits for its delay to be over: *out is the machine. */
static bool find_waiting(struct kwok *k, struct span claim_uid, struct operation *to,
                         struct machine *out)
{
    bool found = false;
    pthread_mutex_lock(&k->lock);
    for (struct operation *o = k->operations; o != NULL && !found; o = o->next)
        if (o != to && o->due != 0 && span_eq(o->claim_uid, claim_uid)) {
            *out = o->machine;
            out->capacity = out->allocatable = (struct resources){0};
            resources_add(&to->arena, &out->capacity, o->machine.capacity);
            resources_add(&to->arena, &out->allocatable, o->machine.allocatable);
            found = true;
        }
    pthread_mutex_unlock(&k->lock);
    return found;
}

uint64_t kwok_create(struct provider *p, const struct claim_order *order, machine_done *done,
                     void *user)
{
    struct kwok *k = kwok_of(p);
    struct operation *o = operation_new(k, VERB_CREATE, done, user);
    const struct node_claim *claim = order->claim;
    uint64_t id = o->id;
    struct kwok_choice c;
    struct machine waiting;
    struct err err;
    if (!choose(k, o, order, &c, &err)) {
        operation_fail(o, &err);
        return id;
    }
    o->claim_name = arena_dup(&o->arena, claim->meta.name);
    o->claim_uid = arena_dup(&o->arena, claim->meta.uid);
    o->class_name = arena_dup(&o->arena, claim->node_class.name);
    o->launched_before = claim->provider_id.len != 0;
    o->machine = kwok_machine(&o->arena, claim, order->syms, &c, o->syms);
    o->node_name = o->machine.node_name;
    o->body = kwok_node_body(&o->arena, &o->machine, o->syms);
    if (find_waiting(k, o->claim_uid, o, &waiting)) {
        operation_finish(o, &waiting, 1);
        return id;
    }
    if (k->config.fate != NULL && !o->launched_before) {
        enum kwok_fate fate = k->config.fate(k->config.user, o->claim_name);
        o->never_registers = fate == KWOK_NEVER_REGISTERS;
        if (fate == KWOK_FAILS) {
            operation_fail_with(o, ERR_RETRY, "the cloud could not launch an instance");
            return id;
        }
    }
    operation_send(
        o,
        (struct api_request){.verb = API_GET, .kind = KIND_KWOK_NODE_CLASS, .name = o->class_name},
        on_class_read);
    return id;
}

void kwok_create_due(struct operation *o)
{
    read_claim(o);
}
