/* Files of instance types, the first byte chooses how they are read: looked over, or converted from kwok's. What is taken
 * is written, and read back as it was; what is refused has a reason. */
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>

#include "cloud/catalogue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_told(void *user, enum catalogue_level level, uint32_t line, struct span text)
{
    (void)line;
    assert(text.len != 0);
    *(bool *)user |= level == CATALOGUE_UNREADABLE;
}

static struct buf written(const struct catalogue_source *s)
{
    struct buf text = {0};
    struct json j = {.out = &text};
    catalogue_write(&j, s);
    return text;
}

static void read_back(struct catalogue_source *s)
{
    struct catalogue_source *again;
    struct err err;
    struct buf text = written(s);
    assert(catalogue_decode(buf_span(&text), SPAN("again.json"), &again, &err));
    struct buf second = written(again);
    assert(span_eq(buf_span(&text), buf_span(&second)));
    buf_release(&text);
    buf_release(&second);
    catalogue_source_free(again);
    catalogue_source_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct catalogue_source *s = NULL, *checked;
    struct err err = {.kind = ERR_NONE};
    bool refused = false;
    if (size == 0)
        return 0;
    struct span text = {(const char *)data + 1, size - 1};
    if (data[0] % 2 == 0) {
        checked = catalogue_check(text, SPAN("types.json"), on_told, &refused);
        assert((checked == NULL) == refused);
        catalogue_source_free(checked);
        assert(catalogue_decode(text, SPAN("types.json"), &s, &err) == !refused);
    } else if (!catalogue_decode_kwok(text, SPAN("types.json"), &s, &err)) {
        assert(err.kind != ERR_NONE && err.msg[0] != '\0');
    }
    if (s != NULL)
        read_back(s);
    return 0;
}
