#include "kube/disruption_mode.h"

#include "kube/meta.h"

enum { ALL = REASON_COUNT };

struct modes { /* by reason, and for ALL */
    enum disruption_mode of[REASON_COUNT + 1];
    bool said[REASON_COUNT + 1];
};

static struct span without_blanks(struct span s)
{
    while (s.len != 0 && (s.ptr[0] == ' ' || s.ptr[0] == '\n'))
        s = (struct span){s.ptr + 1, s.len - 1};
    while (s.len != 0 && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\n'))
        s.len--;
    return s;
}

static bool find_mode(struct span name, enum disruption_mode *out)
{
    static const struct span names[] = {[MODE_ACT] = SPAN_INIT("act"),
                                        [MODE_RECOMMEND] = SPAN_INIT("recommend"),
                                        [MODE_OBSERVE] = SPAN_INIT("observe")};
    for (uint32_t i = 0; i < COUNT_OF(names); i++)
        if (span_eq(name, names[i])) {
            *out = (enum disruption_mode)i;
            return true;
        }
    return false;
}

static bool add(struct modes *m, struct span text, struct err *err)
{
    struct span mode, reason = without_blanks(span_cut(text, '=', &mode));
    enum disruption_reason named;
    uint32_t i = ALL;
    if (mode.ptr == NULL)
        mode = reason;
    else if (disruption_reason_find(reason, &named))
        i = named;
    else
        return err_set(err, ERR_INVALID, "\"%.*s\" is no reason; write " DISRUPTION_REASONS, SPAN_ARG(reason));
    mode = without_blanks(mode);
    if (m->said[i])
        return err_set(err, ERR_INVALID, "\"%.*s\" says twice what holds", SPAN_ARG(without_blanks(text)));
    m->said[i] = true;
    return find_mode(mode, &m->of[i]) ||
           err_set(err, ERR_INVALID, "\"%.*s\" is no mode; write observe, recommend or act", SPAN_ARG(mode));
}

static bool parse(const struct node_pool *p, struct modes *out, struct err *err)
{
    struct span rest = annotations_get(p->meta.annotations, SYM_MODE);
    *out = (struct modes){.of = {MODE_ACT}};
    while (rest.ptr != NULL)
        if (!add(out, span_cut(rest, ',', &rest), err))
            return false;
    return true;
}

enum disruption_mode disruption_mode_of(const struct node_pool *p, enum disruption_reason reason)
{
    struct modes m;
    struct err err;
    if (!parse(p, &m, &err))
        return MODE_RECOMMEND;
    return m.of[m.said[reason] ? (uint32_t)reason : (uint32_t)ALL];
}

bool disruption_mode_valid(const struct node_pool *p, struct err *err)
{
    struct modes m;
    return parse(p, &m, err);
}
