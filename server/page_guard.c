#include "server/page_guard.h"

#include <arpa/inet.h>
#include <openssl/crypto.h>
#include <strings.h>

#include "base/base64.h"
#include "kube/file_io.h"

static const struct span SCHEMES[] = {SPAN_INIT("bearer "), SPAN_INIT("basic ")};
enum { BEARER, BASIC };

static struct span trim(struct span s)
{
    while (s.len != 0 && (s.ptr[s.len - 1] == '\r' || s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
        s.len--;
    while (s.len != 0 && (*s.ptr == ' ' || *s.ptr == '\t'))
        s = (struct span){s.ptr + 1, s.len - 1};
    return s;
}

bool page_token_read(struct arena *a, const char *path, struct span *out, struct err *err)
{
    struct span bytes, rest;
    if (!file_load(a, path, PAGE_TOKEN_MAX, &bytes, err))
        return false;
    struct span token = trim(span_cut(bytes, '\n', &rest));
    if (token.len < PAGE_TOKEN_MIN)
        return err_set(err, ERR_INVALID, "%s: the token in its first line has %zu bytes; %d are the least", path, token.len,
                       PAGE_TOKEN_MIN);
    for (size_t i = 0; i < token.len; i++)
        if (token.ptr[i] <= ' ' || token.ptr[i] > '~')
            return err_set(err, ERR_INVALID, "%s: a token is of letters, digits and signs, without spaces", path);
    *out = token;
    return true;
}

/* --- names --- */

static bool same_name(struct span a, struct span b)
{
    return a.len == b.len && strncasecmp(a.ptr, b.ptr, a.len) == 0;
}

static bool is_loopback(struct span host)
{
    char text[INET6_ADDRSTRLEN];
    struct in_addr four;
    struct in6_addr six;
    if (same_name(host, SPAN("localhost")))
        return true;
    if (host.len == 0 || host.len >= sizeof(text))
        return false;
    memcpy(text, host.ptr, host.len);
    text[host.len] = '\0';
    if (inet_pton(AF_INET, text, &four) == 1)
        return ntohl(four.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, text, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

bool page_guard_may_listen(struct span host, bool has_token, bool insecure, struct err *err)
{
    return has_token || insecure || is_loopback(host) ||
           err_set(err, ERR_INVALID,
                   "--page-listen is not on loopback, and the page has no token: every client that reaches it can read names, prices "
                   "and reasons. Set --page-token-file, or allow it with --page-insecure");
}

/* "name", "name:port", "[address]:port". */
static struct span without_port(struct span host)
{
    struct span rest;
    if (host.len != 0 && *host.ptr == '[') {
        struct span inner = span_cut((struct span){host.ptr + 1, host.len - 1}, ']', &rest);
        return inner;
    }
    struct span name = span_cut(host, ':', &rest);
    if (name.len > 1 && name.ptr[name.len - 1] == '.') /* as good a way to write it */
        name.len--;
    return name;
}

static bool is_address(struct span name)
{
    char text[INET6_ADDRSTRLEN];
    unsigned char address[sizeof(struct in6_addr)];
    if (name.len >= sizeof(text))
        return false;
    memcpy(text, name.ptr, name.len);
    text[name.len] = '\0';
    return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1;
}

static bool ends_in(struct span name, struct span domain)
{
    return name.len > domain.len &&
           same_name((struct span){name.ptr + name.len - domain.len, domain.len}, domain);
}

static bool knows(const struct page_guard *g, struct span name)
{
    if (same_name(name, SPAN("localhost")) || ends_in(name, SPAN(".localhost")) || is_address(name))
        return true;
    if (g->listen.len != 0 && same_name(name, g->listen))
        return true;
    for (uint32_t i = 0; i < g->host_count; i++) {
        struct span host = span_of(g->hosts[i]);
        if (same_name(name, host) || (host.len != 0 && *host.ptr == '.' && ends_in(name, host)))
            return true;
    }
    return false;
}

/* --- the token --- */

static bool same_token(struct span a, struct span b)
{
    return a.len == b.len && CRYPTO_memcmp(a.ptr, b.ptr, a.len) == 0;
}

static bool begins_with(struct span s, struct span prefix)
{
    return s.len >= prefix.len && strncasecmp(s.ptr, prefix.ptr, prefix.len) == 0;
}

static bool shows_token(struct span authorization, struct span token)
{
    struct span given = {NULL, 0};
    struct arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < COUNT_OF(SCHEMES); i++) {
        if (!begins_with(authorization, SCHEMES[i]))
            continue;
        given = trim((struct span){authorization.ptr + SCHEMES[i].len, authorization.len - SCHEMES[i].len});
        struct span user, pair = given;
        if (i == BASIC && base64_decode(&a, pair, &user)) /* user:password */
            span_cut(user, ':', &given);
    }
    bool same = given.ptr != NULL && same_token(given, token);
    arena_release(&a);
    return same;
}

bool page_guard_admits(void *guard, const struct http_request *q, struct http_reply *r)
{
    const struct page_guard *g = guard;
    struct span name = without_port(q->host);
    if (q->host.len != 0 && !knows(g, name)) {
        http_reply_text(r, 421, "\"%.*s\" is no name of this page; --page-host=NAME lets it be one",
                        (int)(name.len < 253 ? name.len : 253), name.ptr);
        return false;
    }
    if (same_name(q->fetch_site, SPAN("cross-site"))) {
        http_reply_text(r, 403, "this page refuses requests from other sites; enter its address in the browser instead");
        return false;
    }
    if (g->token.len != 0 && !shows_token(q->authorization, g->token)) {
        http_reply_text(r, 401, "this page asks for its token: --page-token-file, or the password in a browser");
        r->authenticate = "Basic realm=\"Stowage\"";
        return false;
    }
    return true;
}
