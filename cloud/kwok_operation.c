#include "cloud/kwok_operation.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct operation *operation_new(struct kwok *k, enum verb verb, machine_done *done, void *user)
{
    struct operation *o = mem_new(sizeof(*o));
    arena_init(&o->arena, 0);
    o->kwok = k;
    o->verb = verb;
    o->done = done;
    o->user = user;
    o->syms = symtab_new_local(k->syms, &o->arena);
    pthread_mutex_lock(&k->lock);
    o->id = ++k->last_id;
    o->next = k->operations;
    o->link = &k->operations;
    if (o->next != NULL)
        o->next->link = &o->next;
    k->operations = o;
    pthread_mutex_unlock(&k->lock);
    return o;
}

void operation_free(struct operation *o)
{
    arena_release(&o->arena);
    free(o);
}

static void operation_end(struct operation *o)
{
    struct kwok *k = o->kwok;
    pthread_mutex_lock(&k->lock);
    *o->link = o->next;
    if (o->next != NULL)
        o->next->link = o->link;
    pthread_mutex_unlock(&k->lock);
    operation_free(o);
}

/* Calls done, once. */
static void answer(struct operation *o, const struct machine_result *r)
{
    struct kwok *k = o->kwok;
    pthread_mutex_lock(&k->lock);
    bool first = !o->answered;
    o->answered = true;
    pthread_mutex_unlock(&k->lock);
    if (first)
        o->done(o->user, r);
}

void operation_answer(struct operation *o, const struct machine *machines, size_t count)
{
    answer(o, &(struct machine_result){.machines = machines, .count = count, .syms = o->syms});
}

void operation_finish(struct operation *o, const struct machine *machines, size_t count)
{
    operation_answer(o, machines, count);
    operation_end(o);
}

void operation_fail(struct operation *o, const struct err *err)
{
    answer(o, &(struct machine_result){.err = *err, .syms = o->syms});
    operation_end(o);
}

void operation_fail_with(struct operation *o, enum err_kind kind, const char *format, ...)
{
    struct err err = {.kind = kind};
    va_list args;
    va_start(args, format);
    vsnprintf(err.msg, sizeof(err.msg), format, args);
    va_end(args);
    operation_fail(o, &err);
}

/* What went wrong on the way to the API server leaves it open whether the write happened: all such
 * operations may be asked again. */
void operation_fail_request(struct operation *o, const struct api_result *r, const char *doing)
{
    struct err err = r->err;
    if (r->status == 0 && err.kind != ERR_CANCELLED)
        err.kind = ERR_RETRY;
    err_wrap(&err, "%s %.*s", doing, SPAN_ARG(o->node_name));
    operation_fail(o, &err);
}

void operation_send(struct operation *o, struct api_request request, api_done *done)
{
    struct kwok *k = o->kwok;
    uint64_t operation = o->id;
    pthread_mutex_lock(&k->lock);
    bool cancelled = o->cancelled;
    pthread_mutex_unlock(&k->lock);
    request.is_act = true;
    if (cancelled) {
        operation_fail_with(o, ERR_CANCELLED, "given up");
        return;
    }
    /* The reply may come, and the operation end, before api_send returns. */
    uint64_t id = api_send(k->config.api, &request, done, o);
    pthread_mutex_lock(&k->lock);
    for (struct operation *i = k->operations; i != NULL; i = i->next)
        if (i->id == operation)
            i->request = id;
    pthread_mutex_unlock(&k->lock);
}

struct doc_value operation_body(const struct api_result *r)
{
    return r->body != NULL ? doc_root(r->body) : (struct doc_value){0};
}

struct doc_value operation_path(struct doc_value v, const char *const *path, size_t count)
{
    for (size_t i = 0; i < count && v.doc != NULL; i++)
        if (doc_type(v) != DOC_OBJECT || !doc_find(v, span_of(path[i]), &v))
            v = (struct doc_value){0};
    return v;
}

struct span operation_meta(struct doc_value object, const char *key)
{
    const char *const path[] = {"metadata", key};
    struct doc_value v = operation_path(object, path, 2);
    return v.doc != NULL && doc_type(v) == DOC_STRING ? doc_text(v) : (struct span){0};
}
