#include <stdio.h>
#include <stdlib.h>

#include "base/nearest.h"
#include "planner/groups/beside.h"
#include "planner/groups/choice.h"
#include "planner/groups/explain.h"
#include "server/clock.h"
#include "server/command.h"
#include "server/explain.h"
#include "server/fetch.h"
#include "server/groups.h"
#include "server/plan_command.h"
#include "server/plan_groups.h"

static bool print(const struct explanation *e, const struct options *options, struct err *err)
{
    struct buf text = {0};
    if (options->output == OUTPUT_TABLE) {
        explanation_text(&text, e, terminal_width());
    } else {
        struct json j = {.out = &text, .indent = 2};
        explanation_json(&j, e);
        buf_add_char(&text, '\n');
    }
    return command_print(&text, options->output == OUTPUT_YAML, err);
}

/* --- from files --- */

static struct explain_objects objects_of(struct input *o)
{
    const struct input_list *pods = &o->kinds[KIND_POD], *pools = &o->kinds[KIND_NODE_POOL],
                            *budgets = &o->kinds[KIND_DISRUPTION_BUDGET],
                            *attachments = &o->kinds[KIND_VOLUME_ATTACHMENT],
                            *claims = &o->kinds[KIND_VOLUME_CLAIM];
    return (struct explain_objects){
        .pods = (const struct pod *const *)pods->items,
        .pools = (const struct node_pool *const *)pools->items,
        .budgets = pod_budgets_make(&o->arena, (const struct disruption_budget *const *)budgets->items,
                                    (uint32_t)budgets->count),
        .attachments = (const struct volume_attachment *const *)attachments->items,
        .claims = (const struct volume_claim *const *)claims->items,
        .pod_count = pods->count,
        .pool_count = pools->count,
        .attachment_count = attachments->count,
        .claim_count = claims->count,
    };
}

static bool is_unseen(const struct explain_objects *all, const struct explain_question *q)
{
    struct span ns = q->ns.len != 0 ? q->ns : SPAN("default");
    for (size_t i = 0; q->kind == KIND_POD && q->workload.len == 0 && i < all->pod_count; i++)
        if (span_eq(all->pods[i]->meta.name, q->name) && span_eq(all->pods[i]->meta.ns, ns))
            return pod_is_unseen(all->pods[i]);
    return false;
}

/* Files may hold a pod that no scheduler will ever look at: what then can be asked. */
static void add_remedy(struct arena *a, struct explanation *e)
{
    struct answer_line *lines = ARENA_ARRAY(a, struct answer_line, (size_t)e->line_count + 1);
    if (e->line_count != 0)
        memcpy(lines, e->lines, e->line_count * sizeof(*lines));
    lines[e->line_count++] = (struct answer_line){SPAN("Fix"), SPAN("--all-unbound plans it.")};
    e->lines = lines;
}

/* Who is not planned with since no API server would admit it, is there all the same. */
static void tell_refused(const struct input *o, const struct explain_question *q, struct err *err)
{
    struct span why = input_why_refused(o, q->kind, q->ns, q->name);
    if (q->workload.len == 0 && err->kind == ERR_NOT_FOUND && why.ptr != NULL)
        err_set(err, ERR_INVALID, "%.*s%s%.*s is set aside, nothing is planned for it: %.*s", SPAN_ARG(q->ns),
                q->ns.len != 0 ? "/" : "", SPAN_ARG(q->name), SPAN_ARG(why));
}

static struct span place_of(void *user, struct arena *a, const struct pod *p)
{
    return group_place_of(user, p, a);
}

static struct span refusal_of(void *user, struct arena *a, const struct pod *p)
{
    return group_refusal_of(user, p, a);
}

/* What node groups make of the pods, and what then is left to the pools; false: they and the cluster disagree. */
static bool ask_groups(struct input *o, const struct options *options, const struct plan_reading *r,
                       const struct node_groups *groups, const struct group_flags *flags, struct plan **p, struct world **world,
                       struct explain_groups *out, struct err *err)
{
    bool beside = o->kinds[KIND_NODE_POOL].count != 0;
    struct plan *none = NULL;
    struct group_pass *pass = plan_groups_decide(o, options, r, groups, flags, beside ? p : &none, world, err);
    if (pass == NULL)
        return false;
    if (!beside)
        groups_take_over(*p, pass);
    *out = (struct explain_groups){.place = place_of, .refusal = refusal_of, .user = pass};
    return true;
}

static int explain_files(const struct explain_question *q, const struct options *options, const struct group_options_given *given,
                         struct err *err)
{
    struct input o;
    struct plan_reading r;
    struct input_own own = plan_groups_own();
    const struct node_groups *groups;
    struct explain_groups said = {NULL, NULL, NULL};
    int status = 2;
    input_init(&o);
    o.own = &own;
    o.grouped = true;
    if (plan_read(&o, options, &r, err)) {
        struct world *world = NULL;
        r.options.no_bound = true; /* nobody asks for its price */
        struct plan *p = plan_in_time(r.world, &r.options, r.time_budget);
        struct explain_objects all = objects_of(&o);
        struct explanation e;
        if (plan_groups_find(&o, options->node_groups, given, &groups, err) &&
            (groups == NULL || q->kind != KIND_POD ||
             ask_groups(&o, options, &r, groups, &given->settings.flags, &p, &world, &said, err)) &&
            explain_answer(p, &all, &said, q, &r.options, &e, err)) {
            if (!options->all_unbound && is_unseen(&all, q))
                add_remedy(&o.arena, &e);
            if (print(&e, options, err))
                status = e.has_place ? 0 : 1;
        }
        tell_refused(&o, q, err);
        plan_free(p);
        world_free(world);
        world_free(r.world);
    }
    input_release(&o);
    return status;
}

/* --- of a group --- */

static int unknown_group(struct arena *a, const struct group_model *m, struct span name, struct err *err)
{
    const char **names = ARENA_ARRAY(a, const char *, m->group_count + 1);
    for (uint32_t i = 0; i < m->group_count; i++)
        names[i] = arena_cstr(a, m->groups[i].spec->name);
    const char *near = nearest_word(arena_cstr(a, name), names, m->group_count);
    if (near == NULL)
        err_set(err, ERR_NOT_FOUND, "there is no group %.*s", SPAN_ARG(name));
    else
        err_set(err, ERR_NOT_FOUND, "there is no group %.*s; did you mean %s?", SPAN_ARG(name), near);
    return 2;
}

static int explain_pass(struct input *o, const struct group_pass *p, const struct group_flags *flags, wall_ms now,
                        const struct explain_question *q, const struct options *options, struct err *err)
{
    struct explanation e;
    int32_t group = group_find(p->model, q->name);
    if (group < 0)
        return unknown_group(&o->arena, p->model, q->name, err);
    group_explain(p, flags, o->syms, (uint32_t)group, now, &o->arena, &e);
    return !print(&e, options, err) ? 2 : e.has_place ? 0 : 1;
}

static int explain_group(const struct explain_question *q, const struct options *options, const struct group_options_given *given,
                         struct err *err)
{
    struct input o;
    struct plan_reading r;
    struct input_own own = plan_groups_own();
    const struct node_groups *groups;
    int status = 2;
    input_init(&o);
    o.own = &own;
    o.grouped = true;
    if (plan_read(&o, options, &r, err)) {
        struct world *world = NULL;
        struct plan *pools = NULL;
        const struct group_pass *p = NULL;
        if (plan_groups_find(&o, options->node_groups, given, &groups, err) && groups == NULL)
            err_set(err, ERR_INVALID, "the input has no node groups; give --node-groups FILE");
        else if (groups != NULL) {
            if (o.kinds[KIND_NODE_POOL].count != 0) /* whom they have a place for asks no group */
                pools = plan_in_time(r.world, &r.options, r.time_budget);
            p = plan_groups_decide(&o, options, &r, groups, &given->settings.flags, &pools, &world, err);
        }
        if (p != NULL) {
            struct group_flags flags = choice_flags(&given->settings.flags, groups, pools != NULL);
            status = explain_pass(&o, p, &flags, r.options.now, q, options, err);
        }
        plan_free(pools);
        world_free(world);
        world_free(r.world);
    }
    input_release(&o);
    return status;
}

/* --- from a server --- */

/* Names that Kubernetes allows need no escaping; others are of nothing that is there. */
static bool is_plain(struct span name, bool of_group)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool more = of_group && ((c >= 'A' && c <= 'Z') || c == '/' || c == '_'); /* MachineDeployment/ns/name */
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '.' && !more)
            return false;
    }
    return name.len != 0;
}

static bool question_url(struct arena *a, struct buf *out, const char *server, const struct explain_question *q,
                         struct err *err)
{
    struct span base = span_of(server);
    if (!is_plain(q->name, q->group) || (q->kind == KIND_POD && !is_plain(q->ns, false)))
        return err_set(err, ERR_INVALID, "\"%.*s\" is not a name that an object can have",
                       SPAN_ARG(q->name));
    while (base.len != 0 && base.ptr[base.len - 1] == '/')
        base.len--;
    buf_addf(out, "%.*s/explain/%s/", SPAN_ARG(base), explain_word(q));
    if (q->kind == KIND_POD)
        buf_addf(out, "%.*s/", SPAN_ARG(q->ns));
    buf_add(out, q->name);
    if (q->at != 0)
        buf_addf(out, "?at=%.*s", SPAN_ARG(time_text(a, q->at)));
    return true;
}

static int explain_server(struct arena *a, const struct explain_question *q,
                          const struct options *options, struct err *err)
{
    struct buf url = {0}, reply = {0};
    struct explanation e;
    int code = 0, status = 2;
    if (!question_url(a, &url, options->server, q, err)) {
        ;
    } else if (!fetch_text(url.ptr, options->page_token_file, &code, &reply, err)) {
        err_wrap(err, "no files are given (-f) and no server answers (--server)");
    } else {
        struct span text = buf_span(&reply);
        while (text.len != 0 && text.ptr[text.len - 1] == '\n')
            text.len--;
        if (code != 200)
            err_set(err, ERR_NOT_FOUND, "%.*s", SPAN_ARG(text));
        else if (explain_decode(a, text, &e, err) && print(&e, options, err))
            status = e.has_place ? 0 : 1;
    }
    buf_release(&url);
    buf_release(&reply);
    return status;
}

/* --- the command --- */

static const enum option_group GROUP = OPTION_PLAN | OPTION_EXPLAIN;

static bool read_at(const struct options *options, struct explain_question *q, struct err *err)
{
    if (options->at == NULL)
        return true;
    if (q->kind != KIND_NODE_POOL)
        return err_set(err, ERR_INVALID, "--at is for a nodepool");
    return time_parse(span_of(options->at), &q->at) ||
           err_set(err, ERR_INVALID, "--at: \"%s\" is not a time like 2026-10-10T12:00:00Z", options->at);
}

static bool is_own(struct span name)
{
    return span_eq(name, SPAN("namespace") /* of the pod */) || span_eq(name, SPAN("kubeconfig")) ||
           span_eq(name, SPAN("-v") /* --verbose */);
}

static int answer_from(struct arena *a, const struct explain_question *q, const struct options *options,
                       const struct group_options_given *given, struct err *err)
{
    if (options->files.count == 0 && !options->with_cluster)
        return explain_server(a, q, options, err);
    if (q->move) {
        err_set(err, ERR_INVALID, "moves are a running server's: ask it, without -f");
        return 2;
    }
    return q->group ? explain_group(q, options, given, err) : explain_files(q, options, given, err);
}

static int explain(struct arena *a, int argc, char *const *argv, struct err *err)
{
    struct options options;
    struct explain_question q;
    struct group_options_given given;
    char **rest;
    int count;
    bool help = argc > 0 && (strcmp(argv[0], "-h") == 0 || strcmp(argv[0], "--help") == 0);
    int words = 0;
    while (words < argc && words < 2 && argv[words][0] != '-')
        words++;
    if (!help && (!group_options_take(a, argc - words, argv + words, is_own, &given, &count, &rest, err) ||
                  !options_read(a, GROUP, count, rest, command_environment, &options, &help, err)))
        return 2;
    if (help)
        return command_help("explain");
    groups_settle(&given, &options);
    if (options.output > OUTPUT_YAML || options.report != NULL) {
        err_set(err, ERR_INVALID, "explain answers with -o table, json or yaml");
        return 2;
    }
    struct span name = words > 1 ? span_of(argv[1]) : (struct span){NULL, 0};
    struct span kind = words == 0 ? name : words > 1 ? span_of(argv[0])
                                                     : span_cut(span_of(argv[0]), '/', &name);
    if (name.ptr == NULL) {
        err_set(err, ERR_INVALID, "say what to explain: pod NAMESPACE/NAME, deployment NAMESPACE/NAME (or another workload), node NAME, "
                                  "nodepool NAME, group NAME or move ID");
        return 2;
    }
    struct span ns = options.pod_namespace != NULL ? span_of(options.pod_namespace)
                                                   : (struct span){NULL, 0};
    if (!explain_parse(kind, name, ns, &q, err) || !read_at(&options, &q, err))
        return 2;
    return answer_from(a, &q, &options, &given, err);
}

int command_explain(int argc, char *const *argv)
{
    return command_once("explain", explain, argc, argv);
}
