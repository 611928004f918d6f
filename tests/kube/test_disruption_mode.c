/* What stowage.dev/mode says, by reason. */
#include "kube/disruption_mode.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "kube/meta.h"

static struct node_pool pool_with(struct annotation *a, const char *text)
{
    struct node_pool p = {0};
    *a = (struct annotation){.key = SYM_MODE, .value = span_of(text)};
    if (text != NULL)
        p.meta.annotations = (struct annotations){.items = a, .count = 1};
    return p;
}

/* Empty, Underutilized, Drifted, Unhealthy: a letter each. */
static const struct row {
    const char *text, *modes, *err;
} rows[] = {
    {NULL, "aaaa", ""},
    {"act", "aaaa", ""},
    {"recommend", "rrrr", ""},
    {"observe", "oooo", ""},
    {" recommend ", "rrrr", ""},
    {"Underutilized=recommend", "araa", ""},
    {"act, Underutilized=recommend, Drifted=observe", "aroa", ""},
    {"Empty=act,observe", "aooo", ""},
    {"recommend, Unhealthy=act,Empty = observe", "orra", ""},
    /* what cannot be read is only said */
    {"", "rrrr", "\"\" is no mode; write observe, recommend or act"},
    {"Act", "rrrr", "\"Act\" is no mode; write observe, recommend or act"},
    {"act, Underutilized=recomend", "rrrr", "\"recomend\" is no mode; write observe, recommend or act"},
    {"Drift=act", "rrrr", "\"Drift\" is no reason; write Empty, Underutilized, Drifted or Unhealthy"},
    {"=act", "rrrr", "\"\" is no reason; write Empty, Underutilized, Drifted or Unhealthy"},
    {"act, observe", "rrrr", "\"observe\" says twice what holds"},
    {"Empty=act, Empty=act", "rrrr", "\"Empty=act\" says twice what holds"},
    {"act,", "rrrr", "\"\" says twice what holds"},
};

static void modes_by_reason(void **state)
{
    static const char letters[] = {[MODE_ACT] = 'a', [MODE_RECOMMEND] = 'r', [MODE_OBSERVE] = 'o'};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct annotation a;
        struct node_pool p = pool_with(&a, rows[i].text);
        struct err err = {.msg = ""};
        char got[REASON_COUNT + 1] = "";
        for (uint32_t r = 0; r < REASON_COUNT; r++)
            got[r] = letters[disruption_mode_of(&p, (enum disruption_reason)r)];
        bool valid = disruption_mode_valid(&p, &err);
        if (strcmp(got, rows[i].modes) != 0 || strcmp(err.msg, rows[i].err) != 0 || valid != (rows[i].err[0] == '\0'))
            fail_msg("\"%s\": %s, \"%s\"", rows[i].text != NULL ? rows[i].text : "(absent)", got, err.msg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(modes_by_reason)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
