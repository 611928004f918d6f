#include "sim/scenario/play.h"

#include "sim/scenario/script.h"

struct stage {
    const struct play_options *options;
    struct sim *sim;
    struct market *market;
    struct tally *tally;
    struct script *script;
    struct sim_stowage *stowage;
};

wall_ms play_start(const struct scenario *s)
{
    enum { FIRST_MONDAY_S = 1767571200 }; /* 2026-01-05T00:00:00Z */
    return s->has_start ? s->start : (wall_ms)FIRST_MONDAY_S * MS_SECOND;
}

/* ---- what the parts tell ---- */

static void on_told(void *user, const char *subject, struct span sentence)
{
    const struct stage *g = user;
    if (g->options->told != NULL)
        g->options->told(g->options->user, sim_now(g->sim), subject, sentence, (struct span){NULL, 0});
}

static void on_decided(void *user, const struct decision *d)
{
    const struct stage *g = user;
    if (g->options->told != NULL && d->subject != NULL)
        g->options->told(g->options->user, sim_now(g->sim), d->subject, d->sentence, span_of(d->id));
}

static void on_measured(void *user, const struct measure *m)
{
    tally_measured(((struct stage *)user)->tally, m);
}

static double price_of(void *user, struct span type, struct span zone, struct span capacity_type, double listed)
{
    const struct market *m = user;
    int32_t offering = market_find(m, type, zone, capacity_type);
    return offering >= 0 ? market_price(m, offering) : listed;
}

static void on_repriced(void *user)
{
    struct stage *g = user;
    tally_repriced(g->tally);
    kwok_reprice(sim_stowage_provider(g->stowage), price_of, g->market);
}

static bool in_stock(void *user, struct span type, struct span zone, struct span capacity_type)
{
    const struct stage *g = user;
    return market_in_stock(g->market, type, zone, capacity_type, sim_now(g->sim));
}

static enum kwok_fate fate(void *user, struct span claim)
{
    (void)claim;
    return script_fate(((const struct stage *)user)->script);
}

/* ---- a run ---- */

/* What happens wakes it, and so does what is due: this is for what nobody tells, which a simulation has not. */
enum { IDLE_MS = 15 * MS_MINUTE };

static void start(struct stage *g)
{
    const struct play_options *o = g->options;
    struct reconciler_options reconciler = o->reconciler;
    reconciler.idle = IDLE_MS;
    g->tally = tally_new(sim_cluster(g->sim), g->market, o->scenario->duration);
    g->script = script_start(g->sim, o->scenario, g->market,
                             &(struct script_listener){g, on_told, on_repriced});
    g->stowage = sim_stowage_new(g->sim, &(struct sim_stowage_options){.reconciler = reconciler,
                                                                       .world = o->world,
                                                                       .types = o->types,
                                                                       .in_stock = in_stock,
                                                                       .fate = fate,
                                                                       .decided = on_decided,
                                                                       .measured = on_measured,
                                                                       .user = g});
    struct sim_extender extender = sim_stowage_extender(g->stowage);
    sim_set_extender(g->sim, o->no_extender ? NULL : &extender);
}

static void stop(struct stage *g)
{
    sim_set_extender(g->sim, NULL);
    tally_free(g->tally);
    sim_stowage_free(g->stowage);
}

bool play(const struct play_options *o, struct totals *out, struct err *err)
{
    const struct scenario *s = o->scenario;
    struct stage g = {.options = o, .market = market_new(o->types)};
    g.sim = sim_new(&(struct sim_options){
        .cluster = {.now = play_start(s)},
        .delays = {.node_ready = s->node_ready, .pod_start = s->pod_start, .pod_stop = s->pod_stop}});
    sim_cluster_adopt(sim_cluster(g.sim), o->objects);
    bool ok = script_check(s, sim_cluster(g.sim), g.market, err);
    if (ok) {
        start(&g);
        ok = sim_run_until(g.sim, play_start(s) + s->duration, err);
        tally_end(g.tally, out);
        stop(&g);
    } else {
        catalogue_source_free(o->types);
    }
    sim_free(g.sim);
    market_free(g.market);
    return ok;
}
