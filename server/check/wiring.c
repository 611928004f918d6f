/* Whether kube-scheduler asks the extender: only the server that it asks can tell. */
#include <stdlib.h>

#include "server/check/check.h"

#define HOW_TO_WIRE                                                                                \
    "is the extender in its configuration? see manifests/README.md; --scheduler-config FILE looks " \
    "it over"

struct sample { /* one line of a metrics text: name{labels} value */
    struct span name, labels;
    double value;
};

static bool read_sample(struct span line, struct sample *out)
{
    size_t space = line.len, brace = line.len;
    while (space > 0 && line.ptr[space - 1] != ' ')
        space--;
    for (size_t i = 0; i < line.len && brace == line.len; i++)
        if (line.ptr[i] == '{' || line.ptr[i] == ' ')
            brace = i;
    if (space == 0 || line.ptr[0] == '#')
        return false;
    char number[64];
    size_t n = line.len - space;
    if (n == 0 || n >= sizeof(number))
        return false;
    memcpy(number, line.ptr + space, n);
    number[n] = '\0';
    *out = (struct sample){.name = {line.ptr, brace},
                           .labels = {line.ptr + brace, space - brace},
                           .value = strtod(number, NULL)};
    return true;
}

bool check_metric(struct span text, const char *name, const char *label, double *sum_out)
{
    bool found = false;
    *sum_out = 0;
    for (struct span rest = text; rest.ptr != NULL;) {
        struct sample s;
        struct span line = span_cut(rest, '\n', &rest);
        if (!read_sample(line, &s) || !span_eq(s.name, span_of(name)) ||
            !span_contains(s.labels, span_of(label)))
            continue;
        found = true;
        *sum_out += s.value;
    }
    return found;
}

/* Told by how many nodes were offered, of which kube-scheduler's filters may by chance leave as many; its
 * configuration knows better. */
static void check_sampling(struct check *c)
{
    double sampled;
    if (c->scheduler.every_node || !check_metric(c->metrics, "stowage_extender_sampled_total", "", &sampled))
        return;
    if (sampled > 0)
        check_say(c->report, CHECK_WARN, "sampling",
                  "set percentageOfNodesToScore: 100 in the scheduler's configuration",
                  "the scheduler seems to have offered a part of the nodes %.0f times: the planned one "
                  "may not be among them",
                  sampled);
    else
        check_say(c->report, CHECK_OK, "sampling", NULL, "the scheduler offers every node");
}

/* True: the scheduler has asked something. */
static bool check_called(struct check *c)
{
    static const char requests[] = "stowage_extender_requests_total";
    double leads, asked, wrong, silent;
    check_metric(c->metrics, "leader_election_master_status", "", &leads);
    check_metric(c->metrics, requests, "verb=\"filter\"", &asked);
    check_metric(c->metrics, requests, "answer=\"error\"", &wrong);
    check_metric(c->metrics, "stowage_scheduler_silent", "", &silent);
    if (silent > 0)
        check_say(c->report, CHECK_WARN, "wiring", HOW_TO_WIRE,
                  "the scheduler has not asked Stowage for a minute or more while planned pods waited");
    else if (asked > 0)
        check_say(c->report, CHECK_OK, "wiring", NULL,
                  "the scheduler asks Stowage: about %.0f pods so far", asked);
    else if (leads == 0)
        check_say(c->report, CHECK_UNKNOWN, "wiring", "name the leader with --server",
                  "the server at %s stands by; the scheduler asks the one that leads",
                  c->options->server);
    else
        check_say(c->report, CHECK_WARN, "wiring", HOW_TO_WIRE,
                  "the scheduler has not asked Stowage about any pod since it started");
    if (wrong > 0)
        check_say(c->report, CHECK_WARN, "wiring", "is nodeCacheCapable true in its configuration?",
                  "%.0f of the scheduler's questions could not be read", wrong);
    return asked > 0;
}

void check_wiring(struct check *c)
{
    if (c->options->placement == PLACEMENT_NOMINATE) {
        check_say(c->report, CHECK_OK, "wiring", NULL,
                  "the scheduler need not ask: pods are nominated for nodes (--placement=nominate)");
        return;
    }
    if (c->metrics.len == 0) {
        check_say(c->report, CHECK_UNKNOWN, "wiring",
                  "kubectl port-forward to the leader's port 8090, and ask again",
                  "whether the scheduler asks Stowage: no server answers at %s (--server)",
                  c->options->server);
        return;
    }
    if (check_called(c))
        check_sampling(c);
}
