/* assets: files of server/page/, put into the program when it is built. */
#ifndef SERVER_ASSETS_H
#define SERVER_ASSETS_H

#include <stddef.h>

struct asset {
    const char *path; /* "/page.js" */
    const char *content_type;
    const char *bytes;
    const size_t *size;
};

extern const struct asset assets[];
extern const size_t asset_count;

#endif
