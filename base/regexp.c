/* The text becomes a tree, the tree a program of sets and splits, and all of the program's threads walk the text side by
 * side: no input makes it slow. Whether something is found does not hang on greed, so that is read and forgotten. */
#include "base/regexp.h"

enum {
    TEXT_MOST = 1000,
    DEPTH_MOST = 100,   /* of groups */
    REPEAT_MOST = 1000, /* as in Go */
    STEPS_MOST = 4096,  /* of a program: counted repeats are written out */
};

enum node_kind { NODE_EMPTY, NODE_SET, NODE_THEN, NODE_OR, NODE_REPEAT, NODE_ASSERT };
enum assertion { AT_START, AT_END, AT_LINE_START, AT_LINE_END, AT_WORD, AT_NO_WORD };

struct set {
    uint64_t bits[4];
};

struct node {
    enum node_kind kind;
    enum assertion assertion;
    const struct set *set;
    const struct node *a, *b;
    int32_t least, most; /* most -1: any */
};

enum step_kind { STEP_SET, STEP_SPLIT, STEP_JUMP, STEP_ASSERT, STEP_FOUND };

struct step {
    enum step_kind kind;
    enum assertion assertion;
    const struct set *set;
    uint32_t to, other;
};

struct regexp {
    struct step *steps;
    uint32_t count;
};

/* --- sets --- */

static void set_add(struct set *s, int from, int to)
{
    for (int c = from; c <= to; c++)
        s->bits[c / 64] |= UINT64_C(1) << (c % 64);
}

static bool set_has(const struct set *s, unsigned char c)
{
    return (s->bits[c / 64] >> (c % 64)) & 1;
}

static void set_add_all(struct set *s, const struct set *other)
{
    for (int i = 0; i < 4; i++)
        s->bits[i] |= other->bits[i];
}

/* Of ASCII. */
static struct set set_not(const struct set *s)
{
    return (struct set){{~s->bits[0], ~s->bits[1], 0, 0}};
}

static void set_fold(struct set *s)
{
    for (int c = 'a'; c <= 'z'; c++)
        if (set_has(s, (unsigned char)c) || set_has(s, (unsigned char)(c - 32))) {
            set_add(s, c, c);
            set_add(s, c - 32, c - 32);
        }
}

static struct set set_digits(void)
{
    struct set s = {{0}};
    set_add(&s, '0', '9');
    return s;
}

static struct set set_words(void)
{
    struct set s = set_digits();
    set_add(&s, 'a', 'z');
    set_add(&s, 'A', 'Z');
    set_add(&s, '_', '_');
    return s;
}

static struct set set_spaces(void)
{
    struct set s = {{0}};
    for (const char *c = "\t\n\f\r "; *c != '\0'; c++)
        set_add(&s, *c, *c);
    return s;
}

static bool set_named(struct span name, struct set *out)
{
    static const struct {
        const char *name, *ranges;
    } classes[] = {
        {"alnum", "09AZaz"}, {"alpha", "AZaz"},       {"ascii", "\001\177"}, {"blank", "\t\t  "},
        {"cntrl", "\001\037\177\177"}, {"digit", "09"}, {"graph", "!~"},        {"lower", "az"},
        {"print", " ~"},     {"punct", "!/:@[`{~"},   {"space", "\t\r  "},    {"upper", "AZ"},
        {"word", "09AZaz__"}, {"xdigit", "09AFaf"},
    };
    for (size_t i = 0; i < COUNT_OF(classes); i++)
        if (span_eq(name, span_of(classes[i].name))) {
            *out = (struct set){{0}};
            for (const char *r = classes[i].ranges; *r != '\0'; r += 2)
                set_add(out, r[0], r[1]);
            return true;
        }
    return false;
}

/* --- reading --- */

struct flags {
    bool fold, lines, dot_all;
};

struct reading {
    struct arena *arena;
    struct span text;
    size_t at;
    struct flags flags;
    uint32_t depth;
    bool quoting; /* between \Q and \E */
    struct err *err;
    bool failed;
};

static const struct node *refuse(struct reading *r, const char *why)
{
    if (!r->failed)
        err_set(r->err, ERR_INVALID, "\"%.*s\" is no regular expression: %s", SPAN_ARG(r->text), why);
    r->failed = true;
    return NULL;
}

static bool more(const struct reading *r)
{
    return !r->failed && r->at < r->text.len;
}

static char peek(const struct reading *r)
{
    return more(r) ? r->text.ptr[r->at] : '\0';
}

static bool take(struct reading *r, const char *text)
{
    struct span rest = {r->text.ptr + r->at, r->text.len - r->at};
    if (!more(r) || !span_has_prefix(rest, span_of(text)))
        return false;
    r->at += strlen(text);
    return true;
}

static const struct node *node_of(struct reading *r, struct node n)
{
    struct node *out = ARENA_NEW(r->arena, struct node);
    *out = n;
    return out;
}

static const struct node *set_node(struct reading *r, struct set s)
{
    struct set *kept = ARENA_NEW(r->arena, struct set);
    if (r->flags.fold)
        set_fold(&s);
    *kept = s;
    return node_of(r, (struct node){.kind = NODE_SET, .set = kept});
}

static const struct node *byte_node(struct reading *r, unsigned char c)
{
    struct set s = {{0}};
    set_add(&s, c, c);
    return set_node(r, s);
}

static const struct node *then(struct reading *r, const struct node *a, const struct node *b)
{
    return node_of(r, (struct node){.kind = NODE_THEN, .a = a, .b = b});
}

static const struct node *either(struct reading *r, const struct node *a, const struct node *b)
{
    return node_of(r, (struct node){.kind = NODE_OR, .a = a, .b = b});
}

static const struct node *repeat(struct reading *r, const struct node *a, int32_t least, int32_t most)
{
    return node_of(r, (struct node){.kind = NODE_REPEAT, .a = a, .least = least, .most = most});
}

static const struct node *assertion(struct reading *r, enum assertion what)
{
    return node_of(r, (struct node){.kind = NODE_ASSERT, .assertion = what});
}

static const struct node *empty(struct reading *r)
{
    return node_of(r, (struct node){.kind = NODE_EMPTY});
}

/* These of ASCII, or any letter beyond. */
static const struct node *or_beyond(struct reading *r, struct set ascii)
{
    struct set lead = {{0}}, rest = {{0}};
    set_add(&lead, 0xc0, 0xff);
    set_add(&rest, 0x80, 0xbf);
    return either(r, set_node(r, ascii), then(r, set_node(r, lead), repeat(r, set_node(r, rest), 1, 3)));
}

/* A letter, of which the first byte is taken. */
static const struct node *literal(struct reading *r, unsigned char first)
{
    const struct node *n = byte_node(r, first);
    while (first >= 0xc0 && (peek(r) & 0xc0) == 0x80)
        n = then(r, n, byte_node(r, (unsigned char)r->text.ptr[r->at++]));
    return n;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Behind a backslash: one byte; -1: it is no such. */
static int escaped(struct reading *r)
{
    static const char names[] = "aftnrv", bytes[] = "\a\f\t\n\r\v";
    char c = peek(r);
    const char *at = c != '\0' ? strchr(names, c) : NULL;
    if (c == 'x' && r->at + 2 < r->text.len && hex_digit(r->text.ptr[r->at + 1]) >= 0 &&
        hex_digit(r->text.ptr[r->at + 2]) >= 0) {
        int value = hex_digit(r->text.ptr[r->at + 1]) * 16 + hex_digit(r->text.ptr[r->at + 2]);
        r->at += 3;
        return value < 0x80 ? value : -1;
    }
    struct set words = set_words();
    bool word = set_has(&words, (unsigned char)c) && c != '_';
    if (at == NULL && (c == '\0' || word || (unsigned char)c >= 0x80))
        return -1;
    r->at++;
    return at != NULL ? bytes[at - names] : c;
}

/* \d and the like. */
static bool perl_set(struct reading *r, struct set *out)
{
    char c = peek(r);
    switch (c | 0x20) {
    case 'd':
        *out = set_digits();
        break;
    case 'w':
        *out = set_words();
        break;
    case 's':
        *out = set_spaces();
        break;
    default:
        return false;
    }
    r->at++;
    return true;
}

/* --- classes --- */

static int class_byte(struct reading *r)
{
    if (take(r, "\\")) {
        int c = escaped(r);
        if (c < 0)
            refuse(r, "a class has an escape that is not known here");
        return c;
    }
    if ((unsigned char)peek(r) >= 0x80) {
        refuse(r, "letters beyond ASCII in a class are not taken here");
        return -1;
    }
    return more(r) ? r->text.ptr[r->at++] : -1;
}

static void class_range(struct reading *r, struct set *s)
{
    int from = class_byte(r), to = from;
    if (peek(r) == '-' && r->at + 1 < r->text.len && r->text.ptr[r->at + 1] != ']') {
        r->at++;
        to = class_byte(r);
    }
    if (r->failed)
        return;
    if (from < 0 || to < from)
        refuse(r, "a range of a class ends before it begins");
    else
        set_add(s, from, to);
}

/* [:alpha:] or \d within a class; *beyond: it has letters beyond ASCII too. */
static bool class_named(struct reading *r, struct set *s, bool *beyond)
{
    struct set named;
    size_t start = r->at;
    if (take(r, "[:")) {
        bool not = take(r, "^");
        size_t from = r->at;
        while (more(r) && peek(r) != ':')
            r->at++;
        struct span name = {r->text.ptr + from, r->at - from};
        if (!take(r, ":]") || !set_named(name, &named))
            return refuse(r, "it has a class [:…:] that nobody knows") != NULL;
        *beyond |= not;
        named = not ? set_not(&named) : named;
    } else if (take(r, "\\")) {
        bool not = peek(r) == 'D' || peek(r) == 'W' || peek(r) == 'S';
        if (!perl_set(r, &named)) {
            r->at = start;
            return false;
        }
        *beyond |= not;
        named = not ? set_not(&named) : named;
    } else {
        return false;
    }
    set_add_all(s, &named);
    return true;
}

static const struct node *read_class(struct reading *r)
{
    struct set s = {{0}};
    bool not = take(r, "^"), beyond = false;
    for (bool first = true; more(r) && (first || peek(r) != ']'); first = false)
        if (!class_named(r, &s, &beyond))
            class_range(r, &s);
    if (!take(r, "]"))
        return refuse(r, "a class is not closed by ]");
    if (r->flags.fold)
        set_fold(&s);
    if (not)
        s = set_not(&s);
    return beyond != not ? or_beyond(r, s) : set_node(r, s);
}

/* --- the rest --- */

static const struct node *read_any(struct reading *r);

static const struct node *read_escape(struct reading *r)
{
    struct set s;
    char c = peek(r);
    if (take(r, "Q")) {
        r->quoting = true;
        return empty(r);
    }
    if (take(r, "A"))
        return assertion(r, AT_START);
    if (take(r, "z"))
        return assertion(r, AT_END);
    if (take(r, "b"))
        return assertion(r, AT_WORD);
    if (take(r, "B"))
        return assertion(r, AT_NO_WORD);
    if (perl_set(r, &s))
        return c == 'D' || c == 'W' || c == 'S' ? or_beyond(r, set_not(&s)) : set_node(r, s);
    int byte = escaped(r);
    return byte >= 0 ? byte_node(r, (unsigned char)byte) : refuse(r, "it has an escape that is not known here");
}

static bool read_name(struct reading *r)
{
    struct set words = set_words();
    size_t from = r->at;
    while (set_has(&words, (unsigned char)peek(r)))
        r->at++;
    return r->at != from && take(r, ">");
}

/* "i-s" up to ) or :. */
static bool read_flags(struct reading *r, struct flags *f)
{
    bool on = true, any = false;
    for (; more(r) && peek(r) != ')' && peek(r) != ':'; r->at++) {
        char c = peek(r);
        if (c == '-' && on)
            on = false;
        else if (c == 'i')
            f->fold = on;
        else if (c == 'm')
            f->lines = on;
        else if (c == 's')
            f->dot_all = on;
        else if (c != 'U')
            return false;
        any = c != '-';
    }
    return any || peek(r) == ':';
}

/* Behind "(". */
static const struct node *read_group(struct reading *r)
{
    struct flags before = r->flags, inner = before;
    if (++r->depth > DEPTH_MOST)
        return refuse(r, "its groups are too deep");
    if (take(r, "?P<") || take(r, "?<")) {
        if (!read_name(r))
            return refuse(r, "the name of a group is none");
    } else if (take(r, "?")) {
        if (!read_flags(r, &inner))
            return refuse(r, "it has a group (?…) that is not known here");
        r->flags = inner;
        if (take(r, ")")) { /* until the end of the group around it */
            r->depth--;
            return empty(r);
        }
        r->at++;
    }
    const struct node *n = read_any(r);
    if (!take(r, ")"))
        return refuse(r, "a group is not closed by )");
    r->flags = before;
    r->depth--;
    return n;
}

static const struct node *read_one(struct reading *r)
{
    struct set all = set_not(&(struct set){{0}}), line = all;
    line.bits[0] &= ~(UINT64_C(1) << '\n');
    char c = r->text.ptr[r->at++];
    if (r->quoting)
        return literal(r, (unsigned char)c);
    switch (c) {
    case '(':
        return read_group(r);
    case '[':
        return read_class(r);
    case '\\':
        return read_escape(r);
    case '.':
        return or_beyond(r, r->flags.dot_all ? all : line);
    case '^':
        return assertion(r, r->flags.lines ? AT_LINE_START : AT_START);
    case '$':
        return assertion(r, r->flags.lines ? AT_LINE_END : AT_END);
    case '*':
    case '+':
    case '?':
        return refuse(r, "there is nothing to repeat");
    default:
        return literal(r, (unsigned char)c);
    }
}

static bool read_number(struct reading *r, int32_t *out)
{
    size_t from = r->at;
    *out = 0;
    for (; peek(r) >= '0' && peek(r) <= '9'; r->at++)
        *out = *out > REPEAT_MOST ? *out : *out * 10 + (peek(r) - '0');
    return r->at != from;
}

/* {n}, {n,}, {n,m}; anything else is a brace. */
static bool read_counts(struct reading *r, int32_t *least, int32_t *most)
{
    size_t start = r->at;
    bool fine = take(r, "{") && read_number(r, least);
    *most = *least;
    if (fine && take(r, ","))
        *most = -1;
    if (fine && *most == -1 && peek(r) != '}')
        fine = read_number(r, most);
    if (!fine || !take(r, "}")) {
        r->at = start;
        return false;
    }
    return true;
}

static bool read_repeat(struct reading *r, int32_t *least, int32_t *most)
{
    *least = 0;
    *most = -1;
    if (take(r, "*"))
        return true;
    if (take(r, "+")) {
        *least = 1;
        return true;
    }
    if (take(r, "?")) {
        *most = 1;
        return true;
    }
    return read_counts(r, least, most);
}

static const struct node *read_repeated(struct reading *r)
{
    int32_t least, most;
    const struct node *n = read_one(r);
    if (r->quoting && take(r, "\\E"))
        r->quoting = false;
    for (bool again = false; !r->quoting && more(r) && read_repeat(r, &least, &most); again = true) {
        take(r, "?"); /* not greedy */
        if (again)
            return refuse(r, "a repetition is repeated; put it into a group");
        if (least > REPEAT_MOST || most > REPEAT_MOST || (most >= 0 && most < least))
            return refuse(r, "a repetition {n,m} goes from n to m, up to 1000");
        n = repeat(r, n, least, most);
    }
    return n;
}

static const struct node *read_any(struct reading *r)
{
    const struct node *n = empty(r), *or = NULL;
    while (more(r) && (r->quoting || peek(r) != ')')) {
        if (!r->quoting && take(r, "|")) {
            or = or == NULL ? n : either(r, or, n);
            n = empty(r);
        } else {
            n = then(r, n, read_repeated(r));
        }
    }
    return or == NULL ? n : either(r, or, n);
}

/* --- the program --- */

static void write_node(struct regexp *p, const struct node *n);

static uint32_t write_step(struct regexp *p, struct step s)
{
    if (p->count < STEPS_MOST)
        p->steps[p->count] = s;
    return p->count < STEPS_MOST ? p->count++ : p->count;
}

static struct step *step_at(struct regexp *p, uint32_t at)
{
    return &p->steps[at < STEPS_MOST ? at : STEPS_MOST - 1]; /* a program that is full is refused */
}

static void write_or(struct regexp *p, const struct node *n)
{
    uint32_t split = write_step(p, (struct step){.kind = STEP_SPLIT});
    step_at(p, split)->to = p->count;
    write_node(p, n->a);
    uint32_t jump = write_step(p, (struct step){.kind = STEP_JUMP});
    step_at(p, split)->other = p->count;
    write_node(p, n->b);
    step_at(p, jump)->to = p->count;
}

static void write_repeat(struct regexp *p, const struct node *n)
{
    for (int32_t i = 0; i < n->least && p->count < STEPS_MOST; i++)
        write_node(p, n->a);
    if (n->most < 0) {
        uint32_t split = write_step(p, (struct step){.kind = STEP_SPLIT});
        step_at(p, split)->to = p->count;
        write_node(p, n->a);
        write_step(p, (struct step){.kind = STEP_JUMP, .to = split});
        step_at(p, split)->other = p->count;
    }
    for (int32_t i = n->least; i < n->most && p->count < STEPS_MOST; i++) {
        uint32_t split = write_step(p, (struct step){.kind = STEP_SPLIT});
        step_at(p, split)->to = p->count;
        write_node(p, n->a);
        step_at(p, split)->other = p->count;
    }
}

static void write_node(struct regexp *p, const struct node *n)
{
    switch (n->kind) {
    case NODE_EMPTY:
        break;
    case NODE_SET:
        write_step(p, (struct step){.kind = STEP_SET, .set = n->set});
        break;
    case NODE_ASSERT:
        write_step(p, (struct step){.kind = STEP_ASSERT, .assertion = n->assertion});
        break;
    case NODE_THEN:
        write_node(p, n->a);
        write_node(p, n->b);
        break;
    case NODE_OR:
        write_or(p, n);
        break;
    case NODE_REPEAT:
        write_repeat(p, n);
        break;
    }
}

bool regexp_parse(struct arena *a, struct span text, const struct regexp **out, struct err *err)
{
    struct reading r = {.arena = a, .text = text, .err = err};
    struct regexp *p = ARENA_NEW(a, struct regexp);
    if (text.len > TEXT_MOST)
        return err_set(err, ERR_INVALID, "a regular expression has at most %d bytes", TEXT_MOST);
    const struct node *n = read_any(&r);
    if (more(&r))
        refuse(&r, "a ) closes no group");
    if (r.failed)
        return false;
    p->steps = ARENA_ARRAY(a, struct step, STEPS_MOST);
    write_node(p, n);
    write_step(p, (struct step){.kind = STEP_FOUND});
    if (p->count == STEPS_MOST)
        return refuse(&r, "it is too long once its repetitions are written out") != NULL;
    *out = p;
    return true;
}

/* --- finding --- */

struct threads {
    uint16_t list[STEPS_MOST], place[STEPS_MOST];
    uint32_t count;
};

static bool has_thread(const struct threads *t, uint32_t at)
{
    return t->place[at] < t->count && t->list[t->place[at]] == at;
}

static bool is_word(struct span in, size_t at)
{
    struct set words = set_words();
    return at < in.len && set_has(&words, (unsigned char)in.ptr[at]);
}

static bool holds(enum assertion a, struct span in, size_t at)
{
    bool word = is_word(in, at) != (at != 0 && is_word(in, at - 1));
    switch (a) {
    case AT_START:
        return at == 0;
    case AT_END:
        return at == in.len;
    case AT_LINE_START:
        return at == 0 || in.ptr[at - 1] == '\n';
    case AT_LINE_END:
        return at == in.len || in.ptr[at] == '\n';
    case AT_WORD:
        return word;
    case AT_NO_WORD:
        return !word;
    }
    return false;
}

static void push(struct threads *t, uint32_t at)
{
    if (has_thread(t, at))
        return;
    t->place[at] = (uint16_t)t->count;
    t->list[t->count++] = (uint16_t)at;
}

/* Threads at position `at` of the text, those that they lead to without a byte included: the list is its own queue.
 * True: one has found. */
static bool spread(const struct regexp *r, struct threads *t, struct span in, size_t at)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const struct step *s = &r->steps[t->list[i]];
        if (s->kind == STEP_FOUND)
            return true;
        if (s->kind == STEP_SPLIT || s->kind == STEP_JUMP)
            push(t, s->to);
        if (s->kind == STEP_SPLIT)
            push(t, s->other);
        if (s->kind == STEP_ASSERT && holds(s->assertion, in, at))
            push(t, t->list[i] + 1u);
    }
    return false;
}

bool regexp_finds(const struct regexp *r, struct span in)
{
    struct threads both[2] = {{.count = 0}}, *now = &both[0], *next = &both[1];
    for (size_t at = 0;; at++) {
        push(now, 0);
        if (spread(r, now, in, at))
            return true;
        if (at == in.len)
            return false;
        next->count = 0;
        for (uint32_t i = 0; i < now->count; i++) {
            const struct step *s = &r->steps[now->list[i]];
            if (s->kind == STEP_SET && set_has(s->set, (unsigned char)in.ptr[at]))
                push(next, now->list[i] + 1u);
        }
        struct threads *swap = now;
        now = next;
        next = swap;
    }
}
