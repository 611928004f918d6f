/* What the AWS command line prints, the first byte chooses which list: it is read, or refused with a sentence, and of types
 * a catalogue is made that reads. */
#undef NDEBUG
#include <assert.h>

#include "cloud/aws/aws_catalogue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void make(const struct aws_types *types)
{
    static struct span zone = SPAN_INIT("us-east-1a");
    struct aws_prices none = {0};
    struct aws_left left;
    struct catalogue_source *again;
    struct err err;
    struct aws_terms terms = {.types = types,
                              .on_demand = &none,
                              .spot = &none,
                              .region = SPAN("us-east-1"),
                              .zones = {&zone, 1},
                              .vm_memory_overhead = 0.075};
    struct catalogue_source *s = aws_catalogue(&terms, SPAN("made"), &left);
    struct buf text = {0};
    struct json j = {.out = &text};
    catalogue_write(&j, s);
    assert(catalogue_decode(buf_span(&text), SPAN("again.json"), &again, &err));
    buf_release(&text);
    catalogue_source_free(again);
    catalogue_source_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct aws_types types = {0};
    struct aws_prices prices = {0};
    struct aws_places places = {0};
    struct err err = {.kind = ERR_NONE};
    bool ok;
    if (size == 0)
        return 0;
    struct span text = {(const char *)data + 1, size - 1}, file = SPAN("x.json");
    arena_init(&a, 0);
    switch (data[0] % 4) {
    case 0:
        ok = aws_types_read(&a, text, file, &types, &err);
        if (ok)
            make(&types);
        break;
    case 1:
        ok = aws_price_list_read(&a, text, file, SPAN("us-east-1"), &prices, &err);
        assert(!ok || prices.count != 0);
        break;
    case 2:
        ok = aws_spot_read(&a, text, file, &prices, &err);
        break;
    default:
        ok = aws_places_read(&a, text, file, &places, &err);
        break;
    }
    assert(ok || (err.kind != ERR_NONE && err.msg[0] != '\0'));
    aws_prices_sort(&prices);
    for (uint32_t i = 1; i < prices.count; i++)
        assert(span_cmp(prices.items[i - 1].type, prices.items[i].type) <= 0);
    arena_release(&a);
    return 0;
}
