#include "cloud/aws/listing.h"

#include "base/json_scan.h"

struct reading {
    struct span file;
    const char *name;
    listing_take *take;
    void *user;
};

static bool list_of(const struct reading *r, struct doc_value root, struct doc_value *list_out, struct err *err)
{
    *list_out = root;
    bool is_object = doc_type(root) == DOC_OBJECT;
    if (is_object && !doc_find(root, span_of(r->name), list_out))
        return err_set(err, ERR_INVALID, "%.*s:%u: has no %s; is it what another command printed?", SPAN_ARG(r->file),
                       doc_line(root), r->name);
    return doc_type(*list_out) == DOC_ARRAY ||
           err_set(err, ERR_INVALID, "%.*s:%u: %s%sis %s, not a list", SPAN_ARG(r->file), doc_line(*list_out),
                   is_object ? r->name : "", is_object ? " " : "", doc_type_name(doc_type(*list_out)));
}

static bool read_page(const struct reading *r, struct doc_value root, struct err *err)
{
    struct doc_value list;
    uint32_t index = 0;
    if (!list_of(r, root, &list, err))
        return false;
    for (struct doc_iter it = doc_iter_of(list); doc_next(&it); index++)
        if (!r->take(r->user, it.value, err))
            return err_wrap(err, "%.*s:%u: %s[%u]", SPAN_ARG(r->file), doc_line(it.value), r->name, index);
    return true;
}

static uint32_t count_lines(struct span text, size_t from, size_t end)
{
    uint32_t lines = 0;
    for (; from < end; from++)
        lines += text.ptr[from] == '\n';
    return lines;
}

bool listing_read(struct span text, struct span file, const char *name, listing_take *take, void *user, struct err *err)
{
    struct reading r = {file, name, take, user};
    struct doc_parser *p = doc_parser_new();
    const struct doc *doc;
    struct span page;
    uint32_t lines = 0, pages = 0;
    bool ok = true;
    for (size_t at = 0, counted = 0; ok && json_scan_next(text, &at, &page); pages++) {
        size_t from = (size_t)(page.ptr - text.ptr);
        lines += count_lines(text, counted, from);
        counted = from;
        ok = doc_parse_json_part(p, page, lines, &doc, err) ? read_page(&r, doc_root(doc), err)
                                                            : err_wrap(err, "%.*s", SPAN_ARG(file));
    }
    doc_parser_free(p);
    if (ok && pages == 0)
        return err_set(err, ERR_INVALID, "%.*s: is empty", SPAN_ARG(file));
    return ok;
}
