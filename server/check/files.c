#include "server/check/files.h"

#include "server/catalogue_file.h"
#include "server/expand.h"

/* What `input` tells beside its places is about no object: of what it passes over nothing is to be mended. */
static void tell(struct check_report *r, const struct input_note *n)
{
    static const enum check_level levels[] = {
        [INPUT_WARNS] = CHECK_WARN, [INPUT_REFUSES] = CHECK_FAIL, [INPUT_MISTAKE] = CHECK_FAIL};
    if (n->file != NULL || n->level != INPUT_WARNS)
        check_say_of_file(r, levels[n->level], "files", n->file, n->line, n->text);
}

static void tell_all(struct check_report *r, const struct input *in)
{
    for (size_t i = 0; i < in->note_count; i++)
        tell(r, &in->notes[i]);
    uint32_t pools = (uint32_t)in->kinds[KIND_NODE_POOL].count;
    if (check_count(r, CHECK_FAIL) + check_count(r, CHECK_WARN) == 0)
        check_say(r, CHECK_OK, "files", NULL, "%u object%s in %u file%s, %u of them NodePool%s", in->objects,
                  in->objects == 1 ? "" : "s", in->files, in->files == 1 ? "" : "s", pools, pools == 1 ? "" : "s");
    if (in->passed_over != 0)
        check_say(r, CHECK_OK, "files", NULL, "%u object%s of other kinds passed over (%.*s)", in->passed_over,
                  in->passed_over == 1 ? "" : "s", SPAN_ARG(in->passed_over_kinds));
}

bool check_files(struct check_report *r, const struct options *o, struct input *in, struct err *err)
{
    struct catalogue_source *source;
    struct catalogue catalogue;
    if (!catalogue_file(o->instance_types, &source, err))
        return false;
    catalogue_build(source, &in->arena, in->syms, &catalogue);
    catalogue_source_free(source);
    struct label_rules rules = catalogue_rules(&catalogue);
    in->rules = &rules;
    in->expands = true;
    in->undone = "checked";
    struct err why;
    bool read = input_read(in, &o->files, o->instance_types, &why);
    in->rules = NULL;
    if (!read && in->mistakes == 0)
        return err_set(err, why.kind, "%s", why.msg);
    input_check(in);
    struct expand_options all = {.include_cron_jobs = true};
    expand_workloads(in, &all, err); /* whose pods tolerate what */
    input_check_pools(in, &catalogue);
    input_check_claims(in, &catalogue);
    input_check_overlays(in, &catalogue);
    tell_all(r, in);
    return true;
}
