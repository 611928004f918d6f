/* Bytes from a scheduler, the first of which chooses the verb: without a world there is no opinion, so
 * that a filter or preempt answer names just the nodes that were asked about. */
#undef NDEBUG
#include <assert.h>

#include "extender/extender.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef bool verb(struct extender_scratch *s, const struct extender_view *v, struct span body,
                  struct buf *reply, struct extender_verdict *verdict_out,
                  struct err *err);

/* Members of an object's member; of a value itself without a key. */
static size_t members_of(struct doc_value v, struct span key)
{
    size_t count = 0;
    if (key.len != 0 && !doc_find(v, key, &v))
        return 0;
    for (struct doc_iter it = doc_iter_of(v); doc_next(&it);)
        count++;
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static verb *const verbs[] = {extender_filter, extender_prioritize, extender_preempt};
    /* A prioritize answer is a list, and empty without an opinion. */
    static const struct span asked[] = {SPAN_INIT("NodeNames"), SPAN_INIT("no such member"),
                                        SPAN_INIT("NodeNameToMetaVictims")};
    static const struct span answered_in[] = {SPAN_INIT("NodeNames"), SPAN_INIT(""),
                                              SPAN_INIT("NodeNameToMetaVictims")};
    static struct extender_scratch scratch; /* for the life of the process */
    static struct doc_parser *requests, *replies;
    if (scratch.parser == NULL) {
        extender_scratch_init(&scratch);
        requests = doc_parser_new();
        replies = doc_parser_new();
    }
    if (size == 0)
        return 0;
    size_t which = data[0] % COUNT_OF(verbs);
    struct span body = {(const char *)data + 1, size - 1};
    struct extender_view blind = {0};
    struct buf reply = {0};
    struct extender_verdict verdict;
    struct err err = {.kind = ERR_NONE};
    if (!verbs[which](&scratch, &blind, body, &reply, &verdict, &err)) {
        assert(err.kind == ERR_INVALID);
    } else {
        const struct doc *request, *answered;
        assert(verdict.answer == EXTENDER_NO_OPINION);
        assert(doc_parse_json(requests, body, &request, &err));
        assert(doc_parse_json(replies, buf_span(&reply), &answered, &err));
        assert(members_of(doc_root(request), asked[which]) ==
               members_of(doc_root(answered), answered_in[which]));
    }
    buf_release(&reply);
    return 0;
}
