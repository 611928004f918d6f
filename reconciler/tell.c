/* Handing on what was decided and counted. */
#include <stdarg.h>
#include <stdio.h>

#include "kube/events.h"
#include "reconciler/state.h"

/* Ids sort by time: milliseconds, then a counter that makes two of one moment differ. */
void decision_id(struct reconciler *r, char out[16])
{
    static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
    uint64_t v = ((uint64_t)r->wall << 10) | (r->decisions++ & 1023);
    out[0] = 'd';
    out[1] = '-';
    for (int i = 0; i < 11; i++)
        out[12 - i] = digits[(v >> (5 * i)) & 31];
    out[13] = '\0';
}

/* The sentence behind the name with which it begins: the object's own, of a namespaced one NAMESPACE/NAME. */
static struct span behind_name(struct span sentence, const struct decision_object *about)
{
    size_t ns = about->ns.len != 0 ? about->ns.len + 1 : 0, n = ns + about->name.len;
    struct span named = {sentence.ptr + ns, sentence.len > ns ? sentence.len - ns : 0};
    if (about->name.len == 0 || !span_has_prefix(sentence, about->ns) || !span_has_prefix(named, about->name))
        return sentence;
    while (n < sentence.len && (sentence.ptr[n] == ' ' || sentence.ptr[n] == ':'))
        n++;
    return (struct span){sentence.ptr + n, sentence.len - n};
}

void tell(struct reconciler *r, struct decision d, const char *format, ...)
{
    char text[1024];
    va_list args;
    if (r->config.listener.decided == NULL)
        return;
    va_start(args, format);
    int n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    d.sentence = (struct span){text, n < 0                      ? 0
                                     : (size_t)n < sizeof(text) ? (size_t)n
                                                                : sizeof(text) - 1};
    d.said = behind_name(d.sentence, &d.about);
    d.at = r->wall;
    if (d.id[0] == '\0')
        decision_id(r, d.id);
    r->config.listener.decided(r->config.listener.user, &d);
}

void tell_silently(struct reconciler *r, struct decision d)
{
    if (r->config.listener.decided == NULL)
        return;
    d.at = r->wall;
    decision_id(r, d.id);
    r->config.listener.decided(r->config.listener.user, &d);
}

void tell_once(struct reconciler *r, struct decision d)
{
    d.dedupe = d.note;
    tell_silently(r, d);
}

bool decision_event(const struct decision *d, struct event_note *out)
{
    *out = (struct event_note){
        .about = {d->about.kind, d->about.ns, d->about.name, d->about.uid},
        .warning = d->warning,
        .reason = d->reason,
        .note = d->note.len != 0 ? d->note : d->sentence,
        .dedupe = d->dedupe,
    };
    return d->reason.len != 0 && d->about.kind != KIND_NONE;
}

void count_all(struct reconciler *r, const struct measure *m)
{
    if (r->config.listener.measured == NULL)
        return;
    struct measure sound = *m; /* between two clocks, or over a step of one, a time may come out below zero */
    enum measure_type type = measure_infos[m->id].type;
    if ((type == MEASURE_HISTOGRAM || type == MEASURE_SUMMARY) && sound.value < 0)
        sound.value = 0;
    r->config.listener.measured(r->config.listener.user, &sound);
}

void count(struct reconciler *r, enum measure_id id, double value, struct span l0, struct span l1,
           struct span l2)
{
    count_all(r, &(struct measure){.id = id, .labels = {l0, l1, l2}, .value = value});
}

void uncount(struct reconciler *r, enum measure_id id, struct span l0, struct span l1,
             struct span l2)
{
    count_all(r, &(struct measure){.id = id, .labels = {l0, l1, l2}, .gone = true});
}
