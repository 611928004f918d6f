#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "server/command.h"
#include "server/commands.h"
#include "server/completion.h"
#include "server/manual.h"
#include "support_command.h"

static int run(int argc, char *const *argv)
{
    return command_run(argc, argv, "1.2.3 (0123456789)");
}

/* --- dispatch, help, version --- */

static const struct {
    const char *label, *args[COMMAND_ARGS_MAX];
    int status;
    const char *want; /* somewhere in what is printed */
} said[] = {
    {"nothing", {NULL}, 2, "usage: stowage COMMAND [FLAGS]"},
    {"help", {"help"}, 0, "  plan       what would be bought, and why, for a cluster"},
    {"--help", {"--help"}, 0, "`stowage help COMMAND` has its flags, and examples."},
    {"help of a command", {"help", "plan"}, 0, "usage: stowage plan [-f FILE|DIR|-] [FLAGS]"},
    {"it has examples", {"help", "plan"}, 0,
     "Examples\n  which nodes these pods need:\n      stowage plan -f cluster/\n"},
    {"and headings", {"help", "serve"}, 0, "\nListeners\n      --webhook-listen "},
    {"an example alone", {"help", "version"}, 0, "Examples\n      stowage version -o json\n"},
    {"the same as --help", {"plan", "--help"}, 0, "usage: stowage plan [-f FILE|DIR|-] [FLAGS]"},
    {"help of help", {"help", "help"}, 0, "usage: stowage help [COMMAND]\n"},
    {"help of nothing", {"help", "pan"}, 2, "stowage: no command \"pan\"; did you mean \"plan\"?"},
    {"help of too much", {"help", "plan", "serve"}, 2, "stowage help: \"serve\" is too much"},
    {"a slip", {"pln"}, 2, "stowage: no command \"pln\"; did you mean \"plan\"?"},
    {"no slip", {"zzzzzz"}, 2, "stowage: no command \"zzzzzz\"; `stowage help` lists them"},
    {"version", {"version"}, 0, "stowage 1.2.3 (0123456789)\n"},
    {"--version", {"--version"}, 0, "stowage 1.2.3 (0123456789)\n"},
    {"as JSON", {"version", "-ojson"}, 0, "{\"version\": \"1.2.3\", \"commit\": \"0123456789\"}\n"},
    {"as YAML", {"version", "-o", "yaml"}, 0, "version: \"1.2.3\"\ncommit: \"0123456789\"\n"},
    {"in no such form", {"version", "-o", "xml"}, 2, "stowage version: -o: \"xml\" is not table, json or yaml"},
    {"for no shell", {"completion", "tcsh"}, 2, "stowage completion: \"tcsh\" is not bash, zsh or fish"},
    {"for none", {"completion"}, 2, "stowage completion: say for which shell: bash, zsh or fish"},
    {"a page of nothing", {"man", "pan"}, 2, "stowage man: \"pan\" is no command"},
};

static void test_what_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(said); i++) {
        struct outcome got = run_command(run, "", said[i].args);
        if (got.status != said[i].status || strstr(got.text, said[i].want) == NULL)
            fail_msg("%s: status %d, \"%s\"", said[i].label, got.status, got.text);
    }
}

static void test_each_command_helps(void **state)
{
    (void)state;
    const struct command *c;
    for (size_t i = 0; (c = command_row(i)) != NULL; i++) {
        struct buf help = {0};
        command_help_text(&help, c);
        for (struct span line, rest = buf_span(&help); rest.len != 0;) {
            line = span_cut(rest, '\n', &rest);
            if (line.len > 80)
                fail_msg("help %s: %zu columns: %.*s", c->word, line.len, SPAN_ARG(line));
        }
        buf_release(&help);
        struct outcome got = run_command(run, "", (const char *const[]){c->word, "--help", NULL});
        if (got.status != 0 || strstr(got.text, c->help) == NULL)
            fail_msg("%s --help: status %d, %s", c->word, got.status, got.text);
    }
}

/* --- completion --- */

static const struct {
    const char *label, *words[COMMAND_ARGS_MAX], *want;
} offered[] = {
    {"nothing yet", {NULL}, ":4\n"},
    {"a command", {"pl"}, "plan\twhat would be bought, and why, for a cluster or for files of objects\n:4\n"},
    {"a flag", {"plan", "--outp"}, "--output\tform of the answer; wide: nothing merged or cut, and who goes where; name: what is bought; html: as --report\n:4\n"},
    {"a flag of another command", {"plan", "--webhook-li"}, ":4\n"},
    {"a choice", {"plan", "-o", "j"}, "json\n:4\n"},
    {"all choices", {"check", "--output", ""}, "table\njson\nyaml\ngithub\n:4\n"},
    {"a choice behind =", {"plan", "--output=y"}, "--output=yaml\n:4\n"},
    {"a boolean behind =", {"plan", "--disruption=t"}, "--disruption=true\n:4\n"},
    {"a boolean asks for no value", {"plan", "--disruption", "--outp"}, "--output\tform of the answer; wide: nothing merged or cut, and who goes where; name: what is bought; html: as --report\n:4\n"},
    {"a file", {"plan", "-f", "clu"}, ":0\n"},
    {"a file behind =", {"plan", "--filename=clu"}, ":0\n"},
    {"a scenario", {"simulate", ""}, ":0\n"},
    {"what can be explained", {"explain", "n"}, "node\nnodepool\n:4\n"},
    {"only first", {"explain", "node", "n"}, ":4\n"},
    {"what is done with a catalogue", {"catalogue", "from-"}, "from-aws\nfrom-kwok\n:4\n"},
    {"and with which", {"catalogue", "check", "ty"}, ":0\n"},
    {"the second of two", {"diff", "a.json", "b"}, ":0\n"},
    {"a second scenario", {"simulate", "a.yaml", "b"}, ":4\n"},
    {"a shell", {"completion", "z"}, "zsh\n:4\n"},
    {"help of a command", {"help", "ser"}, "serve\tserver and reconciler, on a cluster or with --embedded in memory\n:4\n"},
    {"no command", {"pan", "--o"}, ":4\n"},
    {"Cluster Autoscaler's flags beside groups", {"plan", "--node-groups", "g.yaml", "--max-nodes-t"},
     "--max-nodes-total\tof Cluster Autoscaler\n:4\n"},
    {"and only there", {"plan", "--max-nodes-t"}, ":4\n"},
    {"nothing that means nothing", {"serve", "--cpu-req"}, ":4\n"},
};

static void test_what_is_offered(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(offered); i++) {
        int count = 0;
        while (offered[i].words[count] != NULL)
            count++;
        struct buf out = {0};
        completion_put(&out, count, offered[i].words);
        if (!span_eq(buf_span(&out), span_of(offered[i].want)))
            fail_msg("%s: \"%.*s\"", offered[i].label, SPAN_ARG(buf_span(&out)));
        buf_release(&out);
    }
}

/* --- manual pages --- */

static void test_a_page_has_what_the_help_has(void **state)
{
    (void)state;
    struct buf page = {0};
    manual_put(&page, command_find(SPAN("plan")));
    buf_add_char(&page, '\0');
    const struct option *o;
    for (size_t i = 0; (o = option_row(i)) != NULL; i++) {
        char flag[80];
        snprintf(flag, sizeof(flag), "Fl -%s%s", o->name, o->type == OPTION_BOOL ? "\n" : " ");
        if ((o->group & OPTION_PLAN) != 0 && strstr(page.ptr, flag) == NULL)
            fail_msg("--%s", o->name);
    }
    assert_null(strstr(page.ptr, "Fl -webhook-listen"));
    assert_non_null(strstr(page.ptr, ".Dt STOWAGE-PLAN 1\n"));
    assert_non_null(strstr(page.ptr, "which nodes these pods need:\n.Dl stowage plan -f cluster/\n"));
    buf_release(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_said),
        cmocka_unit_test(test_each_command_helps),
        cmocka_unit_test(test_what_is_offered),
        cmocka_unit_test(test_a_page_has_what_the_help_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
