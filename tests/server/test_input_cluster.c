/* A cluster is read as its objects in files are; what cannot be read of it is told by name. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "kube/pod.h"
#include "server/input_cluster.h"
#include "sim/cluster.h"

enum { START = 1767323045 }; /* seconds */

#define POD(name, ns) "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: " ns "}\n" \
                      "spec: {containers: [{name: c, image: i}]}\n"
#define OBJECTS                                                                                    \
    POD("web-0", "shop") POD("web-1", "shop")                                                      \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"                                      \
    "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n"         \
    "spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, " \
    "spec: {containers: [{name: c, image: i}]}}}\n"                                                \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec: {template: {spec: "  \
    "{requirements: [], nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}}}\n"

/* --- the cluster in memory --- */

struct memory {
    struct sim_cluster *cluster;
    wall_ms now;
};

static mono_ms step(void *user)
{
    struct memory *m = user;
    m->now++;
    sim_cluster_step(m->cluster, m->now);
    return (mono_ms)m->now;
}

static void reads_what_is_there(void **state)
{
    (void)state;
    struct sim_cluster_options of = {.now = (wall_ms)START * MS_SECOND};
    struct memory m = {sim_cluster_new(&of), of.now};
    struct options none = {0}, replicas = {.replicas = {.count = 1}};
    const struct options *asked[] = {&none, &replicas};
    struct err err = {0};
    assert_true(sim_cluster_load(m.cluster, span_of(OBJECTS), NULL, &err));
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        struct input o;
        input_init(&o);
        struct input_cluster c = {sim_client_new(m.cluster), step, &m, SPAN("https://here")};
        assert_true(input_cluster_read(&o, asked[i], &c, &err));
        assert_int_equal(o.kinds[KIND_POD].count, 2);
        assert_int_equal(o.kinds[KIND_NODE].count, 1);
        assert_int_equal(o.kinds[KIND_NODE_POOL].count, 1);
        assert_int_equal(o.kinds[KIND_DEPLOYMENT].count, i); /* of use to --replicas alone */
        assert_int_equal(o.warning_count, 0);
        const struct pod *p = o.kinds[KIND_POD].items[1];
        assert_true(span_eq(p->meta.name, SPAN("web-1")) && span_eq(p->meta.ns, SPAN("shop")));
        input_release(&o);
    }
    sim_cluster_free(m.cluster);
}

/* The file's own web-0 is used, without a word; two files that have it are still told. */
static void files_win(void **state)
{
    (void)state;
    struct sim_cluster_options of = {.now = (wall_ms)START * MS_SECOND};
    struct memory m = {sim_cluster_new(&of), of.now};
    struct options none = {0};
    struct err err = {0};
    struct input o;
    char path[] = "/tmp/stowage-input-XXXXXX";
    const char *paths[] = {path};
    struct texts files = {paths, 1};
    static const char text[] = POD("web-0", "shop") POD("api-0", "shop");
    int fd = mkstemp(path);
    assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
    close(fd);
    assert_true(sim_cluster_load(m.cluster, span_of(OBJECTS), NULL, &err));
    input_init(&o);
    assert_true(input_read(&o, &files, NULL, &err));
    struct input_cluster c = {sim_client_new(m.cluster), step, &m, SPAN("https://here")};
    assert_true(input_cluster_read(&o, &none, &c, &err));
    input_check(&o);
    assert_int_equal(o.kinds[KIND_POD].count, 3);
    assert_int_equal(o.warning_count, 0);
    assert_string_equal(input_origin(o.kinds[KIND_POD].items[1])->file, path); /* api-0, web-0, web-1 */
    assert_string_equal(input_origin(o.kinds[KIND_POD].items[2])->file, INPUT_CLUSTER);
    input_release(&o);
    sim_cluster_free(m.cluster);
    unlink(path);
}

/* --- an API server that does as it is told --- */

struct script {
    struct api api;
    struct doc_parser *parser;
    enum err_kind of_pods, of_overlays, of_others; /* ERR_NONE: an empty list */
    bool silent;                                   /* about pods */
    uint32_t busy;                                 /* times that pods fail before they are listed */
    bool anew;                                     /* the list of pods is begun a second time */
    const char *pod;                               /* listed; NULL: none */
    const char *message;
    mono_ms now;
    struct api_sink sink; /* of pods */
};

static void put_pod(struct script *s, const struct api_sink *sink)
{
    const struct doc *doc;
    struct err err;
    if (s->pod == NULL)
        return;
    assert_true(doc_parse_json(s->parser, span_of(s->pod), &doc, &err));
    sink->event(sink->user, KIND_POD, WATCH_PUT, doc_root(doc));
}

static void list(struct script *s, enum kind k, const struct api_sink *sink, enum err_kind fault)
{
    struct err err = {.kind = fault};
    if (fault != ERR_NONE) {
        err_set(&err, fault, "%s", s->message != NULL ? s->message : kind_info(k)->plural);
        sink->state(sink->user, k, &err);
        return;
    }
    for (int i = 0; i < (k == KIND_POD && s->anew ? 2 : 1); i++) {
        sink->list_begin(sink->user, k);
        if (k == KIND_POD)
            put_pod(s, sink);
    }
    sink->list_end(sink->user, k, false);
    sink->list_end(sink->user, k, false); /* a list later, of a watch that expired, changes nothing */
}

static void on_watch(struct api *api, enum kind k, const struct api_sink *sink)
{
    struct script *s = (struct script *)api;
    if (k == KIND_POD)
        s->sink = *sink;
    for (int i = 0; k != KIND_POD && i < 3; i++) /* the client tries again */
        list(s, k, sink, k == KIND_NODE_OVERLAY ? s->of_overlays : s->of_others);
}

static mono_ms round_of(void *user)
{
    enum { ROUND = 1000 };
    struct script *s = user;
    s->now += ROUND;
    if (!s->silent && s->sink.user != NULL) {
        bool fails = s->busy != 0;
        list(s, KIND_POD, &s->sink, fails ? ERR_RETRY : s->of_pods);
        s->busy -= fails;
    }
    return s->now;
}

static bool read_from(struct script *s, struct input *o, struct err *err)
{
    static const struct api_ops ops = {.watch = on_watch};
    struct options options = {.gates = {.node_overlay = true}};
    struct input_cluster c = {&s->api, round_of, s, SPAN("https://here")};
    s->api.ops = &ops;
    s->parser = doc_parser_new();
    input_init(o);
    bool ok = input_cluster_read(o, &options, &c, err);
    doc_parser_free(s->parser);
    return ok;
}

#define WEB "{\"metadata\": {\"name\": \"web-0\", \"namespace\": \"shop\"}, \"spec\": {\"fresh\": 1}}"

static void what_cannot_be_read_is_told(void **state)
{
    (void)state;
    static const struct {
        struct script script;
        const char *error, *line; /* NULL: it goes well; in mistakes or warnings */
        size_t pods;
    } rows[] = {
        {{.of_pods = ERR_FORBIDDEN}, "1 of 18 kinds of https://here cannot be read; nothing planned",
         "the cluster: pods cannot be read: pods\n", 0},
        {{.silent = true}, "1 of 18 kinds of https://here cannot be read; nothing planned",
         "the cluster: pods cannot be read: no answer came in time\n", 0},
        {{.of_overlays = ERR_FORBIDDEN}, NULL, "the cluster: nodeoverlays are passed over: nodeoverlays", 0},
        {{.of_pods = ERR_RETRY, .of_overlays = ERR_RETRY, .of_others = ERR_RETRY, .message = "nobody there"},
         "https://here: nobody there", "", 0},
        {{.busy = 2, .pod = WEB}, NULL, "", 1},
        {{.busy = 3}, "1 of 18 kinds of https://here cannot be read; nothing planned", "pods cannot be read", 0},
        {{.anew = true, .pod = WEB}, NULL, "", 1},
        {{.pod = "{\"metadata\": {\"name\": \"web-0\"}, \"spec\": {\"priority\": \"high\"}}"}, NULL,
         "the cluster: Pod web-0: spec.priority: ", 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct script s = rows[i].script;
        struct err err = {0};
        struct input o;
        bool ok = read_from(&s, &o, &err);
        struct span told = ok ? (o.warning_count != 0 ? o.warnings[0] : SPAN("")) : buf_span(&o.mistake_lines);
        if (ok != (rows[i].error == NULL) || (!ok && strcmp(err.msg, rows[i].error) != 0) ||
            !span_contains(told, span_of(rows[i].line)) || o.kinds[KIND_POD].count != rows[i].pods)
            fail_msg("row %zu: %s, %.*s, %zu pods", i, ok ? "read" : err.msg, SPAN_ARG(told), o.kinds[KIND_POD].count);
        if (ok && rows[i].line[0] == '\0')
            assert_int_equal(o.warning_count, 0);
        input_release(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_is_there),
        cmocka_unit_test(files_win),
        cmocka_unit_test(what_cannot_be_read_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
