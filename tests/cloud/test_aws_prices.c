/* Which prices are taken of AWS's lists, and what is said of a list that has none, or is another. */
#include "cloud/aws/described.h"
#include "cloud/aws/prices.h"
#include "cloud/aws/zones.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define ATTRIBUTES(type, region, more) "{\"instanceType\":\"" type "\",\"operatingSystem\":\"Linux\",\"regionCode\":\"" region "\"" more "}"
#define PRODUCT(sku, attributes) "{\"sku\":\"" sku "\",\"productFamily\":\"Compute Instance\",\"attributes\":" attributes "}"
#define SHARED ",\"tenancy\":\"Shared\",\"preInstalledSw\":\"NA\",\"capacitystatus\":\"Used\",\"marketoption\":\"OnDemand\""
#define TERM(unit, price) "{\"o\":{\"priceDimensions\":{\"d\":{\"unit\":\"" unit "\",\"pricePerUnit\":{" price "}}}}}"
#define OFFERS(product, term) "{\"products\":{\"S\":" product "},\"terms\":{\"OnDemand\":{\"S\":" term "}}}"
#define GOOD PRODUCT("S", ATTRIBUTES("m5.large", "r-1", SHARED))

enum list { PRICES, SPOT, TYPES, PLACES };

static bool read(struct arena *a, enum list list, const char *text, struct aws_prices *prices, struct err *err)
{
    struct aws_types types = {0};
    struct aws_places places = {0};
    switch (list) {
    case PRICES:
        return aws_price_list_read(a, span_of(text), SPAN("f"), SPAN("r-1"), prices, err);
    case SPOT:
        return aws_spot_read(a, span_of(text), SPAN("f"), prices, err);
    case TYPES:
        return aws_types_read(a, span_of(text), SPAN("f"), &types, err);
    default:
        return aws_places_read(a, span_of(text), SPAN("f"), &places, err);
    }
}

/* A price is digits and a point, and of this world. */
static void what_is_a_price(void **state)
{
    static const struct {
        const char *text;
        double price; /* below 0: it is none */
    } texts[] = {{"0.096", 0.096}, {"1", 1}, {"0", 0}, {"999999999", 999999999}, {"1000000000", -1}, {"", -1}, {"nan", -1},
                 {"0x10", -1}, {"1e5", -1}, {"-1", -1}, {"+1", -1}, {"1.2.3", -1}, {" 1", -1},
                 {"0.00000000000000000000000000000000000000000000000000000000000001", -1}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        double price;
        bool is = aws_price_parse(span_of(texts[i].text), &price);
        if (is != (texts[i].price >= 0) || (is && (price < texts[i].price - 1e-9 || price > texts[i].price + 1e-9)))
            fail_msg("\"%s\" is %s", texts[i].text, is ? "a price" : "none");
    }
}

static const struct {
    const char *label, *text;
    double price; /* of m5.large; 0: none is taken */
    const char *why;
} offers[] = {
    {"as it should be", OFFERS(GOOD, TERM("Hrs", "\"USD\":\"0.0960000000\"")), 0.096, NULL},
    {"of a list without regions", OFFERS(PRODUCT("S", "{\"instanceType\":\"m5.large\",\"operatingSystem\":\"Linux\",\"tenancy\":\"Shared\"}"),
                                         TERM("Hrs", "\"USD\":\"0.5\"")), 0.5, NULL},
    {"another region", OFFERS(PRODUCT("S", ATTRIBUTES("m5.large", "r-2", SHARED)), TERM("Hrs", "\"USD\":\"0.1\"")), 0,
     "f: has no price in dollars of Linux, shared tenancy, on demand in region r-1; it has such of r-2: is --region right?"},
    {"another tenancy", OFFERS(PRODUCT("S", ATTRIBUTES("m5.large", "r-1", ",\"tenancy\":\"Dedicated\"")), TERM("Hrs", "\"USD\":\"0.1\"")), 0,
     "f: has no price in dollars of Linux, shared tenancy, on demand in region r-1"},
    {"with software", OFFERS(PRODUCT("S", ATTRIBUTES("m5.large", "r-1", ",\"tenancy\":\"Shared\",\"preInstalledSw\":\"SQL Web\"")), TERM("Hrs", "\"USD\":\"0.1\"")), 0, "f: has no price"},
    {"of a reservation", OFFERS(PRODUCT("S", ATTRIBUTES("m5.large", "r-1", ",\"tenancy\":\"Shared\",\"capacitystatus\":\"AllocatedCapacityReservation\"")), TERM("Hrs", "\"USD\":\"0.1\"")), 0, "f: has no price"},
    {"in another currency", OFFERS(GOOD, TERM("Hrs", "\"CNY\":\"0.1\"")), 0, "f: has no price in dollars"},
    {"by another unit", OFFERS(GOOD, TERM("Quantity", "\"USD\":\"0.1\"")), 0, "f: has no price"},
    {"of nothing", OFFERS(GOOD, TERM("Hrs", "\"USD\":\"0.0000000000\"")), 0, "f: has no price"},
    {"no number", OFFERS(GOOD, TERM("Hrs", "\"USD\":\"nan\"")), 0, "f: has no price"},
    {"no terms on demand", "{\"products\":{\"S\":" GOOD "},\"terms\":{\"Reserved\":{}}}", 0, "f: terms has no OnDemand"},
    {"an attribute of another kind", OFFERS(PRODUCT("S", ATTRIBUTES("m5.large", "r-1", ",\"tenancy\":7")), TERM("Hrs", "\"USD\":\"0.1\"")), 0,
     "f: products.S: attributes.tenancy: "},
    {"broken off", "{\"products\":{\"S\":" GOOD "},\"terms\":{\"OnDemand\":{\"S\":", 0, "f: "},
    {"product by product", "{\"PriceList\":[{\"product\":" GOOD ",\"terms\":{\"OnDemand\":" TERM("Hrs", "\"USD\":\"0.2\"") "}}]}", 0.2, NULL},
    {"of another system", "{\"PriceList\":[{\"product\":" PRODUCT("S", "{\"instanceType\":\"m5.large\",\"operatingSystem\":\"Windows\",\"regionCode\":\"r-1\"" SHARED "}")
                          ",\"terms\":{\"OnDemand\":" TERM("Hrs", "\"USD\":\"0.2\"") "}}]}", 0, "f: has no price"},
    {"product by product, none", "{\"PriceList\":[\"{}\"]}", 0, "f:1: PriceList[0]: has no product"},
    {"product by product, broken", "{\"PriceList\":[\"{\"]}", 0, "f:1: PriceList[0]: "},
    {"another command's", "{\"InstanceTypes\":[]}", 0, "f:1: has no PriceList; is it what another command printed?"},
    {"nothing", " \n", 0, "f: is empty"},
};

static void price_lists(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(offers); i++) {
        struct arena a;
        struct aws_prices prices = {0};
        struct err err = {0};
        double price = 0;
        arena_init(&a, 0);
        bool ok = read(&a, PRICES, offers[i].text, &prices, &err);
        aws_prices_sort(&prices);
        if (ok != (offers[i].why == NULL) || (!ok && !span_has_prefix(span_of(err.msg), span_of(offers[i].why))))
            fail_msg("%s: %s", offers[i].label, ok ? "taken" : err.msg);
        bool found = aws_prices_find(&prices, SPAN("m5.large"), (struct span){0}, &price);
        if (found != (offers[i].price > 0) || price != offers[i].price)
            fail_msg("%s: %g", offers[i].label, price);
        arena_release(&a);
    }
}

#define SPOT_ROW(type, zone, price, more) "{\"InstanceType\":\"" type "\",\"AvailabilityZone\":\"" zone "\",\"SpotPrice\":\"" price "\"" more "}"
#define AT(when) ",\"Timestamp\":\"" when "\""

/* The latest of a type and zone counts, in whichever order they come, over all pages. */
static void spot_prices(void **state)
{
    (void)state;
    static const char text[] =
        "{\"SpotPriceHistory\":[" SPOT_ROW("m5.large", "r-1a", "0.3", AT("2026-08-20T10:00:00+00:00")) ","
        SPOT_ROW("m5.large", "r-1b", "0.5", AT("2026-08-20T10:00:00Z")) "," SPOT_ROW("c5.large", "r-1a", "0.7", "") "]}\n"
        "{\"SpotPriceHistory\":[" SPOT_ROW("m5.large", "r-1a", "0.2", AT("2026-08-20T11:00:00+00:00")) ","
        SPOT_ROW("m5.large", "r-1a", "0.1", AT("2026-08-20T09:00:00+00:00")) ","
        SPOT_ROW("m5.large", "r-1a", "9", AT("2026-08-21T09:00:00+00:00") ",\"ProductDescription\":\"Windows\"") "]}";
    struct arena a;
    struct aws_prices prices = {0};
    struct err err;
    double price;
    arena_init(&a, 0);
    assert_true(read(&a, SPOT, text, &prices, &err));
    aws_prices_sort(&prices);
    assert_int_equal(prices.count, 3);
    assert_true(aws_prices_find(&prices, SPAN("m5.large"), SPAN("r-1a"), &price) && price == 0.2);
    assert_true(aws_prices_find(&prices, SPAN("m5.large"), SPAN("r-1b"), &price) && price == 0.5);
    assert_true(aws_prices_find(&prices, SPAN("c5.large"), SPAN("r-1a"), &price) && price == 0.7);
    assert_false(aws_prices_find(&prices, SPAN("c5.large"), SPAN("r-1b"), &price));
    assert_false(aws_prices_find(&prices, SPAN("m5.large"), (struct span){0}, &price));
    arena_release(&a);
}

#define NETWORK ",\"NetworkInfo\":{\"Ipv4AddressesPerInterface\":10,\"NetworkCards\":[{\"MaximumNetworkInterfaces\":3}]}"
#define EC2_TYPE(cpus, memory, network)                                                                                 \
    "{\"InstanceTypes\":[\n{\"InstanceType\":\"t\",\"ProcessorInfo\":{},\"VCpuInfo\":{\"DefaultVCpus\":" cpus "},\"MemoryInfo\":{\"SizeInMiB\":" \
    memory "}" network "}]}"

static void what_is_refused(void **state)
{
    (void)state;
    static const struct {
        enum list list;
        const char *text, *why; /* NULL: it is taken */
    } rows[] = {
        {TYPES, EC2_TYPE("2", "4096", NETWORK), NULL},
        {TYPES, "[]", NULL},
        {TYPES, "[{}]", "f:1: InstanceTypes[0]: InstanceType: is missing"},
        {TYPES, "[7]", "f:1: InstanceTypes[0]: is a number, not an instance type"},
        {TYPES, EC2_TYPE("0", "4096", NETWORK), "f:2: InstanceTypes[0]: VCpuInfo.DefaultVCpus: 0 is not a number of vCPUs"},
        {TYPES, EC2_TYPE("\"2\"", "4096", NETWORK), "f:2: InstanceTypes[0]: VCpuInfo.DefaultVCpus: "},
        {TYPES, EC2_TYPE("2", "-1", NETWORK), "f:2: InstanceTypes[0]: MemoryInfo.SizeInMiB: -1 is not a size"},
        {TYPES, EC2_TYPE("2", "4096", ""), "f:2: InstanceTypes[0]: NetworkInfo: is missing"},
        {TYPES, EC2_TYPE("2", "4096", ",\"NetworkInfo\":{\"DefaultNetworkCardIndex\":1,\"Ipv4AddressesPerInterface\":10,\"NetworkCards\":[{}]}"),
         "f:2: InstanceTypes[0]: NetworkInfo.DefaultNetworkCardIndex: there is no network card 1"},
        {TYPES, EC2_TYPE("2", "4096", NETWORK ",\"GpuInfo\":{\"Gpus\":[{\"Count\":-1}]}"), "f:2: InstanceTypes[0]: GpuInfo.Gpus[0]: has a number out of range"},
        {TYPES, "{\"InstanceTypes\":{}}", "f:1: InstanceTypes is an object, not a list"},
        {TYPES, "{\"InstanceTypes\":[]}\n{\"InstanceTypes\":[", "f: line 2: "},
        {SPOT, "{\"SpotPriceHistory\":[" SPOT_ROW("m", "z", "cheap", "") "]}", "f:1: SpotPriceHistory[0]: SpotPrice: \"cheap\" is not a price"},
        {SPOT, "{\"SpotPriceHistory\":[" SPOT_ROW("m", "z", "1", AT("noon")) "]}", "f:1: SpotPriceHistory[0]: Timestamp: is not a time"},
        {SPOT, "{\"InstanceTypes\":[]}", "f:1: has no SpotPriceHistory; is it what another command printed?"},
        {PLACES, "{\"InstanceTypeOfferings\":[{\"InstanceType\":\"m\"}]}", "f:1: InstanceTypeOfferings[0]: Location: is missing"},
        {PLACES, "", "f: is empty"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena a;
        struct aws_prices prices = {0};
        struct err err = {0};
        arena_init(&a, 0);
        bool ok = read(&a, rows[i].list, rows[i].text, &prices, &err);
        if (ok != (rows[i].why == NULL) || (!ok && !span_has_prefix(span_of(err.msg), span_of(rows[i].why))))
            fail_msg("%s: %s", rows[i].text, ok ? "taken" : err.msg);
        arena_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_a_price), cmocka_unit_test(price_lists),
        cmocka_unit_test(spot_prices),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
