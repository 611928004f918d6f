/* One HTTP exchange on the shared multi handle.
 *
 * Bodies are sent by a read callback that cannot rewind. libcurl sends a request again by itself
 * when a connection that was in use before closes without an answer; for a write that would mean
 * doing it twice. Without rewinding it can do so only while nothing of the body has left.
 *
 * Trust: with a CA of the cluster's, the system's CAs must not count beside it, so that CAPATH,
 * which Debian's libcurl sets by default, is cleared. Without one the system's are used, as kubectl
 * does. */
#include "kube/client_inner.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>

#include "kube/status.h"

enum { CONNECT_TIMEOUT_MS = 10 * MS_SECOND, RECEIVE_BUFFER = 256 * 1024, KEEPALIVE_S = 30 };

const char *const client_methods[HTTP_METHODS] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

static int method_index(const char *method)
{
    for (int i = 0; i < HTTP_METHODS; i++)
        if (strcmp(client_methods[i], method) == 0)
            return i;
    return 0;
}

static int status_of(const struct transfer *t)
{
    long code = 0;
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &code);
    return (int)code;
}

static bool is_success(int status)
{
    return status >= 200 && status < 300;
}

static size_t on_send(char *to, size_t size, size_t count, void *user)
{
    struct transfer *t = user;
    size_t n = size * count < t->send.len ? size * count : t->send.len;
    if (n != 0)
        memcpy(to, t->send.ptr, n);
    t->send.ptr += n;
    t->send.len -= n;
    return n;
}

static void on_header_end(struct transfer *t)
{
    if (!is_success(status_of(t)) || t->opened)
        return;
    t->opened = t->client->happened = true;
    t->opened_at = t->client->now;
    if (t->hooks->on_open != NULL)
        t->hooks->on_open(t);
}

static size_t on_header(char *line, size_t size, size_t count, void *user)
{
    static const char retry_after[] = "retry-after:";
    const size_t name_len = sizeof(retry_after) - 1;
    struct transfer *t = user;
    size_t len = size * count;
    t->heard = t->client->now;
    if (len >= 5 && memcmp(line, "HTTP/", 5) == 0)
        t->retry_after_s = -1;
    else if (len > name_len && strncasecmp(line, retry_after, name_len) == 0)
        t->retry_after_s = status_retry_after((struct span){line + name_len, len - name_len});
    else if (len == 2 && line[0] == '\r')
        on_header_end(t);
    return len;
}

/* What is over the ceiling ends a good answer; of a bad one its beginning is enough. */
static size_t on_body(char *bytes, size_t size, size_t count, void *user)
{
    struct transfer *t = user;
    struct span chunk = {bytes, size * count};
    bool good = is_success(status_of(t));
    t->heard = t->client->now;
    t->client->happened = true;
    atomic_fetch_add_explicit(&t->client->bytes, chunk.len, memory_order_relaxed);
    if (good && t->hooks->on_data != NULL) {
        t->too_large = !t->hooks->on_data(t, chunk);
        return t->too_large ? 0 : chunk.len;
    }
    buf_add(&t->body, chunk);
    if (good && t->body.overflow) {
        t->too_large = true;
        return 0;
    }
    return chunk.len;
}

/* A peer that is gone without a word: keep-alives find it when we are silent, this when we are not.
 */
static int on_socket(void *user, curl_socket_t fd, curlsocktype purpose)
{
    (void)user;
    (void)purpose;
    unsigned ms = CLIENT_ACK_MS;
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
    return CURL_SOCKOPT_OK;
}

static void set_blob(CURL *easy, CURLoption option, const struct secret_file *file)
{
    if (file->bytes.len == 0)
        return;
    struct curl_blob blob = {file->bytes.ptr, file->bytes.len, CURL_BLOB_COPY};
    curl_easy_setopt(easy, option, &blob);
}

static void set_trust(CURL *easy, const struct client *c)
{
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 0L);
    if (c->auth.ca.bytes.len != 0) {
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
        set_blob(easy, CURLOPT_CAINFO_BLOB, &c->auth.ca);
    }
    if (c->config.skip_verify) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    set_blob(easy, CURLOPT_SSLCERT_BLOB, &c->auth.cert);
    set_blob(easy, CURLOPT_SSLKEY_BLOB, &c->auth.key);
    if (c->auth.token.bytes.len != 0) {
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, c->auth.token.bytes.ptr);
    }
}

static void set_connection(struct transfer *t, const struct transfer_request *r)
{
    struct client *c = t->client;
    CURL *easy = t->easy;
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    /* Or the end of a request waits for the thread that asks a name server which does not answer. */
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    /* Rather wait for a handshake that is under way than open another connection. Without TLS there
     * is no handshake to learn from, and a request would wait for another's answer. */
    bool tls = span_has_prefix(c->config.server, SPAN("https:"));
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, tls ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, r->fresh ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)r->timeout_ms);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)RECEIVE_BUFFER);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, (long)KEEPALIVE_S);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, (long)KEEPALIVE_S);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_socket);
    if (c->config.proxy_url.len != 0)
        curl_easy_setopt(easy, CURLOPT_PROXY, c->config.proxy_url.ptr);
    else if (c->loopback) /* as kubectl: what the environment says is not for this machine */
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
    if (c->connect_to != NULL) {
        t->connect_to = curl_slist_append(NULL, c->connect_to);
        curl_easy_setopt(easy, CURLOPT_CONNECT_TO, t->connect_to);
    }
    set_trust(easy, c);
}

static void add_header(struct transfer *t, const char *name, const char *value)
{
    char line[256];
    snprintf(line, sizeof(line), "%s: %s", name, value);
    t->headers = curl_slist_append(t->headers, line);
}

static void set_request(struct transfer *t, const struct transfer_request *r)
{
    CURL *easy = t->easy;
    curl_easy_setopt(easy, CURLOPT_URL, r->url);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, t->client->policy.user_agent);
    if (r->content_type != NULL) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.len);
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_send);
        curl_easy_setopt(easy, CURLOPT_READDATA, t);
        add_header(t, "Content-Type", r->content_type);
        t->headers = curl_slist_append(t->headers, "Expect:");
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, r->method);
    add_header(t, "Accept", "application/json");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, t->headers);
    if (r->compressed && !t->client->config.no_compression)
        curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
}

static void set_callbacks(struct transfer *t)
{
    CURL *easy = t->easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t->error);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
}

void transfer_start(struct transfer *t, const struct transfer_request *r)
{
    struct client *c = t->client;
    if (t->body.capacity > CLIENT_KEEP_BYTES)
        buf_release(&t->body);
    buf_clear(&t->body);
    t->body.max = r->reply_max;
    t->send = r->body;
    t->too_large = t->opened = false;
    t->retry_after_s = -1;
    t->error[0] = '\0';
    t->heard = c->now;
    t->method = method_index(r->method);
    if (c->idle_count != 0)
        t->easy = c->idle[--c->idle_count];
    else if ((t->easy = curl_easy_init()) == NULL)
        abort(); /* out of memory */
    auth_refresh(&c->auth, c->now, false);
    set_callbacks(t);
    set_connection(t, r);
    set_request(t, r);
    curl_multi_add_handle(c->multi, t->easy);
}

static void give_back(struct transfer *t)
{
    struct client *c = t->client;
    curl_multi_remove_handle(c->multi, t->easy);
    curl_easy_reset(t->easy);
    if (c->idle_count < CLIENT_KEEP_HANDLES)
        c->idle[c->idle_count++] = t->easy;
    else
        curl_easy_cleanup(t->easy);
    t->easy = NULL;
    curl_slist_free_all(t->headers);
    curl_slist_free_all(t->connect_to);
    t->headers = t->connect_to = NULL;
}

void transfer_stir(struct transfer *t)
{
    if (t->easy == NULL)
        return;
    curl_easy_pause(t->easy, CURLPAUSE_RECV);
    curl_easy_pause(t->easy, CURLPAUSE_CONT);
}

void transfer_abort(struct transfer *t)
{
    if (t->easy == NULL)
        return;
    client_count(t->client, t->method, status_of(t));
    give_back(t);
}

void transfer_finish(struct transfer *t, int curl_code)
{
    CURLcode code = (CURLcode)curl_code;
    struct transfer_end end = {
        .status = code == CURLE_OK || t->too_large ? status_of(t) : 0,
        .text = code == CURLE_OK      ? ""
                : t->error[0] != '\0' ? t->error
                                      : curl_easy_strerror(code),
        .too_large = t->too_large,
        .timed_out = code == CURLE_OPERATION_TIMEDOUT,
        .retry_after_s = t->retry_after_s,
    };
    client_count(t->client, t->method, end.status);
    give_back(t);
    t->client->happened = true;
    t->hooks->on_end(t, &end);
}

void transfer_release(struct transfer *t)
{
    transfer_abort(t);
    buf_release(&t->body);
}
