/* Pods as the controllers of workloads would make them, with their ReplicaSets and claims. */
#include <stdlib.h>

#include "server/expand_inner.h"

struct making { /* what all pods of one workload have in common */
    struct expansion *x;
    const struct workload *w;
    struct owners owners;
    struct sym_pairs labels;
    struct span stem;       /* of their names */
    sym unknown_class;      /* StorageClass of claims that could not be made; SYM_NONE: none */
    bool without_volumes;
};

/* --- what was given --- */

static int by_identity(const void *key, const void *item)
{
    const struct meta *x = key, *y = *(const void *const *)item;
    int order = span_cmp(x->ns, y->ns);
    return order != 0 ? order : span_cmp(x->name, y->name);
}

static const void *given(const struct expansion *x, enum kind k, size_t count, struct span ns,
                         struct span name)
{
    const struct meta key = {.ns = ns, .name = name};
    const void *const *found =
        count == 0 ? NULL
                   : bsearch(&key, x->o->kinds[k].items, count, sizeof(*x->o->kinds[k].items), by_identity);
    return found != NULL ? *found : NULL;
}

bool expand_is_there(const struct expansion *x, struct span ns, struct span name)
{
    const struct pod *p = given(x, KIND_POD, x->pods_given, ns, name);
    return p != NULL && !pod_is_terminal(p);
}

static void add(struct input *o, enum kind k, const void *object)
{
    struct input_list *list = &o->kinds[k];
    ARENA_PUSH(&o->arena, list->items, list->count, list->capacity, object);
}

static struct span uid_of(struct arena *a, enum kind k, struct span ns, struct span name)
{
    return arena_printf(a, "%s/%.*s/%.*s", kind_info(k)->name, SPAN_ARG(ns), SPAN_ARG(name));
}

/* --- labels and owners --- */

static struct sym_pairs with_label(struct arena *a, struct sym_pairs labels, sym key, sym value)
{
    struct sym_pairs out = {ARENA_ARRAY(a, struct sym_pair, (size_t)labels.count + 1), 0};
    for (uint32_t i = 0; i < labels.count; i++)
        if (labels.items[i].key != key)
            out.items[out.count++] = labels.items[i];
    out.items[out.count++] = (struct sym_pair){key, value};
    return out;
}

static struct sym_pairs with_text(struct input *o, struct sym_pairs labels, const char *key, struct span value)
{
    return with_label(&o->arena, labels, sym_intern(o->syms, span_of(key)), sym_intern(o->syms, value));
}

static struct owners controlled_by(struct input *o, enum kind k, struct span name)
{
    struct owner *by = ARENA_NEW(&o->arena, struct owner);
    *by = (struct owner){.api_version = sym_intern(o->syms, span_of(kind_info(k)->api_version)),
                         .kind = sym_intern(o->syms, span_of(kind_info(k)->name)),
                         .name = name,
                         .controller = true};
    return (struct owners){by, 1};
}

/* As Kubernetes writes a hash: without vowels, so that it says nothing. */
static struct span hash_text(struct arena *a, const struct meta *m)
{
    enum { LENGTH = 10 };
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    uint64_t hash = span_hash(arena_printf(a, "%.*s/%.*s", SPAN_ARG(m->ns), SPAN_ARG(m->name)));
    char *text = arena_alloc(a, LENGTH);
    for (int i = 0; i < LENGTH; i++, hash /= sizeof(letters) - 1)
        text[i] = letters[hash % (sizeof(letters) - 1)];
    return (struct span){text, LENGTH};
}

#define TEMPLATE_HASH "pod-template-hash"

/* A Deployment without one gets its ReplicaSet: default spreads ask for its selector. */
static const struct controller *made_set(struct input *o, const struct workload *w)
{
    const struct input_origin *origin = input_origin(w->meta);
    struct controller *set = input_new_object(o, origin, sizeof(*set));
    struct span hash = hash_text(&o->arena, w->meta);
    *set = (struct controller){.meta = {.ns = w->meta->ns}, .selector = w->controller->selector};
    set->meta.name = arena_printf(&o->arena, "%.*s-%.*s", SPAN_ARG(w->meta->name), SPAN_ARG(hash));
    set->meta.uid = uid_of(&o->arena, KIND_REPLICA_SET, set->meta.ns, set->meta.name);
    set->meta.owners = controlled_by(o, KIND_DEPLOYMENT, w->meta->name);
    set->selector.match_labels = with_text(o, set->selector.match_labels, TEMPLATE_HASH, hash);
    add(o, KIND_REPLICA_SET, set);
    return set;
}

static void of_deployment(struct making *m)
{
    struct input *o = m->x->o;
    const struct controller *set = m->w->newest != NULL ? m->w->newest : made_set(o, m->w);
    sym key = sym_intern(o->syms, SPAN(TEMPLATE_HASH));
    sym hash = sym_pairs_get(set->selector.match_labels, key);
    m->stem = set->meta.name;
    m->owners = controlled_by(o, KIND_REPLICA_SET, set->meta.name);
    if (hash != SYM_NONE)
        m->labels = with_label(&o->arena, m->labels, key, hash);
}

static void of_job(struct making *m)
{
    struct input *o = m->x->o;
    if (m->w->kind == KIND_CRON_JOB)
        m->stem = arena_printf(&o->arena, "%.*s-0", SPAN_ARG(m->stem));
    m->owners = controlled_by(o, KIND_JOB, m->stem);
    m->labels = with_text(o, m->labels, "job-name", m->stem);
    m->labels = with_text(o, m->labels, "batch.kubernetes.io/job-name", m->stem);
}

static struct making begin(struct expansion *x, const struct workload *w)
{
    struct making m = {.x = x, .w = w, .stem = w->meta->name, .labels = w->template->meta.labels};
    if (w->kind == KIND_DEPLOYMENT)
        of_deployment(&m);
    else if (w->kind == KIND_JOB || w->kind == KIND_CRON_JOB)
        of_job(&m);
    else if (w->kind != KIND_POD_TEMPLATE)
        m.owners = controlled_by(x->o, w->kind, w->meta->name);
    return m;
}

/* --- volumes --- */

/* The class of a claim that names `name`, or none: the default one. NULL: it is not in the input. */
static const struct storage_class *class_of(const struct input *o, sym name)
{
    const struct input_list *list = &o->kinds[KIND_STORAGE_CLASS];
    for (size_t i = 0; i < list->count; i++) {
        const struct storage_class *c = list->items[i];
        if (name == SYM_NONE ? storage_class_is_default(c) : span_eq(c->meta.name, sym_text(o->syms, name)))
            return c;
    }
    return NULL;
}

/* False: nobody can say where such a volume would be. */
static bool make_claim(struct making *m, struct span name, sym class)
{
    struct input *o = m->x->o;
    struct span ns = m->w->meta->ns;
    if (given(m->x, KIND_VOLUME_CLAIM, m->x->claims_given, ns, name) != NULL)
        return true;
    const struct storage_class *c = class_of(o, class);
    if (c == NULL || !c->waits) {
        m->unknown_class = class;
        m->without_volumes = true;
        return false;
    }
    struct volume_claim *claim = input_new_object(o, input_origin(m->w->meta), sizeof(*claim));
    claim->meta.ns = ns;
    claim->meta.name = name;
    claim->meta.uid = uid_of(&o->arena, KIND_VOLUME_CLAIM, ns, name);
    claim->storage_class = sym_intern(o->syms, c->meta.name);
    add(o, KIND_VOLUME_CLAIM, claim);
    return true;
}

static struct pod_volumes volumes_of(struct making *m, struct span pod)
{
    struct arena *a = &m->x->o->arena;
    const struct pod_volumes from = m->w->template->volumes;
    uint32_t claims = m->w->controller != NULL ? m->w->controller->claims.count : 0;
    struct pod_volumes out = {NULL, 0};
    if (from.count + claims == 0)
        return out;
    out.items = ARENA_ARRAY(a, struct pod_volume, (size_t)from.count + claims);
    for (uint32_t i = 0; i < from.count; i++) {
        struct pod_volume v = from.items[i];
        if (v.ephemeral) /* the template has no name: its claim's is "-VOLUME" */
            v.claim = arena_printf(a, "%.*s%.*s", SPAN_ARG(pod), SPAN_ARG(v.claim));
        if (!v.ephemeral || make_claim(m, v.claim, v.storage_class))
            out.items[out.count++] = v;
    }
    for (uint32_t i = 0; i < claims; i++) {
        const struct volume_claim *t = &m->w->controller->claims.items[i];
        struct span name = arena_printf(a, "%.*s-%.*s", SPAN_ARG(t->meta.name), SPAN_ARG(pod));
        if (make_claim(m, name, t->storage_class))
            out.items[out.count++] = (struct pod_volume){.claim = name};
    }
    return out;
}

static void tell_volumes(const struct making *m)
{
    struct input *o = m->x->o;
    const struct input_origin *origin = input_origin(m->w->meta);
    struct span class = m->unknown_class != SYM_NONE ? sym_text(o->syms, m->unknown_class) : SPAN("(default)");
    if (m->without_volumes)
        input_tell(o, INPUT_WARNS, origin->file, origin->line,
                   arena_printf(&o->arena,
                                "%.*s: StorageClass %.*s of its claims is not in the input, or binds at once; its pods "
                                "are planned without these volumes",
                                SPAN_ARG(kind_object_name(&o->arena, m->w->kind, m->w->meta)), SPAN_ARG(class)));
}

/* --- pods --- */

static struct sym_pairs labels_of(struct making *m, struct span name, int64_t number)
{
    struct input *o = m->x->o;
    if (m->w->kind != KIND_STATEFUL_SET)
        return m->labels;
    struct sym_pairs labels = with_text(o, m->labels, "statefulset.kubernetes.io/pod-name", name);
    return with_text(o, labels, "apps.kubernetes.io/pod-index",
                     arena_printf(&o->arena, "%lld", (long long)number));
}

static void make_pod(struct making *m, struct span name, int64_t number)
{
    struct input *o = m->x->o;
    struct pod *p = input_new_object(o, input_origin(m->w->meta), sizeof(*p));
    *p = *m->w->template;
    p->meta = (struct meta){
        .ns = m->w->meta->ns,
        .name = name,
        .uid = uid_of(&o->arena, KIND_POD, m->w->meta->ns, name),
        .labels = labels_of(m, name, number),
        .annotations = p->meta.annotations,
        .owners = m->owners,
        .created = POD_MADE_UP,
    };
    p->phase = POD_PENDING;
    p->unschedulable = p->node == SYM_NONE && !p->gated;
    p->volumes = volumes_of(m, name);
    add(o, KIND_POD, p);
}

void expand_make(struct expansion *x, struct workload *w)
{
    struct making m = begin(x, w);
    int64_t lacks = w->filled_up ? w->wanted - w->pods : w->wanted;
    for (int64_t number = 0; number < w->wanted && w->made < lacks; number++) {
        struct span name = w->kind == KIND_POD_TEMPLATE
                               ? w->meta->name
                               : arena_printf(&x->o->arena, "%.*s-%lld", SPAN_ARG(m.stem), (long long)number);
        if (expand_is_there(x, w->meta->ns, name))
            continue; /* a stranger of that name: the controller could not make it either */
        make_pod(&m, name, number);
        w->made++;
    }
    x->made += w->made;
    tell_volumes(&m);
}
