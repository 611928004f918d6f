#include "sim/sample.h"

#include <stdlib.h>

extern const char sample_cluster_yaml[]; /* sim/sample/cluster.yaml, made a C array by the build */
extern const size_t sample_cluster_yaml_len;

struct scene { /* at this second of a round, a Deployment of the shop has so many replicas */
    int second;
    const char *deployment, *patch;
};

/* One round: a quiet night falls, and the next morning comes. */
static const struct scene scenes[] = {
    {45, "thumbnails", "{\"spec\":{\"replicas\":8}}"},
    {60, "web", "{\"spec\":{\"replicas\":4}}"},
    {75, "search", "{\"spec\":{\"replicas\":0}}"},
    {90, "thumbnails", "{\"spec\":{\"replicas\":0}}"},
    {150, "search", "{\"spec\":{\"replicas\":2}}"},
    {155, "web", "{\"spec\":{\"replicas\":16}}"},
    {160, "thumbnails", "{\"spec\":{\"replicas\":40}}"},
};
enum { ROUND_MS = 240 * MS_SECOND };

struct script {
    struct sim *sim;
    wall_ms round; /* began then */
    size_t next;
};

struct span sample_yaml(void)
{
    return (struct span){sample_cluster_yaml, sample_cluster_yaml_len};
}

static void play(struct script *s)
{
    struct arena arena;
    struct api_request r = {.verb = API_MERGE, .kind = KIND_DEPLOYMENT, .ns = SPAN("shop"),
                            .name = span_of(scenes[s->next].deployment),
                            .body = span_of(scenes[s->next].patch)};
    arena_init(&arena, 0);
    /* A Deployment that the person at the keyboard deleted is 404: the show goes on. */
    sim_cluster_do(sim_cluster(s->sim), &arena, &r);
    arena_release(&arena);
}

static wall_ms script_step(void *user, wall_ms now)
{
    struct script *s = user;
    for (;;) {
        wall_ms due = s->round + (wall_ms)scenes[s->next].second * MS_SECOND;
        if (due > now)
            return due;
        play(s);
        if (++s->next == COUNT_OF(scenes)) {
            s->next = 0;
            s->round += ROUND_MS;
        }
    }
}

static void script_free(void *user)
{
    free(user);
}

bool sample_start(struct sim *s, struct err *err)
{
    if (!sim_cluster_load(sim_cluster(s), sample_yaml(), NULL, err))
        return err_wrap(err, "sim/sample/cluster.yaml");
    struct script *script = mem_new(sizeof *script);
    *script = (struct script){.sim = s, .round = sim_now(s)};
    sim_add_actor(s, (struct sim_actor){script, script_step, script_free});
    return true;
}
