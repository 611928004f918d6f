/* The node groups as their provider tells them to `serve`, and whether each can grow when it has no node. */
#include "kube/store.h"
#include "server/check/check.h"

#define TOPIC "groups"

/* Objects in an answer, which may have 16 MiB (kube/client_limits.h): a Node has some 15 KiB, and more with many images. */
enum { PAGE = 500 };

struct listing {
    struct store *store;
    enum kind kind;
    struct arena *a;
    struct span next; /* metadata.continue; absent: that was the last page */
};

static void read_page(void *user, struct doc_value list)
{
    struct listing *l = user;
    struct doc_value items, meta;
    l->next = doc_find(list, SPAN("metadata"), &meta) ? arena_dup(l->a, doc_text_at(meta, SPAN("continue"))) : SPAN("");
    if (!doc_find(list, SPAN("items"), &items))
        return;
    struct doc_iter it = doc_iter_of(items);
    while (doc_next(&it))
        store_event(l->store, l->kind, WATCH_PUT, it.value);
}

static const struct ask *ask_page(struct check *c, struct listing *l)
{
    struct ask *a = check_asks(c, 1);
    a->request = (struct api_request){.verb = API_LIST, .kind = l->kind, .limit = PAGE, .from = l->next};
    a->read = read_page;
    a->user = l;
    ask_all(c->cluster, a, 1);
    if (a->err.kind == ERR_NOT_FOUND && kind_older(l->kind) != NULL) {
        a->request.older = true;
        a->done = false;
        ask_all(c->cluster, a, 1);
    }
    return a;
}

/* False: it cannot be read, which has been told. */
static bool read_kind(struct check *c, struct store *store, enum kind k)
{
    struct listing l = {.store = store, .kind = k, .a = c->report->a};
    store_list_begin(store, k);
    do {
        const struct ask *a = ask_page(c, &l);
        if (!a->done || a->err.kind != ERR_NONE) {
            check_say(c->report, CHECK_UNKNOWN, TOPIC, NULL, "whether each node group can grow: %s cannot be read: %s",
                      kind_info(k)->plural, a->done ? a->err.msg : "no answer came in time");
            return false;
        }
    } while (l.next.len != 0);
    store_list_end(store, k);
    return true;
}

/* Nodes, and what the provider reads beside them. */
static bool read_cluster(struct check *c, struct store *store)
{
    const struct group_provider_ops *ops = c->groups->settings.provider->ops;
    bool ok = read_kind(c, store, KIND_NODE);
    for (uint32_t i = 0; ok && ops->kinds[i] != KIND_NONE; i++)
        ok = read_kind(c, store, ops->kinds[i]);
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

/* A provider may be about to read what it goes by: ERR_RETRY. */
static bool look(struct check *c, struct group_provider *p, const struct snapshot *s, struct symtab *syms,
                 struct node_groups *out, struct err *err)
{
    while (!p->ops->look(p, s, c->report->a, syms, out, err))
        if (err->kind != ERR_RETRY || !c->cluster->wait(c->cluster->user))
            return false;
    return true;
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
        if (look(c, p, s, syms, &found, &err))
            tell_groups(c, &found.groups, p);
        else
            check_say(c->report, CHECK_FAIL, TOPIC, err.kind == ERR_NOT_FOUND ? "write it, or name a file in --cloud-config" : NULL,
                      "the node groups cannot be told: %s", err.msg);
        symtab_unref(syms);
        shared_unref(&s->shared);
    }
    store_free(store);
}
