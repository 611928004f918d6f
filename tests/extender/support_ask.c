#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "support_ask.h"

static void put_names(struct buf *b, const char *names)
{
    struct span rest = span_of(names);
    for (bool first = true; rest.len != 0; first = false) {
        struct span name = span_cut(rest, ' ', &rest);
        buf_addf(b, "%s\"%.*s\"", first ? "" : ",", SPAN_ARG(name));
    }
}

void ask_put_args(struct buf *b, const char *pod, const char *uid, const char *names)
{
    char derived[64];
    snprintf(derived, sizeof(derived), "uid-%s", pod);
    buf_addf(b,
             "{\"Pod\":{\"metadata\":{\"namespace\":\"web\",\"name\":\"%s\",\"uid\":\"%s\"},"
             "\"spec\":{\"containers\":[]},\"status\":{}},\"Nodes\":null,\"NodeNames\":[",
             pod, uid != NULL ? uid : derived);
    put_names(b, names);
    buf_add(b, SPAN("]}"));
}

json_t *ask_parsed(const struct buf *reply)
{
    json_error_t error;
    json_t *root = json_loadb(reply->ptr, reply->len, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        fail_msg("%s: %s", error.text, reply->ptr);
    return root;
}

void ask_joined(json_t *from, char *out, size_t size)
{
    size_t at = 0;
    out[0] = '\0';
    if (json_is_array(from)) {
        for (size_t i = 0; i < json_array_size(from); i++)
            at += (size_t)snprintf(out + at, size - at, "%s%s", at != 0 ? " " : "",
                                   json_string_value(json_array_get(from, i)));
        return;
    }
    for (void *it = json_object_iter(from); it != NULL; it = json_object_iter_next(from, it))
        at += (size_t)snprintf(out + at, size - at, "%s%s", at != 0 ? " " : "",
                               json_object_iter_key(it));
}

void ask_filter_answer(struct cluster *c, const char *pod, const char *names, struct answer *out)
{
    struct buf body = {0}, reply = {0};
    struct err err;
    ask_put_args(&body, pod, NULL, names);
    if (!extender_filter(&c->scratch, &c->view, buf_span(&body), &reply, &out->verdict, &err))
        fail_msg("%s: %s", pod, err.msg);
    json_t *root = ask_parsed(&reply);
    ask_joined(json_object_get(root, "NodeNames"), out->passed, sizeof(out->passed));
    ask_joined(json_object_get(root, "FailedNodes"), out->failed, sizeof(out->failed));
    ask_joined(json_object_get(root, "FailedAndUnresolvableNodes"), out->unresolvable,
               sizeof(out->unresolvable));
    json_decref(root);
    buf_release(&body);
    buf_release(&reply);
}

void ask_preempt_left(struct cluster *c, const char *pod, const char *candidates, char *out, size_t size)
{
    struct buf body = {0}, reply = {0};
    struct extender_verdict verdict;
    struct err err;
    buf_addf(&body,
             "{\"Pod\":{\"metadata\":{\"namespace\":\"web\",\"name\":\"%s\",\"uid\":\"uid-%s\"}},"
             "\"NodeNameToMetaVictims\":{",
             pod, pod);
    struct span rest = span_of(candidates);
    for (bool first = true; rest.len != 0; first = false) {
        struct span victim, one = span_cut(rest, ' ', &rest), node = span_cut(one, ':', &victim);
        buf_addf(&body, "%s\"%.*s\":{\"Pods\":[{\"UID\":\"uid-%.*s\"}],\"NumPDBViolations\":0}",
                 first ? "" : ",", SPAN_ARG(node), SPAN_ARG(victim));
    }
    buf_add(&body, SPAN("}}"));
    if (!extender_preempt(&c->scratch, &c->view, buf_span(&body), &reply, &verdict, &err))
        fail_msg("%s: %s", pod, err.msg);
    json_t *root = ask_parsed(&reply);
    ask_joined(json_object_get(root, "NodeNameToMetaVictims"), out, size);
    json_decref(root);
    buf_release(&body);
    buf_release(&reply);
}

void ask_expect_preempt(struct cluster *c, const char *pod, const char *nominated, const char *candidates,
                        const char *want, const char *label)
{
    struct buf body = {0}, reply = {0};
    struct extender_verdict verdict;
    struct err err;
    char all[512];
    buf_addf(&body,
             "{\"Pod\":{\"metadata\":{\"namespace\":\"web\",\"name\":\"%s\",\"uid\":\"uid-%s\"},"
             "\"status\":{\"nominatedNodeName\":\"%s\"}},\"NodeNameToMetaVictims\":{%s}}",
             pod, pod, nominated, candidates);
    assert_true(extender_preempt(&c->scratch, &c->view, buf_span(&body), &reply, &verdict, &err));
    snprintf(all, sizeof(all), "{\"NodeNameToMetaVictims\":{%s}}", want);
    buf_add_char(&reply, '\0');
    if (strcmp(reply.ptr, all) != 0)
        fail_msg("%s: got %s, want %s", label, reply.ptr, all);
    buf_release(&body);
    buf_release(&reply);
}
