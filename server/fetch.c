#include "server/fetch.h"

#include <curl/curl.h>

static size_t take(char *bytes, size_t size, size_t count, void *user)
{
    struct buf *out = user;
    buf_add(out, (struct span){bytes, size * count});
    return out->overflow ? 0 : size * count;
}

bool fetch_text(const char *url, int *status_out, struct buf *out, struct err *err)
{
    CURL *c = curl_easy_init();
    long status = 0;
    if (c == NULL)
        return err_set(err, ERR_INTERNAL, "libcurl cannot be used");
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_TIMEOUT, (long)FETCH_SECONDS);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, out);
    CURLcode code = curl_easy_perform(c);
    curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(c);
    *status_out = (int)status;
    return code == CURLE_OK || err_set(err, ERR_RETRY, "%s: %s", url, curl_easy_strerror(code));
}
