#include "cloud/listings.h"

#include <pthread.h>
#include <stdlib.h>

#include "cloud/catalogue.h"
#include "kube/kind.h"

struct listing {
    struct arena arena;
    struct symtab *syms;
    struct catalogue catalogue;
    uint32_t users;
};

struct lister { /* a provider */
    struct listings *all;
    struct provider *provider;
    struct listing *newest;      /* NULL: none yet */
    uint64_t number, generation; /* of it */
    bool asked;                  /* a job is under way */
    bool failed;                 /* the last one */
    mono_ms asked_at;            /* looking thread */
};

struct listings {
    struct lister listers[PROVIDERS_MAX];
    uint32_t count;
    struct listings_worker worker;
    pthread_mutex_t lock; /* of the listers; nothing is waited for under it */
    bool looked, patient; /* looking thread: at least once; LISTINGS_FIRST_MS are not over */
    mono_ms first;        /* when it was */
};

_Static_assert(LISTINGS_AGAIN_MS >= LISTINGS_FIRST_MS, "who has said once that he cannot is no more waited for");

/* Under the lock. The last user's is freed by the caller. */
static struct listing *leave(struct listing *l)
{
    return l != NULL && --l->users == 0 ? l : NULL;
}

static void listing_free(struct listing *l)
{
    if (l == NULL)
        return;
    arena_release(&l->arena);
    symtab_unref(l->syms);
    free(l);
}

static struct listing *listing_new(struct provider *p)
{
    struct listing *l = mem_new(sizeof(*l));
    struct err err;
    arena_init(&l->arena, 64 << 10);
    l->syms = kube_symtab_new();
    l->users = 1;
    if (p->ops->types(p, &l->arena, l->syms, &l->catalogue, &err))
        return l;
    listing_free(l);
    return NULL;
}

/* On a thread that may wait. What changes meanwhile is of a later generation, and asked for again. */
static void ask(void *arg)
{
    struct lister *x = arg;
    struct listings *s = x->all;
    uint64_t generation = x->provider->ops->generation(x->provider);
    struct listing *fresh = listing_new(x->provider), *old = NULL;
    pthread_mutex_lock(&s->lock);
    if (fresh != NULL) {
        old = leave(x->newest);
        x->newest = fresh;
        x->generation = generation;
        x->number++;
    }
    x->failed = fresh == NULL;
    x->asked = false;
    pthread_mutex_unlock(&s->lock);
    listing_free(old);
    if (fresh != NULL && s->worker.fresh != NULL)
        s->worker.fresh(s->worker.user);
}

static bool is_wanted(const struct lister *x, uint64_t generation, mono_ms now)
{
    if (x->asked || (x->newest != NULL && x->generation == generation))
        return false;
    return !x->failed || now >= x->asked_at + LISTINGS_AGAIN_MS;
}

void listings_look(struct listings *s, mono_ms now)
{
    if (!s->looked)
        s->first = now;
    s->looked = true;
    s->patient = now < s->first + LISTINGS_FIRST_MS;
    for (uint32_t i = 0; i < s->count; i++) {
        struct lister *x = &s->listers[i];
        uint64_t generation = x->provider->ops->generation(x->provider);
        pthread_mutex_lock(&s->lock);
        bool wanted = is_wanted(x, generation, now);
        x->asked |= wanted;
        pthread_mutex_unlock(&s->lock);
        if (!wanted)
            continue;
        x->asked_at = now;
        if (s->worker.run != NULL)
            s->worker.run(s->worker.user, i, ask, x);
        else
            ask(x);
    }
}

bool listings_awaited(struct listings *s)
{
    bool awaited = false;
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < s->count && s->patient; i++)
        awaited |= s->listers[i].asked && s->listers[i].newest == NULL;
    pthread_mutex_unlock(&s->lock);
    return awaited;
}

struct listings *listings_new(const struct providers *providers, const struct listings_worker *worker)
{
    struct listings *s = mem_new(sizeof(*s));
    s->count = providers->count;
    s->worker = *worker;
    pthread_mutex_init(&s->lock, NULL);
    for (uint32_t i = 0; i < s->count; i++)
        s->listers[i] = (struct lister){.all = s, .provider = providers->items[i]};
    return s;
}

void listings_free(struct listings *s)
{
    if (s == NULL)
        return;
    for (uint32_t i = 0; i < s->count; i++)
        listing_free(s->listers[i].newest);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

uint64_t listings_number(struct listings *s, uint32_t provider)
{
    pthread_mutex_lock(&s->lock);
    uint64_t number = s->listers[provider].number;
    pthread_mutex_unlock(&s->lock);
    return number;
}

uint64_t listings_copy(struct listings *s, uint32_t provider, struct arena *a, struct symtab *syms,
                       struct catalogue *out)
{
    struct lister *x = &s->listers[provider];
    *out = (struct catalogue){.partial = true};
    pthread_mutex_lock(&s->lock);
    struct listing *l = x->newest;
    uint64_t number = x->number;
    if (l != NULL)
        l->users++;
    pthread_mutex_unlock(&s->lock);
    if (l == NULL)
        return 0;
    catalogue_copy(&l->catalogue, l->syms, a, syms, out);
    pthread_mutex_lock(&s->lock);
    l = leave(l);
    pthread_mutex_unlock(&s->lock);
    listing_free(l);
    return number;
}
