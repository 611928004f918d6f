#include "server/assets.h"

#include "base/span.h"

/* Those that CMakeLists.txt embeds. */
#define MODULES(X) X(page) X(stream) X(format) X(query) X(layout) X(fleet) X(boxes) X(nodes) X(chart) X(tables) X(panel) X(groups) X(pods) X(dom) X(text)

#define DECLARE(name) extern const char page_##name##_js[]; extern const size_t page_##name##_js_len;
MODULES(DECLARE)
extern const char page_css[];
extern const size_t page_css_len;

#define ASSET(name) {"/" #name ".js", "text/javascript; charset=utf-8", page_##name##_js, &page_##name##_js_len},
const struct asset assets[] = {
    MODULES(ASSET)
    {"/page.css", "text/css; charset=utf-8", page_css, &page_css_len},
};
const size_t asset_count = COUNT_OF(assets);
