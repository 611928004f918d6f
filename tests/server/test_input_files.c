/* Files as people have them: what is read as kubectl reads it, what is passed over, and what is refused by its name. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "server/command.h"
#include "support_command.h"

static struct outcome plan(const char *objects)
{
    static const char *const args[COMMAND_ARGS_MAX] = {"-f", "{}", "--all-unbound"};
    return run_command(command_plan, objects, args);
}

static void expect_text(const char *label, const struct outcome *o, const char *want)
{
    if (strstr(o->text, want) == NULL)
        fail_msg("%s: no \"%s\" in: status %d, %s", label, want, o->status, o->text);
}

#define POOL                                                                                       \
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec: {template: "    \
    "{spec: {requirements: [], nodeClassRef: {group: g, kind: K, name: default}}}}\n"
#define JSON_POOL                                                                                  \
    "{\"apiVersion\": \"karpenter.sh/v1\", \"kind\": \"NodePool\", \"metadata\": {\"name\": \"general\"},\n" \
    "\"spec\": {\"template\": {\"spec\": {\"requirements\": [], \"nodeClassRef\":\n"               \
    "{\"group\": \"g\", \"kind\": \"K\", \"name\": \"default\"}}}}}"
#define JSON_POD(name) "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"" name "\"}}"

/* --- as kubectl reads them --- */

static void read_as_kubectl_does(void **state)
{
    (void)state;
    static const struct {
        const char *label, *objects, *want;
    } rows[] = {
        {"YAML in flow style", "{apiVersion: v1, kind: Pod, metadata: {name: b}}\n---\n" POOL, "1 pod waits:"},
        {"nearly JSON", "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"b\",},}\n---\n" POOL,
         "1 pod waits:"},
        {"JSON after JSON", JSON_POOL JSON_POD("a") "\n\n" JSON_POD("b"), "2 pods wait:"},
        {"with marks between", JSON_POOL "\n---\n" JSON_POD("a") "\n---\n", "1 pod waits:"},
        {"anchors and merge keys",
         POOL "---\napiVersion: v1\nkind: List\nitems:\n"
              "- {apiVersion: v1, kind: Pod, metadata: &m {name: a, namespace: shop}, spec: &s "
              "{containers: [{name: c, resources: {requests: {cpu: 3}}}]}}\n"
              "- {apiVersion: v1, kind: Pod, metadata: {<<: *m, name: b}, spec: *s}\n",
         "  6/7.9 "},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outcome o = plan(rows[i].objects);
        if (o.status != 0)
            fail_msg("%s: status %d, %s", rows[i].label, o.status, o.text);
        expect_text(rows[i].label, &o, rows[i].want);
    }
}

static void faults_have_their_lines(void **state)
{
    (void)state;
    static const struct {
        const char *objects, *want;
    } rows[] = {
        {JSON_POD("a") "\n\n{\"apiVersion\": \"v1\",\n\"kind\" \"Pod\"}", ":4: "},
        {JSON_POD("a") "\n\n{\"apiVersion\": \"v1\",\n\"kind\": [\"Pod\"],\n\"metadata\": {}}", ":4: kind: a list is not a string"},
        {"{\"apiVersion\": \"v1\",\n\"kind\": \"Pod\",\n", ":3: the text ends in the middle"},
        {"{apiVersion: v1,\nkind: [Pod}\n", ":2: "},
        {"a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n"
         "c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\n"
         "e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]\n"
         "g: &g [*f, *f, *f, *f, *f, *f, *f, *f, *f]\nh: &h [*g, *g, *g, *g, *g, *g, *g, *g, *g]\n",
         ":7: the aliases (*name) of this document come to more than 16 MiB when they are written out\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outcome o = plan(rows[i].objects);
        if (o.status != 2)
            fail_msg("%s: status %d, %s", rows[i].objects, o.status, o.text);
        expect_text(rows[i].objects, &o, rows[i].want);
        expect_text(rows[i].objects, &o, "1 mistake in 1 of 1 file; nothing planned\n");
    }
}

static void templates_are_called_so(void **state)
{
    (void)state;
    static const struct {
        const char *objects, *where;
    } rows[] = {
        {"{{- if .Values.on }}\napiVersion: v1\nkind: Pod\n{{- end }}\n", ":1: "},
        {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}\n", ":4: "},
        {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels:\n    {{- include \"l\" . | nindent 4 }}\n", ":6: "},
        {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: \"{{ .Release.Name }}\"\n", ":1: Pod {{ .Release.Name }}: metadata.name: "},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outcome o = plan(rows[i].objects);
        char want[256];
        snprintf(want, sizeof(want), "%san unrendered Helm template ({{ … }}); give what `helm template` prints\n",
                 rows[i].where);
        if (o.status != 2)
            fail_msg("%s: status %d, %s", rows[i].objects, o.status, o.text);
        expect_text(rows[i].objects, &o, want);
    }
    struct outcome o = plan("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {b: '{{ x }}'}\n---\na: [\n\n\n");
    assert_null(strstr(o.text, "Helm"));
}

/* --- what is something else --- */

static void other_documents_are_passed_over(void **state)
{
    (void)state;
    static const struct {
        const char *label, *objects, *want;
    } rows[] = {
        {"comments", "# nothing\n# here\n", ": passed over: there is no object in it\n"},
        {"empty", "", ": passed over: there is no object in it\n"},
        {"JSON", "{\"a\": 1}", ":1: passed over: an object without apiVersion and kind is no Kubernetes object\n"},
        {"a chart's values", "\nimage: {tag: x}\nkind: web\n", ":2: passed over: an object without apiVersion and kind"},
        {"a list", "[1, 2]", ":1: passed over: a list is no Kubernetes object\n"},
        {"words", "hello\n", ":1: passed over: a string is no Kubernetes object\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outcome o = plan(rows[i].objects);
        if (o.status != 2) /* there is nothing else: as kubectl has it */
            fail_msg("%s: status %d, %s", rows[i].label, o.status, o.text);
        expect_text(rows[i].label, &o, "warning: /tmp/");
        expect_text(rows[i].label, &o, rows[i].want);
        expect_text(rows[i].label, &o, "stowage plan: no Kubernetes object in 1 file; nothing planned\n");
    }
    assert_int_equal(plan("apiVersion: v1\nkind: List\nitems: []\n").status, 0);
    assert_int_equal(plan("# nothing\n---\napiVersion: v1\nkind: List\nitems: []\n---\nhello\n").status, 0);
}

/* --- directories --- */

static void put(const char *dir, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void link_to(const char *dir, const char *name, const char *target)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(symlink(target, path), 0);
}

static void remove_all(const char *dir, const char *const *names)
{
    char path[256];
    for (; *names != NULL; names++) {
        snprintf(path, sizeof(path), "%s/%s", dir, *names);
        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(rmdir(dir), 0);
}

/* Two links to itself: every way through them is another name, 2^32 of them. */
static void links_in_a_circle_end(void **state)
{
    (void)state;
    char dir[] = "/tmp/stowage-files-XXXXXX", sub[64];
    assert_non_null(mkdtemp(dir));
    snprintf(sub, sizeof(sub), "%s/sub", dir);
    assert_int_equal(mkdir(sub, 0700), 0);
    put(dir, "pool.yaml", POOL);
    put(dir, "values.yaml", "replicas: 2\n");
    put(sub, "pod.json", JSON_POD("a"));
    link_to(dir, "one", ".");
    link_to(dir, "two", ".");
    link_to(sub, "up", "..");
    link_to(sub, "nowhere", "no-such");
    struct outcome o = run_command(command_plan, "", (const char *const[COMMAND_ARGS_MAX]){"-f", dir, "--all-unbound"});
    assert_int_equal(o.status, 0);
    expect_text("once", &o, "1 pod waits:");
    expect_text("the other file", &o, "values.yaml:1: passed over");
    assert_null(strstr(o.text, "already given"));
    remove_all(sub, (const char *const[]){"pod.json", "up", "nowhere", NULL});
    remove_all(dir, (const char *const[]){"pool.yaml", "values.yaml", "one", "two", NULL});
}

/* --- large ones --- */

/* Larger than what is parsed whole: items one by one, and as if it were whole. */
static void put_large_list(struct buf *b, const char *odd)
{
    enum { PODS = 3000 };
    buf_addf(b, "{\"apiVersion\": \"v1\", \"items\": [\n%s", JSON_POOL);
    for (int i = 0; i < PODS; i++)
        buf_addf(b, ",\n{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"p%d\", \"annotations\": {\"a\": "
                    "\"]}\\\\\\\"[{ and what else a text may hold, so that it is long enough\"}}}",
                 i);
    buf_addf(b, ",\n%s],\n\"kind\": \"List\"}\n", odd);
    buf_add_char(b, '\0');
}

static void large_lists_are_read_item_by_item(void **state)
{
    (void)state;
    static const struct {
        const char *odd, *want;
        int status;
    } rows[] = {
        {JSON_POD("last"), "3001 pods wait:", 0},
        {JSON_POD("p7"), ":3005: Pod default/p7: already given at ", 0},
        {"{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\":\n{\"name\": [1]}}", ":3006: metadata.name: a list is not a string", 2},
        {"{\"apiVersion\": \"v1\", \"kind\":\n\"Pod}", ":3006: a string does not end on its line", 2},
        {JSON_POD("x") "\n" JSON_POD("y"), ":3006: expected a comma or a closing bracket", 2},
        {"{\"a\": 01}", ":3005: a number is malformed", 2},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf b = {0};
        put_large_list(&b, rows[i].odd);
        struct outcome o = plan(b.ptr);
        buf_release(&b);
        if (o.status != rows[i].status)
            fail_msg("%s: status %d, %s", rows[i].odd, o.status, o.text);
        expect_text(rows[i].odd, &o, rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_as_kubectl_does),
        cmocka_unit_test(faults_have_their_lines),
        cmocka_unit_test(templates_are_called_so),
        cmocka_unit_test(other_documents_are_passed_over),
        cmocka_unit_test(links_in_a_circle_end),
        cmocka_unit_test(large_lists_are_read_item_by_item),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
