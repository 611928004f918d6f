#include "server/check/ask.h"

static void on_answer(void *user, const struct api_result *result)
{
    struct ask *a = user;
    a->done = true;
    a->status = result->status;
    a->err = result->err;
    if (result->err.kind == ERR_NONE && result->body != NULL && a->read != NULL)
        a->read(a->user, doc_root(result->body));
}

static bool all_done(const struct ask *asks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!asks[i].done)
            return false;
    return true;
}

void ask_all(const struct asked_cluster *c, struct ask *asks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        api_send(c->api, &asks[i].request, on_answer, &asks[i]);
    while (!all_done(asks, count))
        if (!c->wait(c->user))
            break;
}
