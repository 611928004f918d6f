/* render: the page in the making: text, tables whose rows have an id and a name that
 * links there, and lists of pods that fold up. For page.c and this folder. */
#ifndef SERVER_PAGE_RENDER_H
#define SERVER_PAGE_RENDER_H

#include "server/page_memory.h"

struct render {
    struct page_memory *memory;
    const struct page_view *v;
    struct arena a;
    struct buf *out;
    bool live; /* without what time alone changes */
    uint32_t listed; /* names of pods written so far */
};

struct render_column {
    const char *name;
    bool number;
};

static inline const struct symtab *render_syms(const struct render *r)
{
    return r->v->snapshot->syms;
}

void render_put(struct render *r, const char *html); /* as it is */

void render_table(struct render *r, const char *id, const char *title, size_t count,
                  const struct render_column *columns, size_t column_count);
void render_table_end(struct render *r, const char *id, size_t shown, size_t all, const char *none);
void render_row(struct render *r, const char *kind, struct span ns, struct span name);
void render_cell(struct render *r, const char *label, const char *attributes);
/* An age, which a live page's script writes. */
void render_age(struct render *r, wall_ms since);
void render_number(struct render *r, const char *label, double value);
/* A name that links to its own row. */
void render_name(struct render *r, const char *kind, struct span ns, struct span name);

/* A count, with `of` what is counted, that unfolds into names. */
void render_list(struct render *r, uint32_t count, struct span of);
/* True while there is room for one more name. */
bool render_list_pod(struct render *r, const struct pod *p, uint32_t so_far, bool linked);
void render_list_end(struct render *r, uint32_t shown, uint32_t count);

#endif
