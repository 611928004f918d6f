#include <stdio.h>
#include <stdlib.h>

#include "kube/client_io.h"
#include "kube/kubeconfig_io.h"
#include "server/catalogue_file.h"
#include "server/check/check.h"
#include "server/check/files.h"
#include "server/clock.h"
#include "server/command.h"
#include "server/fetch.h"
#include "server/input.h"
#include "server/plan_command.h"

enum {
    ANSWER_MS = 10 * MS_SECOND,   /* for one request */
    PATIENCE_MS = 30 * MS_SECOND, /* for all of them: a person waits */
    ROUND_MS = 500,
};

struct waiter {
    struct client *client;
    mono_ms until;
};

static bool wait_client(void *user)
{
    struct waiter *w = user;
    client_poll(w->client, ROUND_MS);
    return clock_mono() < w->until;
}

/* Of the server that --server names; absent when none answers. */
static struct span running_metrics(struct arena *a, const struct options *o)
{
    struct buf reply = {0};
    struct err err;
    int code = 0;
    struct span base = span_of(o->server);
    while (base.len != 0 && base.ptr[base.len - 1] == '/')
        base.len--;
    const char *url = arena_printf(a, "%.*s/metrics", SPAN_ARG(base)).ptr;
    bool ok = base.len != 0 && fetch_text(url, o->page_token_file, &code, &reply, &err) && code == 200;
    struct span text = ok ? arena_dup(a, buf_span(&reply)) : (struct span){0};
    buf_release(&reply);
    return text;
}

static bool check_cluster(struct check_report *r, const struct options *o, const struct scheduler_file *scheduler,
                          struct err *err)
{
    struct client_config config;
    struct catalogue_source *types;
    struct waiter w = {.until = clock_mono() + PATIENCE_MS};
    /* Whose requests they are is told by audit logs too: `serve` may run under the same account. */
    struct client_policy policy = {.request_timeout_ms = ANSWER_MS,
                                   .lease_timeout_ms = ANSWER_MS,
                                   .user_agent = "stowage-check"};
    if (!kubeconfig_load(r->a, span_of(o->kubeconfig), span_of(o->context), &config, err) ||
        !catalogue_file(o->instance_types, &types, err))
        return false;
    if (!client_new(&config, &policy, &w.client, err)) {
        catalogue_source_free(types);
        return false;
    }
    struct asked_cluster cluster = {.api = client_api(w.client), .wait = wait_client, .user = &w};
    struct check c = {.report = r,
                      .cluster = &cluster,
                      .options = o,
                      .ns = span_of(o->own_namespace),
                      .account = span_of(o->account),
                      .address = config.server,
                      .now = clock_wall(),
                      .types = types,
                      .metrics = running_metrics(r->a, o),
                      .scheduler = *scheduler};
    if (c.ns.len == 0)
        c.ns = SPAN("stowage-system");
    if (c.account.len == 0 && o->installation)
        c.account = arena_printf(r->a, "%.*s/stowage", SPAN_ARG(c.ns));
    bool ok = check_run(&c, err) || err_wrap(err, "%.*s", SPAN_ARG(config.server));
    client_free(w.client);
    catalogue_source_free(types);
    return ok;
}

static bool check_file(struct check_report *r, const struct options *o, struct scheduler_file *out, struct err *err)
{
    struct span text;
    const char *path = o->scheduler_file;
    if (path == NULL || path[0] == '\0')
        return true;
    return (input_text(r->a, path, &text, err) && check_scheduler_file(r, path, text, out, err)) ||
           err_wrap(err, "--scheduler-config");
}

static int check(struct arena *a, int argc, char *const *argv, struct err *err)
{
    struct options options;
    struct check_report report = {.a = a};
    struct scheduler_file scheduler = {0};
    bool help;
    if (!options_read(a, OPTION_CHECK, argc, argv, command_environment, &options, &help, err))
        return 2;
    if (help)
        return command_help("check");
    if (options.files.count != 0 && check_moves(&options))
        return err_set(err, ERR_INVALID, "--ca-compat is about a cluster, and -f about files instead of one; keep one"), 2;
    if (options.installation && (options.files.count != 0 || check_moves(&options)))
        return err_set(err, ERR_INVALID, "--cluster is about what is installed; -f and --ca-compat are about something else; keep one"), 2;
    struct input in;
    input_init(&in);
    bool ok = check_file(&report, &options, &scheduler, err) &&
              (options.files.count != 0 ? check_files(&report, &options, &in, err)
                                        : check_cluster(&report, &options, &scheduler, err)) &&
              check_print(&report, &options, err);
    input_release(&in);
    if (!ok)
        return 2;
    return check_count(&report, CHECK_FAIL) != 0 ||
           (options.warnings_as_errors && check_count(&report, CHECK_WARN) != 0);
}

int command_check(int argc, char *const *argv)
{
    return command_once("check", check, argc, argv);
}
