/* `stowage catalogue`: what is said of a file, with which status, and what is made of one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "server/command.h"
#include "support_plan.h"

#define KWOK(offering)                                                                                                  \
    "[{\"name\":\"a\",\"architecture\":\"amd64\",\"operatingSystems\":[\"linux\"],\n\"resources\":{\"cpu\":\"4\",\"memory\":\"8Gi\"},"       \
    "\"offerings\":[" offering "]}]"
#define OFFER(price)                                                                                                    \
    "{\"price\":" price ",\"requirements\":[{\"key\":\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"z1\"]},"             \
    "{\"key\":\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":[\"spot\"]}]}"
#define FLAT "{\"CapacityType\":\"on-demand\",\"Zone\":\"z2\",\"Price\":0.25}"

static const struct {
    const char *label, *args[COMMAND_ARGS_MAX], *file;
    int status;
    const char *says[3];
} rows[] = {
    {"good", {"check", "{}"}, KWOK(OFFER("0.5")), 0,
     {"ok    1 instance type with 1 offering, 1 of them available\nok    zones: z1; capacity types: spot\nok    prices from $0.5000 to "
      "$0.5000 an hour\nnothing to mend\n"}},
    {"wrong, where it stands", {"check", "{}"}, KWOK(OFFER("-1")), 1, {"FAIL  ", ":1: a: offerings[0].price: -1 is negative", "1 problem\n"}},
    {"a warning", {"check", "{}"}, KWOK(OFFER("0")), 0, {"warn  ", "are available without a price", "1 warning\n"}},
    {"a warning that counts", {"check", "{}", "--warnings-as-errors"}, KWOK(OFFER("0")), 1, {"1 warning\n"}},
    {"no JSON", {"check", "{}"}, "[\n", 1, {"FAIL  ", ":2: the text ends in the middle\n1 problem\n"}},
    {"as annotations", {"check", "{}", "-o", "github"}, KWOK(OFFER("-1")), 1, {"::error file=", ",line=1::a: offerings[0].price: -1 is negative"}},
    {"as JSON", {"check", "{}", "-o", "json"}, KWOK(FLAT), 1, {"\"line\": 1,", "convert the file: stowage catalogue from-kwok FILE", "\"problems\": 1"}},
    {"no such file", {"check", "/nowhere"}, "", 2, {"stowage catalogue: /nowhere: No such file or directory\n"}},
    {"no file", {"check", "-o", "json"}, "", 2, {"stowage catalogue: check: say which file; - is standard input\n"}},
    {"no word", {NULL}, "", 2, {"stowage catalogue: say what to do: check, from-aws or from-kwok"}},
    {"another word", {"look", "{}"}, "", 2, {"stowage catalogue: \"look\" is not check"}},
    {"a flag of others", {"check", "{}", "--search", "greedy"}, "", 2, {"stowage catalogue: no flag --search"}},
    {"a flag of from-aws", {"check", "{}", "--zones=a"}, "[]", 2, {"stowage catalogue: check has no flag --zones; from-aws has\n"}},
    {"a flag of check", {"from-aws", "{}", "--output", "json"}, "[]", 2, {"stowage catalogue: from-aws has no flag --output; check has\n"}},
    {"from kwok's", {"from-kwok", "{}"}, KWOK(OFFER("0.5")), 0,
     {"\"key\": \"karpenter.kwok.sh/instance-memory\",", "\"kubeReserved\": {\n          \"cpu\": \"100m\",", "\"price\": 0.5,\n          \"available\": true"}},
    {"from kwok's older one", {"from-kwok", "{}"}, KWOK(FLAT), 0, {"\"z2\"\n", "\"price\": 0.25,"}},
    {"from what is none", {"from-kwok", "{}"}, "{\"a\": 1}", 2, {": a: is not a field of catalogue\n"}},
    {"from two", {"from-kwok", "{}", "{}"}, "[]", 2, {"stowage catalogue: from-kwok: \"", "is too much; it takes one file\n"}},
};

static void what_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outcome o = run_command(command_catalogue, rows[i].file, rows[i].args);
        if (o.status != rows[i].status)
            fail_msg("%s: status %d: %s", rows[i].label, o.status, o.text);
        for (size_t k = 0; k < COUNT_OF(rows[i].says) && rows[i].says[k] != NULL; k++)
            expect_text(rows[i].label, &o, rows[i].says[k]);
    }
}

#define SAMPLE(name) TESTS_DIR "/cloud/samples/" name
#define DESCRIBED SAMPLE("aws-described.json")

static const struct {
    const char *label, *args[COMMAND_ARGS_MAX];
    int status;
    const char *says[3];
} aws[] = {
    {"with prices", {"from-aws", DESCRIBED, "--zones=us-east-1a,us-east-1b", "--prices", SAMPLE("aws-offer-file.json"), "--spot", SAMPLE("aws-spot.json")}, 0,
     {"\"name\": \"c6g.large\",", "\"key\": \"topology.kubernetes.io/region\",\n          \"operator\": \"In\",\n          \"values\": [\n            \"us-east-1\""}},
    {"a region that is not the zones'", {"from-aws", DESCRIBED, "--zones", "us-east-1a", "--region", "us-east-2"}, 2,
     {"stowage catalogue: no zone is of region us-east-2; is --region right?\n"}},
    {"prices of another region", {"from-aws", DESCRIBED, "--zones", "us-east-2a", "--prices", SAMPLE("aws-offer-file.json")}, 2,
     {"aws-offer-file.json: has no price in dollars of Linux, shared tenancy, on demand in region us-east-2; it has such of us-east-1"}},
    {"nowhere", {"from-aws", DESCRIBED}, 2, {"stowage catalogue: say in which zones: --zones us-east-1a,us-east-1b, or a file"}},
    {"local zones", {"from-aws", DESCRIBED, "--zones", "us-west-2-lax-1a,us-west-2a"}, 2, {"of which region are the zones? Say it with --region"}},
    {"no memory left", {"from-aws", DESCRIBED, "--zones", "us-east-1a", "--vm-memory-overhead-percent", "7.5"}, 2,
     {"--vm-memory-overhead-percent: 7.5 leaves no memory; 0.075 is 7.5 %\n"}},
    {"another list", {"from-aws", SAMPLE("aws-spot.json"), "--zones", "us-east-1a"}, 2, {"aws-spot.json:1: has no InstanceTypes; is it what another command printed?"}},
    {"no such flag", {"from-aws", DESCRIBED, "--price", "x"}, 2, {"stowage catalogue: no flag --price; did you mean --prices?"}},
};

static void from_aws(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(aws); i++) {
        struct outcome o = run_command(command_catalogue, "", aws[i].args);
        if (o.status != aws[i].status)
            fail_msg("%s: status %d: %s", aws[i].label, o.status, o.text);
        for (size_t k = 0; k < COUNT_OF(aws[i].says) && aws[i].says[k] != NULL; k++)
            expect_text(aws[i].label, &o, aws[i].says[k]);
    }
}

/* What is made of a file is good, and is planned with as the file is. */
static void what_is_made(void **state)
{
    (void)state;
    struct outcome made = run_command(command_catalogue, KWOK(OFFER("0.5")), (const char *[]){"from-kwok", "{}", NULL});
    struct outcome checked = run_command(command_catalogue, made.text, (const char *[]){"check", "{}", NULL});
    expect_text("made", &checked, "nothing to mend\n");
    struct outcome same = run_command(command_catalogue, made.text, (const char *[]){"from-kwok", "{}", NULL});
    assert_string_equal(same.text, made.text);
}

/* A file of nothing but faults is told of to an end. */
static void too_much_to_tell(void **state)
{
    (void)state;
    struct buf text = {0};
    buf_add_char(&text, '[');
    for (int i = 0; i < 2000; i++)
        buf_add(&text, i == 0 ? SPAN("7") : SPAN(",7"));
    buf_add_char(&text, ']');
    struct outcome o =
        run_command(command_catalogue, text.ptr, (const char *[]){"check", "{}", "-o", "github", NULL});
    assert_int_equal(o.status, 1);
    expect_text("the rest", &o, "::[99]: is a number, not an instance type\n::error::and 901 more\n");
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said),
        cmocka_unit_test(from_aws),
        cmocka_unit_test(what_is_made),
        cmocka_unit_test(too_much_to_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
