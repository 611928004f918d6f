#include <stdio.h>
#include <string.h>

#include "base/wrap.h"
#include "server/options.h"

enum { TOPIC_NAMES_MAX = 20, WIDTH = 80, COLUMN = 33 /* of the text */ };

static const struct {
    const char *title, *names[TOPIC_NAMES_MAX];
} topics[] = {
    {"Input", {"filename", "instance-types", "node-groups", "scheduler-config", "now", "all-unbound", "no-expand",
               "include-cronjobs", "with-cluster", "prices", "spot", "type-offerings", "zones", "region",
               "vm-memory-overhead-percent", "reserved-enis"}},
    {"Output", {"output", "verbose", "warnings-as-errors", "report", "log", "compare", "repeat", "log-level",
                "log-format"}},
    {"Cluster", {"cluster", "kubeconfig", "context", "server", "namespace", "account", "embedded", "kube-client-qps",
                 "kube-client-burst", "cluster-api-pools"}},
    {"Decisions", {"search", "preference-policy", "min-values-policy", "feature-gates", "ignore-dra-requests",
                   "legacy-node-repair", "reserved-offering-mode", "credit-reservation", "max-instance-types", "effort",
                   "time-budget", "batch-idle-duration", "batch-max-duration", "consolidation-cool-down",
                   "empty-return", "max-nodes-per-minute", "max-hourly-price", "ca-compat", "at"}},
    {"What would be if", {"disruption", "disruption-all", "remove", "remove-for", "nominated", "buffer-nodes", "rebooted",
                          "reserved-nodes", "replicas"}},
    {"Placement", {"placement", "nominate-from"}},
    {"Listeners", {"webhook-listen", "extender-listen", "page-listen", "page-host", "page-token-file", "page-insecure", "metrics-port",
                   "health-probe-port", "disable-cluster-state-observability", "metrics-pods-max", "threads", "shutdown-delay"}},
    {"Admission and certificates", {"register-webhooks", "strict-admission", "webhook-url", "tls-cert", "tls-key", "tls-min-version", "tls-cipher-suites",
                                    "leaf-life", "ca-life", "extender-client-ca", "extender-client-names",
                                    "extender-insecure", "scheduler-secret-namespace", "webhook-client-ca", "webhook-client-names"}},
    {"Leadership", {"leader-election-name", "leader-election-namespace", "lease-duration", "lease-renew-deadline",
                    "lease-retry-period", "disable-leader-election", "coexist", "pod-name"}},
};

const char *option_topic(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(topics); i++)
        for (size_t k = 0; k < TOPIC_NAMES_MAX && topics[i].names[k] != NULL; k++)
            if (strcmp(topics[i].names[k], name) == 0)
                return topics[i].title;
    return NULL;
}

void option_told(struct buf *out, const struct option *o)
{
    buf_addf(out, "%s", o->help);
    if (o->choices != NULL)
        buf_addf(out, " (%s)", o->choices);
    if (o->fallback != NULL && o->fallback[0] != '\0' && o->type != OPTION_GATES && strcmp(o->fallback, "false") != 0)
        buf_addf(out, " [%s]", o->fallback);
}

static void put_flag(struct buf *out, const struct option *o)
{
    char flag[64];
    if (o->letter != 0)
        snprintf(flag, sizeof(flag), "-%c, --%s", o->letter, o->name);
    else
        snprintf(flag, sizeof(flag), "    --%s", o->name);
    struct buf text = {0};
    option_told(&text, o);
    buf_addf(out, "  %-*s ", COLUMN - 3, flag);
    if (strlen(flag) > COLUMN - 3) { /* the text begins below it */
        buf_add_char(out, '\n');
        wrap_spaces(out, COLUMN);
    }
    wrap_put(out, buf_span(&text), WIDTH, COLUMN, COLUMN);
    buf_release(&text);
}

void options_help(struct buf *out, enum option_group group)
{
    for (size_t t = 0; t < COUNT_OF(topics); t++) {
        bool is_first = true;
        for (size_t k = 0; k < TOPIC_NAMES_MAX && topics[t].names[k] != NULL; k++) {
            const struct option *o;
            for (size_t i = 0; (o = option_row(i)) != NULL; i++) {
                if ((o->group & group) == 0 || o->without_meaning || strcmp(o->name, topics[t].names[k]) != 0)
                    continue;
                if (is_first)
                    buf_addf(out, "\n%s\n", topics[t].title);
                is_first = false;
                put_flag(out, o);
            }
        }
    }
    buf_add(out, SPAN("\nEvery flag can also be given as STOWAGE_<FLAG> in the environment.\n"));
}
