/* What a request says of whom it asks and who asks, a line each: it is let in, or refused with a sentence; whoever was let in
 * named loopback, an address or what was allowed, and showed the token. */
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "server/page_guard.h"

#define TOKEN "0123456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has(struct span in, const char *text)
{
    return in.len != 0 && memmem(in.ptr, in.len, text, strlen(text)) != NULL;
}

static void expect_token(struct span authorization)
{
    struct span scheme, word = {NULL, 0}, rest = authorization, bytes;
    struct arena a;
    arena_init(&a, 0);
    scheme = span_cut(rest, ' ', &word);
    assert(scheme.len != 0);
    assert(has(authorization, TOKEN) || (base64_decode(&a, word, &bytes) && has(bytes, ":" TOKEN)));
    arena_release(&a);
}

/* Nobody else's name begins so: a label cannot have a dot in it, and what follows a name is its port. */
static bool may_be_ours(struct span host)
{
    bool letters = false;
    for (size_t i = 0; i < host.len; i++)
        letters |= (host.ptr[i] | 0x20) >= 'g' && (host.ptr[i] | 0x20) <= 'z'; /* no address has those */
    struct span lower = {NULL, host.len};
    char *copy = malloc(host.len + 1);
    assert(copy != NULL);
    for (size_t i = 0; i < host.len; i++)
        copy[i] = (char)(host.ptr[i] >= 'A' && host.ptr[i] <= 'Z' ? host.ptr[i] | 0x20 : host.ptr[i]);
    lower.ptr = copy;
    bool ours = !letters || has(lower, "localhost") || has(lower, "ours.example") || has(lower, ".corp.example");
    free(copy);
    return ours;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const hosts[] = {"ours.example", ".corp.example"};
    struct span authorization;
    struct span host = span_cut((struct span){(const char *)data, size}, '\n', &authorization);
    struct page_guard g = {.hosts = hosts, .host_count = 2, .token = SPAN(TOKEN)};
    struct http_request q = {.host = host, .authorization = authorization};
    struct http_reply r = {.status = 200};
    if (page_guard_admits(&g, &q, &r)) {
        assert(r.status == 200 && r.body.len == 0);
        assert(may_be_ours(host));
        expect_token(authorization);
    } else {
        assert((r.status == 421 || r.status == 401) && r.body.len != 0);
        assert((r.authenticate != NULL) == (r.status == 401));
    }
    buf_release(&r.body);
    return 0;
}
