#include "server/manual.h"

#include <stdio.h>
#include <string.h>

#include "server/command.h"

/* A line of text: what troff would take for a request or an escape is made harmless. */
static void put_text(struct buf *out, struct span text)
{
    if (text.len != 0 && (text.ptr[0] == '.' || text.ptr[0] == '\''))
        buf_add(out, SPAN("\\&"));
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '\\')
            buf_add(out, SPAN("\\e"));
        else
            buf_add_char(out, text.ptr[i]);
}

static void put_word(struct buf *out, const char *text) /* of a macro's line */
{
    buf_add(out, SPAN(" \""));
    for (; *text != '\0'; text++)
        if (*text == '"')
            buf_add(out, SPAN("\"\""));
        else
            put_text(out, (struct span){text, 1});
    buf_add(out, SPAN("\""));
}

static void put_head(struct buf *out, const char *word, const char *told)
{
    buf_add(out, SPAN(".Dd $Mdocdate$\n.Dt STOWAGE"));
    if (word != NULL)
        buf_add_char(out, '-');
    for (const char *c = word; c != NULL && *c != '\0'; c++)
        buf_add_char(out, (char)(*c - 'a' + 'A'));
    buf_addf(out, " 1\n.Os\n.Sh NAME\n.Nm stowage%s%s\n.Nd", word != NULL ? "-" : "", word != NULL ? word : "");
    put_word(out, told);
    buf_add(out, SPAN("\n"));
}

static void put_option(struct buf *out, const struct option *o)
{
    buf_add(out, SPAN(".It"));
    if (o->letter != 0)
        buf_addf(out, " Fl %c ,", o->letter);
    buf_addf(out, " Fl -%s", o->name);
    if (o->type != OPTION_BOOL)
        buf_addf(out, " Ar %s", o->is_file ? "file" : "value");
    buf_add_char(out, '\n');
    struct buf told = {0};
    option_told(&told, o);
    put_text(out, buf_span(&told));
    buf_add_char(out, '\n');
    buf_release(&told);
}

static void put_options(struct buf *out, enum option_group group)
{
    buf_add(out, SPAN(".Sh OPTIONS\n.Bl -tag -width Ds\n"));
    const struct option *o;
    for (size_t i = 0; (o = option_row(i)) != NULL; i++)
        if ((o->group & group) != 0 && !o->without_meaning)
            put_option(out, o);
    buf_add(out, SPAN(".El\n.Sh ENVIRONMENT\nEvery flag can also be given as\n.Ev STOWAGE_ Ns Ar FLAG ,\n"
                      "in capitals and with _ for -; a flag of the command line wins.\n"));
}

static void put_examples(struct buf *out, const char *examples)
{
    buf_add(out, SPAN(".Sh EXAMPLES\n"));
    bool is_command = strchr(examples, '\n')[1] == '\0'; /* one alone says itself what it does */
    for (struct span line, rest = span_of(examples); rest.len != 0; is_command = !is_command) {
        line = span_cut(rest, '\n', &rest);
        if (is_command)
            buf_add(out, SPAN(".Dl "));
        put_text(out, line);
        buf_add(out, is_command ? SPAN("\n.Pp\n") : SPAN(":\n"));
    }
    if (span_has_suffix(buf_span(out), SPAN(".Pp\n"))) /* none before a section */
        out->len -= strlen(".Pp\n");
}

static void put_status(struct buf *out)
{
    buf_add(out, SPAN(".Sh EXIT STATUS\n.Bl -tag -width Ds\n.It 0\ndone\n.It 1\ndone, but something has no place or is wrong\n"
                      ".It 2\nnot understood, or it could not be done\n.El\n"));
}

static void put_program(struct buf *out)
{
    const struct command *c;
    put_head(out, NULL, "a node autoscaler for Kubernetes");
    buf_add(out, SPAN(".Sh SYNOPSIS\n.Nm stowage\n.Ar command\n.Op Ar flags\n.Sh DESCRIPTION\nEach command has a page of its own, as in\n"
                      ".Xr stowage-plan 1 .\n.Bl -tag -width simulate\n"));
    for (size_t i = 0; (c = command_row(i)) != NULL; i++) {
        buf_addf(out, ".It Cm %s\n", c->word);
        put_text(out, span_of(c->help));
        buf_add_char(out, '\n');
    }
    buf_add(out, SPAN(".El\n"));
    put_status(out);
}

void manual_put(struct buf *out, const struct command *command)
{
    if (command == NULL) {
        put_program(out);
        return;
    }
    put_head(out, command->word, command->help);
    buf_addf(out, ".Sh SYNOPSIS\n.Nm stowage\n.Cm %s\n", command->word);
    if (command->arguments != NULL) {
        buf_add(out, SPAN(".Li"));
        put_word(out, command->arguments);
        buf_add_char(out, '\n');
    }
    if (command->group != 0)
        buf_add(out, SPAN(".Op Ar flags\n"));
    buf_add(out, SPAN(".Sh DESCRIPTION\n"));
    put_text(out, span_of(command->help));
    buf_add(out, SPAN(".\n"));
    if (command->group != 0)
        put_options(out, command->group);
    put_status(out);
    put_examples(out, command->examples);
    buf_add(out, SPAN(".Sh SEE ALSO\n.Xr stowage 1\n"));
}

int command_manual(int argc, char *const *argv)
{
    const struct command *command = argc > 0 ? command_find(span_of(argv[0])) : NULL;
    if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0))
        return command_help("man");
    if (argc > 1 || (argc == 1 && command == NULL)) {
        command_complain("stowage man: \"%s\" is no command; `stowage help` lists them", argv[argc - 1]);
        return 2;
    }
    struct buf out = {0};
    manual_put(&out, command);
    fwrite(out.ptr, 1, out.len, stdout);
    buf_release(&out);
    return 0;
}
