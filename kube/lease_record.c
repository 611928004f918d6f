#include "kube/lease_record.h"

#include "base/buf.h"

enum { DURATION_DEFAULT_S = 15, DURATION_MAX_S = 24 * 3600 };

static void copy_text(char *to, size_t size, struct span s)
{
    size_t n = s.len < size ? s.len : size - 1;
    if (n != 0)
        memcpy(to, s.ptr, n);
    to[n] = '\0';
}

bool lease_record_read(struct lease_record *r, struct doc_value object, struct span identity)
{
    struct doc_value spec = {0}, metadata;
    bool has_spec = doc_find(object, SPAN("spec"), &spec) && doc_type(spec) == DOC_OBJECT;
    struct span none = {0};
    struct span holder = has_spec ? doc_text_at(spec, SPAN("holderIdentity")) : none;
    struct span renewed = has_spec ? doc_text_at(spec, SPAN("renewTime")) : none;
    struct span acquired = has_spec ? doc_text_at(spec, SPAN("acquireTime")) : none;
    int64_t seconds = has_spec ? doc_int64_at(spec, SPAN("leaseDurationSeconds"), 0) : 0;
    r->transitions = has_spec ? doc_int64_at(spec, SPAN("leaseTransitions"), 0) : 0;
    r->held = holder.len != 0;
    r->mine = r->held && span_eq(holder, identity);
    r->duration =
        (seconds < 1 || seconds > DURATION_MAX_S ? DURATION_DEFAULT_S : seconds) * MS_SECOND;
    copy_text(r->holder, sizeof(r->holder), holder);
    copy_text(r->acquired, sizeof(r->acquired), acquired);

    struct span version = none;
    if (doc_find(object, SPAN("metadata"), &metadata))
        version = doc_text_at(metadata, SPAN("resourceVersion"));
    copy_text(r->version, sizeof(r->version), version.len < sizeof(r->version) ? version : none);

    struct buf all = {0};
    buf_addf(&all, "%.*s\n%.*s\n%.*s\n%lld %lld", SPAN_ARG(holder), SPAN_ARG(renewed),
             SPAN_ARG(acquired), (long long)seconds, (long long)r->transitions);
    uint64_t print = span_hash(buf_span(&all)) | 1; /* never 0 */
    buf_release(&all);
    bool changed = print != r->print;
    r->print = print;
    return changed;
}

bool lease_record_live(const struct lease_record *r, mono_ms now)
{
    return r->held && now - r->changed < r->duration;
}
