/* LIST and WATCH (spec kubernetes-contracts 4.4, 4.5), as a sink sees them. */
#include "tests/contract/contract_case.h"

static size_t find(const struct contract *c, int what, enum kind k)
{
    for (size_t i = 0; i < c->seen_count; i++) {
        if ((int)c->seen[i].what == what && c->seen[i].kind == k)
            return i;
    }
    return SIZE_MAX;
}

static void lists_then_watches(struct contract *c)
{
    CHECK_STATUS(c, contract_create(c, KIND_NODE_CLAIM, contract_claim("contract-before", "", "")), 201);
    CHECK(c, contract_watch(c, KIND_NODE_CLAIM), "no first LIST");
    size_t begin = find(c, SEEN_LIST_BEGIN, KIND_NODE_CLAIM);
    size_t end = find(c, SEEN_LIST_END, KIND_NODE_CLAIM);
    size_t before = contract_wait_seen(c, 0, SEEN_PUT, "contract-before");
    CHECK(c, begin < before && before < end, "begin %zu, object %zu, end %zu", begin, before, end);

    struct answer a = contract_create(c, KIND_NODE_CLAIM, contract_claim("contract-after", "", ""));
    CHECK_STATUS(c, a, 201);
    size_t made = contract_wait_seen(c, end, SEEN_PUT, "contract-after");
    CHECK(c, made != SIZE_MAX, "a creation was not told");
    CHECK(c, c->seen[made].version == contract_version(a.body), "another version than the reply's");
    a = contract_merge(c, KIND_NODE_CLAIM, "contract-after", "{\"metadata\":{\"labels\":{\"a\":\"1\"}}}");
    size_t changed = contract_wait_seen(c, made + 1, SEEN_PUT, "contract-after");
    CHECK(c, changed != SIZE_MAX, "a change was not told");
    CHECK(c, c->seen[changed].version == contract_version(a.body), "another version than the reply's");
    contract_delete(c, KIND_NODE_CLAIM, "contract-after", NULL);
    size_t gone = contract_wait_seen(c, changed + 1, SEEN_DELETE, "contract-after");
    CHECK(c, gone != SIZE_MAX, "a deletion was not told");
    CHECK(c, c->seen[gone].version > c->seen[changed].version, "a deletion has no version of its own");
    contract_clean(c, KIND_NODE_CLAIM, "contract-before");
}

static void finalizers_in_events(struct contract *c)
{
    size_t from;
    CHECK(c, contract_watch(c, KIND_NODE_CLAIM), "no first LIST");
    from = c->seen_count;
    contract_create(c, KIND_NODE_CLAIM,
                    contract_claim("contract-events", ",\"finalizers\":[\"karpenter.sh/termination\"]", ""));
    size_t made = contract_wait_seen(c, from, SEEN_PUT, "contract-events");
    CHECK(c, made != SIZE_MAX, "a creation was not told");
    contract_delete(c, KIND_NODE_CLAIM, "contract-events", NULL);
    size_t deleting = contract_wait_seen(c, made + 1, SEEN_PUT, "contract-events");
    CHECK(c, deleting != SIZE_MAX, "deletionTimestamp was not told");
    CHECK(c, c->seen[deleting].generation == 2, "generation %lld", (long long)c->seen[deleting].generation);
    contract_merge(c, KIND_NODE_CLAIM, "contract-events", "{\"metadata\":{\"finalizers\":null}}");
    size_t gone = contract_wait_seen(c, deleting + 1, SEEN_DELETE, "contract-events");
    CHECK(c, gone == deleting + 1, "after deletionTimestamp comes %s, not the deletion at once",
          gone == SIZE_MAX ? "nothing" : "something");
}

static bool change_in_the_dark(struct contract *c, const char *name, bool expired)
{
    if (contract_create(c, KIND_NODE_CLAIM, contract_claim(name, "", "")).status != 201)
        return false;
    contract_wait_seen(c, 0, SEEN_PUT, name);
    c->target->break_watch(c->target->user, KIND_NODE_CLAIM, expired);
    return contract_merge(c, KIND_NODE_CLAIM, name, "{\"metadata\":{\"labels\":{\"a\":\"1\"}}}").status == 200 &&
           contract_delete(c, KIND_NODE_CLAIM, name, NULL).status == 200;
}

static void resumes(struct contract *c)
{
    CHECK(c, contract_watch(c, KIND_NODE_CLAIM), "no first LIST");
    size_t from = c->seen_count;
    CHECK(c, change_in_the_dark(c, "contract-resume", false), "could not be made");
    CHECK(c, contract_wait_seen(c, from, SEEN_BROKEN, "") != SIZE_MAX, "a break was not told");
    size_t gone = contract_wait_seen(c, from, SEEN_DELETE, "contract-resume");
    CHECK(c, gone != SIZE_MAX, "what happened meanwhile was lost");
    CHECK(c, contract_wait_seen(c, from, SEEN_WORKS, "") < gone, "it never was said to work again");
    for (size_t i = from; i < c->seen_count; i++)
        CHECK(c, c->seen[i].what != SEEN_LIST_BEGIN, "listed again though it could resume");
}

static void lists_again(struct contract *c)
{
    CHECK(c, contract_watch(c, KIND_NODE_CLAIM), "no first LIST");
    size_t from = c->seen_count;
    CHECK(c, change_in_the_dark(c, "contract-relist", true), "could not be made");
    size_t broken = contract_wait_seen(c, from, SEEN_BROKEN, "");
    CHECK(c, broken != SIZE_MAX, "a break was not told");
    size_t begin = contract_wait_seen(c, broken, SEEN_LIST_BEGIN, "");
    CHECK(c, begin != SIZE_MAX, "not listed again after 410");
    CHECK(c, contract_wait_seen(c, begin, SEEN_LIST_END, "") != SIZE_MAX, "the LIST has no end");
    for (size_t i = begin; i < c->seen_count; i++)
        CHECK(c, strcmp(c->seen[i].name, "contract-relist") != 0, "what is gone was listed");
}

/* The kinds that are only read: no more is asked than that they come as they were written. */
static void tells_kinds_that_are_only_read(struct contract *c)
{
#define TEMPLATE                                                                                   \
    "\"template\":{\"metadata\":{\"labels\":{\"app\":\"contract\"}},\"spec\":{\"containers\":["        \
    "{\"name\":\"c\",\"image\":\"i\"}]}}"
    static const struct {
        enum kind kind;
        const char *more, *kept; /* a path that must come back */
        bool has_generation;
    } rows[] = {
        {KIND_VOLUME_CLAIM,
         "\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],\"storageClassName\":\"contract-no-such\","
         "\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}",
         "spec.storageClassName", false},
        {KIND_VOLUME,
         "\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],\"capacity\":{\"storage\":\"1Gi\"},"
         "\"csi\":{\"driver\":\"contract.example.com\",\"volumeHandle\":\"v\"}}",
         "spec.csi.driver", false},
        {KIND_STORAGE_CLASS, "\"provisioner\":\"contract.example.com\"", "volumeBindingMode", false},
        {KIND_CSI_NODE,
         "\"spec\":{\"drivers\":[{\"name\":\"contract.example.com\",\"nodeID\":\"n\","
         "\"topologyKeys\":null,\"allocatable\":{\"count\":3}}]}",
         "spec.drivers", false},
        {KIND_VOLUME_ATTACHMENT,
         "\"spec\":{\"attacher\":\"contract.example.com\",\"nodeName\":\"contract-no-such\","
         "\"source\":{\"persistentVolumeName\":\"contract-no-such\"}}",
         "spec.source.persistentVolumeName", false},
        {KIND_SERVICE,
         "\"spec\":{\"clusterIP\":\"None\",\"selector\":{\"app\":\"contract\"}}", "spec.selector.app",
         false},
        {KIND_REPLICA_SET,
         "\"spec\":{\"replicas\":0,\"selector\":{\"matchLabels\":{\"app\":\"contract\"}}," TEMPLATE "}",
         "spec.selector.matchLabels.app", true},
        {KIND_STATEFUL_SET,
         "\"spec\":{\"replicas\":0,\"serviceName\":\"contract\","
         "\"selector\":{\"matchLabels\":{\"app\":\"contract\"}}," TEMPLATE "}",
         "spec.selector.matchLabels.app", true},
        {KIND_REPLICATION_CONTROLLER,
         "\"spec\":{\"replicas\":0,\"selector\":{\"app\":\"contract\"}," TEMPLATE "}",
         "spec.selector.app", true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct kind_info *info = kind_info(rows[i].kind);
        const char *name = contract_text("contract-read-%zu", i);
        CHECK(c, contract_watch(c, rows[i].kind), "no first LIST of %s", info->plural);
        struct answer a = contract_create(
            c, rows[i].kind,
            contract_text("{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\"},%s}",
                          info->api_version, info->name, name, rows[i].more));
        CHECK_STATUS(c, a, 201);
        CHECK(c, tree_get(a.body, rows[i].kept) != NULL, "%s without %s", info->name, rows[i].kept);
        CHECK(c, (tree_get(a.body, "metadata.generation") != NULL) == rows[i].has_generation,
              "%s: generation", info->name);
        size_t made = contract_wait_seen(c, 0, SEEN_PUT, name);
        CHECK(c, made != SIZE_MAX && c->seen[made].kind == rows[i].kind, "%s was not told", info->name);
        contract_clean(c, rows[i].kind, name);
        CHECK(c, contract_wait_seen(c, made, SEEN_DELETE, name) != SIZE_MAX,
              "the end of %s was not told", info->name);
    }
#undef TEMPLATE
}

static const struct contract_case cases[] = {
    {"watch: lists, then tells each change with its version", lists_then_watches, false, false},
    {"watch: deletion with finalizers is a change, then a deletion", finalizers_in_events, false, false},
    {"watch: resumes after a break, nothing lost", resumes, false, true},
    {"watch: lists again after 410", lists_again, false, true},
    {"watch: storage, services and controllers", tells_kinds_that_are_only_read, false, false},
};

const struct contract_cases contract_watch_cases = {cases, COUNT_OF(cases)};
