#include "cloud/groups/operation.h"

#include <stdlib.h>

void group_operations_init(struct group_operations *s, struct api *api)
{
    *s = (struct group_operations){.api = api};
    pthread_mutex_init(&s->lock, NULL);
}

static void release(struct group_operation *o)
{
    arena_release(&o->arena);
    free(o);
}

void group_operations_release(struct group_operations *s)
{
    while (s->first != NULL) {
        struct group_operation *o = s->first;
        s->first = o->next;
        release(o);
    }
    pthread_mutex_destroy(&s->lock);
}

struct group_operation *group_operation_new(struct group_operations *s, uint32_t parts, group_done *done, void *user)
{
    struct group_operation *o = mem_new(sizeof(*o));
    arena_init(&o->arena, 0);
    o->of = s;
    o->done = done;
    o->user = user;
    o->parts = ARENA_ARRAY(&o->arena, struct group_part, parts);
    o->count = parts;
    o->held = 1;
    for (uint32_t i = 0; i < parts; i++)
        o->parts[i].operation = o;
    pthread_mutex_lock(&s->lock);
    o->id = ++s->last_id;
    o->next = s->first;
    o->link = &s->first;
    if (o->next != NULL)
        o->next->link = &o->next;
    s->first = o;
    pthread_mutex_unlock(&s->lock);
    return o;
}

void group_operation_fail(struct group_operation *o, const struct err *err)
{
    if (o->err.kind == ERR_NONE)
        o->err = *err;
}

static void end(struct group_operation *o)
{
    pthread_mutex_lock(&o->of->lock);
    *o->link = o->next;
    if (o->next != NULL)
        o->next->link = o->link;
    pthread_mutex_unlock(&o->of->lock);
    if (o->ended != NULL)
        o->ended(o);
    o->done(o->user, &o->err);
    release(o);
}

void group_operation_drop(struct group_operation *o)
{
    struct group_operations *s = o->of;
    pthread_mutex_lock(&s->lock);
    bool last = --o->held == 0;
    void (*step)(struct group_operation *) = o->step;
    if (last && step != NULL)
        o->held = 1; /* over the step */
    pthread_mutex_unlock(&s->lock);
    if (!last)
        return;
    if (step == NULL) {
        end(o);
        return;
    }
    step(o);
    group_operation_drop(o);
}

/* The reply to a request may come, and be acted on, before api_send returns. */
void group_part_send(struct group_part *p, struct api_request request, api_done *done)
{
    struct group_operation *o = p->operation;
    struct group_operations *s = o->of;
    pthread_mutex_lock(&s->lock);
    bool cancelled = o->cancelled && !o->undoes;
    uint32_t sent = ++p->sent;
    p->request = 0;
    o->held += 2; /* the reply's, and ours until the end */
    pthread_mutex_unlock(&s->lock);
    if (cancelled) {
        struct api_result given_up = {.retry_after_s = -1};
        err_set(&given_up.err, ERR_CANCELLED, "given up");
        done(p, &given_up);
    } else {
        request.is_act = true;
        uint64_t id = api_send(s->api, &request, done, p);
        pthread_mutex_lock(&s->lock);
        if (p->sent == sent)
            p->request = id;
        pthread_mutex_unlock(&s->lock);
    }
    group_operation_drop(o);
}

void group_part_refused(const struct group_part *p, const struct api_result *r, const char *doing, struct err *out)
{
    *out = r->err;
    if (out->kind != ERR_CANCELLED && out->kind != ERR_INVALID)
        out->kind = ERR_RETRY;
    err_wrap(out, "%s %.*s%s%.*s", doing, SPAN_ARG(p->ns), p->ns.len != 0 ? "/" : "", SPAN_ARG(p->name));
}

/* The id of the next request under way to give up; 0: none. */
static uint64_t next_to_cancel(struct group_operations *s, uint64_t id)
{
    uint64_t request = 0;
    pthread_mutex_lock(&s->lock);
    struct group_operation *o = s->first;
    while (o != NULL && o->id != id)
        o = o->next;
    if (o != NULL) {
        o->cancelled = true;
        while (request == 0 && o->cancel_at < o->count)
            request = o->parts[o->cancel_at++].request;
    }
    pthread_mutex_unlock(&s->lock);
    return request;
}

void group_operations_cancel(struct group_operations *s, uint64_t id)
{
    for (uint64_t request = next_to_cancel(s, id); request != 0; request = next_to_cancel(s, id))
        s->api->ops->cancel(s->api, request);
}
