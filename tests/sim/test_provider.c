/* Provider kwok at an API server: whose machine it is tells the claim's UID, whatever was called how often. */
#include <stdio.h>
#include <string.h>

#include "base/decode.h"
#include "cloud/kwok.h"
#include "kube/kind.h"
#include "kube/node.h"
#include "tests/sim/support_sim.h"

#define CLASS(status_)                                                                             \
    "{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":\"KWOKNodeClass\",\"metadata\":{\"name\":"    \
    "\"default\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"" status_                \
    "\",\"reason\":\"Images\",\"message\":\"no image\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}"
#define CLAIM(uid_, meta_)                                                                         \
    "{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodeClaim\",\"metadata\":{\"name\":\"one\",\"uid\":\"" uid_    \
    "\"" meta_ "},\"spec\":{\"nodeClassRef\":{\"group\":\"karpenter.kwok.sh\",\"kind\":\"KWOKNodeClass\",\"name\":" \
    "\"default\"},\"requirements\":[{\"key\":\"node.kubernetes.io/instance-type\",\"operator\":\"In\",\"values\":"   \
    "[\"c-2x-amd64-linux\"]}]}}"
#define NODE(uid_, meta_)                                                                          \
    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"one\",\"annotations\":{"                  \
    "\"stowage.dev/nodeclaim-uid\":\"" uid_ "\"}" meta_ "},\"spec\":{\"providerID\":\"kwok://one\"}}"
#define GOES ",\"deletionTimestamp\":\"2026-01-02T03:00:00Z\",\"finalizers\":[\"example.com/x\"]"

struct desk {
    struct sim *sim;
    struct api *api;
    struct provider *provider;
    struct symtab *syms;
    struct arena arena;
    /* the last answer */
    uint32_t answers;
    struct err err;
    size_t machines;
};

static void on_done(void *user, const struct machine_result *r)
{
    struct desk *d = user;
    d->answers++;
    d->err = r->err;
    d->machines = r->count;
}

static void begin(struct desk *d, const char *objects[])
{
    *d = (struct desk){.sim = new_sim("{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"x\"}}"),
                       .syms = kube_symtab_new()};
    arena_init(&d->arena, 0);
    for (size_t i = 0; objects[i] != NULL; i++)
        load(d->sim, objects[i]);
    d->api = sim_client_new(sim_cluster(d->sim));
    d->provider = kwok_new(&(struct kwok_config){.api = d->api, .types = catalogue_builtin()});
}

static void end(struct desk *d)
{
    sim_client_free(d->api);
    d->provider->ops->free(d->provider);
    symtab_unref(d->syms);
    arena_release(&d->arena);
    sim_free(d->sim);
}

static void answered(struct desk *d)
{
    for (int i = 0; i < 100 && d->answers == 0; i++)
        run_for(d->sim, 100);
    assert_int_equal(d->answers, 1);
    d->answers = 0;
}

/* "one" of UID u1, whatever the API server has under that name. */
static struct node_claim *read_claim(struct desk *d)
{
    struct node_claim *claim = ARENA_NEW(&d->arena, struct node_claim);
    struct doc_parser *p = doc_parser_new();
    const struct doc *doc;
    struct err err;
    assert_true(doc_parse_json(p, SPAN(CLAIM("u1", "")), &doc, &err));
    assert_true(decode_one(&d->arena, d->syms, doc_root(doc), &node_claim_schema, claim, &err));
    doc_parser_free(p);
    return claim;
}

static void create(struct desk *d)
{
    d->provider->ops->create(d->provider, &(struct claim_order){read_claim(d), d->syms}, on_done, d);
    answered(d);
}

/* Whose the Node "one" is; "": there is none. */
static void expect_node(struct desk *d, const char *label, const char *uid)
{
    json_t *node = object_of(d->sim, KIND_NODE, NULL, "one");
    const json_t *has = json_object_get(tree_get(node, "metadata.annotations"), "stowage.dev/nodeclaim-uid");
    const char *text = json_is_string(has) ? json_string_value(has) : "";
    if (strcmp(text, uid) != 0)
        fail_msg("%s: the Node is of \"%s\", want \"%s\"", label, text, uid);
    json_decref(node);
}

static void creates(void **state)
{
    (void)state;
    static const struct {
        const char *label, *objects[4];
        enum err_kind want;
        const char *owner; /* of the Node, then */
    } rows[] = {
        {"for its claim", {CLASS("True"), CLAIM("u1", "")}, ERR_NONE, "u1"},
        {"not for one that is gone", {CLASS("True")}, ERR_NOT_FOUND, ""},
        {"not for one that is being deleted", {CLASS("True"), CLAIM("u1", GOES)}, ERR_NOT_FOUND, ""},
        {"not for another of its name", {CLASS("True"), CLAIM("u2", "")}, ERR_NOT_FOUND, ""},
        {"what it has made already it finds again", {CLASS("True"), CLAIM("u1", ""), NODE("u1", "")}, ERR_NONE, "u1"},
        {"what another has it does not take", {CLASS("True"), CLAIM("u1", ""), NODE("u2", "")}, ERR_RETRY, "u2"},
        {"nothing of a class that is not there", {CLAIM("u1", "")}, ERR_CAPACITY, ""},
        {"nothing of a class that is not ready", {CLASS("False"), CLAIM("u1", "")}, ERR_CONFLICT, ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct desk d;
        begin(&d, (const char **)(uintptr_t)rows[i].objects);
        for (int again = 0; again < 2; again++) {
            create(&d);
            if (d.err.kind != rows[i].want || (d.err.kind == ERR_NONE) != (d.machines == 1))
                fail_msg("%s: %s %s, %zu machines", rows[i].label, err_kind_name(d.err.kind), d.err.msg, d.machines);
            expect_node(&d, rows[i].label, rows[i].owner);
        }
        end(&d);
    }
}

static void removes(void **state)
{
    (void)state;
    static const struct {
        const char *label, *node, *left; /* whose Node is left; "": none */
    } rows[] = {
        {"its own", NODE("u1", ""), ""},
        {"not another's", NODE("u2", ""), "u2"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct desk d;
        begin(&d, (const char *[]){rows[i].node, NULL});
        d.provider->ops->remove(d.provider, SPAN("kwok://one"), SPAN("u1"), on_done, &d);
        answered(&d);
        assert_int_equal(d.err.kind, ERR_NOT_FOUND); /* its machine is gone */
        expect_node(&d, rows[i].label, rows[i].left);
        end(&d);
    }
}

/* "BOOT VERSION" of the Node "one"; static storage. */
static const char *boot(struct desk *d)
{
    static char text[128];
    json_t *node = object_of(d->sim, KIND_NODE, NULL, "one");
    snprintf(text, sizeof(text), "%.*s %.*s", SPAN_ARG(tree_string(node, "status.nodeInfo.bootID")),
             SPAN_ARG(tree_string(node, "metadata.resourceVersion")));
    json_decref(node);
    return text;
}

static void reboot(struct desk *d, const char *node, const char *operation, enum err_kind want)
{
    struct node_claim *claim = read_claim(d);
    claim->node_name = sym_intern(d->syms, span_of(node));
    d->provider->ops->reboot(d->provider, &(struct claim_order){claim, d->syms}, span_of(operation), on_done, d);
    answered(d);
    if (d->err.kind != want)
        fail_msg("%s of %s: %s %s", operation, node, err_kind_name(d->err.kind), d->err.msg);
}

/* The Node says another boot, once however often it is asked for. */
static void reboots(void **state)
{
    (void)state;
    struct desk d;
    char before[128];
    begin(&d, (const char *[]){NODE("u1", ""), NULL});
    reboot(&d, "one", "a", ERR_NONE);
    snprintf(before, sizeof(before), "%s", boot(&d));
    assert_memory_equal(before, "kwok-a ", strlen("kwok-a "));
    reboot(&d, "one", "a", ERR_NONE);
    assert_string_equal(boot(&d), before);
    reboot(&d, "", "b", ERR_RETRY); /* its claim names no Node */
    reboot(&d, "two", "b", ERR_NOT_FOUND);
    assert_string_equal(boot(&d), before);
    reboot(&d, "one", "b", ERR_NONE);
    assert_memory_equal(boot(&d), "kwok-b ", strlen("kwok-b "));
    end(&d);
}

static void finds(void **state)
{
    (void)state;
    static const struct {
        const char *node;
        enum err_kind want;
        size_t listed;
    } rows[] = {
        {NODE("u1", ""), ERR_NONE, 1},
        {NODE("u1", GOES), ERR_NOT_FOUND, 1}, /* and listed, as one that goes */
        {NULL, ERR_NOT_FOUND, 0},
        {"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"one\"},\"spec\":{\"providerID\":\"aws:///i-1\"}}",
         ERR_NOT_FOUND, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct desk d;
        begin(&d, (const char *[]){rows[i].node, NULL});
        d.provider->ops->get(d.provider, SPAN("kwok://one"), on_done, &d);
        answered(&d);
        assert_int_equal(d.err.kind, rows[i].want);
        d.provider->ops->list(d.provider, on_done, &d);
        answered(&d);
        assert_int_equal(d.err.kind, ERR_NONE);
        assert_int_equal(d.machines, rows[i].listed);
        end(&d);
    }
}

/* Of a large cluster, whose Nodes no reply holds. */
static void lists_all_pages(void **state)
{
    (void)state;
    enum { NODES = 1201 };
    char text[256];
    struct desk d;
    begin(&d, (const char *[]){NULL});
    for (int i = 0; i < NODES; i++) {
        snprintf(text, sizeof(text),
                 "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n%d\"},\"spec\":{\"providerID\":\"kwok://n%d\"}}",
                 i, i);
        load(d.sim, text);
    }
    d.provider->ops->list(d.provider, on_done, &d);
    answered(&d);
    assert_int_equal(d.err.kind, ERR_NONE);
    assert_int_equal(d.machines, NODES);
    end(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_all_pages),
        cmocka_unit_test(creates),
        cmocka_unit_test(removes),
        cmocka_unit_test(reboots),
        cmocka_unit_test(finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
