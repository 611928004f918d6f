/* `stowage diff A B`: two plans, or what would be planned with two catalogues or two sets of objects, side by side. */
#include "base/doc.h"
#include "planner/explain/tell.h"
#include "planner/plan/plan_json.h"
#include "server/catalogue_file.h"
#include "server/command.h"
#include "server/diff/rows.h"
#include "server/plan_command.h"

enum what { A_PLAN, A_CATALOGUE, OBJECTS };

struct diffing {
    struct arena *arena;
    const struct options *options;
    const char *paths[2];
    enum what what[2];
    struct diff_side sides[2];
};

/* --- what a side is --- */

static bool is_plan(struct doc_value root)
{
    return doc_type(root) == DOC_OBJECT && span_eq(doc_text_at(root, SPAN("kind")), SPAN("Plan")) &&
           span_eq(doc_text_at(root, SPAN("apiVersion")), SPAN("stowage.dev/v1alpha1"));
}

/* Whatever else can be read as neither is objects', whose reader tells what is wrong with it. */
static enum what what_is(struct doc_value root)
{
    struct doc_value types;
    if (is_plan(root))
        return A_PLAN;
    bool list = doc_type(root) == DOC_ARRAY, whole = doc_type(root) == DOC_OBJECT &&
                                                      doc_find(root, SPAN("instanceTypes"), &types);
    return list || whole ? A_CATALOGUE : OBJECTS;
}

/* The first document; false: it is none of JSON or YAML, or a directory. */
static bool first_document(struct diffing *d, struct doc_parser *p, const char *path, const struct doc **out)
{
    struct span text;
    struct err ignored = {0};
    size_t at = 0;
    return input_text(d->arena, path, &text, &ignored) &&
           (doc_parse_json(p, text, out, &ignored) || doc_parse_yaml(p, text, &at, out, &ignored));
}

static bool look(struct diffing *d, int side, struct err *err)
{
    struct doc_parser *p = doc_parser_new();
    const struct doc *doc;
    bool ok = true;
    d->what[side] = OBJECTS;
    if (first_document(d, p, d->paths[side], &doc)) {
        d->what[side] = what_is(doc_root(doc));
        if (d->what[side] == A_PLAN)
            ok = diff_side_of_plan(d->arena, doc_root(doc), &d->sides[side], err) || err_wrap(err, "%s", d->paths[side]);
    }
    doc_parser_free(p);
    return ok;
}

/* --- plans that are made for it --- */

static bool side_of(struct diffing *d, const struct plan *p, struct diff_side *out, struct err *err)
{
    struct buf text = {0};
    struct json j = {.out = &text};
    const struct doc *doc;
    struct doc_parser *parser = doc_parser_new();
    plan_json(&j, p, NULL, 0);
    bool ok = doc_parse_json(parser, buf_span(&text), &doc, err) && diff_side_of_plan(d->arena, doc_root(doc), out, err);
    doc_parser_free(parser);
    buf_release(&text);
    return ok;
}

static bool plan_with(struct diffing *d, const struct options *options, const char *on_top, struct diff_side *out,
                      struct err *err)
{
    struct input o;
    struct plan_reading r;
    input_init(&o);
    o.on_top = on_top;
    bool ok = plan_read(&o, options, &r, err);
    if (ok) {
        struct plan *p = plan_in_time(r.world, &r.options, r.time_budget);
        ok = side_of(d, p, out, err);
        plan_free(p);
        world_free(r.world);
    }
    input_release(&o);
    return ok;
}

static bool plan_side(struct diffing *d, int side, struct err *err)
{
    struct options with = *d->options;
    if (d->what[side] == A_CATALOGUE) {
        with.instance_types = d->paths[side];
    } else { /* first, so that what it has wins */
        const char **files = ARENA_ARRAY(d->arena, const char *, (size_t)with.files.count + 1);
        files[0] = d->paths[side];
        for (uint32_t i = 0; i < with.files.count; i++)
            files[i + 1] = with.files.items[i];
        with.files = (struct texts){files, with.files.count + 1};
    }
    const char *on_top = d->what[side] == A_CATALOGUE ? NULL : d->paths[side];
    return plan_with(d, &with, on_top, &d->sides[side], err) || err_wrap(err, "%s", d->paths[side]);
}

/* --- catalogues by themselves --- */

static bool offers(struct diffing *d, int side, struct err *err)
{
    struct catalogue_source *source;
    struct catalogue types;
    if (!catalogue_file(d->paths[side], &source, err))
        return false;
    struct symtab *syms = kube_symtab_new();
    catalogue_build(source, d->arena, syms, &types);
    diff_side_of_types(d->arena, &types, syms, &d->sides[side]);
    symtab_unref(syms);
    catalogue_source_free(source);
    return true;
}

/* --- the whole --- */

static bool read_sides(struct diffing *d, struct err *err)
{
    bool given = d->options->files.count != 0 || d->options->with_cluster;
    for (int i = 0; i < 2; i++)
        if (!look(d, i, err))
            return false;
    bool alone = d->what[0] == A_CATALOGUE && d->what[1] == A_CATALOGUE && !given;
    for (int i = 0; i < 2; i++) {
        if (d->what[i] == A_CATALOGUE && !given && !alone)
            return err_set(err, ERR_INVALID, "%s is a catalogue; give the objects to plan with it with -f, or --with-cluster",
                           d->paths[i]);
        if (d->what[i] != A_PLAN && !(alone ? offers(d, i, err) : plan_side(d, i, err)))
            return false;
    }
    return true;
}

/* The last part of each path, or all of it where these are the same. */
static void name_sides(struct diffing *d)
{
    struct span names[2];
    for (int i = 0; i < 2; i++) {
        const char *slash = strrchr(d->paths[i], '/');
        names[i] = span_of(slash != NULL && slash[1] != '\0' ? slash + 1 : d->paths[i]);
    }
    bool same = span_eq(names[0], names[1]);
    for (int i = 0; i < 2; i++)
        d->sides[i].title = same ? span_of(d->paths[i]) : names[i];
}

static bool print(const struct diffing *d, struct err *err)
{
    enum { ANSWER_MAX = 256 * 1024 * 1024 }; /* 150,000 workloads in each */
    struct buf text = {.max = ANSWER_MAX};
    if (d->options->output == OUTPUT_TABLE) {
        diff_table(&text, &d->sides[0], &d->sides[1], terminal_width());
    } else {
        struct json j = {.out = &text, .indent = 2};
        diff_json(&j, &d->sides[0], &d->sides[1]);
        buf_add_char(&text, '\n');
    }
    return command_print(&text, d->options->output == OUTPUT_YAML, err);
}

static bool may_compare(const struct options *o, struct err *err)
{
    if (o->output > OUTPUT_YAML || o->report != NULL)
        return err_set(err, ERR_INVALID, "diff answers with -o table, json or yaml");
    return o->node_groups == NULL || err_set(err, ERR_INVALID, "diff compares what NodePools buy; --node-groups has no meaning here");
}

static int diff(struct arena *a, int argc, char *const *argv, struct err *err)
{
    struct options options;
    bool help;
    int words = 0;
    while (words < argc && words < 2 && (argv[words][0] != '-' || argv[words][1] == '\0'))
        words++;
    if (!options_read(a, OPTION_PLAN, argc - words, argv + words, command_environment, &options, &help, err))
        return 2;
    if (help)
        return command_help("diff");
    struct diffing d = {.arena = a, .options = &options};
    if (words < 2) {
        err_set(err, ERR_INVALID, "say which two to compare: plans (-o json), catalogues, or files of objects");
        return 2;
    }
    for (int i = 0; i < 2; i++)
        d.paths[i] = argv[i];
    if (!may_compare(&options, err) || !read_sides(&d, err))
        return 2;
    name_sides(&d);
    return !print(&d, err) ? 2 : diff_count(&d.sides[0], &d.sides[1]) != 0;
}

int command_diff(int argc, char *const *argv)
{
    return command_once("diff", diff, argc, argv);
}
