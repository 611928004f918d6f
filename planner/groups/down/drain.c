#include "planner/groups/down/drain.h"

#include "kube/workload.h"

enum { GRACE_S = 30, OVERDUE_MS = 30 * 1000 };

const char *drain_block_name(enum drain_block b)
{
    static const char *const names[DRAIN_BLOCK_COUNT] = {
        [DRAIN_CONTROLLER_NOT_FOUND] = "ControllerNotFound",
        [DRAIN_MIN_REPLICAS_REACHED] = "MinReplicasReached",
        [DRAIN_NOT_REPLICATED] = "NotReplicated",
        [DRAIN_LOCAL_STORAGE] = "LocalStorageRequested",
        [DRAIN_NOT_SAFE] = "NotSafeToEvictAnnotation",
        [DRAIN_SYSTEM_POD] = "UnmovableKubeSystemPod",
        [DRAIN_NOT_ENOUGH_PDB] = "NotEnoughPdb",
    };
    return names[b];
}

static bool annotated(const struct pod *p, sym key, struct span value)
{
    return span_eq(annotations_get(p->meta.annotations, key), value);
}

bool drain_is_mirror(const struct pod *p)
{
    return annotations_get(p->meta.annotations, SYM_MIRROR).ptr != NULL;
}

bool drain_is_daemon(const struct pod *p)
{
    const struct owner *o = meta_controller(&p->meta);
    return (o != NULL && o->kind == SYM_KIND_DAEMON_SET) || annotated(p, SYM_DAEMON_SET_POD, SPAN("true"));
}

bool drain_is_overdue(const struct pod *p, wall_ms now)
{
    int64_t grace = p->has_grace ? p->grace_seconds : GRACE_S;
    if (p->meta.deleted == 0 || grace > INT32_MAX)
        return false;
    return p->meta.deleted + grace * 1000 + OVERDUE_MS < now;
}

/* Of "apps/v1" that is "apps", of "v1" empty, and absent of what is no API version. */
static struct span group_of(const struct drain *d, sym api_version)
{
    struct span version;
    struct span group = span_cut(sym_text(d->syms, api_version), '/', &version);
    if (version.ptr == NULL)
        return SPAN("");
    return span_contains(version, SPAN("/")) ? (struct span){NULL, 0} : group;
}

static enum drain_block judge_existence(struct object_index *x, struct span ns, struct span name)
{
    return object_index_find(x, ns, name) < 0 ? DRAIN_CONTROLLER_NOT_FOUND : DRAIN_BLOCK_NOT;
}

static enum drain_block judge_replicas(const struct drain *d, struct object_index *x, struct span ns, struct span name)
{
    const struct controller *c = object_index_at(x, object_index_find(x, ns, name));
    if (c == NULL)
        return DRAIN_CONTROLLER_NOT_FOUND;
    return c->has_replicas && c->replicas < d->flags->min_replica_count ? DRAIN_MIN_REPLICAS_REACHED
                                                                         : DRAIN_BLOCK_NOT;
}

/* Rule 3. */
static enum drain_block judge_controller(const struct drain *d, const struct pod *p)
{
    const struct owner *o = meta_controller(&p->meta);
    if (o == NULL || d->controllers == NULL || !d->flags->skip_custom_controller_pods)
        return DRAIN_BLOCK_NOT;
    struct span group = o->api_version == SYM_API_APPS_V1 ? SPAN("apps") : group_of(d, o->api_version);
    bool is_apps = span_eq(group, SPAN("apps"));
    if (group.ptr == NULL)
        return DRAIN_BLOCK_NOT;
    if (o->kind == SYM_KIND_REPLICATION_CONTROLLER)
        return judge_replicas(d, &d->controllers->replication_controllers, p->meta.ns, o->name);
    if (drain_is_daemon(p))
        return is_apps && o->kind == SYM_KIND_DAEMON_SET
                   ? judge_existence(&d->controllers->daemon_sets, p->meta.ns, o->name)
                   : DRAIN_BLOCK_NOT;
    if (o->kind == SYM_KIND_JOB)
        return judge_existence(&d->controllers->jobs, p->meta.ns, o->name);
    if (o->kind == SYM_KIND_REPLICA_SET)
        return judge_replicas(d, &d->controllers->replica_sets, p->meta.ns, o->name);
    if (o->kind == SYM_KIND_STATEFUL_SET && is_apps)
        return judge_existence(&d->controllers->stateful_sets, p->meta.ns, o->name);
    return DRAIN_BLOCK_NOT;
}

/* Rule 8. */
static bool is_replicated(const struct drain *d, const struct pod *p)
{
    static const sym kinds[] = {SYM_KIND_REPLICA_SET, SYM_KIND_STATEFUL_SET, SYM_KIND_JOB,
                                SYM_KIND_REPLICATION_CONTROLLER};
    const struct owner *o = meta_controller(&p->meta);
    if (o == NULL || !d->flags->skip_custom_controller_pods)
        return o != NULL;
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (o->kind == kinds[i])
            return true;
    return false;
}

static bool is_system(const struct drain *d, const struct pod *p)
{
    return d->flags->skip_system_pods && span_eq(p->meta.ns, SPAN("kube-system")) &&
           (d->evictions == NULL || !evictions_covers(d->evictions, p));
}

/* Rules 8 to 12. */
static enum drain_block judge_pod(const struct drain *d, const struct pod *p)
{
    if (!is_replicated(d, p))
        return DRAIN_NOT_REPLICATED;
    if (is_system(d, p)) /* an old one moves, whatever the rules that follow say */
        return p->meta.created != 0 && d->now > p->meta.created + d->flags->system_pod_timeout ? DRAIN_BLOCK_NOT
                                                                                                : DRAIN_SYSTEM_POD;
    if (annotated(p, SYM_SAFE_TO_EVICT, SPAN("false")))
        return DRAIN_NOT_SAFE;
    if (d->flags->skip_local_storage && p->local_storage)
        return DRAIN_LOCAL_STORAGE;
    return d->evictions == NULL || evictions_allow(d->evictions, p) ? DRAIN_BLOCK_NOT : DRAIN_NOT_ENOUGH_PDB;
}

enum drain_outcome group_drain_judge(const struct drain *d, const struct pod *p, enum drain_block *block_out)
{
    *block_out = DRAIN_BLOCK_NOT;
    if (p->is_virtual && meta_controller(&p->meta) == NULL)
        return DRAIN_MOVE; /* a buffer's room is kept anywhere; a request's is where it was found */
    if (drain_is_mirror(p) || drain_is_overdue(p, d->now))
        return DRAIN_SKIP;
    *block_out = judge_controller(d, p);
    if (*block_out != DRAIN_BLOCK_NOT)
        return DRAIN_BLOCK;
    if (drain_is_daemon(p))
        return DRAIN_DAEMON;
    if (annotated(p, SYM_SAFE_TO_EVICT, SPAN("true")))
        return DRAIN_MOVE;
    if (annotated(p, SYM_SAFE_TO_EVICT, SPAN("on-completion")))
        return DRAIN_WAIT;
    *block_out = judge_pod(d, p);
    return *block_out == DRAIN_BLOCK_NOT ? DRAIN_MOVE : DRAIN_BLOCK;
}
