/* AdmissionReview bytes: the reply is JSON that echoes the uid, or the bytes are refused. */
#undef NDEBUG
#include <assert.h>

#include "webhook/review.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct span domains[] = {SPAN_INIT("karpenter.sh"), SPAN_INIT("karpenter.kwok.sh")};
static sym well_known[] = {SYM_NODEPOOL, SYM_CAPACITY_TYPE, SYM_ZONE, SYM_INSTANCE_TYPE, SYM_ARCH,
                           SYM_OS};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct webhook_scratch scratch; /* for the life of the process */
    static struct doc_parser *replies;
    static struct symtab *syms;
    if (syms == NULL) {
        syms = kube_symtab_new();
        scratch.parser = doc_parser_new();
        replies = doc_parser_new();
    }
    struct label_rules labels = {{well_known, COUNT_OF(well_known)}, domains, COUNT_OF(domains)};
    struct webhook_rules rules = {.labels = &labels, .syms = syms};
    struct span body = {(const char *)data, size};
    struct buf reply = {0};
    enum webhook_answer answer;
    struct err err = {.kind = ERR_NONE};
    if (!webhook_review(&scratch, &(struct review_sources){&rules, NULL, {NULL, NULL}}, body, &reply, &answer, &err)) {
        assert(err.kind == ERR_INVALID);
    } else {
        const struct doc *doc;
        struct doc_value response, uid, allowed;
        assert(doc_parse_json(replies, buf_span(&reply), &doc, &err));
        assert(doc_find(doc_root(doc), SPAN("response"), &response));
        assert(doc_find(response, SPAN("uid"), &uid) && doc_text(uid).len != 0);
        assert(doc_find(response, SPAN("allowed"), &allowed));
        assert(doc_bool(allowed) == (answer != WEBHOOK_DENIED));
    }
    buf_release(&reply);
    return 0;
}
