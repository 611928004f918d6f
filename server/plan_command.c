#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/safe_text.h"
#include "planner/bits.h"
#include "planner/disruption/disruption_told.h"
#include "planner/explain/tell.h"
#include "planner/groups/cost.h"
#include "planner/groups/pass_json.h"
#include "planner/plan/plan_json.h"
#include "planner/plan/plan_table.h"
#include "server/catalogue_file.h"
#include "server/clock.h"
#include "server/command.h"
#include "server/expand.h"
#include "server/groups.h"
#include "server/input_cluster.h"
#include "server/plan_command.h"
#include "server/plan_groups.h"
#include "server/plan_machines.h"
#include "server/plan_report.h"

static int64_t mono_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool load_catalogue(struct input *o, const char *path, struct planned_with *out, struct err *err)
{
    struct catalogue_source *source;
    if (!catalogue_file(path, &source, err))
        return false;
    catalogue_build(source, &o->arena, o->syms, &out->catalogue);
    out->repair = catalogue_repair(source, &o->arena);
    catalogue_source_free(source);
    return true;
}

/* Where Repair is asked for its policies have to be right, all of them. */
static bool check_repair(struct input *o, const struct options *options, struct planned_with *with, struct err *err)
{
    struct buf violations = {0};
    with->repairs = options->gates.node_repair && !options->legacy_node_repair;
    bool fine = !with->repairs ||
                repair_policies_make(&o->arena, &with->repair, &with->repair_policies, &violations);
    if (!fine) {
        command_complain_lines(&violations);
        err_set(err, ERR_INVALID, "--feature-gates NodeRepair=true needs repairPolicies in %.*s that are right; "
                                  "nothing planned",
                SPAN_ARG(with->catalogue.name));
    }
    buf_release(&violations);
    return fine;
}

static bool load_spread(struct input *o, const char *text, struct default_spread_config *out,
                        struct err *err)
{
    return default_spread_decode(&o->arena, span_of(text), out, err) ||
           err_wrap(err, "--scheduler-config");
}

void plan_world_input(const struct input *o, const struct options *options, const struct planned_with *with,
                      struct world_options *world_options, struct world_input *out)
{
    *world_options = (struct world_options){
        .reserved_capacity = options->gates.reserved_capacity,
        .node_overlay = options->gates.node_overlay,
        .capacity_buffer = options->gates.capacity_buffer,
        .buffer_pods_given = true,
        .ready_when_unstated = true,
        .all_unbound = options->all_unbound,
        .unbound_classes = o->grouped,
        .default_spread = &with->spread,
    };
    *out = (struct world_input){.syms = o->syms, .options = world_options, .catalogue = &with->catalogue};
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        world_input_take(out, k, o->kinds[k].items, o->kinds[k].count);
}

static struct world *build_world(const struct input *o, const struct options *options,
                                 const struct planned_with *with)
{
    struct world_options world_options;
    struct world_input in;
    plan_world_input(o, options, with, &world_options, &in);
    return world_build(&in);
}

/* A node's name is the Node's, or the NodeClaim's while the claim has no registered Node. */
static int32_t row_named(const struct world *w, struct span name)
{
    int32_t rows[] = {world_find_node(w, name), world_find_claim(w, name)};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (rows[i] >= 0 && span_eq(world_node_at(w, (uint32_t)rows[i])->name, name))
            return rows[i];
    return -1;
}

static bool is_static_pool(const struct input *in, struct span name)
{
    for (size_t i = 0; i < in->kinds[KIND_NODE_POOL].count; i++) {
        const struct node_pool *p = in->kinds[KIND_NODE_POOL].items[i];
        if (span_eq(p->meta.name, name))
            return p->has_replicas;
    }
    return false;
}

/* Every flag that names nodes or pools names such as there are. */
static bool check_names(const struct world *w, const struct input *in, const struct options *o, struct err *err)
{
    const struct {
        const char *flag;
        const struct texts *names;
    } flags[] = {
        {"--remove", &o->remove},
        {"--nominated", &o->nominated},
        {"--buffer-nodes", &o->buffer_nodes},
    };
    for (size_t f = 0; f < COUNT_OF(flags); f++)
        for (uint32_t i = 0; i < flags[f].names->count; i++)
            if (row_named(w, span_of(flags[f].names->items[i])) < 0)
                return err_set(err, ERR_INVALID, "%s: there is no node \"%s\" in the input",
                               flags[f].flag, flags[f].names->items[i]);
    for (uint32_t i = 0; i < o->rebooted.count; i++)
        if (row_named(w, span_of(o->rebooted.items[i].name)) < 0)
            return err_set(err, ERR_INVALID, "--rebooted: there is no node \"%s\" in the input",
                           o->rebooted.items[i].name);
    for (uint32_t i = 0; i < o->reserved_nodes.count; i++)
        if (!is_static_pool(in, span_of(o->reserved_nodes.items[i].name)))
            return err_set(err, ERR_INVALID, "--reserved-nodes: there is no NodePool \"%s\" with replicas in the input",
                           o->reserved_nodes.items[i].name);
    return true;
}

/* The rows of the nodes that --remove names, each once. */
static void find_removed(const struct world *w, const struct texts *names, struct arena *a,
                         struct plan_options *out)
{
    uint32_t *rows = ARENA_ARRAY(a, uint32_t, names->count);
    out->removed = rows;
    out->removed_count = 0;
    for (uint32_t i = 0; i < names->count; i++) {
        int32_t row = row_named(w, span_of(names->items[i]));
        bool again = false;
        for (uint32_t k = 0; k < out->removed_count; k++)
            again |= rows[k] == (uint32_t)row;
        if (!again)
            rows[out->removed_count++] = (uint32_t)row;
    }
}

/* The rows of named nodes as a set; NULL: there are none. */
static const uint64_t *rows_named(const struct world *w, const struct texts *names, struct arena *a)
{
    uint64_t *rows = names->count != 0 ? ARENA_ARRAY(a, uint64_t, bits_words(world_node_count(w))) : NULL;
    for (uint32_t i = 0; i < names->count; i++)
        bits_add(rows, (uint32_t)row_named(w, span_of(names->items[i])));
    return rows;
}

struct plan_moves { /* NULL, both: nobody asked about disruption */
    struct disruption *made, *recommended; /* recommended: NULL where no pool only wants to be told */
};

static struct plan_moves decide(const struct plan_reading *r, struct input *o, const struct options *options)
{
    struct plan_options timed = r->options;
    mono_ms until = clock_mono() + r->time_budget;
    struct reserved_nodes *reserved = ARENA_ARRAY(&o->arena, struct reserved_nodes, options->reserved_nodes.count);
    if (r->time_budget != 0) {
        timed.stop = clock_is_past;
        timed.user = &until;
    }
    struct reboot_count *reboots = ARENA_ARRAY(&o->arena, struct reboot_count, options->rebooted.count);
    for (uint32_t i = 0; i < options->rebooted.count; i++) {
        int64_t n = options->rebooted.items[i].count;
        int32_t row = row_named(r->world, span_of(options->rebooted.items[i].name));
        reboots[i] = (struct reboot_count){(uint32_t)row, n < UINT32_MAX ? (uint32_t)n : UINT32_MAX};
    }
    for (uint32_t i = 0; i < options->reserved_nodes.count; i++)
        reserved[i] = (struct reserved_nodes){span_of(options->reserved_nodes.items[i].name),
                                              options->reserved_nodes.items[i].count};
    struct disruption_options with = {
        .plan = &timed,
        .all = options->disruption_all,
        .repair = r->with.repairs ? &r->with.repair_policies : NULL,
        .reboots = reboots,
        .reboot_count = options->rebooted.count,
        .terminate_first_drift = options->gates.terminate_first_drift,
        .terminate_first_repair = options->gates.terminate_first_repair,
        .spot_to_spot = options->gates.spot_to_spot,
        .pod_deletion_cost = options->gates.pod_deletion_cost,
        .nominated = rows_named(r->world, &options->nominated, &o->arena),
        .buffered = rows_named(r->world, &options->buffer_nodes, &o->arena),
        .reserved = reserved,
        .reserved_count = options->reserved_nodes.count,
    };
    struct plan_moves moves = {.made = disruption_decide(r->world, &with)};
    if (moves.made->error.len != 0) {
        struct span text = arena_printf(&o->arena, "disruption: %.*s", SPAN_ARG(moves.made->error));
        input_warn(o, text);
        command_complain("warning: %.*s", SPAN_ARG(text));
    }
    with.mode = MODE_RECOMMEND;
    if (disruption_recommends(r->world))
        moves.recommended = disruption_decide(r->world, &with);
    return moves;
}

/* 20,000 pods on 4,000 claims of 400 types each are 200 MiB; beyond this something is wrong. */
enum { PLAN_TEXT_MAX = 2047 * 1024 * 1024 };

struct answer {
    const struct plan *plan;         /* NULL: there are node groups, and no NodePool beside them */
    const struct group_pass *groups; /* NULL: there are none */
    struct plan_moves moves;
};

static void put_table(struct buf *out, const struct answer *x, struct span unseen, const struct options *options)
{
    bool wide = options->output == OUTPUT_WIDE, verbose = options->verbose;
    uint32_t width = wide ? 0 : terminal_width();
    if (x->groups != NULL) {
        group_pass_table(out, x->groups);
        group_cost_table(out, x->groups);
    }
    if (x->plan != NULL)
        plan_table(out, x->plan,
                   &(struct plan_table_options){.width = width, .verbose = verbose, .wide = wide, .left_out = unseen});
    else if (unseen.len != 0)
        buf_addf(out, "%.*s.\n", SPAN_ARG(unseen)); /* it names numbers alone */
    if (x->moves.made != NULL)
        disruption_table(out, x->plan->world, x->moves.made, width, verbose);
    if (x->moves.recommended != NULL)
        disruption_table_recommended(out, x->plan->world, x->moves.recommended, width);
}

static void put_json(struct buf *out, const struct answer *x, const struct input *o)
{
    struct json j = {.out = out, .indent = 2};
    plan_json_open(&j, x->plan);
    if (x->groups != NULL) {
        group_pass_json(&j, x->groups);
        group_cost_json(&j, x->groups);
    }
    if (x->moves.made != NULL)
        disruption_json(&j, x->plan->world, x->moves.made, x->moves.recommended);
    plan_json_close(&j, x->plan, o->warnings, o->warning_count);
    buf_add_char(out, '\n');
}

static void put_name(struct buf *out, const char *of, struct span name)
{
    buf_add(out, span_of(of));
    safe_line_add(out, name);
    buf_add_char(out, '\n');
}

/* As kubectl names what it is asked for with -o name. */
static void put_names(struct buf *out, const struct answer *x)
{
    for (uint32_t i = 0; x->plan != NULL && i < x->plan->claim_count; i++)
        put_name(out, "nodeclaim.karpenter.sh/", x->plan->claims[i].name);
    for (uint32_t g = 0; x->groups != NULL && g < x->groups->model->group_count; g++)
        if (group_target_after(x->groups, g) > x->groups->model->groups[g].target)
            put_name(out, "nodegroup.stowage.dev/", x->groups->model->groups[g].spec->name);
}

static bool write_report(const struct answer *x, const char *path, struct err *err)
{
    struct buf page = {.max = PLAN_TEXT_MAX};
    plan_report(&page, x->plan, x->groups);
    bool ok = command_report(&page, path, err);
    buf_release(&page);
    return ok;
}

static bool print_answer(const struct answer *x, struct input *o, const struct options *options, struct err *err)
{
    struct buf text = {.max = PLAN_TEXT_MAX};
    struct span unseen = options->all_unbound ? (struct span){NULL, 0} : input_unseen(o);
    if (options->output == OUTPUT_TABLE || options->output == OUTPUT_WIDE) {
        put_table(&text, x, unseen, options);
    } else if (options->output == OUTPUT_NAME) {
        put_names(&text, x);
    } else if (options->output == OUTPUT_HTML) {
        plan_report(&text, x->plan, x->groups);
    } else {
        if (unseen.len != 0)
            input_warn(o, unseen);
        put_json(&text, x, o);
    }
    return command_print(&text, options->output == OUTPUT_YAML, err);
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static size_t in_use(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

struct plan *plan_in_time(const struct world *w, const struct plan_options *o, span_ms time_budget)
{
    struct plan_options timed = *o;
    mono_ms until = clock_mono() + time_budget;
    if (time_budget != 0) {
        timed.stop = clock_is_past;
        timed.user = &until;
    }
    struct plan *p = plan_solve(w, &timed);
    plan_tell(p);
    return p;
}

/* Solves again and again: decoded objects → plan, the world's building included. Without the lower
 * bound, which is about the plan and not of it: so the time says what a search costs. heldBytes is what world
 * and plan hold beside the objects. */
static void measure(const struct input *o, const struct options *options,
                    const struct plan_reading *r)
{
    size_t n = (size_t)options->repeat;
    struct plan_options alone = r->options;
    alone.no_bound = true;
    int64_t *times = mem_array(n, sizeof(*times));
    size_t before = in_use(), held = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t start = mono_ns();
        struct world *w = build_world(o, options, &r->with);
        struct plan *p = plan_in_time(w, &alone, r->time_budget);
        times[i] = mono_ns() - start;
        held = in_use() - before;
        plan_free(p);
        world_free(w);
    }
    qsort(times, n, sizeof(*times), by_number);
    fprintf(stderr, "{\"repeat\": %zu, \"solveMinNs\": %lld, \"solveMedianNs\": %lld, \"decodeNs\": %lld, "
                    "\"heldBytes\": %zu}\n",
            n, (long long)times[0], (long long)times[n / 2], (long long)r->decode_ns, held);
    free(times);
}

static const struct reservation_credit *credits(struct arena *a, const struct counts *given)
{
    struct reservation_credit *list = ARENA_ARRAY(a, struct reservation_credit, given->count);
    for (uint32_t i = 0; i < given->count; i++)
        list[i] = (struct reservation_credit){span_of(given->items[i].name), given->items[i].count};
    return list;
}

static enum reserved_mode reserved_mode(const struct options *o)
{
    if (o->reserved_offering_mode == RESERVED_OFFERING_AUTO)
        return o->remove.count != 0 ? RESERVED_FALLBACK : RESERVED_STRICT;
    return o->reserved_offering_mode == RESERVED_OFFERING_FALLBACK ? RESERVED_FALLBACK
                                                                   : RESERVED_STRICT;
}

/* Flags that are known, and ask for what is not there. */
static bool may_plan(const struct options *o, struct err *err)
{
    return o->ignore_dra_requests ||
           err_set(err, ERR_INVALID,
                   "--ignore-dra-requests=false needs devices, which plan's input does not have");
}

static bool plan_options_of(struct input *o, const struct options *options,
                            struct plan_options *out, struct err *err)
{
    *out = (struct plan_options){
        .search = options->search == SEARCH_IS_GREEDY ? SEARCH_GREEDY : SEARCH_CHEAPEST,
        .effort = (uint64_t)options->effort,
        .ignore_preferences = options->preference_policy == PREFERENCE_IGNORE,
        .best_effort_min_values = options->min_values_policy == MIN_VALUES_BEST_EFFORT,
        .reserved_mode = reserved_mode(options),
        .removed_for = (enum removal)options->remove_for,
        .credits = credits(&o->arena, &options->credit_reservation),
        .credit_count = options->credit_reservation.count,
        .max_instance_types = (uint32_t)options->max_instance_types,
        .now = clock_wall(),
    };
    return options->now == NULL || time_parse(span_of(options->now), &out->now) ||
           err_set(err, ERR_INVALID, "--now: \"%s\" is not a time like 2026-10-10T12:00:00Z",
                   options->now);
}

static void warn_all(const struct input *o)
{
    for (size_t i = 0; i < o->warning_count; i++)
        command_complain("warning: %.*s", SPAN_ARG(o->warnings[i]));
}

/* Files first: what is in them wins. */
static bool read_objects(struct input *o, const struct options *options, struct err *err)
{
    bool files = options->files.count != 0;
    return (!files || input_read(o, &options->files, options->instance_types, err)) &&
           ((files && !options->with_cluster) || input_cluster_load(o, options, err));
}

static bool expand(struct input *o, const struct options *options, struct err *err)
{
    if (options->no_expand) {
        if (options->replicas.count != 0)
            return err_set(err, ERR_INVALID, "--replicas makes pods up, and --no-expand makes none; keep one");
        expand_warn(o);
        return true;
    }
    struct expand_options e = {.include_cron_jobs = options->include_cron_jobs,
                               .on_top = options->with_cluster,
                               .replicas = &options->replicas};
    return expand_workloads(o, &e, err);
}

bool plan_read(struct input *o, const struct options *options, struct plan_reading *out,
               struct err *err)
{
    if (!may_plan(options, err) || !plan_options_of(o, options, &out->options, err))
        return false;
    out->time_budget = options->time_budget;
    o->expands = !options->no_expand;
    o->machines = true;
    int64_t start = mono_ns();
    if (!load_spread(o, options->scheduler_config, &out->with.spread, err) ||
        !load_catalogue(o, options->instance_types, &out->with, err) || !check_repair(o, options, &out->with, err))
        return false;
    struct label_rules rules = catalogue_rules(&out->with.catalogue);
    o->rules = &rules;
    bool read = read_objects(o, options, err);
    o->rules = NULL;
    if (!read) {
        if (o->mistakes == 0) /* what was passed over is all there was */
            warn_all(o);
        command_complain_lines(&o->mistake_lines);
        return false;
    }
    for (uint32_t i = 0; i < options->unknown_gates.count; i++)
        input_warn(o, span_of(option_unknown_gate(&o->arena, options->unknown_gates.items[i])));
    input_check(o);
    if (!expand(o, options, err))
        return false;
    input_gates(o, &options->gates);
    plan_machines(o, &out->with.catalogue);
    input_check_pools(o, &out->with.catalogue);
    input_check_claims(o, &out->with.catalogue);
    input_check_overlays(o, &out->with.catalogue);
    out->decode_ns = mono_ns() - start;
    warn_all(o);
    out->world = build_world(o, options, &out->with);
    if (!check_names(out->world, o, options, err)) {
        world_free(out->world);
        return false;
    }
    find_removed(out->world, &options->remove, &o->arena, &out->options);
    return true;
}

static int answer(struct input *o, const struct options *options, const struct plan_reading *r, const struct plan *p,
                  const struct group_pass *groups, struct err *err)
{
    struct answer x = {.plan = p, .groups = groups};
    bool asked = options->disruption || options->disruption_all;
    if (p != NULL && asked)
        x.moves = decide(r, o, options);
    bool left = (p != NULL && p->unschedulable_count != 0) || (groups != NULL && groups->up.left_count != 0);
    int status = left || input_lacks_askers(o);
    if ((options->report != NULL && !write_report(&x, options->report, err)) || !print_answer(&x, o, options, err))
        status = 2;
    disruption_free(x.moves.made);
    disruption_free(x.moves.recommended);
    return status;
}
/* Groups, and beside them NodePools where there are any. */
static int plan_with_groups(struct input *o, const struct options *options, const struct plan_reading *r,
                            const struct node_groups *groups, const struct group_flags *flags, struct err *err)
{
    struct world *world;
    struct plan_reading beside = *r;
    bool has_pools = o->kinds[KIND_NODE_POOL].count != 0;
    beside.options.no_bound = true;
    struct plan *p = has_pools ? plan_in_time(r->world, &beside.options, r->time_budget) : NULL;
    struct group_pass *g = plan_groups_decide(o, options, &beside, groups, flags, &p, &world, err);
    int status = g != NULL ? answer(o, options, &beside, p, g, err) : 2;
    plan_free(p);
    world_free(world);
    return status;
}

static int plan_of_pools(struct input *o, const struct options *options, const struct plan_reading *r, struct err *err)
{
    struct plan *p = plan_in_time(r->world, &r->options, r->time_budget);
    int status = answer(o, options, r, p, NULL, err);
    plan_free(p);
    return status;
}

static int plan_objects(struct input *o, const struct options *options, const struct group_options_given *given,
                        struct err *err)
{
    struct plan_reading r;
    const struct node_groups *groups;
    if (!plan_read(o, options, &r, err))
        return 2;
    int status = 2;
    if (plan_groups_find(o, options->node_groups, given, &groups, err))
        status = groups != NULL ? plan_with_groups(o, options, &r, groups, &given->settings.flags, err)
                                : plan_of_pools(o, options, &r, err);
    world_free(r.world);
    if (status != 2 && groups == NULL && options->repeat > 0)
        measure(o, options, &r);
    return status;
}

static bool is_own(struct span name)
{
    return span_eq(name, SPAN("kubeconfig") /* of this cluster, not of the one in which groups' machines are */) ||
           span_eq(name, SPAN("-v") /* --verbose */);
}

static int plan(struct arena *a, int argc, char *const *argv, struct err *err)
{
    struct options options;
    struct input o;
    bool help;
    struct group_options_given given;
    char **rest;
    struct input_own own = plan_groups_own();
    if (!group_options_take(a, argc, argv, is_own, &given, &argc, &rest, err) ||
        !options_read(a, OPTION_PLAN, argc, rest, command_environment, &options, &help, err))
        return 2;
    groups_settle(&given, &options);
    if (help)
        return command_help("plan");
    input_init(&o);
    o.own = &own;
    o.grouped = true;
    int status = plan_objects(&o, &options, &given, err);
    input_release(&o);
    return status;
}

int command_plan(int argc, char *const *argv)
{
    return command_once("plan", plan, argc, argv);
}
