/* A region's offer file has hundreds of megabytes, of which some thousand prices are wanted: it is cut into products and
 * terms without being parsed, and only what may be one of them is. `aws pricing get-products` prints the same product by
 * product, each in a string of its own. */
#include "cloud/aws/prices.h"

#include <stdlib.h>

#include "base/json_scan.h"
#include "cloud/aws/listing.h"

struct product { /* what tells one from another, of its attributes */
    struct span family, sku;
    struct span type, region, system, tenancy, software, capacity, market;
};

static const struct field attribute_fields[] = {
    FIELD(struct product, type, FIELD_SPAN, "instanceType"),
    FIELD(struct product, region, FIELD_SPAN, "regionCode"),
    FIELD(struct product, system, FIELD_SPAN, "operatingSystem"),
    FIELD(struct product, tenancy, FIELD_SPAN, "tenancy"),
    FIELD(struct product, software, FIELD_SPAN, "preInstalledSw"),
    FIELD(struct product, capacity, FIELD_SPAN, "capacitystatus"),
    FIELD(struct product, market, FIELD_SPAN, "marketoption"),
};
static const struct schema attribute_schema = SCHEMA(struct product, "attributes", attribute_fields);
static const struct field product_fields[] = {
    FIELD(struct product, family, FIELD_SPAN, "productFamily"),
    FIELD(struct product, sku, FIELD_SPAN, "sku"),
    {.kind = FIELD_OBJECT, .offset = 0, .name = "attributes", .schema = &attribute_schema},
};
static const struct schema product_schema = SCHEMA(struct product, "product", product_fields);

struct wanted { /* products whose price is looked for */
    struct product *items; /* sorted by SKU before terms are read */
    uint32_t count, capacity;
};

struct list_reading {
    struct arena *a;
    struct span file, region;
    struct aws_prices *out;
    struct doc_parser *parser, *inner;
    struct wanted wanted;
    struct span other; /* some region of which there are such products */
};

static bool is_absent_or(struct span text, struct span want)
{
    return text.ptr == NULL || span_eq(text, want);
}

/* As Karpenter's AWS provider asks for them. */
static bool is_wanted(struct list_reading *r, const struct product *p)
{
    bool shared = span_eq(p->family, SPAN("Compute Instance")) && span_eq(p->tenancy, SPAN("Shared"));
    bool metal = span_eq(p->family, SPAN("Compute Instance (bare metal)")) && span_eq(p->tenancy, SPAN("Dedicated"));
    if ((!shared && !metal) || p->type.len == 0 || !span_eq(p->system, SPAN("Linux")) ||
        !is_absent_or(p->software, SPAN("NA")) || !is_absent_or(p->capacity, SPAN("Used")) ||
        !is_absent_or(p->market, SPAN("OnDemand")))
        return false;
    if (is_absent_or(p->region, r->region))
        return true;
    r->other = p->region;
    return false;
}

/* ---- terms ---- */

/* The hourly price in dollars of one SKU's offers; 0: there is none. */
static double hourly(struct doc_value offers)
{
    for (struct doc_iter offer = doc_iter_of(offers); doc_next(&offer);) {
        struct doc_value dimensions, unit;
        if (!doc_find(offer.value, SPAN("priceDimensions"), &dimensions))
            continue;
        for (struct doc_iter d = doc_iter_of(dimensions); doc_next(&d);) {
            double price;
            if (span_eq(doc_text_at(d.value, SPAN("unit")), SPAN("Hrs")) &&
                doc_find(d.value, SPAN("pricePerUnit"), &unit) &&
                aws_price_parse(doc_text_at(unit, SPAN("USD")), &price) && price > 0)
                return price;
        }
    }
    return 0;
}

static void add(struct list_reading *r, const struct product *p, double price)
{
    struct aws_price found = {.type = p->type, .price = price};
    if (price > 0)
        ARENA_PUSH(r->a, r->out->items, r->out->count, r->out->capacity, found);
}

/* ---- an offer file ---- */

static bool parse(struct list_reading *r, struct span part, struct doc_value *out, struct err *err)
{
    const struct doc *doc;
    if (!doc_parse_json_part(r->parser, part, 0, &doc, err))
        return err_wrap(err, "%.*s", SPAN_ARG(r->file));
    *out = doc_root(doc);
    return true;
}

static bool read_products(struct list_reading *r, struct span products, struct err *err)
{
    struct span sku, text;
    size_t at = 0;
    while (json_scan_member(products, &at, &sku, &text)) {
        struct doc_value v;
        struct product p;
        if (!span_contains(text, SPAN("Linux")) || !span_contains(text, SPAN("Compute Instance")))
            continue;
        if (!parse(r, text, &v, err))
            return false;
        if (!decode_one(r->a, NULL, v, &product_schema, &p, err))
            return err_wrap(err, "%.*s: products.%.*s", SPAN_ARG(r->file), SPAN_ARG(sku));
        p.sku = sku;
        if (is_wanted(r, &p))
            ARENA_PUSH(r->a, r->wanted.items, r->wanted.count, r->wanted.capacity, p);
    }
    return at == products.len || err_set(err, ERR_INVALID, "%.*s: products: the text ends in the middle", SPAN_ARG(r->file));
}

static int by_sku(const void *x, const void *y)
{
    return span_cmp(((const struct product *)x)->sku, ((const struct product *)y)->sku);
}

static bool read_terms(struct list_reading *r, struct span terms, struct err *err)
{
    struct product key = {0};
    struct span text;
    size_t at = 0;
    if (r->wanted.count != 0)
        qsort(r->wanted.items, r->wanted.count, sizeof(*r->wanted.items), by_sku);
    while (r->wanted.count != 0 && json_scan_member(terms, &at, &key.sku, &text)) {
        const struct product *p = bsearch(&key, r->wanted.items, r->wanted.count, sizeof(key), by_sku);
        struct doc_value v;
        if (p == NULL)
            continue;
        if (!parse(r, text, &v, err))
            return false;
        add(r, p, hourly(v));
    }
    return r->wanted.count == 0 || at == terms.len ||
           err_set(err, ERR_INVALID, "%.*s: terms: the text ends in the middle", SPAN_ARG(r->file));
}

/* False with no err: it is no offer file. */
static bool read_offer_file(struct list_reading *r, struct span text, struct err *err)
{
    struct span whole, products, terms, on_demand;
    size_t at = 0;
    if (!json_scan_next(text, &at, &whole) || !json_scan_object(whole, SPAN("products"), &products) ||
        !json_scan_object(whole, SPAN("terms"), &terms))
        return false;
    struct span braced = {terms.ptr - 1, terms.len + 2};
    if (!json_scan_object(braced, SPAN("OnDemand"), &on_demand))
        return err_set(err, ERR_INVALID, "%.*s: terms has no OnDemand", SPAN_ARG(r->file));
    return read_products(r, products, err) && read_terms(r, on_demand, err);
}

/* ---- what get-products prints ---- */

static bool take_product(void *user, struct doc_value item, struct err *err)
{
    struct list_reading *r = user;
    struct doc_value root = item, v, terms, on_demand;
    const struct doc *doc;
    struct product p;
    if (doc_type(item) == DOC_STRING) {
        if (!doc_parse_json(r->inner, doc_text(item), &doc, err))
            return false;
        root = doc_root(doc);
    }
    if (!doc_find(root, SPAN("product"), &v))
        return err_set(err, ERR_INVALID, "has no product");
    if (!decode_one(r->a, NULL, v, &product_schema, &p, err))
        return err_wrap(err, "product");
    if (is_wanted(r, &p) && doc_find(root, SPAN("terms"), &terms) && doc_find(terms, SPAN("OnDemand"), &on_demand))
        add(r, &p, hourly(on_demand));
    return true;
}

/* ---- either ---- */

static bool read_list(struct list_reading *r, struct span text, struct err *err)
{
    uint32_t before = r->out->count;
    bool ok = read_offer_file(r, text, err);
    if (!ok && err->kind == ERR_NONE)
        ok = listing_read(text, r->file, "PriceList", take_product, r, err);
    if (!ok || r->out->count != before)
        return ok;
    return err_set(err, ERR_INVALID, "%.*s: has no price in dollars of Linux, shared tenancy, on demand in region %.*s%s%.*s%s",
                   SPAN_ARG(r->file), SPAN_ARG(r->region), r->other.len != 0 ? "; it has such of " : "", SPAN_ARG(r->other),
                   r->other.len != 0 ? ": is --region right?" : "");
}

bool aws_price_list_read(struct arena *a, struct span text, struct span file, struct span region, struct aws_prices *out,
                         struct err *err)
{
    struct list_reading r = {.a = a, .file = file, .region = region, .out = out, .parser = doc_parser_new(), .inner = doc_parser_new()};
    err->kind = ERR_NONE;
    bool ok = read_list(&r, text, err);
    doc_parser_free(r.parser);
    doc_parser_free(r.inner);
    return ok;
}
