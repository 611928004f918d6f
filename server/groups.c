#include "server/groups.h"

#include <stdlib.h>

#include "cloud/groups/cluster_api.h"
#include "cloud/groups/kwok.h"
#include "kube/kubeconfig_io.h"
#include "server/input.h"

/* --- flags --- */

bool groups_meaningless(struct arena *a, const struct group_options_given *given, const struct options *o, struct span *line_out,
                        struct err *err)
{
    struct buf list = {0};
    bool resolves = given->resolve_buffers && !o->gates.capacity_buffer;
    *line_out = (struct span){NULL, 0};
    if (resolves && !o->ca_compat)
        return err_set(err, ERR_INVALID, "--capacity-buffer-controller-enabled: CapacityBuffers are resolved where they are filled; "
                                         "give --capacity-buffer-pod-injection-enabled, too, or leave it out");
    for (uint32_t i = 0; i < given->without_meaning.count; i++)
        buf_addf(&list, "%s--%.*s", i != 0 ? ", " : "", SPAN_ARG(given->without_meaning.items[i]));
    if (resolves)
        buf_addf(&list, "%s--capacity-buffer-controller-enabled (without --capacity-buffer-pod-injection-enabled)",
                 list.len != 0 ? ", " : "");
    struct span names = arena_dup(a, buf_span(&list));
    buf_release(&list);
    if (names.len == 0)
        return true;
    if (!o->ca_compat)
        return err_set(err, ERR_INVALID, "%.*s: Cluster Autoscaler's, without meaning here; leave out, or give --ca-compat",
                       SPAN_ARG(names));
    *line_out = arena_printf(a, "flags of Cluster Autoscaler without meaning here: %.*s", SPAN_ARG(names));
    return true;
}

/* Where there is a limit, something is below it. */
static bool check_requests(const struct group_settings *s, struct err *err)
{
    if (s->check_batch < 1)
        return err_set(err, ERR_INVALID, "--check-capacity-provisioning-request-max-batch-size: less than 1 would check nothing; "
                                         "give 1 or more");
    if (s->request_backoff_count < 0)
        return err_set(err, ERR_INVALID, "--provisioning-request-max-backoff-cache-size: fewer than none; give 0 or more");
    if (s->request_backoff_first < MS_SECOND || s->request_backoff_max < s->request_backoff_first)
        return err_set(err, ERR_INVALID, "--provisioning-request-initial-backoff-time and -max-backoff-time: give 1s or more, and "
                                         "no less for the second than for the first");
    return true;
}

bool groups_check(const struct group_options_given *given, struct err *err)
{
    const char *first = given->first != NULL ? given->first : given->first_of_loop;
    const struct group_flags *f = &given->settings.flags;
    if (given->cloud_provider.len == 0 && first != NULL)
        return err_set(err, ERR_INVALID, "--%s is about node groups; say where they are with --cloud-provider=kwok or clusterapi",
                       first);
    if (f->balancing_labels.count != 0 && f->balancing_ignore_labels.count != 0)
        return err_set(err, ERR_INVALID, "--balancing-label and --balancing-ignore-label exclude each other; keep one");
    if (given->settings.drain_turns.count != 0 && given->settings.max_grace != group_settings_default().max_grace)
        return err_set(err, ERR_INVALID,
                       "--drain-priority-config and --max-graceful-termination-sec exclude each other; keep one");
    if (given->settings.scan_interval < MS_SECOND)
        return err_set(err, ERR_INVALID, "--scan-interval: less than 1s is no rest; give 1s or more");
    return check_requests(&given->settings, err);
}

void groups_settle(struct group_options_given *given, struct options *o)
{
    given->settings.flags.as_upstream = o->search == SEARCH_IS_GREEDY;
    given->settings.flags.check_batch = given->settings.check_batches ? given->settings.check_batch : 1;
    o->gates.capacity_buffer |= given->fill_buffers;
}

/* --- kwok --- */

/* Of a file: the first document is the configuration, the others are template Nodes. */
static void split_file(struct span text, struct span *config, struct span *templates)
{
    *config = text;
    *templates = (struct span){"", 0};
    for (size_t at = 0; at + 4 <= text.len; at++) {
        if (memcmp(text.ptr + at, "\n---", 4) != 0)
            continue;
        *config = (struct span){text.ptr, at + 1};
        *templates = (struct span){text.ptr + at + 1, text.len - at - 1};
        return;
    }
}

static struct group_provider *open_kwok(struct arena *a, const struct group_options_given *given, struct api *api, struct err *err)
{
    struct group_kwok_options options = {.api = api};
    struct group_kwok_text config;
    struct span text;
    if (given->cloud_config.len == 0) {
        const char *name = getenv("KWOK_PROVIDER_CONFIGMAP");
        options.config_map = name != NULL && name[0] != '\0' ? arena_dup(a, span_of(name)) : SPAN(GROUP_KWOK_CONFIG_MAP);
        options.maps_ns = given->settings.flags.config_namespace;
        return group_kwok_new(&options, err);
    }
    const char *file = arena_cstr(a, given->cloud_config);
    if (!input_text(a, file, &text, err))
        return NULL;
    config.from = options.templates.from = given->cloud_config;
    split_file(text, &config.text, &options.templates.text);
    if (!group_kwok_read(a, &config, &options.config, err))
        return NULL;
    return group_kwok_new(&options, err);
}

/* --- Cluster API --- */

bool groups_management(struct arena *a, const struct group_options_given *given, const struct client_policy *policy,
                       struct mirror **out, struct err *err)
{
    struct client_config cluster;
    *out = NULL;
    if (!group_options_elsewhere(given))
        return true;
    const char *flag = given->cloud_config.len != 0 ? "--cloud-config" : "--clusterapi-cloud-config-authoritative";
    if (!kubeconfig_load(a, given->cloud_config, (struct span){NULL, 0}, &cluster, err))
        return err_wrap(err, "%s", flag);
    struct mirror_config config = {&cluster, policy, cluster_api_kinds};
    return mirror_new(&config, out, err) || err_wrap(err, "%s", flag);
}

static struct group_provider *open_cluster_api(struct arena *a, const struct group_options_given *given, struct api *api,
                                               struct mirror *management, struct err *err)
{
    struct cluster_api_selector *selectors = ARENA_ARRAY(a, struct cluster_api_selector, given->discovery.count + 1);
    struct cluster_api_bounds *bounds = ARENA_ARRAY(a, struct cluster_api_bounds, given->nodes.count + 1);
    struct cluster_api_options options = {.api = management != NULL ? mirror_api(management) : api,
                                          .management = management != NULL ? mirror_snapshots(management) : NULL,
                                          .selectors = selectors,
                                          .selector_count = given->discovery.count,
                                          .bounds = bounds,
                                          .bounds_count = given->nodes.count};
    for (uint32_t i = 0; i < given->discovery.count; i++)
        if (!cluster_api_selector_parse(a, given->discovery.items[i], &selectors[i], err))
            return err_wrap(err, "--node-group-auto-discovery"), NULL;
    for (uint32_t i = 0; i < given->nodes.count; i++)
        if (!cluster_api_bounds_parse(a, given->nodes.items[i], &bounds[i], err))
            return err_wrap(err, "--nodes"), NULL;
    const char *arch = getenv("CAPI_SCALE_ZERO_DEFAULT_ARCH");
    options.default_arch = arch != NULL ? span_of(arch) : (struct span){NULL, 0};
    return cluster_api_new(&options);
}

bool groups_open(struct arena *a, struct group_options_given *given, struct api *api, struct mirror *management,
                 struct err *err)
{
    struct group_settings *s = &given->settings;
    if (given->cloud_provider.len == 0)
        return true;
    if (span_eq(given->cloud_provider, SPAN("kwok")))
        s->provider = open_kwok(a, given, api, err);
    else if (span_eq(given->cloud_provider, SPAN("clusterapi")))
        s->provider = open_cluster_api(a, given, api, management, err);
    else
        err_set(err, ERR_INVALID, "--cloud-provider: \"%.*s\" is none of kwok, clusterapi; other clouds are reached through "
                                  "Cluster API",
                SPAN_ARG(given->cloud_provider));
    for (uint32_t i = 0; s->provider != NULL && i < s->flags.expander_count; i++)
        if (s->flags.expanders[i] == EXPANDER_PRICE)
            return err_set(err, ERR_INVALID, "--expander price: provider %s knows no prices", s->provider->ops->name);
    return s->provider != NULL;
}
