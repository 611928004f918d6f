/* `stowage simulate SCENARIO`: reads a scenario and the objects beside it, plays it once or twice, and says what it
 * came to. */
#include <stdio.h>

#include "planner/pods/default_spread.h"
#include "server/command.h"
#include "server/embedded.h"
#include "server/live.h"
#include "server/simulation.h"

struct simulate {
    struct options options;
    struct input input;
    struct input_own own;
    struct span types; /* of --instance-types; absent: the built-in ones */
    struct default_spread_config spread;
    struct sim_cluster *objects;
    struct simulation answer;
};

/* --- what is read --- */

static bool read_types(struct simulate *s, struct err *err)
{
    const char *path = s->options.instance_types;
    return path == NULL || path[0] == '\0' || input_text(&s->input.arena, path, &s->types, err);
}

static bool make_types(const struct simulate *s, struct catalogue_source **out, struct err *err)
{
    if (s->types.ptr != NULL)
        return catalogue_decode(s->types, span_of(s->options.instance_types), out, err);
    *out = catalogue_builtin();
    return true;
}

/* A controller that the cluster in memory does not have. */
static void warn_of_idle(struct input *in)
{
    size_t count = in->kinds[KIND_REPLICATION_CONTROLLER].count;
    if (count != 0)
        input_warn(in, arena_printf(&in->arena, "%zu ReplicationController%s: no controller makes pods for them in a "
                                                "simulation; give them as Deployments",
                                    count, count == 1 ? "" : "s"));
}

static bool find_scenario(struct simulate *s, struct err *err)
{
    const struct input_list *found = &s->own.found;
    if (found->count == 0)
        return err_set(err, ERR_INVALID, "%s has no %s (%s)", s->options.files.items[0], SCENARIO_KIND, SCENARIO_API);
    if (found->count > 1) {
        const struct input_origin *second = input_origin(found->items[1]);
        return err_set(err, ERR_INVALID, "%s:%u: a second %s; one is played at a time", second->file, second->line,
                       SCENARIO_KIND);
    }
    s->answer.scenario = found->items[0];
    return true;
}

static bool read_all(struct simulate *s, struct err *err)
{
    struct input *in = &s->input;
    in->undone = "simulated";
    in->own = &s->own;
    s->own = (struct input_own){.api_version = SCENARIO_API, .kind = SCENARIO_KIND, .schema = &scenario_schema};
    s->objects = sim_cluster_new(&(struct sim_cluster_options){0});
    if (!default_spread_decode(&in->arena, span_of(s->options.scheduler_config), &s->spread, err))
        return err_wrap(err, "--scheduler-config");
    bool ok = read_types(s, err) && embedded_read(s->objects, in, &s->options, NULL, err) && find_scenario(s, err);
    if (ok)
        warn_of_idle(in);
    command_complain_lines(&in->mistake_lines);
    for (size_t i = 0; i < in->warning_count; i++)
        command_complain("warning: %.*s", SPAN_ARG(in->warnings[i]));
    return ok;
}

/* --- what is played --- */

static void tell(void *user, wall_ms when, const char *subject, struct span sentence, struct span id)
{
    struct arena *a = user;
    arena_clear(a);
    command_complain("%.*s  %-9s %.*s%s%.*s", SPAN_ARG(time_text(a, when)), subject, SPAN_ARG(sentence),
                     id.len != 0 ? "  " : "", SPAN_ARG(id));
}

static bool play_once(struct simulate *s, const char *title, int search, struct err *err)
{
    struct options options = s->options;
    struct catalogue_source *types;
    struct arena scratch;
    struct simulation_run *run = &s->answer.runs[s->answer.count];
    options.search = search;
    if (!make_types(s, &types, err))
        return false;
    arena_init(&scratch, 0);
    *run = (struct simulation_run){.title = title, .search = search == SEARCH_IS_GREEDY ? "greedy" : "cheapest"};
    bool ok = play(&(struct play_options){.scenario = s->answer.scenario,
                                          .objects = s->objects,
                                          .types = types,
                                          .reconciler = live_reconciler_options(&options),
                                          .world = live_world_options(&options, &s->spread),
                                          .no_extender = options.placement == PLACEMENT_NOMINATE,
                                          .user = &scratch,
                                          .told = options.show_log ? tell : NULL},
                   &run->totals, err);
    s->answer.count += ok;
    arena_release(&scratch);
    if (!ok && err->kind == ERR_INVALID) {
        const struct input_origin *origin = input_origin(s->answer.scenario);
        struct err why = *err;
        err_set(err, why.kind, "%s:%u: %s %.*s: %s", origin->file, origin->line, SCENARIO_KIND,
                SPAN_ARG(s->answer.scenario->meta.name), why.msg);
    }
    return ok;
}

static bool play_all(struct simulate *s, struct err *err)
{
    if (!play_once(s, "STOWAGE", s->options.search, err))
        return false;
    if (s->options.compare != COMPARE_KARPENTER)
        return true;
    if (s->options.show_log) {
        command_complain("%s", "");
        command_complain("Once more, as Karpenter decides:");
        command_complain("%s", "");
    }
    return play_once(s, "KARPENTER", SEARCH_IS_GREEDY, err);
}

/* --- what is answered --- */

enum { ANSWER_MAX = 16 * 1024 * 1024 }; /* a report of two runs is 100 KB */

static bool write_report(const struct simulation *s, const char *path, struct err *err)
{
    struct buf page = {.max = ANSWER_MAX};
    simulation_report(&page, s);
    bool ok = command_report(&page, path, err);
    buf_release(&page);
    return ok;
}

static bool print_answer(const struct simulate *s, struct err *err)
{
    struct buf text = {.max = ANSWER_MAX};
    if (s->options.output == OUTPUT_TABLE)
        simulation_table(&text, &s->answer, terminal_width());
    else
        simulation_json(&text, &s->answer);
    return command_print(&text, s->options.output == OUTPUT_YAML, err);
}

static int simulate(struct simulate *s, struct err *err)
{
    if (!read_all(s, err) || !play_all(s, err))
        return 2;
    bool ok = s->options.report == NULL || write_report(&s->answer, s->options.report, err);
    if (!print_answer(s, err) || !ok)
        return 2;
    return s->answer.runs[0].totals.waiting != 0;
}

/* The scenario is the first of the files: objects may stand in it, or beside it with -f. */
static void put_first(struct arena *a, struct texts *files, const char *scenario)
{
    const char **items = ARENA_ARRAY(a, const char *, files->count + 1);
    items[0] = scenario;
    for (uint32_t i = 0; i < files->count; i++)
        items[i + 1] = files->items[i];
    *files = (struct texts){items, files->count + 1};
}

static int run(struct arena *a, int argc, char *const *argv, struct err *err)
{
    struct simulate s = {.answer = {.count = 0}};
    bool help, named = argc > 0 && (argv[0][0] != '-' || argv[0][1] == '\0');
    if (!options_read(a, OPTION_SIMULATE, argc - named, argv + named, command_environment, &s.options, &help, err))
        return 2;
    if (help)
        return command_help("simulate");
    if (!named) {
        err_set(err, ERR_INVALID, "no scenario; name its file first: stowage simulate SCENARIO (docs/simulate.md)");
        return 2;
    }
    put_first(a, &s.options.files, argv[0]);
    input_init(&s.input);
    int status = simulate(&s, err);
    input_release(&s.input);
    sim_cluster_free(s.objects);
    return status;
}

int command_simulate(int argc, char *const *argv)
{
    return command_once("simulate", run, argc, argv);
}
