/* kube-scheduler refuses unknown fields and reads the file once, at start; what it would refuse by
 * itself is not looked for here, but for the few that people get wrong with an extender. */
#include "server/check/scheduler_file.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/base64.h"
#include "base/doc.h"
#include "kube/meta.h"
#include "server/input.h"

#define TOPIC "scheduler-config"

enum {
    TIMEOUT_MAX_MS = 1 * MS_SECOND,     /* longer, and a Stowage that hangs stops scheduling */
    TIMEOUT_DEFAULT_MS = 5 * MS_SECOND, /* kube-scheduler's */
};

struct entry { /* of extenders[] */
    struct check_report *report;
    struct doc_value value;
    uint32_t at, wrong;
};

__attribute__((format(printf, 4, 5))) static void say(struct entry *e, enum check_level level,
                                                      const char *fix, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    e->wrong++;
    check_say(e->report, level, TOPIC, fix, "extenders[%u]: %s", e->at, text);
}

static bool is_true(struct doc_value object, const char *key)
{
    struct doc_value v;
    return doc_find(object, span_of(key), &v) && doc_type(v) == DOC_BOOL && doc_bool(v);
}

static struct span text_of(struct doc_value object, const char *key)
{
    return doc_text_at(object, span_of(key));
}

/* Ours is the one that calls /scheduler. */
static bool is_ours(struct doc_value extender)
{
    struct span url = text_of(extender, "urlPrefix");
    return span_has_suffix(url, SPAN("/scheduler")) || span_has_suffix(url, SPAN("/scheduler/")) ||
           span_contains(url, SPAN("stowage"));
}

static void check_verbs(struct entry *e)
{
    static const struct {
        const char *key, *verb, *without;
        enum check_level missing;
    } verbs[] = {
        {"filterVerb", "filter", "planned nodes are not held for their pods", CHECK_FAIL},
        {"prioritizeVerb", "prioritize", "pods are spread where they could be packed", CHECK_WARN},
        {"preemptVerb", "preempt", "pods are evicted for room that is held for others", CHECK_WARN},
    };
    for (size_t i = 0; i < COUNT_OF(verbs); i++) {
        struct span verb = text_of(e->value, verbs[i].key);
        char fix[64];
        snprintf(fix, sizeof(fix), "set %s: %s", verbs[i].key, verbs[i].verb);
        if (verb.len == 0)
            say(e, verbs[i].missing, fix, "no %s, so that %s", verbs[i].key, verbs[i].without);
        else if (!span_eq(verb, span_of(verbs[i].verb)))
            say(e, CHECK_FAIL, fix, "%s is \"%.*s\", which Stowage does not serve", verbs[i].key,
                SPAN_ARG(verb));
    }
    if (text_of(e->value, "bindVerb").len != 0)
        say(e, CHECK_FAIL, "remove bindVerb",
            "bindVerb is set; kube-scheduler makes every binding itself");
    if (text_of(e->value, "prioritizeVerb").len != 0 &&
        doc_int64_at(e->value, SPAN("weight"), 0) <= 0)
        say(e, CHECK_FAIL, "set weight: 2",
            "weight is not above 0, and kube-scheduler does not start with that");
}

static void check_timeout(struct entry *e)
{
    struct span text = text_of(e->value, "httpTimeout");
    span_ms timeout = TIMEOUT_DEFAULT_MS;
    if (text.len != 0 && !duration_parse(text, &timeout))
        say(e, CHECK_FAIL, "set httpTimeout: 200ms", "httpTimeout \"%.*s\" is not a duration",
            SPAN_ARG(text));
    else if (timeout > TIMEOUT_MAX_MS || timeout == 0)
        say(e, CHECK_WARN, "set httpTimeout: 200ms",
            "httpTimeout is %s; a Stowage that hangs holds up every pod for that long",
            text.len != 0 && timeout != 0 ? arena_cstr(e->report->a, text) : "not set, which is 5s");
}

static void check_tls(struct entry *e)
{
    struct doc_value tls;
    struct span url = text_of(e->value, "urlPrefix");
    bool given = doc_find(e->value, SPAN("tlsConfig"), &tls) && doc_type(tls) == DOC_OBJECT;
    bool ca = given && (text_of(tls, "caFile").len != 0 || text_of(tls, "caData").len != 0);
    bool cert = given && (text_of(tls, "certFile").len != 0 || text_of(tls, "certData").len != 0);
    bool key = given && (text_of(tls, "keyFile").len != 0 || text_of(tls, "keyData").len != 0);
    if (!span_has_prefix(url, SPAN("https://"))) {
        say(e, CHECK_FAIL, "begin urlPrefix with https://",
            "urlPrefix \"%.*s\" is not https, which is all that Stowage speaks", SPAN_ARG(url));
        return;
    }
    if (given && is_true(tls, "insecure"))
        say(e, ca ? CHECK_FAIL : CHECK_WARN, "take tlsConfig.insecure out, and name caFile",
            ca ? "tlsConfig has both insecure and a CA, and kube-scheduler does not start with that"
               : "tlsConfig is insecure: whoever answers at that address decides on pods");
    else if (!ca)
        say(e, CHECK_WARN, "set tlsConfig.caFile to ca.crt of Secret stowage-scheduler-client",
            "tlsConfig names no CA: Stowage's own is not trusted, or anybody is (enableHTTPS)");
    if (!cert || !key)
        say(e, CHECK_FAIL,
            "set tlsConfig.certFile and keyFile to tls.crt and tls.key of Secret "
            "stowage-scheduler-client",
            "tlsConfig has no client certificate, without which Stowage answers nobody");
}

/* A path is one of the host on which kube-scheduler runs, which may be this one. */
static struct scheduler_copy copy_of(struct arena *a, struct doc_value tls, const char *data_key, const char *file_key)
{
    struct scheduler_copy copy = {.where = text_of(tls, file_key)};
    struct span data = text_of(tls, data_key);
    if (data.len != 0) { /* wins */
        copy.where = arena_printf(a, "tlsConfig.%s", data_key);
        if (!base64_decode(a, data, &copy.text))
            err_set(&copy.why, ERR_INVALID, "it is not base64");
    } else if (copy.where.len != 0) {
        copy.where = arena_dup(a, copy.where);
        if (copy.where.ptr[0] != '/')
            err_set(&copy.why, ERR_INVALID, "the path is relative to where kube-scheduler starts");
        else
            input_text(a, arena_cstr(a, copy.where), &copy.text, &copy.why);
    }
    return copy;
}

static void read_copies(struct entry *e, struct scheduler_file *out)
{
    struct doc_value tls;
    if (!doc_find(e->value, SPAN("tlsConfig"), &tls) || doc_type(tls) != DOC_OBJECT)
        return;
    out->ca = copy_of(e->report->a, tls, "caData", "caFile");
    out->cert = copy_of(e->report->a, tls, "certData", "certFile");
}

static void check_entry(struct entry *e)
{
    struct doc_value managed;
    check_verbs(e);
    if (!is_true(e->value, "nodeCacheCapable"))
        say(e, CHECK_FAIL, "set nodeCacheCapable: true",
            "nodeCacheCapable is not true: Stowage refuses whole Nodes, and since 1.33 "
            "kube-scheduler's own scores would be wrong");
    if (!is_true(e->value, "ignorable"))
        say(e, CHECK_FAIL, "set ignorable: true",
            "ignorable is not true: nothing is scheduled while Stowage is away");
    if (doc_find(e->value, SPAN("managedResources"), &managed) && doc_count(managed) != 0)
        say(e, CHECK_FAIL, "remove managedResources",
            "managedResources keeps all pods but those that ask for them from Stowage");
    check_timeout(e);
    check_tls(e);
}

/* The scheduler asks ignorable extenders last, in their order. What another refuses of the one node that is
 * planned, or of the few that are best, leaves the pod without any. */
static void check_last(struct entry *e, struct doc_iter rest)
{
    while (doc_next(&rest))
        if (is_true(rest.value, "ignorable") && text_of(rest.value, "filterVerb").len != 0) {
            struct span url = text_of(rest.value, "urlPrefix");
            say(e, CHECK_WARN, "move Stowage's entry to the end of extenders",
                "%.*s may refuse the nodes that Stowage has chosen: it is asked after it",
                SPAN_ARG(url));
            return;
        }
}

static void check_extenders(struct check_report *r, const char *path, struct doc_value root, struct scheduler_file *out)
{
    struct doc_value list;
    struct entry e = {.report = r};
    if (doc_find(root, SPAN("extenders"), &list)) {
        struct doc_iter it = doc_iter_of(list);
        for (; doc_next(&it); e.at++)
            if (is_ours(it.value)) {
                e.value = it.value;
                check_entry(&e);
                read_copies(&e, out);
                check_last(&e, it);
                if (e.wrong == 0)
                    check_say(r, CHECK_OK, TOPIC, NULL, "%s calls Stowage at %.*s", path,
                              SPAN_ARG(text_of(it.value, "urlPrefix")));
                return;
            }
    }
    check_say(r, CHECK_FAIL, TOPIC, "take the entry of manifests/scheduler-configuration.yaml",
              "%s has no extender that is Stowage's", path);
}

/* The percentage of nodes looked at: `value` when it says one, else `otherwise`. */
static int64_t percentage(struct doc_value value, int64_t otherwise)
{
    return doc_int64_at(value, SPAN("percentageOfNodesToScore"), otherwise);
}

/* True: every profile looks at all. */
static bool check_sampling(struct check_report *r, struct doc_value root)
{
    struct doc_value profiles;
    int64_t whole = percentage(root, 0);
    uint32_t profile_count = 0, wrong = 0;
    const char *fix = "set percentageOfNodesToScore: 100";
    if (doc_find(root, SPAN("profiles"), &profiles)) {
        struct doc_iter it = doc_iter_of(profiles);
        for (; doc_next(&it); profile_count++) {
            struct span name = text_of(it.value, "schedulerName");
            int64_t of = percentage(it.value, whole);
            if (of >= 100)
                continue;
            wrong++;
            check_say(r, CHECK_WARN, "sampling", fix,
                      "profile %.*s looks at a part of the nodes where there are 100 or more "
                      "(percentageOfNodesToScore %lld): the planned one may not be among them",
                      SPAN_ARG(name.len != 0 ? name : SPAN("default-scheduler")), (long long)of);
        }
    }
    if (profile_count == 0 && whole < 100)
        check_say(r, CHECK_WARN, "sampling", fix,
                  "kube-scheduler looks at a part of the nodes where there are 100 or more "
                  "(percentageOfNodesToScore %lld): the planned one may not be among them",
                  (long long)whole);
    else if (wrong == 0)
        check_say(r, CHECK_OK, "sampling", NULL,
                  "every node is offered (percentageOfNodesToScore 100)");
    return wrong == 0 && (profile_count != 0 || whole >= 100);
}

bool check_scheduler_file(struct check_report *r, const char *path, struct span text, struct scheduler_file *out,
                          struct err *err)
{
    struct doc_parser *parser = doc_parser_new();
    const struct doc *d;
    size_t at = 0;
    *err = (struct err){0};
    *out = (struct scheduler_file){0};
    bool ok = doc_parse_yaml(parser, text, &at, &d, err);
    if (!ok && err->kind == ERR_NONE)
        err_set(err, ERR_INVALID, "is empty");
    if (ok && !span_eq(text_of(doc_root(d), "kind"), SPAN("KubeSchedulerConfiguration")))
        ok = err_set(err, ERR_INVALID, "is not a KubeSchedulerConfiguration");
    if (ok) {
        check_extenders(r, path, doc_root(d), out);
        out->every_node = check_sampling(r, doc_root(d));
    } else {
        err_wrap(err, "%s", path);
    }
    doc_parser_free(parser);
    return ok;
}
