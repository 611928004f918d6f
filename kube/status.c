#include "kube/status.h"

enum {
    PLAIN_TEXT_MAX = 200, /* bytes of an HTML page or the like that go into a message */
    RETRY_AFTER_MAX_S = 24 * 3600, /* a server that says more than a day says never */
};

static int32_t at_most_a_day(int64_t seconds)
{
    return (int32_t)(seconds < RETRY_AFTER_MAX_S ? seconds : RETRY_AFTER_MAX_S);
}

static void read_details(struct api_result *r, struct doc_value status)
{
    struct doc_value details, causes;
    if (!doc_find(status, SPAN("details"), &details))
        return;
    int64_t seconds = doc_int64_at(details, SPAN("retryAfterSeconds"), 0);
    if (r->retry_after_s < 0 && seconds > 0)
        r->retry_after_s = at_most_a_day(seconds);
    if (!doc_find(details, SPAN("causes"), &causes))
        return;
    struct doc_iter it = doc_iter_of(causes);
    if (doc_next(&it))
        r->cause = doc_text_at(it.value, SPAN("reason"));
}

static void read_status(struct api_result *r, struct doc_value status)
{
    r->reason = doc_text_at(status, SPAN("reason"));
    read_details(r, status);
    enum err_kind kind = api_err_kind(r->status, r->reason);
    struct span message = doc_text_at(status, SPAN("message"));
    if (kind == ERR_NONE)
        return;
    if (message.len != 0)
        err_set(&r->err, kind, "%.*s", SPAN_ARG(message));
    else
        err_set(&r->err, kind, "the API server answered %d %.*s", r->status, SPAN_ARG(r->reason));
}

static struct span trimmed(struct span s)
{
    while (s.len != 0 && (unsigned char)s.ptr[s.len - 1] <= ' ')
        s.len--;
    if (s.len > PLAIN_TEXT_MAX)
        s.len = PLAIN_TEXT_MAX;
    return s;
}

void status_read(struct api_result *r, const struct doc *doc, struct span text)
{
    r->body = doc;
    r->err.kind = ERR_NONE;
    if (doc != NULL && span_eq(doc_text_at(doc_root(doc), SPAN("kind")), SPAN("Status"))) {
        read_status(r, doc_root(doc));
        return;
    }
    enum err_kind kind = api_err_kind(r->status, (struct span){0});
    if (kind == ERR_NONE)
        return;
    text = trimmed(text);
    err_set(&r->err, kind, "the API server answered %d%s%.*s", r->status, text.len != 0 ? ": " : "",
            SPAN_ARG(text));
}

bool status_is_busy(int status, int32_t retry_after_s, struct span cause)
{
    return status == 429 ? !span_eq(cause, SPAN("DisruptionBudget"))
                         : status == 503 && retry_after_s >= 0;
}

void status_of_event(struct api_result *r, struct doc_value object)
{
    int64_t code = doc_int64_at(object, SPAN("code"), 500);
    r->status = code >= 400 && code <= 599 ? (int)code : 500;
    r->retry_after_s = -1;
    read_status(r, object);
}

int32_t status_retry_after(struct span header_value)
{
    while (header_value.len != 0 && (header_value.ptr[0] == ' ' || header_value.ptr[0] == '\t')) {
        header_value.ptr++;
        header_value.len--;
    }
    int64_t seconds;
    if (!span_int64(trimmed(header_value), &seconds) || seconds < 0)
        return -1;
    return at_most_a_day(seconds);
}
