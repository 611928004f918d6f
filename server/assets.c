#include "server/assets.h"

#include "base/span.h"

extern const char page_js[], page_css[];
extern const size_t page_js_len, page_css_len;

const struct asset assets[] = {
    {"/page.js", "text/javascript; charset=utf-8", page_js, &page_js_len},
    {"/page.css", "text/css; charset=utf-8", page_css, &page_css_len},
};
const size_t asset_count = COUNT_OF(assets);
