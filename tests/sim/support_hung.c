#include "tests/sim/support_hung.h"

#include "cloud/catalogue.h"
#include "tests/sim/support_loop.h"

static struct hung *hung_of(struct provider *p)
{
    return (struct hung *)p;
}

static uint64_t keep(struct provider *p, enum provider_method m, machine_done *done, void *user)
{
    struct hung *h = hung_of(p);
    assert_true(h->under_way < HUNG_KEPT);
    h->asked[m]++;
    h->calls[h->under_way].done = done;
    h->calls[h->under_way++].user = user;
    h->most = h->under_way > h->most ? h->under_way : h->most;
    return h->under_way;
}

static uint64_t create(struct provider *p, const struct claim_order *order, machine_done *done, void *user)
{
    (void)order;
    return keep(p, PROVIDER_CREATE, done, user);
}

static uint64_t remove_one(struct provider *p, struct span id, struct span uid, machine_done *done, void *user)
{
    (void)id, (void)uid;
    return keep(p, PROVIDER_REMOVE, done, user);
}

static uint64_t get(struct provider *p, struct span id, machine_done *done, void *user)
{
    (void)id;
    return keep(p, PROVIDER_GET, done, user);
}

static uint64_t list(struct provider *p, machine_done *done, void *user)
{
    return keep(p, PROVIDER_LIST, done, user);
}

static uint64_t is_drifted(struct provider *p, const struct claim_order *order, machine_done *done, void *user)
{
    (void)order;
    return keep(p, PROVIDER_IS_DRIFTED, done, user);
}

static uint64_t reboot(struct provider *p, const struct claim_order *order, struct span operation, machine_done *done,
                       void *user)
{
    (void)order, (void)operation;
    return keep(p, PROVIDER_REBOOT, done, user);
}

static bool types(struct provider *p, struct arena *a, struct symtab *syms, struct catalogue *out, struct err *err)
{
    struct catalogue_source *s = catalogue_builtin();
    (void)p, (void)err;
    catalogue_build(s, a, syms, out);
    catalogue_source_free(s);
    return true;
}

static uint64_t generation(struct provider *p)
{
    (void)p;
    return 1;
}

static const struct repair_policies *repair(struct provider *p, struct span *violations_out)
{
    (void)p;
    *violations_out = SPAN("none");
    return NULL;
}

static void cancel(struct provider *p, uint64_t operation)
{
    (void)operation;
    hung_of(p)->cancelled++;
}

static mono_ms step(struct provider *p, mono_ms now)
{
    (void)p, (void)now;
    return INT64_MAX;
}

void hung_init(struct hung *h)
{
    enum { MS = HUNG_PATIENCE_MS };
    static const struct provider_ops ops = {
        .name = "hung",
        .limits = {.patience = {MS, MS, MS, MS, MS, MS}, .calls = HUNG_CALLS},
        .node_class = KIND_KWOK_NODE_CLASS,
        .node_class_group = "test.stowage.dev",
        .node_class_kind = "HungNodeClass",
        .types = types,
        .generation = generation,
        .create = create,
        .remove = remove_one,
        .get = get,
        .list = list,
        .is_drifted = is_drifted,
        .repair = repair,
        .reboot = reboot,
        .cancel = cancel,
        .step = step,
    };
    *h = (struct hung){.provider = {&ops}};
}

void hung_answer(struct hung *h)
{
    uint32_t count = h->under_way;
    struct machine_result r = {0};
    err_set(&r.err, ERR_CAPACITY, "sold out, said too late");
    h->under_way = 0;
    for (uint32_t i = 0; i < count; i++)
        h->calls[i].done(h->calls[i].user, &r);
}

/* The loop's own is asked at once. */
static void ask_types(void *user, uint32_t provider, void (*job)(void *arg), void *arg)
{
    struct hung *h = user;
    if (provider == 0) {
        job(arg);
        return;
    }
    h->listing = job;
    h->listing_arg = arg;
}

void hung_withholds(struct hung *h, struct loop *l)
{
    l->lister = (struct listings_worker){.user = h, .run = ask_types};
}

void hung_lists(struct hung *h)
{
    assert_non_null(h->listing);
    h->listing(h->listing_arg);
    h->listing = NULL;
}
