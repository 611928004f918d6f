/* The node groups as their provider tells them to `serve`, and whether each can grow when it has no node. */
#include "kube/store.h"
#include "server/check/check.h"

#define TOPIC "groups"

struct listing {
    struct store *store;
    enum kind kind;
};

static void read_list(void *user, struct doc_value list)
{
    struct listing *l = user;
    struct doc_value items;
    store_list_begin(l->store, l->kind);
    if (doc_find(list, SPAN("items"), &items)) {
        struct doc_iter it = doc_iter_of(items);
        while (doc_next(&it))
            store_event(l->store, l->kind, WATCH_PUT, it.value);
    }
    store_list_end(l->store, l->kind);
}

/* Nodes, and what the provider reads beside them. False: one of them cannot be read, which check_access has told. */
static bool read_cluster(struct check *c, struct store *store)
{
    struct ask *asks = check_asks(c, KIND_STORED_COUNT);
    struct listing *l = ARENA_ARRAY(c->report->a, struct listing, KIND_STORED_COUNT);
    uint32_t n = 0;
    bool ok = true;
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        const enum kind *own = c->groups->settings.provider->ops->kinds;
        while (*own != KIND_NONE && *own != k)
            own++;
        if (*own == KIND_NONE && k != KIND_NODE)
            continue;
        l[n] = (struct listing){store, k};
        asks[n].request = (struct api_request){.verb = API_LIST, .kind = k};
        asks[n].read = read_list;
        asks[n].user = &l[n];
        n++;
    }
    ask_all(c->cluster, asks, n);
    for (uint32_t i = 0; i < n; i++) {
        if (asks[i].err.kind == ERR_NOT_FOUND && kind_older(l[i].kind) != NULL) {
            asks[i].request.older = true;
            asks[i].done = false;
            ask_all(c->cluster, &asks[i], 1);
        }
        ok &= asks[i].done && asks[i].err.kind == ERR_NONE;
    }
    return ok;
}

/* A group without a node and a template is among what the provider left out. */
static void tell_groups(struct check *c, const struct group_list *groups, struct group_provider *p)
{
    const struct span *asides;
    uint32_t wrong = p->ops->asides(p, &asides);
    for (uint32_t i = 0; i < wrong; i++)
        check_say(c->report, CHECK_WARN, TOPIC, "until then Stowage goes on without it", "%.*s", SPAN_ARG(asides[i]));
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct node_group *g = &groups->items[i];
        if (g->template != NULL || g->min > 0)
            continue;
        wrong++;
        check_say(c->report, CHECK_WARN, TOPIC,
                  "annotate it with capacity.cluster-autoscaler.kubernetes.io/cpu and …/memory, or give it a minimum of 1",
                  "%.*s says nothing of its machines: when its last node has gone it does not grow again", SPAN_ARG(g->name));
    }
    if (groups->count == 0 && wrong == 0)
        check_say(c->report, CHECK_WARN, TOPIC, "does --node-group-auto-discovery or --nodes name them, and have they bounds?",
                  "the flags find no node group");
    else if (wrong == 0)
        check_say(c->report, CHECK_OK, TOPIC, NULL, "%u node group%s: each has a template or a minimum", groups->count,
                  groups->count == 1 ? "" : "s");
}

void check_groups(struct check *c)
{
    struct group_provider *p = c->groups != NULL ? c->groups->settings.provider : NULL;
    if (p == NULL)
        return;
    struct store *store = store_new(NULL);
    if (read_cluster(c, store)) {
        struct node_groups found = {0};
        struct err err;
        store_publish(store, STORE_PUBLISH_MS);
        struct snapshot *s = (struct snapshot *)share_take(store_share(store));
        struct symtab *syms = kube_symtab_new();
        if (p->ops->look(p, s, c->report->a, syms, &found, &err))
            tell_groups(c, &found.groups, p);
        else
            check_say(c->report, CHECK_FAIL, TOPIC, NULL, "the node groups cannot be told: %s", err.msg);
        symtab_unref(syms);
        shared_unref(&s->shared);
    }
    store_free(store);
}
