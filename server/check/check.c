#include "server/check/check.h"

#include "base/json.h"
#include "kube/meta.h"

enum { LEASE_DURATION_MS = 15 * MS_SECOND }; /* when a Lease says nothing */

struct ask *check_asks(struct check *c, uint32_t count)
{
    return ARENA_ARRAY(c->report->a, struct ask, count);
}

bool check_lease_live(struct doc_value lease, wall_ms now, struct span *holder_out, span_ms *age_out)
{
    struct doc_value spec;
    wall_ms renewed;
    if (!doc_find(lease, SPAN("spec"), &spec) ||
        !time_parse(doc_text_at(spec, SPAN("renewTime")), &renewed))
        return false;
    span_ms duration =
        doc_int64_at(spec, SPAN("leaseDurationSeconds"), LEASE_DURATION_MS / MS_SECOND) * MS_SECOND;
    *holder_out = doc_text_at(spec, SPAN("holderIdentity"));
    *age_out = now > renewed ? now - renewed : 0;
    return holder_out->len != 0 && *age_out < 2 * duration;
}

/* ---- who leads ---- */

static void read_leader(void *user, struct doc_value lease)
{
    struct check *c = user;
    struct span holder;
    span_ms age;
    c->runs = check_lease_live(lease, c->now, &holder, &age);
    if (c->runs)
        check_say(c->report, CHECK_OK, "leader", NULL, "Stowage runs; %.*s leads", SPAN_ARG(holder));
}

void check_leader(struct check *c)
{
    struct ask *a = check_asks(c, 1);
    a->request = (struct api_request){.verb = API_GET,
                                      .kind = KIND_LEASE,
                                      .ns = c->ns,
                                      .name = span_of(c->options->lease_name)};
    a->read = read_leader;
    a->user = c;
    ask_all(c->cluster, a, 1);
    if (c->runs)
        return;
    bool known = a->err.kind == ERR_NONE || a->err.kind == ERR_NOT_FOUND, missed = known && c->options->installation;
    check_say(c->report, missed ? CHECK_FAIL : CHECK_UNKNOWN, "leader",
              missed ? arena_printf(c->report->a, "kubectl -n %.*s logs deploy/stowage", SPAN_ARG(c->ns)).ptr
                     : "when it has started, ask again; --namespace says where to look",
              known ? "no Stowage leads by Lease %.*s/%s: it does not run, or not there"
                    : "whether Stowage runs: Lease %.*s/%s cannot be read",
              SPAN_ARG(c->ns), c->options->lease_name);
}

/* ---- all of it ---- */

bool check_run(struct check *c, struct err *err)
{
    if (c->options->installation)
        return check_installation(c, err);
    check_flags(c);
    bool ok = check_access(c, err);
    if (ok) {
        check_leader(c);
        check_certificates(c);
        check_wiring(c);
        check_pools(c);
        check_groups(c);
        check_rivals(c);
    }
    if (c->groups != NULL && c->groups->settings.provider != NULL)
        c->groups->settings.provider->ops->free(c->groups->settings.provider);
    return ok;
}
