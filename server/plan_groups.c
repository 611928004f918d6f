#include "server/plan_groups.h"

#include <sys/stat.h>

#include "base/safe_text.h"
#include "kube/config_map.h"
#include "kube/wellknown.h"
#include "planner/explain/tell.h"
#include "planner/groups/choice.h"
#include "server/clock.h"
#include "server/command.h"
#include "server/input_told.h"

#define GROUPS_API "stowage.dev/v1alpha1"
#define GROUPS_KIND "NodeGroups"

struct input_own plan_groups_own(void)
{
    return (struct input_own){
        .api_version = GROUPS_API, .kind = GROUPS_KIND, .schema = &node_groups_schema, .nameless = true};
}

/* --- reading --- */

static void decode_list(struct decode *d, struct doc_value root, struct node_groups *out)
{
    struct group_list *list = &out->groups;
    struct doc_iter it = doc_iter_of(root);
    list->items = ARENA_ARRAY(d->arena, struct node_group, doc_count(root));
    while (doc_next(&it))
        decode_value(d, it.value, &node_group_schema, &list->items[list->count++]);
    node_groups_check_names(d, root, list);
}

static void check_type(struct place_in_file *at, const struct node_groups *g)
{
    if (g->api_version.len != 0 && !span_eq(g->api_version, SPAN(GROUPS_API)))
        input_add_mistake(at, 1, SPAN("apiVersion"), arena_printf(&at->o->arena, "\"%.*s\" is not " GROUPS_API, SPAN_ARG(g->api_version)));
    if (g->kind.len != 0 && !span_eq(g->kind, SPAN(GROUPS_KIND)))
        input_add_mistake(at, 1, SPAN("kind"), arena_printf(&at->o->arena, "\"%.*s\" is not " GROUPS_KIND, SPAN_ARG(g->kind)));
}

static bool begins_as_json(struct span text)
{
    size_t at = 0;
    while (at < text.len && strchr(" \t\r\n", text.ptr[at]) != NULL)
        at++;
    return at < text.len && (text.ptr[at] == '{' || text.ptr[at] == '[');
}

static void decode_file(struct place_in_file *at, struct doc_value root, struct node_groups *out)
{
    struct decode d = {.arena = &at->o->arena, .syms = at->o->syms, .mistake = input_add_mistake,
                       .invalid = input_add_mistake, .unknown = input_add_mistake, .user = at};
    if (doc_type(root) == DOC_ARRAY)
        decode_list(&d, root, out);
    else
        decode_value(&d, root, &node_groups_schema, out);
    check_type(at, out);
}

static bool read_file(struct input *o, const char *file, struct node_groups *out, struct err *err)
{
    struct span text;
    const struct doc *doc;
    size_t from = 0;
    struct place_in_file at = {.o = o, .file = file};
    if (!input_text(&o->arena, file, &text, err))
        return false;
    struct doc_parser *p = doc_parser_new();
    err->kind = ERR_NONE;
    bool ok = begins_as_json(text) ? doc_parse_json(p, text, &doc, err) : doc_parse_yaml(p, text, &from, &doc, err);
    if (ok) {
        decode_file(&at, doc_root(doc), out);
        input_end_object(&at);
    } else if (err->kind == ERR_NONE) {
        err_set(err, ERR_INVALID, "%s: no node groups in it; write a list of groups, or an object with `groups`", file);
    } else {
        err_wrap(err, "%s", file);
    }
    doc_parser_free(p);
    return ok;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool find_object(const struct input *o, const char *file, const struct node_groups **out, struct err *err)
{
    for (size_t i = 0; i < o->own->found.count; i++) {
        const struct node_groups *g = o->own->found.items[i];
        const struct input_origin *origin = input_origin(g);
        if (file != NULL && is_same_file(file, origin->file))
            continue;
        if (file != NULL || *out != NULL)
            return err_set(err, ERR_INVALID, "%s:%u: node groups are given twice; keep one of both%s", origin->file, origin->line,
                           file != NULL ? ", this object or --node-groups" : "");
        *out = g;
    }
    return true;
}

static bool check_flags(const struct group_flags *f, const struct node_groups *g, struct err *err)
{
    for (uint32_t i = 0; i < f->expander_count; i++)
        if (f->expanders[i] == EXPANDER_PRICE && !g->has_pod_prices)
            return err_set(err, ERR_INVALID, "--expander price needs podPrices in the file of node groups");
    return f->balancing_labels.count == 0 || f->balancing_ignore_labels.count == 0 ||
           err_set(err, ERR_INVALID, "--balancing-label and --balancing-ignore-label exclude each other; keep one");
}

bool plan_groups_find(struct input *o, const char *file, const struct group_options_given *given,
                      const struct node_groups **out, struct err *err)
{
    *out = NULL;
    if (!find_object(o, file, out, err))
        return false;
    if (file != NULL) {
        struct node_groups *g = ARENA_NEW(&o->arena, struct node_groups);
        if (!read_file(o, file, g, err))
            return false;
        *out = g;
    }
    if (o->mistakes != 0) {
        command_complain_lines(&o->mistake_lines);
        return err_set(err, ERR_INVALID, "%u mistake%s in %s; nothing planned", o->mistakes, o->mistakes == 1 ? "" : "s", file);
    }
    if (*out == NULL && given->first != NULL)
        return err_set(err, ERR_INVALID, "--%s is about node groups, and the input has none; give --node-groups FILE", given->first);
    return *out == NULL || check_flags(&given->settings.flags, *out, err);
}

/* --- deciding --- */

#define TAKE(objects_, member, count_, kind_)                                                                          \
    objects_.member = (const void *)o->kinds[kind_].items, objects_.count_ = o->kinds[kind_].count

static struct group_objects objects_of(const struct input *o)
{
    struct group_objects x = {.syms = o->syms};
    TAKE(x, nodes, node_count, KIND_NODE);
    TAKE(x, pods, pod_count, KIND_POD);
    TAKE(x, daemon_sets, daemon_set_count, KIND_DAEMON_SET);
    TAKE(x, replica_sets, replica_set_count, KIND_REPLICA_SET);
    TAKE(x, stateful_sets, stateful_set_count, KIND_STATEFUL_SET);
    TAKE(x, replication_controllers, replication_controller_count, KIND_REPLICATION_CONTROLLER);
    TAKE(x, jobs, job_count, KIND_JOB);
    TAKE(x, budgets, budget_count, KIND_DISRUPTION_BUDGET);
    TAKE(x, quotas, quota_count, KIND_CAPACITY_QUOTA);
    TAKE(x, config_maps, config_map_count, KIND_CONFIG_MAP);
    return x;
}

/* The first pod that prefers what is neither. */
static void warn_of_wish(struct input *o, const struct group_model *m)
{
    const struct input_list *pods = &o->kinds[KIND_POD];
    for (size_t i = 0; i < pods->count; i++) {
        const struct pod *p = pods->items[i];
        struct span wish = annotations_get(p->meta.annotations, SYM_PREFER);
        if (wish.ptr == NULL || choice_knows(m, wish))
            continue;
        struct span text = arena_printf(&o->arena,
                                        "Pod %.*s/%.*s: metadata.annotations[stowage.dev/prefer]: \"%.*s\" has no effect. Fix: "
                                        "write pools, groups or the name of a node group (a NodePool is asked for by the node "
                                        "selector karpenter.sh/nodepool)",
                                        SPAN_ARG(p->meta.ns), SPAN_ARG(p->meta.name), SPAN_ARG(safe_value(&o->arena, wish)));
        input_warn(o, text);
        command_complain("warning: %.*s", SPAN_ARG(text));
        return;
    }
}

struct deciding {
    struct input *o;
    const struct options *options;
    const struct plan_reading *r;
    const struct group_model *m;
};

static struct world *world_of(void *user, const struct group_objects *objects)
{
    const struct deciding *d = user;
    struct group_ground g = group_model_ground(d->m, objects, &d->o->arena);
    struct world_options world_options;
    struct world_input in;
    plan_world_input(d->o, d->options, &d->r->with, &world_options, &in);
    in.nodes = g.nodes;
    in.node_count = g.node_count;
    in.pods = g.pods;
    in.pod_count = g.pod_count;
    return world_build(&in);
}

static struct world *both_of(void *user, const struct group_offers *offers)
{
    const struct deciding *d = user;
    struct world_options world_options;
    struct world_input in;
    plan_world_input(d->o, d->options, &d->r->with, &world_options, &in);
    in.options = &offers->options;
    in.catalogue = &offers->catalogue;
    in.pools = offers->pools;
    in.pool_count = offers->pool_count;
    return world_build(&in);
}

/* The pools' plan is made anew where groups are cheaper for some; with a time budget in as much time as the first, and
 * what is tried before as well. Without pools it is a plan in which nobody has a place. */
static const struct choice *choose(const struct plan_reading *r, const struct choice_ground *ground, struct plan **pools,
                                   struct arena *a)
{
    bool alone = *pools == NULL;
    struct choice_ground g = *ground;
    struct plan_options o = r->options;
    mono_ms until = clock_mono() + r->time_budget;
    struct choice_options with;
    if (r->time_budget != 0) {
        o.stop = clock_is_past;
        o.user = &until;
    }
    g.options = &o;
    struct plan *plan = alone ? plan_solve(r->world, &o) : *pools;
    const struct choice *c = plan->complete ? choice_make(&g, plan, a) : NULL; /* else there is no time for it */
    if (alone)
        plan_free(plan);
    if (c == NULL || alone)
        return c;
    plan_free(*pools);
    until = clock_mono() + r->time_budget;
    choice_plan_options(&o, c, &with);
    *pools = plan_solve(r->world, &with.plan);
    plan_tell(*pools);
    return c;
}

struct group_pass *plan_groups_decide(struct input *o, const struct options *options, const struct plan_reading *r,
                                      const struct node_groups *groups, const struct group_flags *given,
                                      struct plan **pools, struct world **world_out, struct err *err)
{
    struct group_objects objects = objects_of(o);
    struct arena *a = &o->arena;
    struct group_flags flags = choice_flags(given, groups, *pools != NULL);
    flags.provisioning_requests = false; /* what becomes of one lies in the loop: its status says */
    struct group_model *m = group_model_make(groups, &flags, &objects, r->options.now, a, err);
    *world_out = NULL;
    if (m == NULL)
        return NULL;
    warn_of_wish(o, m);
    struct deciding d = {o, options, r, m};
    *world_out = world_of(&d, &objects);
    if (*pools != NULL || flags.by_cost) {
        struct choice_ground g = {.pools = r->world, .groups = *world_out, .model = m, .flags = &flags, .objects = &objects,
                                  .at_once = true, .world_of = world_of, .both_of = both_of, .user = &d};
        const struct choice *c = choose(r, &g, pools, a);
        if (c != NULL)
            objects.wishes = choice_wishes(c, &objects.wish_count);
    }
    if (*pools != NULL)
        groups_see_plan(&objects, *pools, a);
    if (objects.bought != NULL) {
        world_free(*world_out);
        *world_out = world_of(&d, &objects);
    }
    struct group_pass *decided = groups_pass(*world_out, m, &flags, &objects, r->options.now, a);
    if (*pools != NULL)
        groups_take_over(*pools, decided);
    return decided;
}
