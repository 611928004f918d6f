/* Reviews of objects that fill one of their lists or maps with all that a review may have: what such a review takes of
 * memory is bounded and grows with the object, not with its square. The lists are those of the decoders' field tables, so that
 * a new field is covered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "base/decode.h"
#include "kube/node.h"
#include "kube/overlay.h"
#include "kube/pod.h"
#include "kube/wellknown.h"
#include "support_cluster.h"
#include "webhook/review.h"
#include "webhook/shape.h"

static const char CLUSTER[] =
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: old}\nspec: {template: {spec: {nodeClassRef: {group: "
    "karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, requirements: [{key: kubernetes.io/arch, operator: In, values: "
    "[amd64]}]}}}\n---\n"
    "apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: default}\n---\n"
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: d, uid: p}\nspec: {containers: [{name: c}]}\n";

static sym well_known[] = {SYM_NODEPOOL, SYM_CAPACITY_TYPE, SYM_ZONE, SYM_INSTANCE_TYPE, SYM_ARCH, SYM_OS, SYM_KWOK_CPU};
static const struct span domains[] = {SPAN_INIT("karpenter.sh"), SPAN_INIT("karpenter.kwok.sh")};

enum {
    MEMORY_MAX = 64 << 20, /* of a review, with what was parsed */
    SLACK = 2 << 20,       /* chunks of the arena */
    REPLY_MAX = 64 << 10,
    TAIL_MAX = 1024, /* of the body, for the last entry and after it */
};

static int setup(void **state)
{
    *state = mem_new(sizeof(struct reviewed_cluster));
    cluster_open(*state, CLUSTER);
    return 0;
}

static int teardown(void **state)
{
    cluster_close(*state);
    free(*state);
    return 0;
}

/* ---- one review ---- */

struct cost {
    size_t memory, reply;
    enum webhook_answer answer;
    double seconds; /* of CPU */
};

static bool never(void *user)
{
    (void)user;
    return false;
}

static struct cost review_of(struct reviewed_cluster *f, const char *resource, struct span body, bool (*stop)(void *user))
{
    struct label_rules labels = {{well_known, COUNT_OF(well_known)}, domains, COUNT_OF(domains)};
    struct webhook_rules rules = {.labels = &labels, .syms = f->syms, .overlays = true};
    struct review_sources from = {&rules, f->snapshot, {stop, NULL}};
    struct shape_sources shape = {.snapshot = f->snapshot, .syms = f->syms, .sides = sides_new()};
    struct cost c = {0};
    struct err err = {0};
    clock_t before = clock();
    buf_clear(&f->reply);
    arena_release(&f->scratch.arena);
    doc_parser_trim(f->scratch.parser, 0);
    bool ok = strcmp(resource, "pods") == 0 ? webhook_shape(&f->scratch, &shape, body, &f->reply, &c.answer, &err)
                                            : webhook_review(&f->scratch, &from, body, &f->reply, &c.answer, &err);
    if (!ok)
        fail_msg("%s: %s", resource, err.msg);
    c.seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    c.memory = f->scratch.arena.total + doc_parser_size(f->scratch.parser);
    c.reply = f->reply.len;
    sides_free(shape.sides);
    return c;
}

/* ---- objects with one full list ---- */

static const struct kind_row {
    const char *group, *version, *resource;
    const struct schema *schema;
    const char *others[2][2]; /* further members of the object, where the list is not within them */
} kinds[] = {
    {"karpenter.sh", "v1", "nodepools", &node_pool_schema, {{NULL}}},
    {"karpenter.sh", "v1", "nodeclaims", &node_claim_schema, {{NULL}}},
    {"karpenter.sh", "v1alpha1", "nodeoverlays", &node_overlay_schema, {{"spec", "{\"requirements\":[],\"price\":\"1\"}"}}},
    {"karpenter.kwok.sh", "v1alpha1", "kwoknodeclasses", &kwok_node_class_schema, {{NULL}}},
    {"", "v1", "pods", &pod_schema,
     {{"metadata", "{\"annotations\":{\"stowage.dev/on-demand-base\":\"1\",\"stowage.dev/nodepool\":\"old\"}}"},
      {"spec", "{}"}}},
};

struct filling {
    struct reviewed_cluster *f;
    const struct kind_row *kind;
    const struct field *path[16];
    uint32_t depth, tried;
    bool bare; /* items without members */
};

/* The members that make an item valid. */
static const char *member_text(const char *name)
{
    static const char *const texts[][2] = {
        {"operator", "\"Exists\""}, {"effect", "\"NoSchedule\""}, {"nodes", "\"1\""},  {"schedule", "\"* * * * *\""},
        {"duration", "\"1m\""},     {"whenUnsatisfiable", "\"DoNotSchedule\""},        {"maxSkew", "1"},
        {"weight", "1"},            {"status", "\"True\""},       {"type", "\"Ready\""},
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (strcmp(texts[i][0], name) == 0)
            return texts[i][1];
    return NULL;
}

static void put_item(struct buf *b, const struct schema *s, uint32_t n)
{
    const char *sep = "";
    while (s->wire != NULL)
        s = s->wire;
    buf_add_char(b, '{');
    for (uint32_t i = 0; i < s->count; i++) {
        const struct field *m = &s->fields[i];
        const char *text = member_text(m->name);
        if (text != NULL)
            buf_addf(b, "%s\"%s\":%s", sep, m->name, text);
        else if (m->kind == FIELD_SYM || m->kind == FIELD_SPAN)
            buf_addf(b, "%s\"%s\":\"v%u\"", sep, m->name, n);
        else
            continue;
        sep = ",";
    }
    buf_add_char(b, '}');
}

static void put_entry(struct buf *b, const struct filling *x, const struct field *f, uint32_t n)
{
    if (f->kind == FIELD_MAP) {
        const struct field *value = &f->schema->fields[1];
        buf_addf(b, "\"%sx%u\":%s", f->keep != NULL ? "stowage.dev/" : "", n, value->kind == FIELD_SCALAR ? "\"1\"" : "\"v\"");
    } else if (f->kind != FIELD_LIST) {
        buf_addf(b, "\"v%u\"", n);
    } else if (x->bare) {
        buf_add(b, SPAN("{}"));
    } else {
        put_item(b, f->schema, n);
    }
}

static bool is_array(const struct field *f)
{
    return f->kind == FIELD_LIST || f->kind == FIELD_SPANS || f->kind == FIELD_SYMS;
}

static void put_head(struct buf *b, const struct kind_row *kind)
{
    buf_clear(b);
    buf_addf(b, "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":\"u\",\"resource\":"
                "{\"group\":\"%s\",\"version\":\"%s\",\"resource\":\"%s\"},\"operation\":\"CREATE\",\"object\":{",
             kind->group, kind->version, kind->resource);
}

/* A review of an object whose last list on the path is as long as `size` bytes allow. */
static void put_body(struct buf *b, const struct filling *x, size_t size)
{
    put_head(b, x->kind);
    for (size_t i = 0; i < COUNT_OF(x->kind->others) && x->kind->others[i][0] != NULL; i++)
        if (strcmp(x->kind->others[i][0], x->path[0]->name) != 0)
            buf_addf(b, "\"%s\":%s,", x->kind->others[i][0], x->kind->others[i][1]);
    for (uint32_t i = 0; i < x->depth; i++) {
        bool inner = i + 1 < x->depth;
        buf_addf(b, "\"%s\":%s", x->path[i]->name, is_array(x->path[i]) ? inner ? "[{" : "[" : "{");
        if (is_array(x->path[i]) && inner) /* what makes the item around it valid */
            buf_addf(b, "\"key\":\"example.com/k\",\"operator\":\"In\",");
    }
    for (uint32_t n = 0; b->len + TAIL_MAX < size; n++) {
        if (n != 0)
            buf_add_char(b, ',');
        put_entry(b, x, x->path[x->depth - 1], n);
    }
    for (uint32_t i = x->depth; i-- > 0;)
        buf_addf(b, "%s", is_array(x->path[i]) ? i + 1 < x->depth ? "}]" : "]" : "}");
    buf_add(b, SPAN("}}}"));
}

static const char *path_text(struct filling *x)
{
    struct span text = SPAN("");
    for (uint32_t i = 0; i < x->depth; i++)
        text = arena_printf(&x->f->arena, "%.*s.%s", SPAN_ARG(text), x->path[i]->name);
    return arena_printf(&x->f->arena, "%s%.*s%s", x->kind->resource, SPAN_ARG(text), x->bare ? ", items without members" : "").ptr;
}

/* Of two reviews, the second twice as large. */
static void check_costs(struct reviewed_cluster *f, const char *label, const char *resource, struct span half, struct span full)
{
    enum { SECONDS_MAX = 5 }; /* of CPU, under sanitizers; some 0.01 without */
    assert_in_range(full.len, REVIEW_BYTES_MAX * 9 / 10, REVIEW_BYTES_MAX); /* what is larger is not looked at */
    struct cost of_half = review_of(f, resource, half, never), of_full = review_of(f, resource, full, never);
    if (of_full.memory > MEMORY_MAX || of_full.memory > of_half.memory * 5 / 2 + SLACK || of_full.reply > REPLY_MAX ||
        of_full.seconds > SECONDS_MAX)
        fail_msg("%s: %zu bytes of memory (%zu of half as much), reply of %zu bytes, %.1f s", label, of_full.memory,
                 of_half.memory, of_full.reply, of_full.seconds);
}

static void check_full(struct filling *x)
{
    struct buf half = {0}, full = {0};
    put_body(&half, x, REVIEW_BYTES_MAX / 2);
    put_body(&full, x, REVIEW_BYTES_MAX);
    check_costs(x->f, path_text(x), x->kind->resource, buf_span(&half), buf_span(&full));
    x->tried++;
    buf_release(&half);
    buf_release(&full);
}

static void fill_each(struct filling *x, const struct schema *s)
{
    while (s->wire != NULL)
        s = s->wire;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct field *f = &s->fields[i];
        x->path[x->depth++] = f;
        assert_true(x->depth < COUNT_OF(x->path));
        x->bare = false;
        if (is_array(f) || f->kind == FIELD_MAP)
            check_full(x);
        x->bare = true;
        if (f->kind == FIELD_LIST)
            check_full(x);
        if (f->kind == FIELD_OBJECT || f->kind == FIELD_POINTER || f->kind == FIELD_LIST)
            fill_each(x, f->schema);
        x->depth--;
    }
}

static void test_each_list(void **state)
{
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct filling x = {.f = *state, .kind = &kinds[i]};
        fill_each(&x, kinds[i].schema);
        assert_true(x.tried > 3);
    }
}

/* ---- lists whose items have to do with each other ---- */

typedef void put_items(struct buf *b, uint32_t n);

/* All operators of one key. */
static void put_of_one_key(struct buf *b, uint32_t n)
{
    static const char *const ops[] = {"NotIn", "Gt", "NotIn", "Exists", "NotIn", "Gte"};
    const char *op = ops[n % COUNT_OF(ops)];
    buf_addf(b, "{\"key\":\"example.com/k\",\"operator\":\"%s\",\"values\":[", op);
    if (strcmp(op, "Exists") != 0)
        buf_addf(b, "\"%u\"", strcmp(op, "NotIn") == 0 ? n : 1);
    buf_add(b, SPAN("]}"));
}

/* First 4,000 values of one key, then more that each would like to have. */
static void put_min_values(struct buf *b, uint32_t n)
{
    enum { VALUES = 4000 };
    if (n == 0) {
        buf_add(b, SPAN("{\"key\":\"example.com/k\",\"operator\":\"In\",\"values\":[\"v\""));
        for (uint32_t i = 1; i < VALUES; i++)
            buf_addf(b, ",\"v%u\"", i);
        buf_add(b, SPAN("]}"));
    } else {
        buf_addf(b, "{\"key\":\"example.com/k\",\"operator\":\"Exists\",\"minValues\":%u}", VALUES + n);
    }
}

/* One value as long as it may be, which each of the others would quote. */
static void put_long_value(struct buf *b, uint32_t n)
{
    enum { LENGTH = 200000 };
    buf_addf(b, "{\"key\":\"example.com/k\",\"operator\":\"%s\",\"values\":[", n == 0 ? "In" : "Exists");
    if (n == 0) {
        buf_add_char(b, '"');
        for (uint32_t i = 0; i < LENGTH; i++)
            buf_add_char(b, 'x');
        buf_add_char(b, '"');
    }
    buf_addf(b, "],\"minValues\":%u}", n == 0 ? 1 : 2);
}

/* Types have other words for it, which each is compared with. */
static void put_misspelt(struct buf *b, uint32_t n)
{
    buf_addf(b, "{\"key\":\"example.com/k%u\",\"operator\":\"In\",\"values\":[\"large-instance-%u\"],\"minValues\":1}", n, n);
}

static void put_requirements(struct buf *b, put_items *put, size_t size)
{
    put_head(b, &kinds[0]);
    buf_add(b, SPAN("\"metadata\":{\"name\":\"new\"},\"spec\":{\"template\":{\"spec\":{\"nodeClassRef\":{\"group\":\"karpenter.kwok.sh\","
                    "\"kind\":\"KWOKNodeClass\",\"name\":\"default\"},\"requirements\":["));
    for (uint32_t n = 0; b->len + TAIL_MAX < size; n++) {
        if (n != 0)
            buf_add_char(b, ',');
        put(b, n);
    }
    buf_add(b, SPAN("]}}}}}}"));
}

/* Texts of one value that have parts. */
static void put_annotation(struct buf *b, const char *key, const char *part, size_t size)
{
    put_head(b, &kinds[0]);
    buf_addf(b, "\"metadata\":{\"name\":\"new\",\"annotations\":{\"stowage.dev/%s\":\"", key);
    for (uint32_t n = 0; b->len + TAIL_MAX < size; n++)
        buf_addf(b, "%s%s", n != 0 ? ";" : "", part);
    buf_add(b, SPAN("\"}},\"spec\":{\"template\":{\"spec\":{\"nodeClassRef\":{\"group\":\"g\",\"kind\":\"K\",\"name\":\"d\"},"
                    "\"requirements\":[]}}}}}}"));
}

static void test_long_annotations(void **state)
{
    static const char *const rows[][2] = {{"allow-windows", "0 1 * * mon-fri 4h Europe/Zurich"}, {"mode", "Drifted=act"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf half = {0}, full = {0};
        put_annotation(&half, rows[i][0], rows[i][1], REVIEW_BYTES_MAX / 2);
        put_annotation(&full, rows[i][0], rows[i][1], REVIEW_BYTES_MAX);
        check_costs(*state, rows[i][0], "nodepools", buf_span(&half), buf_span(&full));
        buf_release(&half);
        buf_release(&full);
    }
}

static void test_lists_that_hang_together(void **state)
{
    static const struct {
        const char *label;
        put_items *put;
    } rows[] = {{"all operators of one key", put_of_one_key},
                {"minValues of a long list", put_min_values},
                {"a long value", put_long_value},
                {"values that no type has", put_misspelt}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf half = {0}, full = {0};
        put_requirements(&half, rows[i].put, REVIEW_BYTES_MAX / 2);
        put_requirements(&full, rows[i].put, REVIEW_BYTES_MAX);
        check_costs(*state, rows[i].label, "nodepools", buf_span(&half), buf_span(&full));
        buf_release(&half);
        buf_release(&full);
    }
}

/* ---- the budget ---- */

static uint32_t asked, over_after;

/* The time is over once it was asked so often. */
static bool is_over(void *user)
{
    (void)user;
    return asked++ >= over_after;
}

#define FAULTY                                                                                                          \
    "\"metadata\":{\"name\":\"new\"},\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"-\":\"x\"}},\"spec\":{\"nodeClassRef\":{" \
    "\"group\":\"karpenter.kwok.sh\",\"kind\":\"KWOKNodeClass\",\"name\":\"default\"},\"requirements\":[]}}}"
#define SOUND                                                                                                           \
    "\"metadata\":{\"name\":\"new\"},\"spec\":{\"weight\":9,\"template\":{\"spec\":{\"nodeClassRef\":{\"group\":"               \
    "\"karpenter.kwok.sh\",\"kind\":\"KWOKNodeClass\",\"name\":\"default\"},\"taints\":[{\"key\":\"t\",\"effect\":"           \
    "\"NoSchedule\"}],\"requirements\":[{\"key\":\"kubernetes.io/arch\",\"operator\":\"In\",\"values\":[\"amd46\"]}]}}}"
#define NOT_FULLY "NodePool new: it was not fully checked, since that would have taken too long; `stowage check -f` does"

/* Wherever the time ends, the pool is let through with a warning, or all was checked; with enough of it, all is. */
static void test_time(void **state)
{
    enum { MOST = 10000 };
    static const struct {
        const char *object;
        enum webhook_answer in_time;
        const char *says;
    } rows[] = {{FAULTY, WEBHOOK_DENIED, "\\\"-\\\" is not a label key"},
                {FAULTY "},\"oldObject\":{" FAULTY, WEBHOOK_ALLOWED, "it was so before"},
                {SOUND, WEBHOOK_ALLOWED, "did you mean amd64?"}};
    struct reviewed_cluster *f = *state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf body = {0};
        enum webhook_answer got = WEBHOOK_UNCHECKED;
        put_head(&body, &kinds[0]);
        buf_addf(&body, "%s}}}", rows[i].object);
        for (over_after = 0; over_after < MOST && got == WEBHOOK_UNCHECKED; over_after++) {
            asked = 0;
            got = review_of(f, "nodepools", buf_span(&body), is_over).answer;
            bool warned = strstr(f->reply.ptr, NOT_FULLY) != NULL;
            bool allowed = strstr(f->reply.ptr, "\"allowed\":true") != NULL;
            if (warned != (got == WEBHOOK_UNCHECKED) || allowed != (got != WEBHOOK_DENIED))
                fail_msg("over after %u: %s: %s", over_after, webhook_answer_name(got), f->reply.ptr);
        }
        assert_in_range(over_after, 2, MOST - 1);
        assert_int_equal(got, rows[i].in_time);
        assert_non_null(strstr(f->reply.ptr, rows[i].says));
        buf_release(&body);
    }
}

/* What is larger than the budget is let through unseen, whatever is wrong with it. */
static void test_size(void **state)
{
    static const struct {
        const char *resource, *object, *warns;
        enum webhook_answer want;
    } rows[] = {
        {"nodepools", FAULTY, "NodePool new: it was not checked, since it is too large", WEBHOOK_UNCHECKED},
        {"pods", "\"metadata\":{\"name\":\"new\",\"annotations\":{\"stowage.dev/nodepool\":\"old\"}},\"spec\":{\"containers\":[]}",
         "Pod new: metadata.annotations: the Pod is too large to be looked at; it is admitted without that", WEBHOOK_UNSHAPED},
    };
    struct reviewed_cluster *f = *state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf body = {0};
        put_head(&body, i == 0 ? &kinds[0] : &kinds[COUNT_OF(kinds) - 1]);
        buf_addf(&body, "%s}}", rows[i].object);
        while (body.len + sizeof("}") - 1 <= REVIEW_BYTES_MAX)
            buf_add_char(&body, ' ');
        buf_add_char(&body, '}');
        assert_int_equal(body.len, REVIEW_BYTES_MAX + 1);
        assert_int_equal(review_of(f, rows[i].resource, buf_span(&body), never).answer, rows[i].want);
        assert_non_null(strstr(f->reply.ptr, "\"allowed\":true"));
        assert_non_null(strstr(f->reply.ptr, rows[i].warns));
        body.len--; /* of the largest that is looked at, all is */
        body.ptr[body.len - 1] = '}';
        enum webhook_answer got = review_of(f, rows[i].resource, buf_span(&body), never).answer;
        assert_int_equal(got, i == 0 ? WEBHOOK_DENIED : WEBHOOK_SHAPED);
        buf_release(&body);
    }
}

/* What is compared with all that the cluster has is bounded by the number of its items, however short they are. */
static void test_numbers(void **state)
{
    enum { TAINTS = 100, CAPACITY = 100, VALUES = 1000 };
    static const struct {
        uint32_t kind, most;
        const char *before, *item, *after; /* %u: which */
    } rows[] = {
        {0, TAINTS,
         "\"metadata\":{\"name\":\"new\"},\"spec\":{\"template\":{\"spec\":{\"nodeClassRef\":{\"group\":\"g\",\"kind\":\"K\",\"name\":"
         "\"d\"},\"requirements\":[],\"taints\":[", "{\"key\":\"t%u\",\"effect\":\"NoSchedule\"}", "]}}}"},
        {2, CAPACITY, "\"metadata\":{\"name\":\"new\"},\"spec\":{\"requirements\":[],\"capacity\":{", "\"example.com/r%u\":\"1\"", "}}"},
        {2, VALUES - 1,
         "\"metadata\":{\"name\":\"new\"},\"spec\":{\"price\":\"1\",\"requirements\":[{\"key\":\"example.com/k\",\"operator\":\"In\","
         "\"values\":[", "\"v%u\"", "]}]}"},
    };
    for (size_t i = 0; i < 2 * COUNT_OF(rows); i++) {
        struct buf body = {0};
        uint32_t more = (uint32_t)(i % 2), row = (uint32_t)(i / 2);
        put_head(&body, &kinds[rows[row].kind]);
        buf_add(&body, span_of(rows[row].before));
        for (uint32_t n = 0; n < rows[row].most + more; n++) {
            struct span item = span_of(rows[row].item), rest = {NULL, 0}, head = span_cut(item, '%', &rest);
            buf_addf(&body, "%s%.*s%u%.*s", n != 0 ? "," : "", SPAN_ARG(head), n, (int)rest.len - 1, rest.ptr + 1);
        }
        buf_addf(&body, "%s}}}", rows[row].after);
        enum webhook_answer got = review_of(*state, kinds[rows[row].kind].resource, buf_span(&body), never).answer;
        if (got != (more != 0 ? WEBHOOK_UNCHECKED : WEBHOOK_ALLOWED))
            fail_msg("row %u, %u more: %s", row, more, webhook_answer_name(got));
        buf_release(&body);
    }
}

/* A name that is none is not repeated in each warning. */
static void test_long_name(void **state)
{
    enum { LENGTH = 100000, WARNED = 20 };
    struct reviewed_cluster *f = *state;
    struct buf body = {0};
    put_head(&body, &kinds[0]);
    buf_add(&body, SPAN("\"metadata\":{\"name\":\""));
    for (uint32_t i = 0; i < LENGTH; i++)
        buf_add_char(&body, 'x');
    buf_add(&body, SPAN("\",\"annotations\":{"));
    for (uint32_t i = 0; i < WARNED; i++)
        buf_addf(&body, "%s\"stowage.dev/x%u\":\"\"", i != 0 ? "," : "", i);
    buf_add(&body, SPAN("}}}}}"));
    assert_in_range(review_of(f, "nodepools", buf_span(&body), never).reply, 1, 10000);
    assert_non_null(strstr(f->reply.ptr, "NodePool of a name that is too long: metadata.annotations[stowage.dev/x0]"));
    buf_release(&body);
}

/* So many faults are not all listed: one of them mended, and the pool is let through as it was before. */
static void test_many_faults(void **state)
{
    enum { FAULTS = 1000 };
    struct reviewed_cluster *f = *state;
    struct buf now = {0}, old = {0}, body = {0};
    for (uint32_t i = 0; i < FAULTS; i++) {
        buf_addf(&old, "%s\"-%u\":\"x\"", i != 0 ? "," : "", i);
        if (i != 0)
            buf_addf(&now, "%s\"-%u\":\"x\"", i != 1 ? "," : "", i);
    }
#define LABELLED "\"metadata\":{\"name\":\"new\"},\"spec\":{\"template\":{\"metadata\":{\"labels\":{%s}},\"spec\":{\"nodeClassRef\":{" \
                 "\"group\":\"g\",\"kind\":\"K\",\"name\":\"d\"},\"requirements\":[]}}}}"
    put_head(&body, &kinds[0]);
    buf_addf(&body, LABELLED "}}", old.ptr);
    assert_int_equal(review_of(f, "nodepools", buf_span(&body), never).answer, WEBHOOK_DENIED);
    assert_non_null(strstr(f->reply.ptr, "; and at least 112 more\""));
    put_head(&body, &kinds[0]);
    buf_addf(&body, LABELLED ",\"oldObject\":{" LABELLED "}}", now.ptr, old.ptr);
    assert_int_equal(review_of(f, "nodepools", buf_span(&body), never).answer, WEBHOOK_ALLOWED);
    assert_non_null(strstr(f->reply.ptr, ",\"and at least 112 more\"]"));
    buf_release(&now);
    buf_release(&old);
    buf_release(&body);
}

/* So many warnings are not all listed: a fault that the update brings is refused all the same. */
static void test_many_warnings(void **state)
{
    enum { WARNINGS = 1000 };
    struct reviewed_cluster *f = *state;
    struct buf annotations = {0}, body = {0};
    for (uint32_t i = 0; i < WARNINGS; i++)
        buf_addf(&annotations, "%s\"stowage.dev/x%u\":\"\"", i != 0 ? "," : "", i);
#define ANNOTATED(labels) "\"metadata\":{\"name\":\"new\",\"annotations\":{%s}},\"spec\":{\"template\":{\"metadata\":{\"labels\":{" \
                          labels "}},\"spec\":{\"nodeClassRef\":{\"group\":\"g\",\"kind\":\"K\",\"name\":\"d\"},\"requirements\":[]}}}}"
    put_head(&body, &kinds[0]);
    buf_addf(&body, ANNOTATED("") ",\"oldObject\":{" ANNOTATED("") "}}", annotations.ptr, annotations.ptr);
    assert_int_equal(review_of(f, "nodepools", buf_span(&body), never).answer, WEBHOOK_ALLOWED);
    put_head(&body, &kinds[0]);
    buf_addf(&body, ANNOTATED("\"-a\":\"x\"") ",\"oldObject\":{" ANNOTATED("") "}}", annotations.ptr, annotations.ptr);
    assert_int_equal(review_of(f, "nodepools", buf_span(&body), never).answer, WEBHOOK_DENIED);
    buf_release(&annotations);
    buf_release(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_list),     cmocka_unit_test(test_lists_that_hang_together),
        cmocka_unit_test(test_time),          cmocka_unit_test(test_size),
        cmocka_unit_test(test_many_faults),   cmocka_unit_test(test_many_warnings),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_long_name),     cmocka_unit_test(test_long_annotations),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
