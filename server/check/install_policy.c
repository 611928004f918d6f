/* Checks whether pods can reach Stowage's listeners. The webhook's asks for no client certificate. */
#include <arpa/inet.h>

#include "server/check/install.h"

#define POLICY_TOPIC "network-policy"
#define POLICY_NAME "stowage"
#define POLICY_FIX                                                                                                        \
    "name your pods' addresses: in manifests/network-policy.yaml (except), then kubectl apply -f it; with helm in "       \
    "networkPolicy.podCIDRs"

struct address_range { /* a CIDR */
    int family;
    uint32_t bits;
    unsigned char bytes[sizeof(struct in6_addr)];
};

struct address_ranges {
    struct address_range *items;
    uint32_t count, capacity;
};

struct peer { /* an ipBlock from which the policy lets callers in */
    struct address_range cidr;
    uint32_t except_first, except_end;
};

/* Whom the policy lets in by address, and the nodes whose pods are among them. */
struct policy_seen {
    struct arena *a;
    bool all; /* a rule lets in everything */
    struct peer *peers;
    uint32_t peer_count, peer_capacity;
    struct address_ranges excepts; /* of all peers, each peer's in one piece */
    uint32_t open_count;
    struct span open_node, open_range; /* of the first */
};

static bool read_range(struct span text, struct address_range *out)
{
    char address[INET6_ADDRSTRLEN];
    struct span bits, host = span_cut(text, '/', &bits);
    int64_t n;
    *out = (struct address_range){.family = span_contains(host, SPAN(":")) ? AF_INET6 : AF_INET};
    if (host.len >= sizeof(address) || !span_int64(bits, &n) || n < 0 || n > (out->family == AF_INET6 ? 128 : 32))
        return false;
    memcpy(address, host.ptr, host.len);
    address[host.len] = '\0';
    out->bits = (uint32_t)n;
    return inet_pton(out->family, address, out->bytes) == 1;
}

static bool is_within(const struct address_range *inner, const struct address_range *outer)
{
    if (inner->family != outer->family || inner->bits < outer->bits)
        return false;
    for (uint32_t bit = 0; bit < outer->bits; bit++)
        if (((inner->bytes[bit / 8] ^ outer->bytes[bit / 8]) >> (7 - bit % 8) & 1) != 0)
            return false;
    return true;
}

static bool overlap(const struct address_range *x, const struct address_range *y)
{
    return is_within(x, y) || is_within(y, x);
}

static void add_peer(struct policy_seen *p, struct doc_value block)
{
    struct doc_value except;
    struct peer peer = {.except_first = p->excepts.count};
    if (!read_range(doc_text_at(block, SPAN("cidr")), &peer.cidr))
        return; /* no API server takes it */
    struct address_range range;
    if (doc_find(block, SPAN("except"), &except))
        for (struct doc_iter each = doc_iter_of(except); doc_next(&each);)
            if (doc_type(each.value) == DOC_STRING && read_range(doc_text(each.value), &range))
                ARENA_PUSH(p->a, p->excepts.items, p->excepts.count, p->excepts.capacity, range);
    peer.except_end = p->excepts.count;
    ARENA_PUSH(p->a, p->peers, p->peer_count, p->peer_capacity, peer);
}

/* A rule without peers lets in everything. */
static void add_rule(struct policy_seen *p, struct doc_value rule)
{
    struct doc_value from, block;
    bool some = false;
    if (doc_find(rule, SPAN("from"), &from))
        for (struct doc_iter it = doc_iter_of(from); doc_next(&it); some = true)
            if (doc_find(it.value, SPAN("ipBlock"), &block))
                add_peer(p, block);
    p->all |= !some;
}

static void read_policy(void *user, struct doc_value policy)
{
    struct doc_value rules;
    if (install_find(policy, "spec", "ingress", &rules))
        for (struct doc_iter it = doc_iter_of(rules); doc_next(&it);)
            add_rule(user, it.value);
}

/* Whether some peer has an address of the range that none of its own exceptions takes out. */
static bool lets_in(const struct policy_seen *p, const struct address_range *range)
{
    for (uint32_t i = 0; i < p->peer_count; i++) {
        const struct peer *peer = &p->peers[i];
        bool out = !overlap(range, &peer->cidr);
        for (uint32_t e = peer->except_first; e < peer->except_end && !out; e++)
            out = is_within(range, &p->excepts.items[e]);
        if (!out)
            return true;
    }
    return false;
}

static bool is_kept_out(const struct policy_seen *p, struct span text)
{
    struct address_range range;
    return !read_range(text, &range) || !lets_in(p, &range); /* what is no range is no address of a pod */
}

static bool lets_all_in(const struct policy_seen *p)
{
    return p->all || (p->peer_count != 0 && p->excepts.count == 0);
}

static void look_at_node(struct policy_seen *p, struct doc_value node)
{
    struct doc_value ranges, meta;
    if (!install_find(node, "spec", "podCIDRs", &ranges) || !doc_find(node, SPAN("metadata"), &meta))
        return;
    for (struct doc_iter it = doc_iter_of(ranges); doc_next(&it);) {
        if (doc_type(it.value) != DOC_STRING || is_kept_out(p, doc_text(it.value)))
            continue;
        if (p->open_count++ == 0) {
            p->open_node = arena_dup(p->a, doc_text_at(meta, SPAN("name")));
            p->open_range = arena_dup(p->a, doc_text(it.value));
        }
        return;
    }
}

static void read_nodes(void *user, struct doc_value list)
{
    struct doc_value items;
    if (doc_find(list, SPAN("items"), &items))
        for (struct doc_iter it = doc_iter_of(items); doc_next(&it);)
            look_at_node(user, it.value);
}

static void check_nodes(struct check *c, struct policy_seen *p)
{
    struct ask *a = check_asks(c, 1);
    *a = (struct ask){.request = {.verb = API_LIST, .kind = KIND_NODE}, .read = read_nodes, .user = p};
    ask_all(c->cluster, a, 1);
    if (!install_has(c, POLICY_TOPIC, a, SPAN("the Nodes"), NULL))
        return;
    if (p->open_count != 0)
        check_say(c->report, CHECK_WARN, POLICY_TOPIC, POLICY_FIX,
                  "NetworkPolicy %.*s/" POLICY_NAME " lets in the pods of %u node%s, such as %.*s with %.*s", SPAN_ARG(c->ns),
                  p->open_count, p->open_count == 1 ? "" : "s", SPAN_ARG(p->open_node), SPAN_ARG(p->open_range));
    else
        check_say(c->report, CHECK_OK, POLICY_TOPIC, NULL, "NetworkPolicy %.*s/" POLICY_NAME " keeps pods out by address",
                  SPAN_ARG(c->ns));
}

void install_network_policy(struct check *c)
{
    struct policy_seen *p = ARENA_NEW(c->report->a, struct policy_seen);
    p->a = c->report->a;
    struct ask *a = install_get(c, KIND_NETWORK_POLICY, c->ns, POLICY_NAME, read_policy, p);
    if (a->done && a->err.kind == ERR_NOT_FOUND)
        check_say(c->report, CHECK_WARN, POLICY_TOPIC, POLICY_FIX,
                  "there is no NetworkPolicy %.*s/" POLICY_NAME ": any pod can reach the webhook and the metrics", SPAN_ARG(c->ns));
    else if (!install_has(c, POLICY_TOPIC, a, arena_printf(p->a, "NetworkPolicy %.*s/" POLICY_NAME, SPAN_ARG(c->ns)), NULL))
        return;
    else if (lets_all_in(p))
        check_say(c->report, CHECK_WARN, POLICY_TOPIC, POLICY_FIX,
                  "NetworkPolicy %.*s/" POLICY_NAME " lets all pods in: it names no addresses of pods", SPAN_ARG(c->ns));
    else
        check_nodes(c, p);
}
