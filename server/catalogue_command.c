/* `stowage catalogue`: files of instance types (docs/catalogue.md) looked over, and made of what others write. */
#include <stdio.h>

#include "cloud/catalogue.h"
#include "server/catalogue_aws.h"
#include "server/check/report.h"
#include "server/command.h"
#include "server/input.h"

enum {
    TOLD_MAX = 100, /* lines: nobody reads more of one file */
    ANSWER_MAX = 512 * 1024 * 1024, /* as large as a file that is read may be */
};

/* The help has the flags of all words; here who takes one is told. */
static bool refuse_others(const char *word, int argc, char *const *argv, enum option_group own, enum option_group others,
                          const char *other_word, struct err *err)
{
    for (int i = 0; i < argc; i++) {
        struct span rest, flag = span_cut(span_of(argv[i]), '=', &rest);
        if (!span_has_prefix(flag, SPAN("--")))
            continue;
        struct span name = {flag.ptr + 2, flag.len - 2};
        if (!options_has(own, name) && options_has(others, name))
            return err_set(err, ERR_INVALID, "%s has no flag --%.*s; %s has", word, SPAN_ARG(name), other_word);
    }
    return true;
}

/* --- check --- */

struct checked {
    struct check_report report;
    const char *file;
    uint32_t untold;
};

static void on_told(void *user, enum catalogue_level level, uint32_t line, struct span text)
{
    struct checked *c = user;
    enum check_level as = level == CATALOGUE_WARNS ? CHECK_WARN : CHECK_FAIL;
    if (c->report.count < TOLD_MAX)
        check_say_of_file(&c->report, as, "catalogue", c->file, line, arena_dup(c->report.a, text));
    else
        c->untold++;
}

static struct span joined(struct arena *a, struct spans list)
{
    struct span all = SPAN("none");
    for (uint32_t i = 0; i < list.count; i++)
        all = i == 0 ? list.items[0] : arena_printf(a, "%.*s, %.*s", SPAN_ARG(all), SPAN_ARG(list.items[i]));
    return all;
}

static void say_totals(struct checked *c, const struct catalogue_source *s)
{
    struct catalogue_totals t = catalogue_total(s, c->report.a);
    check_say(&c->report, CHECK_OK, "catalogue", NULL, "%u instance type%s with %u offering%s, %u of them available", t.types,
              t.types == 1 ? "" : "s", t.offerings, t.offerings == 1 ? "" : "s", t.available);
    check_say(&c->report, CHECK_OK, "catalogue", NULL, "zones: %.*s; capacity types: %.*s", SPAN_ARG(joined(c->report.a, t.zones)),
              SPAN_ARG(joined(c->report.a, t.capacity_types)));
    if (t.priced != 0)
        check_say(&c->report, CHECK_OK, "catalogue", NULL, "prices from $%.4f to $%.4f an hour", t.cheapest, t.dearest);
}

static int check(struct arena *a, const char *path, const struct options *o, struct err *err)
{
    struct checked c = {.report = {.a = a}, .file = strcmp(path, "-") == 0 ? "standard input" : path};
    struct span text;
    if (!input_text(a, path, &text, err))
        return 2;
    struct catalogue_source *s = catalogue_check(text, span_of(c.file), on_told, &c);
    if (c.untold != 0)
        check_say(&c.report, CHECK_FAIL, "catalogue", NULL, "and %u more", c.untold);
    if (s != NULL)
        say_totals(&c, s);
    catalogue_source_free(s);
    if (!check_print(&c.report, o, err))
        return 2;
    return check_count(&c.report, CHECK_FAIL) != 0 ||
           (o->warnings_as_errors && check_count(&c.report, CHECK_WARN) != 0);
}

static int run_check(struct arena *a, int argc, char *const *argv, struct err *err)
{
    struct options o;
    bool help;
    if (!refuse_others("check", argc, argv, OPTION_CATALOGUE, OPTION_AWS, "from-aws", err) ||
        !options_read(a, OPTION_CATALOGUE, argc - 1, argv + 1, command_environment, &o, &help, err))
        return 2;
    return help ? command_help("catalogue") : check(a, argv[0], &o, err);
}

/* --- from others' files --- */

static int write_out(const struct catalogue_source *s, struct err *err)
{
    struct buf text = {.max = ANSWER_MAX};
    struct json j = {.out = &text, .indent = 2};
    catalogue_write(&j, s);
    buf_add_char(&text, '\n');
    return command_print(&text, false, err) ? 0 : 2;
}

static int run_from_kwok(struct arena *a, int argc, char *const *argv, struct err *err)
{
    struct catalogue_source *s;
    struct span text;
    if (argc != 1) {
        err_set(err, ERR_INVALID, "from-kwok: \"%s\" is too much; it takes one file", argv[1]);
        return 2;
    }
    if (!input_text(a, argv[0], &text, err) || !catalogue_decode_kwok(text, span_of(argv[0]), &s, err))
        return 2;
    int status = write_out(s, err);
    catalogue_source_free(s);
    return status;
}

static int run_from_aws(struct arena *a, int argc, char *const *argv, struct err *err)
{
    struct catalogue_source *s;
    struct options o;
    struct texts files = {ARENA_ARRAY(a, const char *, (size_t)argc), 0};
    struct buf notes = {0};
    bool help;
    while ((int)files.count < argc && (argv[files.count][0] != '-' || argv[files.count][1] == '\0')) {
        files.items[files.count] = argv[files.count];
        files.count++;
    }
    if (!refuse_others("from-aws", argc, argv, OPTION_AWS, OPTION_CATALOGUE, "check", err) ||
        !options_read(a, OPTION_AWS, argc - (int)files.count, argv + files.count, command_environment, &o, &help, err) ||
        !catalogue_from_aws(a, &files, &o, &s, &notes, err)) {
        buf_release(&notes);
        return 2;
    }
    int status = write_out(s, err);
    if (status == 0)
        command_complain_lines(&notes);
    buf_release(&notes);
    catalogue_source_free(s);
    return status;
}

/* --- the words --- */

static const struct {
    const char *word;
    int (*run)(struct arena *a, int argc, char *const *argv, struct err *err); /* with a file first */
} words[] = {{"check", run_check}, {"from-aws", run_from_aws}, {"from-kwok", run_from_kwok}};

static int catalogue(struct arena *a, int argc, char *const *argv, struct err *err)
{
    bool asks = false;
    for (int i = 0; i < argc; i++)
        asks = asks || strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
    if (asks)
        return command_help("catalogue");
    for (size_t i = 0; i < COUNT_OF(words) && argc != 0; i++) {
        if (strcmp(argv[0], words[i].word) != 0)
            continue;
        if (argc > 1 && (argv[1][0] != '-' || argv[1][1] == '\0'))
            return words[i].run(a, argc - 1, argv + 1, err);
        err_set(err, ERR_INVALID, "%s: say which file; - is standard input", words[i].word);
        return 2;
    }
    if (argc == 0)
        err_set(err, ERR_INVALID, "say what to do: check, from-aws or from-kwok, and with which file");
    else
        err_set(err, ERR_INVALID, "\"%s\" is not check, from-aws or from-kwok", argv[0]);
    return 2;
}

int command_catalogue(int argc, char *const *argv)
{
    return command_once("catalogue", catalogue, argc, argv);
}
