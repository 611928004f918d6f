/* What Cluster Autoscaler's command line means here: as `serve --ca-compat` takes it, and where it does not do the same.
 *
 * No default is told apart: those of the flags that have a meaning are upstream's; tests/server/test_check_compat.c has
 * them. */
#include "server/check/check.h"
#include "server/command_line.h"
#include "server/groups.h"

#define TOPIC "flags"

/* What people lose with a flag that means nothing here, or how Stowage calls it. The other flags that mean nothing are
 * about its cloud clients, its log and its own speed. */
static const struct loss {
    const char *flag, *means; /* without dashes; what follows its name in the sentence */
    const char *fix;
    const char *when; /* only with this value; NULL: with any */
} losses[] = {
    {"address", "nothing listens there: metrics are on port 8080, /health-check on 8081",
     "point probes and scrapers there, or set --metrics-port and --health-probe-port", NULL},
    {"debugging-snapshot-enabled", "there is no /snapshotz", "ask /plan, or stowage explain group", "true"},
    {"enable-dynamic-resource-allocation", "pods with resource claims are reported, and grow no group",
     "keep a minimum in their group", "true"},
    {"enable-proactive-scaleup", "pods count from when they exist", "keep room with a CapacityBuffer", "true"},
    {"leader-elect", "Stowage elects a leader all the same", "--disable-leader-election", "false"},
    {"leader-elect-lease-duration", "is called otherwise here", "--lease-duration", NULL},
    {"leader-elect-renew-deadline", "is called otherwise here", "--lease-renew-deadline", NULL},
    {"leader-elect-resource-name", "Stowage has a Lease of its own", "--leader-election-name, if it is to have another name",
     NULL},
    {"leader-elect-resource-namespace", "Stowage's Lease is in its own namespace", "--leader-election-namespace", NULL},
    {"leader-elect-retry-period", "is called otherwise here", "--lease-retry-period", NULL},
    {"scheduler-config-file", "the scheduler's plugins are taken to be the default ones",
     "--scheduler-config takes its default constraints of spreading", NULL},
    {"v", "is called otherwise here", "--log-level", NULL},
};

/* Of the last one of this name; absent: it is not given. */
static struct span value_of(const struct command_words *w, const char *flag)
{
    struct span found = {NULL, 0}, name, value;
    for (int i = 0; i < w->count; i++) {
        if (!group_option_cut(w->items[i], &name, &value) || !group_option_is(name, span_of(flag)))
            continue;
        bool is_next = value.ptr == NULL && i + 1 < w->count && w->items[i + 1][0] != '-';
        found = value.ptr != NULL ? value : is_next ? span_of(w->items[i + 1]) : SPAN("true");
    }
    return found;
}

static const struct loss *loss_of(struct span flag, const struct command_words *w)
{
    for (size_t i = 0; i < COUNT_OF(losses); i++)
        if (span_eq(flag, span_of(losses[i].flag)))
            return losses[i].when == NULL || span_eq(value_of(w, losses[i].flag), span_of(losses[i].when)) ? &losses[i] : NULL;
    return NULL;
}

static bool is_told(const struct spans *flags, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++)
        if (span_eq(flags->items[i], flags->items[at]))
            return true;
    return false;
}

static void tell_meaningless(struct check *c, const struct command_words *w)
{
    const struct spans *flags = &c->groups->without_meaning;
    struct buf rest = {0};
    for (uint32_t i = 0; i < flags->count; i++) {
        const struct loss *loss = loss_of(flags->items[i], w);
        if (is_told(flags, i))
            continue;
        if (loss != NULL)
            check_say(c->report, CHECK_WARN, TOPIC, loss->fix, "--%s means nothing to Stowage: %s", loss->flag, loss->means);
        else
            buf_addf(&rest, "%s--%.*s", rest.len != 0 ? ", " : "", SPAN_ARG(flags->items[i]));
    }
    if (c->groups->resolve_buffers && !c->groups->fill_buffers)
        check_say(c->report, CHECK_WARN, TOPIC, "give --capacity-buffer-pod-injection-enabled, too, or leave it out",
                  "--capacity-buffer-controller-enabled means nothing to Stowage by itself: CapacityBuffers are resolved where they "
                  "are filled");
    if (rest.len != 0)
        check_say(c->report, CHECK_OK, TOPIC, NULL, "mean nothing to Stowage, which takes them with --ca-compat: %s", rest.ptr);
    buf_release(&rest);
}

/* What it is given there is not known here. */
static const char *no_environment(const char *name)
{
    (void)name;
    return NULL;
}

/* Flags that Stowage has under the same name, for itself. */
static void tell_shared(struct check *c, const struct command_words *w, const struct options *serve)
{
    struct options usual;
    struct err err;
    bool help;
    struct span ns = value_of(w, "namespace");
    if (ns.len != 0 && !span_eq(ns, c->ns))
        check_say(c->report, CHECK_WARN, TOPIC,
                  "leave it out where that is kube-system, or give it and apply the manifests with that namespace",
                  "--namespace is Stowage's own namespace, too: its Lease and Secrets would be in %.*s, not in %.*s",
                  SPAN_ARG(ns), SPAN_ARG(c->ns));
    if (options_read(c->report->a, OPTION_SERVE, 0, NULL, no_environment, &usual, &help, &err) &&
        (serve->client_qps < usual.client_qps || serve->client_burst < usual.client_burst))
        check_say(c->report, CHECK_WARN, TOPIC, "leave them out",
                  "--kube-client-qps and --kube-client-burst let Stowage write %.0f times a second and %lld at once; it is "
                  "made for %.0f and %lld",
                  serve->client_qps, (long long)serve->client_burst, usual.client_qps, (long long)usual.client_burst);
}

/* Cluster Autoscaler's default of it depends on how it was built. */
static bool has_provider(struct check *c)
{
    if (c->groups->cloud_provider.len != 0)
        return true;
    check_say(c->report, CHECK_FAIL, TOPIC, "name it: clusterapi or kwok; other clouds are reached through Cluster API",
              "--cloud-provider is not given: Stowage would keep no node groups");
    return false;
}

/* As `serve` does, which is right or wrong about the files of its own machine. */
static bool open_provider(struct check *c)
{
    struct group_options_given *g = c->groups;
    struct err err = {0};
    if (!groups_open(c->report->a, g, c->cluster->api, NULL, &err)) {
        if (err.kind == ERR_NOT_FOUND)
            check_say(c->report, CHECK_UNKNOWN, TOPIC, "run it where that file is", "what --cloud-config says: %s", err.msg);
        else
            check_say(c->report, CHECK_FAIL, TOPIC, NULL, "Stowage does not start with these flags: %s", err.msg);
        return err.kind == ERR_NOT_FOUND;
    }
    if (!group_options_elsewhere(g))
        return true;
    g->settings.provider->ops->free(g->settings.provider); /* its kinds are not of this cluster */
    g->settings.provider = NULL;
    return true;
}

static bool is_own(struct span name)
{
    return options_has(OPTION_SERVE, name);
}

/* The name of the program may stand before. False: what is wrong has been told. */
static bool read_line(struct check *c, struct command_words *w, struct options *serve)
{
    struct arena *a = c->report->a;
    struct group_options_given *g = ARENA_NEW(a, struct group_options_given);
    struct err err = {0};
    int count = 0;
    char **rest;
    bool help;
    bool ok = command_line_split(a, span_of(c->options->ca_flags), w, &err);
    if (ok && w->count != 0 && w->items[0][0] != '-') {
        w->items++;
        w->count--;
    }
    ok = ok && group_options_take(a, w->count, w->items, is_own, g, &count, &rest, &err);
    if (ok)
        c->groups = g;
    ok = ok && options_read(a, OPTION_SERVE, count, rest, no_environment, serve, &help, &err) && groups_check(g, &err);
    if (!ok)
        check_say(c->report, CHECK_FAIL, TOPIC, "correct it, or leave it out", "Stowage does not start with these flags: %s",
                  err.msg);
    return ok;
}

bool check_moves(const struct options *o)
{
    struct span text = span_of(o->ca_flags);
    return o->ca_flags != NULL && !span_eq(text, SPAN("true")) && !span_eq(text, SPAN("false"));
}

void check_flags(struct check *c)
{
    struct command_words w;
    struct options serve;
    if (!check_moves(c->options))
        return;
    bool ok = read_line(c, &w, &serve);
    if (c->groups == NULL)
        return;
    c->rival = value_of(&w, "leader-elect-resource-name");
    ok = ok && has_provider(c) && open_provider(c);
    tell_meaningless(c, &w);
    if (!ok)
        return;
    tell_shared(c, &w, &serve);
    check_say(c->report, CHECK_OK, "defaults", NULL,
              "no default differs: a flag that is not given means what it means to Cluster Autoscaler 1.36");
    if (value_of(&w, "expander").ptr == NULL)
        check_say(c->report, CHECK_OK, "defaults", NULL,
                  "--expander is least-waste unless given; to a Cluster Autoscaler before 1.33 it was random");
}
