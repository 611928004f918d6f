#include "server/completion.h"

#include <stdio.h>
#include <string.h>

#include "server/command.h"
#include "server/commands.h"
#include "server/group_options.h"

/* --- candidates --- */

static void put(struct buf *out, struct span typed, struct span before, struct span value, const char *told)
{
    struct buf whole = {0};
    buf_add(&whole, before);
    buf_add(&whole, value);
    if (span_has_prefix(buf_span(&whole), typed))
        buf_addf(out, "%.*s%s%s\n", SPAN_ARG(buf_span(&whole)), told != NULL ? "\t" : "", told != NULL ? told : "");
    buf_release(&whole);
}

/* "a|b|c" */
static void put_choices(struct buf *out, struct span typed, struct span before, const char *choices)
{
    for (struct span choice, rest = span_of(choices); rest.ptr != NULL;) {
        choice = span_cut(rest, '|', &rest);
        put(out, typed, before, choice, NULL);
    }
}

static void put_commands(struct buf *out, struct span typed)
{
    const struct command *c;
    for (size_t i = 0; (c = command_row(i)) != NULL; i++)
        put(out, typed, SPAN(""), span_of(c->word), c->help);
}

static void put_flags(struct buf *out, struct span typed, const struct command *command, bool with_groups)
{
    const struct option *o;
    for (size_t i = 0; (o = option_row(i)) != NULL; i++)
        if ((o->group & command->group) != 0 && !o->without_meaning)
            put(out, typed, SPAN("--"), span_of(o->name), o->help);
    put(out, typed, SPAN("--"), SPAN("help"), "what it takes");
    for (uint32_t i = 0; with_groups && i < group_option_count(); i++)
        if (group_option_has_meaning(i) && !options_has(command->group, span_of(group_option_name(i))))
            put(out, typed, SPAN("--"), span_of(group_option_name(i)), "of Cluster Autoscaler");
}

/* The flag of a word "--output", "-o" or "--output=js"; NULL: it is none. */
static const struct option *flag_of(const struct command *command, struct span word, bool *has_value_out)
{
    struct span value;
    struct span name = span_cut(word, '=', &value);
    *has_value_out = value.ptr != NULL;
    if (name.len < 2 || name.ptr[0] != '-')
        return NULL;
    size_t dashes = name.ptr[1] == '-' ? 2 : 1;
    name = (struct span){name.ptr + dashes, name.len - dashes};
    const struct option *o;
    for (size_t i = 0; (o = option_row(i)) != NULL; i++)
        if ((o->group & command->group) != 0 &&
            (span_eq(name, span_of(o->name)) || (o->alias != NULL && span_eq(name, span_of(o->alias))) ||
             (name.len == 1 && name.ptr[0] == o->letter)))
            return o;
    return NULL;
}

/* True: files are candidates, too. */
static bool put_values(struct buf *out, struct span typed, struct span before, const struct option *o)
{
    if (o->choices != NULL)
        put_choices(out, typed, before, o->choices);
    else if (o->type == OPTION_BOOL)
        put_choices(out, typed, before, "true|false");
    return o->is_file;
}

static bool put_first(struct buf *out, struct span typed, const char *first)
{
    if (first == NULL)
        return false;
    if (strcmp(first, "FILE") == 0)
        return true;
    if (strcmp(first, "COMMAND") == 0)
        put_commands(out, typed);
    else
        put_choices(out, typed, SPAN(""), first);
    return false;
}

/* Behind the first argument: the second of "A B", the file of "check|from-kwok FILE". */
static bool has_more_files(const struct command *command)
{
    struct span rest = {0};
    span_cut(span_of(command->arguments), ' ', &rest);
    bool is_file = command->first != NULL && strcmp(command->first, "FILE") == 0;
    return rest.ptr != NULL && (is_file || span_eq(rest, SPAN("FILE")));
}

static bool put_candidates(struct buf *out, int count, const char *const *words)
{
    struct span typed = span_of(words[count - 1]);
    if (count == 1) {
        put_commands(out, typed);
        return false;
    }
    const struct command *command = command_find(span_of(words[0]));
    if (command == NULL)
        return false;
    bool has_value, with_groups = false;
    for (int i = 1; i < count - 1; i++)
        with_groups = with_groups || span_has_prefix(span_of(words[i]), SPAN("--node-groups")) ||
                      span_has_prefix(span_of(words[i]), SPAN("--cloud-provider"));
    const struct option *o = flag_of(command, span_of(words[count - 2]), &has_value);
    if (count > 2 && o != NULL && !has_value && o->type != OPTION_BOOL)
        return put_values(out, typed, SPAN(""), o);
    o = flag_of(command, typed, &has_value);
    if (o != NULL && has_value) {
        struct span rest, name = span_cut(typed, '=', &rest);
        return put_values(out, typed, (struct span){name.ptr, name.len + 1}, o);
    }
    if (typed.len != 0 && typed.ptr[0] == '-') {
        put_flags(out, typed, command, with_groups);
        return false;
    }
    return count == 2 ? put_first(out, typed, command->first) : has_more_files(command);
}

void completion_put(struct buf *out, int count, const char *const *words)
{
    bool with_files = count > 0 && put_candidates(out, count, words);
    buf_add(out, with_files ? SPAN(":0\n") : SPAN(":4\n"));
}

int command_complete(int argc, char *const *argv)
{
    struct buf out = {0};
    completion_put(&out, argc, (const char *const *)argv);
    fwrite(out.ptr, 1, out.len, stdout);
    buf_release(&out);
    return 0;
}

/* --- scripts --- */

/* Bash breaks words at "=", too, and replaces what is behind the last one alone. */
static const char bash[] =
    "# completion of stowage for bash\n"
    "_stowage()\n"
    "{\n"
    "    local line=${COMP_LINE:0:COMP_POINT} cur out directive\n"
    "    local -a words\n"
    "    read -ra words <<<\"$line\"\n"
    "    [[ $line == *[[:space:]] ]] && words+=('')\n"
    "    cur=${words[${#words[@]} - 1]}\n"
    "    COMPREPLY=()\n"
    "    out=$(\"${words[0]}\" " COMPLETION_ASK " \"${words[@]:1}\" 2>/dev/null) || return\n"
    "    directive=${out##*:}\n"
    "    while IFS=$'\\t' read -r value _; do\n"
    "        [[ $value == :* || -z $value ]] && continue\n"
    "        [[ $cur == *=* ]] && value=${value#\"${cur%%=*}=\"}\n"
    "        COMPREPLY+=(\"$value\")\n"
    "    done <<<\"$out\"\n"
    "    if [[ $directive == 0 ]]; then\n"
    "        compopt -o filenames 2>/dev/null\n"
    "        [[ $cur == -*=* ]] && cur=${cur#*=}\n"
    "        while IFS= read -r value; do COMPREPLY+=(\"$value\"); done < <(compgen -f -- \"$cur\")\n"
    "    fi\n"
    "}\n"
    "complete -F _stowage stowage\n";

static const char zsh[] =
    "#compdef stowage\n"
    "# completion of stowage for zsh\n"
    "_stowage()\n"
    "{\n"
    "    local -a lines described\n"
    "    local line\n"
    "    lines=(\"${(@f)$(\"${words[1]}\" " COMPLETION_ASK " \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
    "    for line in \"${(@)lines[1,-2]}\"; do\n"
    "        described+=(\"${${line//:/\\\\:}/$'\\t'/:}\")\n"
    "    done\n"
    "    (( ${#described} )) && _describe stowage described\n"
    "    if [[ ${lines[-1]} == :0 ]]; then\n"
    "        compset -P '-*='\n"
    "        _files\n"
    "    fi\n"
    "}\n"
    "if [[ ${funcstack[1]} == _stowage ]]; then\n"
    "    _stowage \"$@\"\n"
    "else\n"
    "    compdef _stowage stowage\n"
    "fi\n";

static const char fish[] =
    "# completion of stowage for fish\n"
    "function __stowage_ask\n"
    "    set -l words (commandline -opc) (commandline -ct)\n"
    "    $words[1] " COMPLETION_ASK " $words[2..] 2>/dev/null\n"
    "end\n"
    "complete -c stowage -f -a '(__stowage_ask | string match -v -r \"^:\")'\n"
    "complete -c stowage -n '__stowage_ask | string match -q \":0\"' -F\n";

int command_completion(int argc, char *const *argv)
{
    static const struct {
        const char *shell, *script;
    } scripts[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    for (size_t i = 0; argc == 1 && i < COUNT_OF(scripts); i++)
        if (strcmp(argv[0], scripts[i].shell) == 0) {
            fputs(scripts[i].script, stdout);
            return 0;
        }
    if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0))
        return command_help("completion");
    if (argc == 1)
        command_complain("stowage completion: \"%s\" is not bash, zsh or fish", argv[0]);
    else
        command_complain("stowage completion: say for which shell: bash, zsh or fish");
    return 2;
}
