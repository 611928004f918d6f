/* Texts that a tenant of the cluster chooses, in the answers of every command: they forge no line, steer no terminal, and
 * are there to be seen; JSON and YAML have them as they are. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "base/doc.h"
#include "base/safe_text.h"
#include "server/command.h"
#include "support_command.h"

/* As YAML writes it. */
#define EVIL "x\\nFORGED\\r\\e[2J\\u009b2J\\u202egnp\\u2028\\u200b\\x7f"

#define CLASS "nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}"
#define OBJECTS                                                                                                         \
    "apiVersion: karpenter.sh/v1\nkind: NodePool\n"                                                                     \
    "metadata: {name: general, annotations: {stowage.dev/node-cost: \"" EVIL "\", \"stowage.dev/" EVIL "\": a}}\n"      \
    "spec: {template: {metadata: {labels: {team: \"" EVIL "\"}}, spec: {requirements: [], " CLASS "}}}\n"               \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {team: \"" EVIL "\", topology.kubernetes.io/zone: \"" EVIL \
    "\", node.kubernetes.io/instance-type: \"" EVIL "\"}}\n"                                                            \
    "spec: {taints: [{key: \"" EVIL "\", value: \"" EVIL "\", effect: NoSchedule}]}\n"                                  \
    "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}, conditions: [{type: Ready, status: \"True\", reason: \"" EVIL "\"}]}\n" \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: split-1, namespace: shop, annotations: {stowage.dev/on-demand-base: \"" EVIL \
    "\"}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: \"" EVIL "\", uid: u, controller: true}]}\n"   \
    "spec: {containers: [{name: c}]}\n"                                                                                 \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: wants, namespace: shop}\n"                                        \
    "spec: {nodeSelector: {example.com/rack: \"" EVIL "\"}, containers: [{name: c}]}\n"                                 \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: keyed, namespace: shop}\n"                                        \
    "spec: {nodeSelector: {\"" EVIL "\": a}, containers: [{name: c, resources: {requests: {\"" EVIL "\": 1}}}]}\n"       \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: \"" EVIL "\", namespace: \"" EVIL "\"}\nspec: {\"" EVIL "\": 1}\n"  \
    "---\napiVersion: v1\nkind: \"" EVIL "\"\nmetadata: {name: a}\n"
#define MISTAKES                                                                                                        \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: \"" EVIL "\"}\n"                                                       \
    "spec: {containers: [{name: c, resources: {requests: {cpu: \"" EVIL "\"}}}], tolerations: \"" EVIL "\"}\n"
#define SCENARIO                                                                                                        \
    "apiVersion: stowage.dev/v1alpha1\nkind: Scenario\nmetadata: {name: \"" EVIL "\"}\n"                                \
    "spec: {duration: 1m, \"" EVIL "\": 1}\n"
#define EVENT                                                                                                           \
    "apiVersion: stowage.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\n"                                          \
    "spec: {duration: 1m, events: [{at: 1s, \"" EVIL "\": 1}]}\n"

typedef int command(int argc, char *const *argv);

static const struct {
    const char *label;
    command *run;
    const char *objects, *args[COMMAND_ARGS_MAX];
    bool silent; /* none of these texts is in the answer */
} rows[] = {
    {"plan", command_plan, OBJECTS, {"-f", "{}", "--all-unbound"}, false},
    {"plan, wide", command_plan, OBJECTS, {"-f", "{}", "--all-unbound", "-o", "wide", "--verbose"}, false},
    {"plan, names", command_plan, OBJECTS, {"-f", "{}", "--all-unbound", "-o", "name"}, false},
    {"plan, mistakes", command_plan, MISTAKES, {"-f", "{}"}, false},
    {"explain a pod", command_explain, OBJECTS, {"pod", "shop/wants", "-f", "{}", "--all-unbound"}, false},
    {"explain a pod of a key", command_explain, OBJECTS, {"pod", "shop/keyed", "-f", "{}", "--all-unbound"}, false},
    {"explain a node", command_explain, OBJECTS, {"node", "n1", "-f", "{}", "--all-unbound"}, false},
    {"explain a pool", command_explain, OBJECTS, {"nodepool", "general", "-f", "{}", "--all-unbound"}, false},
    {"explain nothing", command_explain, OBJECTS, {"pod", "x\nFORGED", "-f", "{}"}, false},
    {"check", command_check, OBJECTS, {"-f", "{}"}, false},
    {"check, mistakes", command_check, MISTAKES, {"-f", "{}"}, false},
    {"check for GitHub", command_check, OBJECTS, {"-f", "{}", "-o", "github"}, false},
    {"diff", command_diff, OBJECTS, {"{}", "{}", "--all-unbound"}, false},
    {"top", command_top, OBJECTS, {"-f", "{}"}, false},
    {"simulate", command_simulate, SCENARIO, {"{}"}, false},
    {"simulate, mistakes", command_simulate, EVENT, {"{}"}, false},
    {"a catalogue", command_catalogue, "{\"kind\": \"" EVIL "\"}", {"check", "{}"}, true},
};

static void no_line_is_forged(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outcome o = run_command(rows[i].run, rows[i].objects, rows[i].args);
        if (!safe_text_is(span_of(o.text), true))
            fail_msg("%s: %s", rows[i].label, o.text);
        for (struct span rest = span_of(o.text), line; rest.ptr != NULL;) {
            line = span_cut(rest, '\n', &rest);
            while (line.len != 0 && *line.ptr == ' ')
                line = (struct span){line.ptr + 1, line.len - 1};
            if (span_has_prefix(line, SPAN("FORGED")))
                fail_msg("%s: %s", rows[i].label, o.text);
        }
        if (!rows[i].silent && strstr(o.text, "x\\nFORGED") == NULL)
            fail_msg("%s does not show what is there: %s", rows[i].label, o.text);
    }
}

/* The first text in the value that begins so. */
static const char *find_text(json_t *v, const char *begins)
{
    const char *key, *found = NULL;
    size_t i;
    json_t *item;
    if (json_is_string(v) && strstr(json_string_value(v), begins) != NULL)
        return json_string_value(v);
    json_object_foreach(v, key, item)
        if (found == NULL)
            found = find_text(item, begins);
    json_array_foreach(v, i, item)
        if (found == NULL)
            found = find_text(item, begins);
    return found;
}

/* As a program reads it; and as a terminal shows it. */
static void exact_for_programs(void **state)
{
    (void)state;
    static const char value[] = "x\nFORGED\r\x1b[2J\xc2\x9b" "2J\xe2\x80\xaegnp\xe2\x80\xa8\xe2\x80\x8b\x7f";
    static const char *const forms[] = {"json", "yaml"};
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        struct outcome o = run_command(command_check, OBJECTS, (const char *[]){"-f", "{}", "-o", forms[i], NULL});
        struct doc_parser *p = doc_parser_new();
        const struct doc *doc;
        size_t at = 0;
        struct err err;
        assert_true(safe_text_is(span_of(o.text), true));
        if (!doc_parse_yaml(p, span_of(o.text), &at, &doc, &err))
            fail_msg("%s: %s", err.msg, o.text);
        bool found = false;
        struct doc_value checks;
        assert_true(doc_find(doc_root(doc), SPAN("checks"), &checks));
        for (struct doc_iter it = doc_iter_of(checks); doc_next(&it);)
            found |= span_contains(doc_text_at(it.value, SPAN("message")), span_of(value));
        if (!found)
            fail_msg("%s: %s", forms[i], o.text);
        doc_parser_free(p);
        if (i != 0)
            continue;
        json_t *whole = json_loads(o.text, 0, NULL);
        assert_non_null(find_text(whole, value));
        json_decref(whole);
    }
}

/* An annotation may have 256 KiB. */
static void long_values_are_cut(void **state)
{
    (void)state;
    enum { LONG = 256 * 1024 };
    struct buf b = {0};
    buf_add(&b, SPAN("apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general, annotations: {stowage.dev/node-cost: \""));
    for (int i = 0; i < LONG; i++)
        buf_add_char(&b, 'y');
    buf_add(&b, SPAN("\"}}\nspec: {template: {spec: {requirements: [], " CLASS "}}}\n"));
    command *const runs[] = {command_plan, command_check};
    for (size_t i = 0; i < COUNT_OF(runs); i++) {
        struct outcome o = run_command(runs[i], b.ptr, (const char *[]){"-f", "{}", NULL});
        if (strlen(o.text) > 2000 || strstr(o.text, "yyy…\" ") == NULL || strstr(o.text, "write dollars per hour") == NULL)
            fail_msg("%zu: %zu bytes: %s", i, strlen(o.text), o.text);
    }
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_line_is_forged),
        cmocka_unit_test(exact_for_programs),
        cmocka_unit_test(long_values_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
