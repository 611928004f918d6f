#include "server/yaml_text.h"

#include <yaml.h>

#include "base/doc.h"
#include "base/safe_text.h"

static int write_out(void *user, unsigned char *bytes, size_t size)
{
    struct buf *out = user;
    buf_add(out, (struct span){(const char *)bytes, size});
    return !out->overflow;
}

static bool emit(yaml_emitter_t *e, yaml_event_t *event, int made)
{
    return made && yaml_emitter_emit(e, event);
}

static bool emit_scalar(yaml_emitter_t *e, struct span text, bool is_string)
{
    /* A string whose plain form would read as something else must be quoted; libyaml knows syntax,
     * not types, so that every string is quoted unless it is plainly a word. */
    bool plain = !is_string;
    if (is_string && text.len != 0 && text.len < 64 && safe_text_is(text, false)) { /* else escapes are needed */
        plain = (text.ptr[0] >= 'A' && text.ptr[0] <= 'Z') ||
                (text.ptr[0] >= 'a' && text.ptr[0] <= 'z');
        static const char *const words[] = {"true", "false", "null", "yes", "no", "on",
                                            "off",  "y",     "n",    "nan", "inf"};
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
            if (text.len == strlen(words[i]) && strncasecmp(text.ptr, words[i], text.len) == 0)
                plain = false;
    }
    yaml_event_t event;
    int made = yaml_scalar_event_initialize(
        &event, NULL, NULL, (const yaml_char_t *)text.ptr, (int)text.len, 1, 1,
        plain ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
    return emit(e, &event, made);
}

static bool emit_value(yaml_emitter_t *e, struct doc_value v);

static bool emit_members(yaml_emitter_t *e, struct doc_value v, bool is_object)
{
    for (struct doc_iter it = doc_iter_of(v); doc_next(&it);)
        if ((is_object && !emit_scalar(e, it.key, true)) || !emit_value(e, it.value))
            return false;
    return true;
}

static bool emit_value(yaml_emitter_t *e, struct doc_value v)
{
    yaml_event_t event;
    switch (doc_type(v)) {
    case DOC_NULL:
        return emit_scalar(e, SPAN("null"), false);
    case DOC_BOOL:
        return emit_scalar(e, doc_bool(v) ? SPAN("true") : SPAN("false"), false);
    case DOC_NUMBER:
        return emit_scalar(e, doc_text(v), false);
    case DOC_STRING:
        return emit_scalar(e, doc_text(v), true);
    case DOC_ARRAY:
        return emit(e, &event, yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
                                                                    YAML_ANY_SEQUENCE_STYLE)) &&
               emit_members(e, v, false) &&
               emit(e, &event, yaml_sequence_end_event_initialize(&event));
    case DOC_OBJECT:
        return emit(e, &event, yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
                                                                   YAML_ANY_MAPPING_STYLE)) &&
               emit_members(e, v, true) &&
               emit(e, &event, yaml_mapping_end_event_initialize(&event));
    }
    return false;
}

bool yaml_text(struct buf *out, struct span json, struct err *err)
{
    struct doc_parser *p = doc_parser_new();
    const struct doc *doc;
    bool ok = doc_parse_json(p, json, &doc, err);
    yaml_emitter_t e;
    if (ok && yaml_emitter_initialize(&e)) {
        yaml_event_t event;
        yaml_emitter_set_output(&e, write_out, out);
        yaml_emitter_set_unicode(&e, 1);
        ok = emit(&e, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING)) &&
             emit(&e, &event,
                  yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1)) &&
             emit_value(&e, doc_root(doc)) &&
             emit(&e, &event, yaml_document_end_event_initialize(&event, 1)) &&
             emit(&e, &event, yaml_stream_end_event_initialize(&event));
        if (!ok)
            err_set(err, ERR_INTERNAL, "writing YAML: %s", e.problem != NULL ? e.problem : "?");
        yaml_emitter_delete(&e);
    }
    doc_parser_free(p);
    return ok;
}
