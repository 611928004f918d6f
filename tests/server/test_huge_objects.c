/* One object as large as the API server takes, of any kind and with any of its lists filled, takes neither the planner
 * nor the server, the extender or the webhook down. The lists are found in the decoders' field tables: a new field is
 * among them. Each object is given to all of these in a process of its own, whose CPU time and memory are bounded.
 *
 * Arguments: words of the cases to run ("Pod spec.volumes"); none: all, of which the names are kinds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cloud/catalogue.h"
#include "server/command.h"
#include "sim/stowage.h"
#include "support_command.h"
#include "support_huge.h"
#include "webhook/review.h"
#include "webhook/shape.h"

enum {
    OBJECT_BYTES = 1 << 20,
    MEMORY_MAX = 256 << 20,
    CPU_MAX_MS = 1500,
    RUN_MS = 15 * MS_SECOND, /* of the cluster's time: a pass, and one after it */
};

/* Under AddressSanitizer the resident set is mostly the sanitizer's: the bytes that are allocated are counted instead.
 * Unoptimised and checked code takes some ten times as long as a release. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
/* As in sanitizer/allocator_interface.h, which not every installation of the compiler has. */
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *p, size_t size),
                                              void (*on_free)(const volatile void *p));
size_t __sanitizer_get_allocated_size(const volatile void *p);
enum { SLOWER = 10 };
static size_t allocated, most_allocated;

static void on_malloc(const volatile void *p, size_t size)
{
    (void)p;
    allocated += size;
    if (allocated > most_allocated)
        most_allocated = allocated;
}

static void on_free(const volatile void *p)
{
    if (p != NULL)
        allocated -= __sanitizer_get_allocated_size(p);
}

static void count_memory(void)
{
    __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
}

static size_t memory_used(const struct rusage *u, size_t reported)
{
    (void)u;
    return reported;
}
#else
enum { SLOWER = 1 };
static size_t most_allocated;

static void count_memory(void)
{
}

static size_t memory_used(const struct rusage *u, size_t reported)
{
    (void)reported;
    return (size_t)u->ru_maxrss * 1024;
}
#endif

/* --- a small cluster --- */

#define META(name) "\"metadata\":{\"name\":\"" name "\",\"namespace\":\"default\",\"uid\":\"uid-" name "\"}"
#define POD(name, node, status)                                                                                     \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"," META(name) ",\"spec\":{" node                                        \
    "\"schedulerName\":\"default-scheduler\",\"containers\":[{\"name\":\"main\",\"image\":\"main\",\"resources\":{"     \
    "\"requests\":{\"cpu\":\"1\"}}}]},\"status\":{" status "}}"
#define WAITS                                                                                                       \
    "\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\"}]"
#define RUNS "\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]"
#define READY "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}"
#define CLASS "\"nodeClassRef\":{\"group\":\"karpenter.kwok.sh\",\"kind\":\"KWOKNodeClass\",\"name\":\"default\"}"
#define POOL(name)                                                                                                  \
    "{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodePool\",\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"template\":{"   \
    "\"spec\":{" CLASS ",\"requirements\":[]}}}," READY "}"
#define NODE(name)                                                                                                  \
    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" name "\",\"labels\":{\"kubernetes.io/hostname\":\"" name \
    "\"}},\"status\":{\"capacity\":{\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"110\"},\"allocatable\":{\"cpu\":\"4\","         \
    "\"memory\":\"8Gi\",\"pods\":\"110\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"

static const char *const neighbours[] = {
    "{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":\"KWOKNodeClass\",\"metadata\":{\"name\":\"default\"}," READY "}",
    POOL("general"),
    NODE("one"),
    POD("waits", "", WAITS),
    POD("runs", "\"nodeName\":\"one\",", RUNS),
};

/* What an object of the kind has beside the list. */
struct base {
    enum kind kind;
    const char *label, *json;
};

static const struct base bases[] = {
    {KIND_POD, "pending", POD("huge", "", WAITS)},
    {KIND_POD, "bound", POD("huge", "\"nodeName\":\"one\",", RUNS)},
    {KIND_NODE_POOL, "", POOL("huge")},
    {KIND_NODE, "", NODE("huge")},
};

struct run {
    const struct huge_list *list;
    const struct base *base;
    enum huge_fill fill;
};

static char *object_text(const struct run *r)
{
    char plain[512];
    const struct kind_info *info = kind_info(r->list->kind);
    snprintf(plain, sizeof(plain), "{\"apiVersion\":\"%s\",\"kind\":\"%s\"," META("huge") "}", info->api_version, info->name);
    return huge_object(r->list, r->base != NULL ? r->base->json : plain, r->fill, OBJECT_BYTES);
}

/* --- who gets it --- */

static void give_to_decoder(enum kind k, const char *text)
{
    const struct schema *schema = kind_info(k)->schema;
    struct doc_parser *parser = doc_parser_new();
    struct symtab *syms = kube_symtab_new();
    struct arena a;
    const struct doc *doc;
    struct err err;
    arena_init(&a, 0);
    assert_true(doc_parse_json(parser, span_of(text), &doc, &err));
    decode_one(&a, syms, doc_root(doc), schema, arena_alloc(&a, schema->size), &err);
    arena_release(&a);
    symtab_unref(syms);
    doc_parser_free(parser);
}

static void give_to_plan(const char *text)
{
    struct buf all = {0};
    buf_addf(&all, "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[");
    for (size_t i = 0; i < COUNT_OF(neighbours); i++)
        buf_addf(&all, "%s,", neighbours[i]);
    buf_add(&all, span_of(text));
    buf_addf(&all, "]}");
    run_command(command_plan, all.ptr, (const char *const[]){"plan", "-f", "{}", 
                                                       "--feature-gates=NodeOverlay=true,CapacityBuffer=true", NULL});
    buf_release(&all);
}

static void add_to(struct sim *s, enum kind k, const char *text)
{
    struct doc_parser *parser = doc_parser_new();
    const struct doc *doc;
    struct err err;
    assert_true(doc_parse_json(parser, span_of(text), &doc, &err));
    sim_cluster_add(sim_cluster(s), k, doc_root(doc), &err);
    doc_parser_free(parser);
}

static void ask_filter(struct sim_stowage *w, const char *pod)
{
    struct sim_extender e = sim_stowage_extender(w);
    struct buf args = {0}, reply = {0};
    buf_addf(&args, "{\"Pod\":%s,\"Nodes\":null,\"NodeNames\":[\"one\"]}", pod);
    assert_true(e.filter(e.user, buf_span(&args), &reply));
    assert_non_null(strstr(reply.ptr, "\"one\"")); /* kube-scheduler decides alone, or it has room */
    buf_release(&args);
    buf_release(&reply);
}

static void run_cluster(struct sim *s, span_ms ms)
{
    struct err err;
    if (!sim_run_until(s, sim_now(s) + ms, &err))
        fail_msg("%s", err.msg);
}

/* The list is what is watched first, then the object comes on its own. */
static void give_to_server(enum kind k, const char *text)
{
    struct sim_options so = {.no_scheduler = true, .no_controllers = true, .no_kubelet = true};
    struct sim *s = sim_new(&so);
    for (size_t i = 0; i < COUNT_OF(neighbours); i++) {
        struct err err;
        assert_true(sim_cluster_load(sim_cluster(s), span_of(neighbours[i]), NULL, &err));
    }
    struct sim_stowage_options o = {.world = {.node_overlay = true, .capacity_buffer = true}};
    struct sim_stowage *w = sim_stowage_new(s, &o);
    run_cluster(s, RUN_MS);
    add_to(s, k, text);
    run_cluster(s, RUN_MS);
    if (k == KIND_POD)
        ask_filter(w, text);
    assert_int_equal(sim_cluster_count_of(sim_cluster(s), KIND_NODE, "metadata.name", "one"), 1);
    sim_stowage_free(w);
    sim_free(s);
}

static void give_to_webhook(enum kind k, const char *text)
{
    static const struct span domain = SPAN_INIT("karpenter.sh");
    const struct kind_info *info = kind_info(k);
    struct webhook_scratch scratch = {.parser = doc_parser_new()};
    struct symtab *syms = kube_symtab_new();
    struct label_rules labels = {.domains = &domain, .domain_count = 1};
    struct webhook_rules rules = {.labels = &labels, .syms = syms, .overlays = true};
    struct review_sources reviewed = {.rules = &rules};
    struct shape_sources sources = {.syms = syms};
    struct span version, group = span_cut(span_of(info->api_version), '/', &version);
    struct buf body = {0}, reply = {0};
    enum webhook_answer answer;
    struct err err;
    if (version.ptr == NULL)
        version = group, group = SPAN("");
    buf_addf(&body,
             "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{\"uid\":\"r\",\"operation\":"
             "\"CREATE\",\"namespace\":\"default\",\"resource\":{\"group\":\"%.*s\",\"version\":\"%.*s\",\"resource\":\"%s\"},"
             "\"object\":%s}}",
             SPAN_ARG(group), SPAN_ARG(version), info->plural, text);
    arena_init(&scratch.arena, 0);
    if (k == KIND_POD)
        assert_true(webhook_shape(&scratch, &sources, buf_span(&body), &reply, &answer, &err));
    else
        assert_true(webhook_review(&scratch, &reviewed, buf_span(&body), &reply, &answer, &err));
    buf_release(&body);
    buf_release(&reply);
    arena_release(&scratch.arena);
    symtab_unref(syms);
    doc_parser_free(scratch.parser);
}

/* --- in a process of its own --- */

struct cost {
    int64_t cpu_ms;
    size_t memory;
    int status;
};

static void in_child(const struct run *r, int out)
{
    char *text = object_text(r);
    count_memory();
    give_to_decoder(r->list->kind, text);
    give_to_plan(text);
    give_to_server(r->list->kind, text);
    give_to_webhook(r->list->kind, text);
    if (write(out, &most_allocated, sizeof(most_allocated)) != sizeof(most_allocated))
        _exit(3);
    _exit(0);
}

static int64_t ms_of(struct timeval t)
{
    return (int64_t)t.tv_sec * 1000 + t.tv_usec / 1000;
}

struct child {
    pid_t pid; /* 0: none */
    int from;  /* where it reports its memory */
    char name[640];
};

static struct child start_child(const struct run *r, const char *name)
{
    struct child c;
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    fflush(NULL);
    snprintf(c.name, sizeof(c.name), "%s", name);
    c.pid = fork();
    if (c.pid == 0) {
        struct rlimit cpu = {(rlim_t)SLOWER * 10, (rlim_t)SLOWER * 10}; /* what is far off ends soon */
        setrlimit(RLIMIT_CPU, &cpu);
        in_child(r, pipes[1]);
    }
    close(pipes[1]);
    c.from = pipes[0];
    return c;
}

/* Of a child that has ended: the time that it was given, however busy the machine is. */
static struct cost cost_of(const struct child *c, int status, const struct rusage *used)
{
    size_t reported = 0;
    assert_true(read(c->from, &reported, sizeof(reported)) >= 0);
    close(c->from);
    return (struct cost){ms_of(used->ru_utime) + ms_of(used->ru_stime), memory_used(used, reported), status};
}

/* --- all of them --- */

struct all {
    const char *const *words; /* a case is run that has all of these in its name; ends with NULL */
    const struct field *seen[1024];
    uint32_t seen_count, run, wrong;
    struct child children[4]; /* at a time */
};

static bool is_asked_for(const struct all *all, const char *name)
{
    for (const char *const *w = all->words; *w != NULL; w++)
        if (strstr(name, *w) == NULL)
            return false;
    return true;
}

/* Whether the fill makes another object than those before it, and one that somebody decides otherwise about. */
static bool is_worth(const struct run *r)
{
    bool bounded = false, of_objects = r->list->fields[r->list->depth - 1]->kind == FIELD_LIST;
    for (uint32_t i = 0; i < r->list->depth; i++)
        bounded |= r->list->schemas[i]->list_max != 0;
    if (r->fill == HUGE_BOUND)
        return bounded;
    return r->fill == HUGE_FULL || (of_objects && r->base != &bases[1]);
}

/* False: none is left. */
static bool await_child(struct all *all)
{
    struct rusage used;
    int status;
    pid_t pid = wait4(-1, &status, 0, &used);
    for (size_t i = 0; i < COUNT_OF(all->children); i++) {
        struct child *x = &all->children[i];
        if (pid <= 0 || x->pid != pid)
            continue;
        struct cost c = cost_of(x, status, &used);
        bool good = c.status == 0 && c.memory <= MEMORY_MAX && c.cpu_ms <= (int64_t)CPU_MAX_MS * SLOWER;
        all->wrong += !good;
        if (!good || all->words[0] != NULL)
            print_message("%s: %lld ms of CPU, %zu MiB, status %d\n", x->name, (long long)c.cpu_ms, c.memory >> 20, c.status);
        x->pid = 0;
    }
    return pid > 0;
}

static void try_case(struct all *all, const struct run *r)
{
    static const char *const fills[] = {"bound", "full", "thin"};
    char name[640];
    size_t at = 0;
    snprintf(name, sizeof(name), "%s%s%s %s (%s)", kind_info(r->list->kind)->name, r->base != NULL ? " " : "",
             r->base != NULL ? r->base->label : "", r->list->path, fills[r->fill]);
    if (!is_worth(r) || !is_asked_for(all, name))
        return;
    while (at < COUNT_OF(all->children) && all->children[at].pid != 0)
        at++;
    if (at == COUNT_OF(all->children)) {
        assert_true(await_child(all));
        for (at = 0; all->children[at].pid != 0;)
            at++;
    }
    all->children[at] = start_child(r, name);
    all->run++;
}

/* Pods' fields are those of every template as well: what was filled in one kind is not filled again in the next. */
static bool is_new(struct all *all, const struct huge_list *list)
{
    const struct field *f = list->fields[list->depth - 1];
    for (uint32_t i = 0; i < all->seen_count; i++)
        if (all->seen[i] == f)
            return false;
    assert_true(all->seen_count < COUNT_OF(all->seen));
    all->seen[all->seen_count++] = f;
    return true;
}

static void try_list(void *user, const struct huge_list *list)
{
    struct all *all = user;
    bool based = false;
    if (!is_new(all, list))
        return;
    for (struct run r = {.list = list}; r.fill < HUGE_FILL_COUNT; r.fill++) {
        for (size_t i = 0; i < COUNT_OF(bases); i++)
            if (bases[i].kind == list->kind) {
                r.base = &bases[i];
                based = true;
                try_case(all, &r);
            }
        if (!based)
            try_case(all, &r);
    }
}

static const char *const *words;

static void test_every_list_of_every_kind(void **state)
{
    (void)state;
    struct all all = {.words = words};
    for (enum kind k = 0; k < KIND_COUNT; k++) {
        huge_each(k, try_list, &all);
    }
    while (await_child(&all))
        ;
    print_message("%u objects\n", all.run);
    assert_true(all.run != 0);
    assert_int_equal(all.wrong, 0);
}

int main(int argc, char **argv)
{
    (void)argc;
    words = (const char *const *)(argv + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_list_of_every_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
