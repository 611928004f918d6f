#include "server/fetch.h"

#include <curl/curl.h>

#include "server/page_guard.h"

static size_t take(char *bytes, size_t size, size_t count, void *user)
{
    struct buf *out = user;
    buf_add(out, (struct span){bytes, size * count});
    return out->overflow ? 0 : size * count;
}

static bool show_token(CURL *c, const char *file, struct curl_slist **headers_out, struct err *err)
{
    struct span token;
    struct arena a;
    arena_init(&a, 0);
    bool ok = page_token_read(&a, file, &token, err);
    if (ok) {
        *headers_out = curl_slist_append(NULL, arena_printf(&a, "Authorization: Bearer %.*s", SPAN_ARG(token)).ptr);
        curl_easy_setopt(c, CURLOPT_HTTPHEADER, *headers_out);
    }
    arena_release(&a);
    return ok;
}

bool fetch_text(const char *url, const char *token_file, int *status_out, struct buf *out, struct err *err)
{
    CURL *c = curl_easy_init();
    struct curl_slist *headers = NULL;
    long status = 0;
    if (c == NULL)
        return err_set(err, ERR_INTERNAL, "libcurl cannot be used");
    if (token_file != NULL && !show_token(c, token_file, &headers, err)) {
        curl_easy_cleanup(c);
        return false;
    }
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_TIMEOUT, (long)FETCH_SECONDS);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, out);
    CURLcode code = curl_easy_perform(c);
    curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(c);
    curl_slist_free_all(headers);
    *status_out = (int)status;
    return code == CURLE_OK || err_set(err, ERR_RETRY, "%s: %s", url, curl_easy_strerror(code));
}
