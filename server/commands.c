#include "server/commands.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/wrap.h"
#include "server/command.h"
#include "server/completion.h"
#include "server/manual.h"

static int help(int argc, char *const *argv);

static const struct command table[] = {
    {"serve", NULL, "server and reconciler, on a cluster or with --embedded in memory", OPTION_SERVE, NULL,
     "on the cluster of the kubeconfig\n"
     "stowage serve --kubeconfig ~/.kube/config\n"
     "a cluster in memory, with its page on http://127.0.0.1:8090\n"
     "stowage serve --embedded -f cluster.yaml\n"
     "node groups of Cluster API, with the command line of Cluster Autoscaler\n"
     "stowage serve --ca-compat --cloud-provider=clusterapi --expander=price\n",
     command_serve},
    {"plan", "[-f FILE|DIR|-]", "what would be bought, and why, for a cluster or for files of objects",
     OPTION_PLAN, NULL,
     "which nodes these pods need\n"
     "stowage plan -f cluster/\n"
     "and those that wait in the cluster, which is only read\n"
     "stowage plan\n"
     "and with these objects applied\n"
     "stowage plan --with-cluster -f chart.yaml\n"
     "which nodes would leave, and for what\n"
     "stowage plan -f cluster.yaml --disruption\n",
     command_plan},
    {"diff", "A B", "two plans, catalogues or sets of objects, side by side, in dollars and nodes", OPTION_PLAN, "FILE",
     "what a change of prices does to a plan\n"
     "stowage diff old.json new.json -f cluster.yaml\n"
     "and one of NodePools, in the cluster as it is\n"
     "stowage diff pools/ pools-new/ --with-cluster\n"
     "two plans that were written before\n"
     "stowage diff monday.json friday.json\n",
     command_diff},
    {"explain", "pod|deployment|node|nodepool|group|move NAME", "why pods, workloads, nodes, nodepools, groups are as they are",
     OPTION_PLAN | OPTION_EXPLAIN, "pod|deployment|statefulset|daemonset|replicaset|job|cronjob|node|nodepool|group|move",
     "why a pod waits, as the running server sees it\n"
     "stowage explain pod shop/web-0\n"
     "where the pods of a workload are, and why some have no place\n"
     "stowage explain deployment shop/web\n"
     "the same from files\n"
     "stowage explain pod shop/web-0 -f cluster.yaml\n"
     "what a move of the page is about, and how far it is\n"
     "stowage explain move d-0001k3f0a2\n"
     "how many nodes of a nodepool may be disrupted at a time\n"
     "stowage explain nodepool general --at 2026-12-24T20:00:00Z\n",
     command_explain},
    {"top", NULL, "the fleet, live on a terminal: how full nodes are, what they cost, who waits", OPTION_TOP, NULL,
     "as the running server sees it, until q is pressed\n"
     "stowage top\n"
     "the cluster of the kubeconfig as it is now, without a server\n"
     "stowage top --with-cluster\n",
     command_top},
    {"simulate", "SCENARIO", "play a scenario, a week in seconds: prices, evictions, waiting pods", OPTION_SIMULATE, "FILE",
     "beside what Karpenter would have done\n"
     "stowage simulate week.yaml --compare karpenter\n"
     "with a chart of price and nodes\n"
     "stowage simulate week.yaml --report week.html\n",
     command_simulate},
    {"check", NULL, "what stands in its way in a cluster, or what is wrong with files of objects", OPTION_CHECK, NULL,
     "a cluster in which Stowage runs, or is about to\n"
     "stowage check\n"
     "while it is installed: what is missing, and the command that brings it\n"
     "stowage check --cluster\n"
     "a cluster that moves from Cluster Autoscaler, by its command line\n"
     "stowage check --ca-compat '--cloud-provider=clusterapi --v=4'\n"
     "manifests, in a pipeline\n"
     "stowage check -f manifests/ --warnings-as-errors -o github\n",
     command_check},
    {"catalogue", "check|from-aws|from-kwok FILE", "look over a file of instance types, or make one of what others write",
     OPTION_CATALOGUE | OPTION_AWS, "check|from-aws|from-kwok",
     "what is wrong with a file of instance types\n"
     "stowage catalogue check types.json\n"
     "what can be bought on AWS, with its prices\n"
     "stowage catalogue from-aws ec2.json --prices index.json >types.json\n"
     "one of Karpenter's kwok provider, with all that it derives written down\n"
     "stowage catalogue from-kwok instance_types.json >types.json\n",
     command_catalogue},
    {"version", NULL, "what this program was built from", OPTION_VERSION, NULL, "stowage version -o json\n", NULL},
    {"completion", "bash|zsh|fish", "a script that completes commands and flags in a shell", 0, COMPLETION_SHELLS,
     "in this shell\n"
     "source <(stowage completion bash)\n"
     "in each fish to come\n"
     "stowage completion fish >~/.config/fish/completions/stowage.fish\n",
     command_completion},
    {"man", "[COMMAND]", "a manual page, made of what --help says", 0, "COMMAND",
     "stowage man plan | man -l -\n", command_manual},
    {"help", "[COMMAND]", "all commands, or the flags of one", 0, "COMMAND", "stowage help plan\n", help},
};

const struct command *command_row(size_t i)
{
    return i < COUNT_OF(table) ? &table[i] : NULL;
}

const struct command *command_find(struct span word)
{
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (span_eq(word, span_of(table[i].word)))
            return &table[i];
    return NULL;
}

static const struct command *find_or_complain(const char *word)
{
    const struct command *found = command_find(span_of(word));
    const char *words[COUNT_OF(table)];
    for (size_t i = 0; i < COUNT_OF(table); i++)
        words[i] = table[i].word;
    const char *near = found == NULL ? nearest_word(word, words, COUNT_OF(words)) : NULL;
    if (near != NULL)
        command_complain("stowage: no command \"%s\"; did you mean \"%s\"?", word, near);
    else if (found == NULL)
        command_complain("stowage: no command \"%s\"; `stowage help` lists them", word);
    return found;
}

/* --- help --- */

static void usage(FILE *to)
{
    fputs("usage: stowage COMMAND [FLAGS]\n\n", to);
    for (size_t i = 0; i < COUNT_OF(table); i++)
        fprintf(to, "  %-10s %s\n", table[i].word, table[i].help);
    fputs("\n`stowage help COMMAND` has its flags, and examples.\n", to);
}

void command_help_text(struct buf *out, const struct command *command)
{
    buf_addf(out, "usage: stowage %s%s%s%s\n\n", command->word, command->arguments != NULL ? " " : "",
             command->arguments != NULL ? command->arguments : "", command->group != 0 ? " [FLAGS]" : "");
    wrap_put(out, span_of(command->help), 80, 0, 0);
    buf_add(out, SPAN("\nExamples\n"));
    bool is_command = strchr(command->examples, '\n')[1] == '\0'; /* one alone says itself what it does */
    for (struct span line, rest = span_of(command->examples); rest.len != 0; is_command = !is_command) {
        line = span_cut(rest, '\n', &rest);
        buf_addf(out, is_command ? "      %.*s\n" : "  %.*s:\n", SPAN_ARG(line));
    }
    if (command->group != 0)
        options_help(out, command->group);
}

int command_help(const char *word)
{
    struct buf text = {0};
    command_help_text(&text, command_find(span_of(word)));
    fwrite(text.ptr, 1, text.len, stdout);
    buf_release(&text);
    return 0;
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int help(int argc, char *const *argv)
{
    if (argc > 1) {
        command_complain("stowage help: \"%s\" is too much; it takes one command", argv[1]);
        return 2;
    }
    if (argc == 0) {
        usage(stdout);
        return 0;
    }
    if (is_help(argv[0]))
        return command_help("help");
    return find_or_complain(argv[0]) != NULL ? command_help(argv[0]) : 2;
}

/* --- the program --- */

/* `built_from`: "0.1.0 (7894d2d0a1)" */
static int version(struct arena *a, int argc, char *const *argv, const char *built_from, struct err *err)
{
    struct options options;
    bool asked;
    if (!options_read(a, OPTION_VERSION, argc, argv, command_environment, &options, &asked, err))
        return 2;
    if (asked)
        return command_help("version");
    struct span commit, number = span_cut(span_of(built_from), ' ', &commit);
    commit = commit.len > 2 ? (struct span){commit.ptr + 1, commit.len - 2} : SPAN("");
    struct buf text = {0};
    if (options.output == OUTPUT_TABLE)
        buf_addf(&text, "stowage %s\n", built_from);
    else
        buf_addf(&text, "{\"version\": \"%.*s\", \"commit\": \"%.*s\"}\n", SPAN_ARG(number), SPAN_ARG(commit));
    return command_print(&text, options.output == OUTPUT_YAML, err) ? 0 : 2;
}

static int print_version(int argc, char *const *argv, const char *built_from)
{
    struct arena a;
    struct err err = {0};
    arena_init(&a, 0);
    int status = version(&a, argc, argv, built_from, &err);
    if (err.kind != ERR_NONE)
        command_complain("stowage version: %s", err.msg);
    arena_release(&a);
    return status;
}

int command_run(int argc, char *const *argv, const char *built_from)
{
    if (argc == 0) {
        usage(stderr);
        return 2;
    }
    if (is_help(argv[0]))
        return help(0, NULL);
    if (strcmp(argv[0], "--version") == 0)
        return print_version(argc - 1, argv + 1, built_from);
    if (strcmp(argv[0], COMPLETION_ASK) == 0) /* no word for people: the scripts of `completion` ask so */
        return command_complete(argc - 1, argv + 1);
    const struct command *command = find_or_complain(argv[0]);
    if (command == NULL)
        return 2;
    return command->run != NULL ? command->run(argc - 1, argv + 1) : print_version(argc - 1, argv + 1, built_from);
}
