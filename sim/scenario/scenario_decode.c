#include "sim/scenario/scenario.h"

#include <math.h>
#include <stdlib.h>

/* ---- scalars ---- */

static bool number_of(struct span text, double *out)
{
    char copy[32], *end;
    if (text.len == 0 || text.len >= sizeof copy)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (strchr("0123456789.", text.ptr[i]) == NULL)
            return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    *out = strtod(copy, &end);
    return *end == '\0' && isfinite(*out);
}

static bool is_text(struct doc_value v)
{
    return doc_type(v) == DOC_STRING || doc_type(v) == DOC_NUMBER;
}

static bool length_of(struct doc_value v, span_ms least, void *out, struct err *err)
{
    span_ms length;
    struct span text = is_text(v) ? doc_text(v) : SPAN("this");
    if (doc_type(v) != DOC_STRING || !duration_parse(text, &length) || length < 0)
        return err_set(err, ERR_INVALID, "\"%.*s\" is no length of time like 90s, 2h30m or 168h", SPAN_ARG(text));
    if (length < least || length > SCENARIO_LENGTH_MAX_MS)
        return err_set(err, ERR_INVALID, "\"%.*s\" is %s", SPAN_ARG(text),
                       length < least ? "no time at all" : "longer than ten years");
    memcpy(out, &length, sizeof length);
    return true;
}

static bool decode_offset(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    (void)d;
    return length_of(v, 0, out, err);
}

static bool decode_length(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    (void)d;
    return length_of(v, 1, out, err);
}

/* "5/h", "2/24h", "0.5/30m": so many in so long, on average. */
static bool decode_rate(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    struct span per = {NULL, 0}, many = {NULL, 0};
    char unit[8];
    double count = 0;
    span_ms length = 0;
    (void)d;
    if (doc_type(v) == DOC_STRING)
        many = span_cut(doc_text(v), '/', &per);
    if (per.len == 1) { /* 5/h */
        unit[0] = '1';
        unit[1] = per.ptr[0];
        per = (struct span){unit, 2};
    }
    if (!number_of(many, &count) || count <= 0 || !duration_parse(per, &length) || length <= 0)
        return err_set(err, ERR_INVALID, "\"%.*s\" is no rate like 5/h or 2/24h",
                       SPAN_ARG(is_text(v) ? doc_text(v) : SPAN("this")));
    if (count / (double)length > 1)
        return err_set(err, ERR_INVALID, "\"%.*s\" is more than 1000 a second", SPAN_ARG(doc_text(v)));
    double rate = count / (double)length;
    memcpy(out, &rate, sizeof rate);
    return true;
}

static bool decode_share(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    struct scenario_share share = {0};
    (void)d;
    struct span text = is_text(v) ? doc_text(v) : SPAN("this"), number = text;
    share.percent = span_has_suffix(text, SPAN("%"));
    number.len -= share.percent;
    if (!is_text(v) || !number_of(number, &share.value) || (share.percent && share.value > 100) ||
        (!share.percent && share.value != floor(share.value)) || share.value > 1e6)
        return err_set(err, ERR_INVALID, "\"%.*s\" is neither a count nor a share like 1%%", SPAN_ARG(text));
    memcpy(out, &share, sizeof share);
    return true;
}

/* ---- checks of one object, with its line ---- */

static const struct scenario_object none;

struct scenario_object scenario_object_of(struct span text)
{
    struct span rest;
    struct span first = span_cut(text, '/', &rest);
    if (rest.ptr == NULL)
        return (struct scenario_object){SPAN("default"), first};
    return first.len == 0 || rest.len == 0 ? none : (struct scenario_object){first, rest};
}

enum kind scenario_kind_of(const struct scenario_workload *w)
{
    return w->stateful_set.ptr != NULL ? KIND_STATEFUL_SET : w->deployment.ptr != NULL ? KIND_DEPLOYMENT : KIND_NONE;
}

struct span scenario_text_of(const struct scenario_workload *w)
{
    return w->stateful_set.ptr != NULL ? w->stateful_set : w->deployment;
}

uint32_t scenario_share_of(struct scenario_share s, uint32_t all)
{
    double wanted = s.percent ? round(s.value * all / 100) : s.value;
    if (wanted < 1 && s.value > 0)
        wanted = 1;
    return wanted < all ? (uint32_t)wanted : all;
}

static void check_workload(struct decode *d, struct doc_value v, const struct scenario_workload *w)
{
    if ((w->deployment.ptr != NULL) == (w->stateful_set.ptr != NULL))
        decode_invalid(d, v, "give deployment or statefulSet, one of both");
}

static void check_rollout(struct decode *d, struct doc_value v, const void *object)
{
    check_workload(d, v, &((const struct scenario_rollout *)object)->of);
}

static void check_restart(struct decode *d, struct doc_value v, const void *object)
{
    const struct scenario_restart *r = object;
    if (scenario_kind_of(&r->of) != KIND_NONE)
        check_workload(d, v, &r->of);
}

static void check_scale(struct decode *d, struct doc_value v, const void *object)
{
    const struct scenario_scale *s = object;
    check_workload(d, v, &s->of);
    if (s->has_replicas == s->has_by)
        decode_invalid(d, v, "give replicas (how many there are to be) or by (how many more or, "
                             "negative, fewer), one of both");
    if (s->has_replicas && s->replicas < 0)
        decode_invalid_in(d, v, "replicas", "cannot be negative");
}

static void check_delete(struct decode *d, struct doc_value v, const void *object)
{
    const struct scenario_delete *g = object;
    for (enum kind k = 0; k < KIND_COUNT; k++)
        if (span_eq(g->kind, span_of(kind_info(k)->name)))
            return;
    decode_invalid_in(d, v, "kind", "\"%.*s\" is no kind that the cluster has", SPAN_ARG(g->kind));
}

static void check_price(struct decode *d, struct doc_value v, const void *object)
{
    const struct scenario_price *p = object;
    if (p->has_factor == p->has_vary)
        decode_invalid(d, v, "give factor (of the listed price) or vary (a share, up or down), one of both");
    if (p->has_factor && !(p->factor >= 0 && p->factor <= 1e6))
        decode_invalid_in(d, v, "factor", "has to be a number from 0 to a million");
    if (p->has_vary && !p->vary.percent)
        decode_invalid_in(d, v, "vary", "has to be a share like 5%%");
}

#define ACTS                                                                                       \
    "scale, rollout, delete, restart, price, interrupt, stockout, failLaunch or neverRegisters"

static void check_event(struct decode *d, struct doc_value v, const void *object)
{
    const struct scenario_event *e = object;
    int acts = (e->scale != NULL) + (e->rollout != NULL) + (e->gone != NULL) + (e->restart != NULL) +
               (e->price != NULL) + (e->interrupt != NULL) + (e->stockout != NULL) + (e->fails != NULL) +
               (e->lost != NULL);
    if (acts == 0)
        decode_invalid(d, v, "says when and not what; give one of " ACTS);
    if (acts > 1)
        decode_invalid(d, v, "says %d things; give each an event of its own", acts);
    if (!e->has_at && !e->has_every && !e->has_rate)
        decode_invalid(d, v, "says what and not when; give at, every or rate");
    if (e->has_every && e->has_rate)
        decode_invalid(d, v, "give every (regularly) or rate (by chance), not both");
    if (e->has_until && !e->has_every && !e->has_rate)
        decode_invalid_in(d, v, "until", "is of use with every or rate alone");
}

static void check_spec(struct decode *d, struct doc_value v, const void *object)
{
    const struct scenario *s = object;
    if (s->events.count > SCENARIO_EVENTS_MAX)
        decode_invalid_in(d, v, "events", "has %u entries; at most %d are played", s->events.count,
                          SCENARIO_EVENTS_MAX);
}

/* ---- field tables ---- */

#define LENGTH(type_, member, ...)                                                                 \
    FIELD(type_, member, FIELD_SCALAR, __VA_ARGS__, .scalar = decode_length)
#define OFFSET(type_, member, ...)                                                                 \
    FIELD(type_, member, FIELD_SCALAR, __VA_ARGS__, .scalar = decode_offset)
#define MARKET(type_)                                                                              \
    FIELD(type_, of.type, FIELD_SPAN, "instanceType"), FIELD(type_, of.zone, FIELD_SPAN, "zone"),  \
        FIELD(type_, of.capacity_type, FIELD_SPAN, "capacityType")

#define WORKLOAD(type_)                                                                            \
    FIELD(type_, of.deployment, FIELD_SPAN, "deployment"),                                         \
        FIELD(type_, of.stateful_set, FIELD_SPAN, "statefulSet")

static const struct field scale_fields[] = {
    WORKLOAD(struct scenario_scale),
    FIELD(struct scenario_scale, replicas, FIELD_INT64, "replicas", FIELD_HAS(struct scenario_scale, has_replicas)),
    FIELD(struct scenario_scale, by, FIELD_INT64, "by", FIELD_HAS(struct scenario_scale, has_by)),
    LENGTH(struct scenario_scale, keeps, "for", FIELD_HAS(struct scenario_scale, has_for)),
};
static const struct schema scale_schema =
    SCHEMA_WITH(struct scenario_scale, "scale", scale_fields, .strict = true, .check = check_scale);

static const struct field rollout_fields[] = {
    WORKLOAD(struct scenario_rollout),
};
static const struct schema rollout_schema =
    SCHEMA_WITH(struct scenario_rollout, "rollout", rollout_fields, .strict = true, .check = check_rollout);

static const struct field delete_fields[] = {
    FIELD(struct scenario_delete, kind, FIELD_SPAN, "kind", .required = true),
    FIELD(struct scenario_delete, ns, FIELD_SPAN, "namespace"),
    FIELD(struct scenario_delete, name, FIELD_SPAN, "name", .required = true),
};
static const struct schema delete_schema =
    SCHEMA_WITH(struct scenario_delete, "delete", delete_fields, .strict = true, .check = check_delete);

static const struct field restart_fields[] = {
    WORKLOAD(struct scenario_restart),
    FIELD(struct scenario_restart, pods, FIELD_SCALAR, "pods", .scalar = decode_share, .required = true),
};
static const struct schema restart_schema =
    SCHEMA_WITH(struct scenario_restart, "restart", restart_fields, .strict = true, .check = check_restart);

static const struct field price_fields[] = {
    MARKET(struct scenario_price),
    FIELD(struct scenario_price, factor, FIELD_DOUBLE, "factor", FIELD_HAS(struct scenario_price, has_factor)),
    FIELD(struct scenario_price, vary, FIELD_SCALAR, "vary", .scalar = decode_share,
          FIELD_HAS(struct scenario_price, has_vary)),
};
static const struct schema price_schema =
    SCHEMA_WITH(struct scenario_price, "price", price_fields, .strict = true, .check = check_price);

static const struct field interrupt_fields[] = {
    MARKET(struct scenario_interrupt),
    FIELD(struct scenario_interrupt, pool, FIELD_SPAN, "nodePool"),
    FIELD(struct scenario_interrupt, nodes, FIELD_SCALAR, "nodes", .scalar = decode_share,
          FIELD_HAS(struct scenario_interrupt, has_nodes)),
    OFFSET(struct scenario_interrupt, notice, "notice", FIELD_HAS(struct scenario_interrupt, has_notice)),
};
static const struct schema interrupt_schema =
    SCHEMA_WITH(struct scenario_interrupt, "interrupt", interrupt_fields, .strict = true);

static const struct field stockout_fields[] = {
    MARKET(struct scenario_stockout),
    LENGTH(struct scenario_stockout, keeps, "for", .required = true),
};
static const struct schema stockout_schema =
    SCHEMA_WITH(struct scenario_stockout, "stockout", stockout_fields, .strict = true);

static const struct field trouble_fields[] = {
    LENGTH(struct scenario_trouble, keeps, "for", .required = true),
};
static const struct schema trouble_schema =
    SCHEMA_WITH(struct scenario_trouble, "trouble", trouble_fields, .strict = true);

static const struct field event_fields[] = {
    OFFSET(struct scenario_event, at, "at", FIELD_HAS(struct scenario_event, has_at)),
    LENGTH(struct scenario_event, every, "every", FIELD_HAS(struct scenario_event, has_every)),
    FIELD(struct scenario_event, rate, FIELD_SCALAR, "rate", .scalar = decode_rate,
          FIELD_HAS(struct scenario_event, has_rate)),
    LENGTH(struct scenario_event, until, "until", FIELD_HAS(struct scenario_event, has_until)),
    FIELD(struct scenario_event, scale, FIELD_POINTER, "scale", .schema = &scale_schema),
    FIELD(struct scenario_event, rollout, FIELD_POINTER, "rollout", .schema = &rollout_schema),
    FIELD(struct scenario_event, gone, FIELD_POINTER, "delete", .schema = &delete_schema),
    FIELD(struct scenario_event, restart, FIELD_POINTER, "restart", .schema = &restart_schema),
    FIELD(struct scenario_event, price, FIELD_POINTER, "price", .schema = &price_schema),
    FIELD(struct scenario_event, interrupt, FIELD_POINTER, "interrupt", .schema = &interrupt_schema),
    FIELD(struct scenario_event, stockout, FIELD_POINTER, "stockout", .schema = &stockout_schema),
    FIELD(struct scenario_event, fails, FIELD_POINTER, "failLaunch", .schema = &trouble_schema),
    FIELD(struct scenario_event, lost, FIELD_POINTER, "neverRegisters", .schema = &trouble_schema),
};
static const struct schema event_schema =
    SCHEMA_WITH(struct scenario_event, "event", event_fields, .strict = true, .check = check_event);

static const struct field delay_fields[] = {
    LENGTH(struct scenario, node_ready, "nodeReady"),
    LENGTH(struct scenario, pod_start, "podStart"),
    LENGTH(struct scenario, pod_stop, "podStop"),
};
static const struct schema delay_schema = SCHEMA_WITH(struct scenario, "delays", delay_fields, .strict = true);

static const struct field spec_fields[] = {
    FIELD(struct scenario, seed, FIELD_INT64, "seed"),
    FIELD(struct scenario, start, FIELD_SCALAR, "start", .scalar = decode_time,
          FIELD_HAS(struct scenario, has_start)),
    LENGTH(struct scenario, duration, "duration", .required = true),
    {.name = "delays", .kind = FIELD_OBJECT, .schema = &delay_schema},
    FIELD(struct scenario, events, FIELD_LIST, "events", .schema = &event_schema),
};
static const struct schema spec_schema =
    SCHEMA_WITH(struct scenario, "spec", spec_fields, .strict = true, .check = check_spec);

static const struct field scenario_fields[] = {
    FIELD(struct scenario, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &spec_schema, .required = true},
};
/* apiVersion and kind are read by who finds the document. */
const struct schema scenario_schema =
    SCHEMA_WITH(struct scenario, SCENARIO_KIND, scenario_fields, .also = "apiVersion kind");
