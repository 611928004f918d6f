/* What volumes ask of a node, by the numbers of the checklist in spec provisioning 6 where it has one. */
#include "planner/pods/volumes.h"
#include "support_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define ZONE "topology.kubernetes.io/zone"
#define POD(name_, volumes_)                                                                       \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", namespace: shop}\n"               \
    "spec: {volumes: [" volumes_ "]}\n"
#define POD_ON(name_, node_, volumes_)                                                             \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", namespace: shop}\n"               \
    "spec: {nodeName: " node_ ", volumes: [" volumes_ "]}\nstatus: {phase: Running}\n"
#define VOLUME(claim_) "{name: v-" claim_ ", persistentVolumeClaim: {claimName: " claim_ "}}"
#define EPHEMERAL(name_) "{name: " name_ ", ephemeral: {volumeClaimTemplate: {}}}"
#define CLAIM(name_, meta_, spec_, status_)                                                        \
    "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " name_                    \
    ", namespace: shop" meta_ "}\nspec: {" spec_ "}\nstatus: {" status_ "}\n"
#define DONE ", annotations: {pv.kubernetes.io/bind-completed: 'yes'}"
#define GONE ", deletionTimestamp: '2026-11-20T12:00:00Z'"
#define BOUND(name_, volume_) CLAIM(name_, DONE, "volumeName: " volume_, "phase: Bound")
#define WAITS(name_, class_) CLAIM(name_, "", "storageClassName: " class_, "phase: Pending")
#define MADE_FOR(name_, node_)                                                                      \
    CLAIM(name_, ", annotations: {volume.kubernetes.io/selected-node: " node_ "}",                 \
          "storageClassName: fast", "phase: Pending")
#define NODE(name_)                                                                                \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name_                                    \
    ", labels: {kubernetes.io/hostname: host-" name_ "}}\n"
#define PV(name_, spec_)                                                                           \
    "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: " name_ "}\nspec: {" spec_ "}\n"
#define CSI "csi: {driver: csi.example.com}"
#define AFFINITY(terms_) "nodeAffinity: {required: {nodeSelectorTerms: [" terms_ "]}}"
#define TERM(list_) "{matchExpressions: [" list_ "]}"
#define IN(key_, values_) "{key: " key_ ", operator: In, values: [" values_ "]}"
#define CLASS(name_, more_)                                                                        \
    "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: " name_ "}\n"        \
    "provisioner: csi.example.com\n" more_ "\n"
#define LATE "volumeBindingMode: WaitForFirstConsumer\n"
#define ALLOWED(terms_) "allowedTopologies: [" terms_ "]\n"
#define LABELS(list_) "{matchLabelExpressions: [" list_ "]}"
#define VALUES(key_, values_) "{key: " key_ ", values: [" values_ "]}"
#define CSI_NODE(name_, drivers_)                                                                  \
    "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: " name_ "}\n"             \
    "spec: {drivers: [" drivers_ "]}\n"
#define LIMIT(driver_, n_) "{name: " driver_ ", nodeID: i, allocatable: {count: " n_ "}}"

struct fixture {
    struct cluster cluster;
    struct arena arena;
    struct volumes volumes;
};

static void start(struct fixture *f, const char *yaml)
{
    cluster_init(&f->cluster);
    arena_init(&f->arena, 0);
    cluster_add(&f->cluster, yaml);
}

static void ready(struct fixture *f)
{
    struct world_input in = cluster_input(&f->cluster);
    volumes_init(&f->volumes, &f->arena, &in);
}

static void end(struct fixture *f)
{
    arena_release(&f->arena);
    cluster_release(&f->cluster);
}

static const struct pod *pod_of(const struct fixture *f, const char *name)
{
    const struct cluster_list *l = &f->cluster.kinds[KIND_POD];
    for (size_t i = 0; i < l->count; i++)
        if (span_eq(((const struct pod *)l->items[i])->meta.name, span_of(name)))
            return l->items[i];
    fail_msg("no pod %s", name);
    return NULL;
}

static struct volume_need need_of(struct fixture *f, const char *pod)
{
    return volumes_of(&f->volumes, pod_of(f, pod));
}

static sym driver_of(struct fixture *f, const char *name)
{
    return sym_intern(f->cluster.syms, span_of(name));
}

/* "zone In [z1] | zone In [z2]"; an alternative that asks nothing is "anywhere". */
static struct span alternatives_text(struct fixture *f, const struct volume_need *n)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < n->alternative_count; i++) {
        buf_add(&b, i != 0 ? SPAN(" | ") : SPAN(""));
        if (n->alternatives[i].count == 0)
            buf_add(&b, SPAN("anywhere"));
        requirements_put(&b, &n->alternatives[i], f->cluster.syms);
        if (requirements_get(&n->alternatives[i], SYM_HOSTNAME) != NULL)
            buf_add(&b, SPAN(" with a hostname")); /* requirements_put leaves it out */
    }
    struct span text = arena_dup(&f->arena, buf_span(&b));
    buf_release(&b);
    return text;
}

/* --- validation --- */

static void test_validation(void **state)
{
    (void)state;
    static const struct {
        const char *label, *objects, *want; /* part of the sentence; NULL: valid */
        bool error;                         /* fails every attempt too */
    } rows[] = {
        {"13: claim missing", POD("p", VOLUME("a")),
         "PersistentVolumeClaim shop/a does not exist; create it", true},
        {"13: claim of another namespace is none",
         POD("p", VOLUME("a")) "---\napiVersion: v1\nkind: PersistentVolumeClaim\n"
                               "metadata: {name: a, namespace: other}\n",
         "PersistentVolumeClaim shop/a does not exist", true},
        {"14: unbound, class missing", POD("p", VOLUME("a")) WAITS("a", "fast"),
         "StorageClass fast of the unbound PersistentVolumeClaim shop/a does not exist", true},
        {"14: bound, class missing",
         POD("p", VOLUME("a")) CLAIM("a", DONE, "storageClassName: fast, volumeName: v", "")
             PV("v", CSI),
         NULL, false},
        {"15: bound, class empty",
         POD("p", VOLUME("a")) CLAIM("a", DONE, "storageClassName: '', volumeName: v", "")
             PV("v", CSI),
         NULL, false},
        {"15: unbound, class empty", POD("p", VOLUME("a")) CLAIM("a", "", "storageClassName: ''", ""),
         "names no StorageClass", false},
        {"15: unbound, class not given", POD("p", VOLUME("a")) CLAIM("a", "", "volumeMode: Block", ""),
         "names no StorageClass", false},
        {"16: volumeName without bind-completed",
         POD("p", VOLUME("a")) CLAIM("a", "", "volumeName: v", "phase: Bound") PV("v", CSI),
         "is not bound to it yet", false},
        {"16: with it", POD("p", VOLUME("a")) BOUND("a", "v") PV("v", CSI), NULL, false},
        {"17: binds at once", POD("p", VOLUME("a")) WAITS("a", "fast") CLASS("fast", "volumeBindingMode: Immediate"),
         "StorageClass fast binds at once", false},
        {"17: no mode is Immediate", POD("p", VOLUME("a")) WAITS("a", "fast") CLASS("fast", ""),
         "StorageClass fast binds at once", false},
        {"17: waits for its consumer", POD("p", VOLUME("a")) WAITS("a", "fast") CLASS("fast", LATE), NULL,
         false},
        {"18: claim deleting", POD("p", VOLUME("a")) CLAIM("a", DONE GONE, "volumeName: v", "") PV("v", CSI),
         "PersistentVolumeClaim shop/a is being deleted", false},
        {"18: claim lost", POD("p", VOLUME("a")) CLAIM("a", DONE, "volumeName: v", "phase: Lost") PV("v", CSI),
         "has lost its PersistentVolume v", false},
        {"18: volume deleting",
         POD("p", VOLUME("a")) BOUND("a", "v") "---\napiVersion: v1\nkind: PersistentVolume\n"
             "metadata: {name: v" GONE "}\nspec: {" CSI "}\n",
         "PersistentVolume v of PersistentVolumeClaim shop/a is being deleted", false},
        {"18, 226: volume missing", POD("p", VOLUME("a")) BOUND("a", "v"),
         "PersistentVolume v of PersistentVolumeClaim shop/a does not exist", true},
        {"the claim's own end comes before its volume's",
         POD("p", VOLUME("a")) CLAIM("a", GONE, "volumeName: v", "phase: Lost"), "is being deleted", true},
        {"the first volume's mistake is told",
         POD("p", VOLUME("a") ", " VOLUME("b") ", " VOLUME("c")) BOUND("a", "v") PV("v", CSI)
             CLAIM("b", GONE, "", ""),
         "shop/b is being deleted", true},
        {"20: an ephemeral volume's claim is named after pod and volume",
         POD("p", EPHEMERAL("scratch")) WAITS("p-scratch", "fast") CLASS("fast", LATE), NULL, false},
        {"20: and is not there yet", POD("p", EPHEMERAL("scratch")),
         "PersistentVolumeClaim shop/p-scratch of an ephemeral volume does not exist", true},
        {"20: no default class is guessed", POD("p", EPHEMERAL("scratch")) CLAIM("p-scratch", "", "", "")
             CLASS("fast", LATE),
         "names no StorageClass", false},
        {"other volumes ask nothing", POD("p", "{name: tmp, emptyDir: {}}"), NULL, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        start(&f, rows[i].objects);
        ready(&f);
        struct volume_need n = need_of(&f, "p");
        bool right = rows[i].want == NULL ? n.invalid.ptr == NULL
                                          : span_contains(n.invalid, span_of(rows[i].want));
        if (!right || (n.error.ptr != NULL) != rows[i].error)
            fail_msg("%s: invalid \"%.*s\", error \"%.*s\"", rows[i].label, SPAN_ARG(n.invalid),
                     SPAN_ARG(n.error));
        end(&f);
    }
}

static void test_unsupported(void **state) /* 19 */
{
    (void)state;
    static const struct {
        const char *label, *objects, *want;
        bool driver, key; /* which of the two is unsupported */
    } rows[] = {
        {"class's provisioner", POD("p", VOLUME("a")) WAITS("a", "fast") CLASS("fast", LATE),
         "needs CSI driver csi.example.com", true, false},
        {"bound volume's driver", POD("p", VOLUME("a")) BOUND("a", "v") PV("v", CSI),
         "needs CSI driver csi.example.com", true, false},
        {"in-tree name of the driver",
         POD("p", VOLUME("a")) BOUND("a", "v") PV("v", "awsElasticBlockStore: {volumeID: x}"),
         "needs CSI driver ebs.csi.aws.com", true, false},
        {"class's topology key",
         POD("p", VOLUME("a")) WAITS("a", "fast")
             CLASS("fast", LATE ALLOWED(LABELS(VALUES(ZONE, "z1")) ", " LABELS(VALUES("example.com/rack", "r1")))),
         "example.com/rack, a label that no node", false, true},
        {"a bound claim's class does not matter",
         POD("p", VOLUME("a")) CLAIM("a", DONE, "volumeName: v, storageClassName: fast", "") PV("v", CSI)
             CLASS("fast", LATE ALLOWED(LABELS(VALUES("example.com/rack", "r1")))),
         NULL, false, true},
        {"nothing unsupported", POD("p", VOLUME("a")) WAITS("a", "fast") CLASS("fast", LATE), NULL, false,
         false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        start(&f, rows[i].objects);
        sym drivers[] = {driver_of(&f, "csi.example.com"), driver_of(&f, "ebs.csi.aws.com")};
        sym keys[] = {driver_of(&f, "example.com/rack")};
        if (rows[i].driver)
            f.cluster.catalogue.unsupported_drivers = (struct syms){drivers, 2};
        if (rows[i].key)
            f.cluster.catalogue.unsupported_topology_keys = (struct syms){keys, 1};
        ready(&f);
        struct volume_need n = need_of(&f, "p");
        bool right = rows[i].want == NULL ? n.invalid.ptr == NULL
                                          : span_contains(n.invalid, span_of(rows[i].want));
        if (!right)
            fail_msg("%s: invalid \"%.*s\"", rows[i].label, SPAN_ARG(n.invalid));
        end(&f);
    }
}

/* --- where --- */

static void test_alternatives(void **state)
{
    (void)state;
#define Z(value_) IN(ZONE, value_)
    static const struct {
        const char *label, *objects, *want;
    } rows[] = {
        {"no volumes", POD("p", ""), ""},
        {"a volume that can be anywhere", POD("p", VOLUME("a")) BOUND("a", "v") PV("v", CSI), ""},
        {"163: a volume's zone", POD("p", VOLUME("a")) BOUND("a", "v") PV("v", CSI ", " AFFINITY(TERM(Z("z1")))),
         ZONE " In [z1]"},
        {"163: a class's zones",
         POD("p", EPHEMERAL("s")) WAITS("p-s", "fast")
             CLASS("fast", LATE ALLOWED(LABELS(VALUES(ZONE, "z1, z2") ", " VALUES("kind", "ssd")))),
         "kind In [ssd], " ZONE " In [z1 z2]"},
        {"163: a bound claim asks its volume, not its class",
         POD("p", VOLUME("a")) CLAIM("a", DONE, "volumeName: v, storageClassName: fast", "")
             PV("v", CSI ", " AFFINITY(TERM(Z("z3")))) CLASS("fast", LATE ALLOWED(LABELS(VALUES(ZONE, "z1")))),
         ZONE " In [z3]"},
        {"164: terms are ORed",
         POD("p", VOLUME("a")) BOUND("a", "v") PV("v", CSI ", " AFFINITY(TERM(Z("z1")) ", " TERM(Z("z2")))),
         ZONE " In [z1] | " ZONE " In [z2]"},
        {"164: of a class too",
         POD("p", VOLUME("a")) WAITS("a", "fast")
             CLASS("fast", LATE ALLOWED(LABELS(VALUES(ZONE, "z1")) ", " LABELS(VALUES(ZONE, "z2")))),
         ZONE " In [z1] | " ZONE " In [z2]"},
        {"165: a local volume's hostname does not count",
         POD("p", VOLUME("a")) BOUND("a", "v")
             PV("v", "local: {path: /d}, " AFFINITY(TERM(IN("kubernetes.io/hostname", "n1") ", " Z("z1")))),
         ZONE " In [z1]"},
        {"165: hostname alone is anywhere, an alternative like another",
         POD("p", VOLUME("a")) BOUND("a", "v")
             PV("v", "hostPath: {path: /d}, " AFFINITY(TERM(IN("kubernetes.io/hostname", "n1")) ", " TERM(Z("invalid")))),
         "anywhere | " ZONE " In [invalid]"},
        {"165: of another volume it counts",
         POD("p", VOLUME("a")) BOUND("a", "v") PV("v", CSI ", " AFFINITY(TERM(IN("kubernetes.io/hostname", "n1")))),
         " with a hostname"},
        {"empty terms are passed over; the older name of the zone is the zone",
         POD("p", VOLUME("a")) BOUND("a", "v")
             PV("v", CSI ", " AFFINITY("{}, " TERM(IN("failure-domain.beta.kubernetes.io/zone", "z1")))),
         ZONE " In [z1]"},
        {"166: what cannot be true at once is left out",
         POD("p", VOLUME("a") ", " VOLUME("b")) BOUND("a", "v") BOUND("b", "w")
             PV("v", CSI ", " AFFINITY(TERM(IN("special", "required")) ", " TERM(IN("special", "optional"))))
             PV("w", CSI ", " AFFINITY(TERM(Z("z1") ", " IN("special", "optional")) ", "
                                       TERM(Z("z2") ", " IN("special", "required")))),
         "special In [required], " ZONE " In [z2] | special In [optional], " ZONE " In [z1]"},
        {"all combinations stay when none can be",
         POD("p", VOLUME("a") ", " VOLUME("b")) BOUND("a", "v") BOUND("b", "w")
             PV("v", CSI ", " AFFINITY(TERM(Z("z1")))) PV("w", CSI ", " AFFINITY(TERM(Z("z2")) ", " TERM(Z("z3")))),
         ZONE " DoesNotExist"},
        {"a volume that asks nothing changes nothing",
         POD("p", VOLUME("a") ", " VOLUME("b")) BOUND("a", "v") BOUND("b", "w") PV("v", CSI)
             PV("w", CSI ", " AFFINITY(TERM(Z("z1")))),
         ZONE " In [z1]"},
        {"a volume that is being made for a node",
         POD("p", VOLUME("a")) MADE_FOR("a", "n1") CLASS("fast", LATE ALLOWED(LABELS(VALUES(ZONE, "z1")))) NODE("n1"),
         " with a hostname"},
        {"the node is gone: its provisioner gives up, too",
         POD("p", VOLUME("a")) MADE_FOR("a", "n2") CLASS("fast", LATE ALLOWED(LABELS(VALUES(ZONE, "z1")))) NODE("n1"),
         ZONE " In [z1]"},
        {"it has been made: the volume says where it is",
         POD("p", VOLUME("a"))
             CLAIM("a", ", annotations: {pv.kubernetes.io/bind-completed: 'yes', "
                        "volume.kubernetes.io/selected-node: n1}", "volumeName: v", "phase: Bound")
             PV("v", CSI ", " AFFINITY(TERM(Z("z1")))) NODE("n1"),
         ZONE " In [z1]"},
        {"the same twice is tried once",
         POD("p", VOLUME("a") ", " VOLUME("b")) BOUND("a", "v") BOUND("b", "w")
             PV("v", CSI ", " AFFINITY(TERM(Z("z1")) ", " TERM(Z("z2"))))
             PV("w", CSI ", " AFFINITY(TERM(Z("z1, z2")) ", " TERM(Z("z2, z1")))),
         ZONE " In [z1] | " ZONE " In [z2]"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        start(&f, rows[i].objects);
        ready(&f);
        struct volume_need n = need_of(&f, "p");
        struct span got = alternatives_text(&f, &n);
        if (n.invalid.ptr != NULL || !span_eq(got, span_of(rows[i].want)))
            fail_msg("%s: got \"%.*s\", want \"%s\" (%.*s)", rows[i].label, SPAN_ARG(got),
                     rows[i].want, SPAN_ARG(n.invalid));
        end(&f);
    }
}

/* 40 volumes of three terms on keys of their own would be 3^40 combinations. */
static void test_alternatives_are_bounded(void **state)
{
    (void)state;
    enum { VOLUMES = 40 };
    struct buf b = {0}, volumes = {0};
    for (int i = 0; i < VOLUMES; i++) {
        buf_addf(&volumes, "%s{name: v%d, persistentVolumeClaim: {claimName: c%d}}", i != 0 ? ", " : "",
                 i, i);
        buf_addf(&b, BOUND("c%d", "v%d"), i, i);
        buf_addf(&b, PV("v%d", CSI ", " AFFINITY(TERM(IN("k%d", "x1")) ", " TERM(IN("k%d", "x2")) ", "
                                                 TERM(IN("k%d", "x3")))), i, i, i, i);
    }
    buf_addf(&b, POD("p", "%s"), volumes.ptr);
    struct fixture f;
    start(&f, b.ptr);
    ready(&f);
    struct volume_need n = need_of(&f, "p");
    assert_int_equal(n.alternative_count, VOLUMES_ALTERNATIVES_MAX);
    for (uint32_t i = 0; i < n.alternative_count; i++)
        assert_int_equal(n.alternatives[i].count, VOLUMES); /* each of them whole */
    end(&f);
    buf_release(&b);
    buf_release(&volumes);
}

/* --- how many --- */

static void test_uses(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, POD("one", VOLUME("a") ", " VOLUME("b")) POD("twice", "{name: x, persistentVolumeClaim: {claimName: c}}, "
                  "{name: w, persistentVolumeClaim: {claimName: c}}")
              POD("left", VOLUME("s")) POD("right", VOLUME("s") ", " VOLUME("d") ", " VOLUME("m"))
              POD_ON("there", "n1", VOLUME("s") ", " VOLUME("e"))
              POD("gone", VOLUME("a") ", " VOLUME("nowhere") ", " VOLUME("b"))
              BOUND("a", "v") BOUND("b", "v2") BOUND("c", "v3") BOUND("d", "v4") BOUND("e", "nfs") BOUND("m", "free")
              WAITS("s", "fast") CLASS("fast", LATE)
              PV("v", CSI) PV("v2", CSI) PV("v3", CSI) PV("v4", "awsElasticBlockStore: {volumeID: x}")
              PV("nfs", "nfs: {server: s, path: /}") PV("free", "csi: {driver: unlimited.example.com}")
              CSI_NODE("n1", LIMIT("csi.example.com", "10") ", {name: unlimited.example.com, nodeID: i}")
              CSI_NODE("n2", LIMIT("ebs.csi.aws.com", "2")));
    for (size_t i = 0; i < f.cluster.kinds[KIND_POD].count; i++) { /* a pod that ended uses nothing */
        struct pod *p = (struct pod *)(uintptr_t)f.cluster.kinds[KIND_POD].items[i];
        if (span_eq(p->meta.name, SPAN("gone")))
            p->phase = POD_SUCCEEDED;
    }
    ready(&f);
    assert_int_equal(f.volumes.driver_count, 2);

    struct volume_need n = need_of(&f, "one"); /* 162: distinct claims are counted */
    assert_int_equal(n.use_count, 1);
    assert_int_equal(n.uses[0].driver, driver_of(&f, "csi.example.com"));
    assert_true(n.uses[0].own == 2 && n.uses[0].shared_count == 0);
    n = need_of(&f, "twice");
    assert_true(n.use_count == 1 && n.uses[0].own == 1);
    n = need_of(&f, "left"); /* 162: shared counts once */
    assert_true(n.use_count == 1 && n.uses[0].own == 0 && n.uses[0].shared_count == 1);
    uint32_t shared = n.uses[0].shared[0];
    assert_true(shared < f.volumes.shared_count && n.unbound_count == 1 && n.unbound[0] == shared);
    n = need_of(&f, "right"); /* 162: unlimited ones are not counted; 167: in-tree EBS is */
    assert_int_equal(n.use_count, 2);
    assert_int_equal(n.uses[0].driver, driver_of(&f, "csi.example.com"));
    assert_true(n.uses[0].own == 0 && n.uses[0].shared_count == 1 && n.uses[0].shared[0] == shared);
    assert_int_equal(n.uses[1].driver, driver_of(&f, "ebs.csi.aws.com"));
    assert_true(n.uses[1].own == 1 && n.uses[1].shared_count == 0);

    const struct pod *together[] = {pod_of(&f, "one"), pod_of(&f, "left"), pod_of(&f, "right"),
                                    pod_of(&f, "there"), pod_of(&f, "gone")};
    struct volume_uses u = volumes_in_use(&f.volumes, together, COUNT_OF(together));
    assert_int_equal(u.count, 2);
    assert_true(u.items[0].own == 2 && u.items[0].shared_count == 1); /* a, b and s */
    assert_true(u.items[1].own == 1);
    end(&f);
}

static void test_shared_unbound(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, POD("a", VOLUME("x") ", " VOLUME("own")) POD("b", VOLUME("q") ", " VOLUME("x")) POD("c", VOLUME("q"))
              POD("d", VOLUME("z")) POD("e", VOLUME("z")) WAITS("x", "fast") WAITS("q", "fast") WAITS("own", "fast")
              BOUND("z", "v") PV("v", "nfs: {}") CLASS("fast", LATE));
    ready(&f);
    struct volume_need a = need_of(&f, "a"), b = need_of(&f, "b"), c = need_of(&f, "c");
    assert_int_equal(f.volumes.shared_count, 2); /* of z nobody counts the users */
    assert_true(a.unbound_count == 1 && b.unbound_count == 2 && c.unbound_count == 1);
    assert_true(b.unbound[0] < b.unbound[1]);
    assert_true(a.unbound[0] == b.unbound[1] && c.unbound[0] == b.unbound[0]); /* x, q */
    assert_int_equal(need_of(&f, "d").unbound_count, 0); /* bound: its volume says where */
    assert_int_equal(a.use_count, 0);                    /* nobody limits the driver */
    end(&f);
}

/* What is equal stands in one place, so that many volumes of few zones cost little. */
static void test_equal_is_one(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, POD("a", VOLUME("x")) POD("b", VOLUME("z")) POD("c", VOLUME("w")) BOUND("x", "v1") BOUND("z", "v2")
              BOUND("w", "v3") PV("v1", CSI ", " AFFINITY(TERM(IN(ZONE, "z1"))))
              PV("v2", CSI ", " AFFINITY(TERM(IN(ZONE, "z1"))))
              PV("v3", "local: {path: /d}, " AFFINITY(TERM(IN(ZONE, "z1") ", " IN("kubernetes.io/hostname", "n1"))))
              CSI_NODE("n1", LIMIT("csi.example.com", "3")));
    ready(&f);
    struct volume_need a = need_of(&f, "a"), b = need_of(&f, "b"), c = need_of(&f, "c");
    assert_ptr_equal(a.alternatives, b.alternatives);
    assert_ptr_equal(a.alternatives, c.alternatives); /* the hostname does not count */
    assert_ptr_equal(a.uses, b.uses);
    assert_int_equal(c.use_count, 0);
    end(&f);
}

/* Equal input in another order gives the same numbers. */
static void test_order(void **state)
{
    (void)state;
    static const char objects[] = POD("a", VOLUME("x") ", " VOLUME("q")) POD("b", VOLUME("x") ", " VOLUME("z"))
        POD("c", VOLUME("q") ", " VOLUME("z")) WAITS("z", "fast") WAITS("x", "fast") WAITS("q", "fast")
        CLASS("fast", LATE) CSI_NODE("n1", LIMIT("csi.example.com", "3"));
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct fixture f;
        start(&f, objects);
        cluster_shuffle(&f.cluster, seed);
        ready(&f);
        struct volume_need a = need_of(&f, "a"), b = need_of(&f, "b");
        assert_true(a.unbound_count == 2 && a.unbound[0] == 0 && a.unbound[1] == 1);
        assert_true(b.uses[0].shared_count == 2 && b.uses[0].shared[0] == 1 && b.uses[0].shared[1] == 2);
        end(&f);
    }
}

static void test_node_limits(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, CSI_NODE("n1", LIMIT("a", "5") ", {name: b, nodeID: i}, {name: c, nodeID: i, allocatable: {}}"));
    sym a = driver_of(&f, "a"), b = driver_of(&f, "b"), c = driver_of(&f, "c"), d = driver_of(&f, "d");
    struct volume_limit limits[] = {{a, 10}, {b, 10}, {c, 10}, {d, 10}};
    struct instance_type type = {.volume_limits = limits, .volume_limit_count = COUNT_OF(limits)};
    ready(&f);
    const struct csi_node *n1 = volumes_csi_node(&f.volumes, SPAN("n1"));
    assert_non_null(n1);
    assert_null(volumes_csi_node(&f.volumes, SPAN("n2")));
    static const struct {
        const char *label;
        bool published, typed;
        int driver; /* index into a, b, c, d */
        int64_t want;
    } rows[] = {
        {"215: what is published wins", true, true, 0, 5},
        {"162, 215: published without allocatable is unlimited", true, true, 1, INT64_MAX},
        {"162, 215: published without count is unlimited", true, true, 2, INT64_MAX},
        {"214: the type speaks for drivers not published", true, true, 3, 10},
        {"210: nobody limits", true, false, 3, INT64_MAX},
        {"209, 214: nothing published yet", false, true, 0, 10},
        {"a node of an unknown type without CSINode", false, false, 0, INT64_MAX},
    };
    const sym drivers[] = {a, b, c, d};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t got = volumes_node_limit(drivers[rows[i].driver], rows[i].published ? n1 : NULL,
                                         rows[i].typed ? &type : NULL);
        if (got != rows[i].want)
            fail_msg("%s: got %lld", rows[i].label, (long long)got);
    }
    end(&f);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_validation),
        cmocka_unit_test(test_unsupported),
        cmocka_unit_test(test_alternatives),
        cmocka_unit_test(test_alternatives_are_bounded),
        cmocka_unit_test(test_uses),
        cmocka_unit_test(test_shared_unbound),
        cmocka_unit_test(test_equal_is_one),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_node_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
