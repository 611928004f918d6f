#include "kube/resume.h"

enum {
    SHORT_LIFE_MS = 1000, /* a stream that ends sooner and said nothing waits before the next */
    REFUSED_MAX = 5, /* refusals to watch, other than 429, after which the version is given up */
    RETRY_AFTER_MAX_S = 60,
};

void resume_init(struct resume *r, span_ms first, span_ms max, uint32_t page)
{
    *r =
        (struct resume){.backoff = {.first = first, .max = max}, .page_wanted = page, .page = page};
}

void resume_page_done(struct resume *r)
{
    if (!r->relisted) /* lists that 410 follows again and again are failures, too */
        r->backoff.failures = 0;
    r->refused = 0;
    r->reauthorized = false;
    /* Grows back slowly: what was too large may be around the corner. */
    if (r->page < r->page_wanted)
        r->page += (r->page_wanted - r->page + 7) / 8;
}

static span_ms wait_of(struct resume *r, const struct resume_end *end, double random)
{
    span_ms wait = backoff_next(&r->backoff, random);
    int32_t asked = end->retry_after_s > RETRY_AFTER_MAX_S ? RETRY_AFTER_MAX_S : end->retry_after_s;
    return asked > 0 && asked * MS_SECOND > wait ? asked * MS_SECOND : wait;
}

/* The version or the `continue` is too old: list again, at once unless that was just done. */
static struct resume_step after_gone(struct resume *r, const struct resume_end *end, double random)
{
    bool again = r->relisted;
    r->relisted = true;
    return (struct resume_step){
        .next = RESUME_LIST, .delay = again ? wait_of(r, end, random) : 0, .broken = true};
}

static struct resume_step after_clean_end(struct resume *r, const struct resume_end *end,
                                          double random)
{
    r->refused = 0;
    r->reauthorized = false;
    if (!end->heard && end->lived < SHORT_LIFE_MS)
        return (struct resume_step){.next = RESUME_WATCH, .delay = wait_of(r, end, random)};
    r->backoff.failures = 0;
    r->relisted = false;
    return (struct resume_step){.next = RESUME_WATCH};
}

static enum resume_next again(const struct resume_end *end)
{
    return !end->listing ? RESUME_WATCH : end->first_page ? RESUME_LIST : RESUME_PAGE;
}

struct resume_step resume_after(struct resume *r, const struct resume_end *end, double random)
{
    if (end->too_large &&
        !end->listing) /* the object is asked for in a LIST, with a larger ceiling */
        return (struct resume_step){
            .next = RESUME_LIST, .delay = wait_of(r, end, random), .broken = true};
    if (end->too_large && r->page > 1) {
        r->page = r->page / 2;
        return (struct resume_step){.next = again(end)};
    }
    if (end->status == 410)
        return after_gone(r, end, random);
    if (end->status >= 200 && end->status < 300 && !end->listing)
        return after_clean_end(r, end, random);
    if (end->status == 401 && !r->reauthorized) {
        r->reauthorized = true;
        return (struct resume_step){.next = again(end), .credentials = true};
    }
    /* A stream that worked for a while and then broke is no sign of a server in trouble. */
    if (!end->listing && end->heard) {
        r->backoff.failures = 0;
        r->relisted = false;
    }
    if (end->status != 0 &&
        r->unreachable) /* the server is back: not a time to wait half a minute */
        r->backoff.failures = 0;
    r->unreachable = end->status == 0;
    struct resume_step step = {.next = again(end),
                               .delay = wait_of(r, end, random),
                               .broken = true,
                               .credentials = end->status == 401};
    if (!end->listing && end->status != 0 && end->status != 429 && ++r->refused >= REFUSED_MAX) {
        r->refused = 0; /* a version that this server does not know, say after a restored backup */
        step.next = RESUME_LIST;
    }
    if (end->listing && end->status >= 400 && end->status < 429 && end->status != 401)
        step.next = RESUME_LIST; /* a `continue` that is refused will be refused again */
    return step;
}
