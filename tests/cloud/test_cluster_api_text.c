/* What people write for node groups of Cluster API: annotations of a MachineDeployment, and the flags that choose groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cloud/groups/cluster_api.h"
#include "cloud/groups/cluster_api_shape.h"

struct desk {
    struct arena arena;
    struct symtab *from, *to;
    struct machine_group group;
    struct span told; /* the last aside */
    uint32_t asides;
};

static void on_aside(void *user, struct span text)
{
    struct desk *d = user;
    d->told = text;
    d->asides++;
}

static struct capi_telling begin(struct desk *d, const char *annotations, const char *template)
{
    struct doc_parser *p = doc_parser_new();
    const struct doc *doc;
    struct err err;
    size_t at = 0;
    *d = (struct desk){.from = kube_symtab_new(), .to = kube_symtab_new()};
    arena_init(&d->arena, 0);
    struct span text = arena_printf(&d->arena, "metadata: {name: md, namespace: apps, annotations: {%s}}\nspec: {template: {%s}}\n",
                                    annotations, template);
    assert_true(doc_parse_yaml(p, text, &at, &doc, &err));
    if (!decode_one(&d->arena, d->from, doc_root(doc), &machine_group_schema, &d->group, &err))
        fail_msg("%s", err.msg);
    doc_parser_free(p);
    return (struct capi_telling){&d->arena, d->from, d->to, &d->group, SPAN("amd64"), on_aside, d};
}

static void end(struct desk *d)
{
    symtab_unref(d->from);
    symtab_unref(d->to);
    arena_release(&d->arena);
}

#define CAP(name_) "capacity.cluster-autoscaler.kubernetes.io/" name_ ": "
#define BASE CAP("cpu") "'16'," CAP("memory") "128G"

/* "cpu=16 memory=128G …", of the capacity. */
static const char *amounts(struct desk *d, struct resources r)
{
    static char text[512];
    size_t at = 0;
    for (uint32_t i = 0; i < r.count; i++) {
        struct span name = sym_text(d->to, r.items[i].name);
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%.*s=%.*s", i != 0 ? " " : "", SPAN_ARG(name),
                               SPAN_ARG(quantity_text(&d->arena, name, r.items[i].value)));
    }
    return text;
}

static void reads_capacity(void **state)
{
    (void)state;
    static const struct {
        const char *annotations, *want; /* "": no template */
        const char *aside;
    } rows[] = {
        {"", "", ""},
        {CAP("cpu") "'4'", "", ""},
        {CAP("memory") "4Gi", "", ""},
        {CAP("cpu") "'0'," CAP("memory") "4Gi", "", ""},
        {BASE, "cpu=16 memory=125000000Ki pods=110", ""},
        {BASE "," CAP("ephemeral-disk") "100Gi," CAP("gpu-type") "nvidia.com/gpu," CAP("gpu-count") "'2'," CAP("maxPods") "'200'",
         "cpu=16 memory=125000000Ki ephemeral-storage=100Gi nvidia.com/gpu=2 pods=200", ""},
        {BASE "," CAP("gpu-count") "'2'", "cpu=16 memory=125000000Ki pods=110", ""}, /* of no type */
        {BASE "," CAP("maxPods") "many", "cpu=16 memory=125000000Ki pods=110",
         "annotation capacity.cluster-autoscaler.kubernetes.io/maxPods: \"many\" is not a whole number"},
        {CAP("cpu") "lots," CAP("memory") "4Gi", "",
         "annotation capacity.cluster-autoscaler.kubernetes.io/cpu: \"lots\" is not a quantity; write it like \"4\" or \"16Gi\""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct desk d;
        struct capi_telling t = begin(&d, rows[i].annotations, "");
        const struct node *n = capi_template(&t);
        const char *got = n != NULL ? amounts(&d, n->capacity) : "";
        if (!span_eq(span_of(got), span_of(rows[i].want)) || d.asides != (rows[i].aside[0] != '\0') ||
            !span_eq(d.told, span_of(rows[i].aside)))
            fail_msg("row %zu: %s; %.*s", i, got, SPAN_ARG(d.told));
        if (n != NULL)
            assert_int_equal(resources_get(n->allocatable, SYM_CPU), 16000 - GROUP_KUBE_PROXY_MILLICPU);
        end(&d);
    }
}

static void reads_labels(void **state)
{
    (void)state;
    static const char template[] =
        "metadata: {labels: {node-role.kubernetes.io/worker: '', a.node-restriction.kubernetes.io/x: '1',"
        " node.cluster.x-k8s.io/pool: blue, example.com/own: 'no'}}";
    static const struct {
        const char *key, *value; /* NULL: it is not there */
    } rows[] = {
        {"kubernetes.io/arch", "arm64"}, /* the annotation's before the default */
        {"kubernetes.io/os", "linux"},
        {"node-role.kubernetes.io/worker", ""},
        {"a.node-restriction.kubernetes.io/x", "1"},
        {"node.cluster.x-k8s.io/pool", "green"}, /* the annotation's before the template's */
        {"example.com/own", NULL},               /* it does not reach Nodes */
        {"zone", "a=b"},
        {"nothing", NULL},
    };
    struct desk d;
    struct capi_telling t = begin(
        &d, BASE "," CAP("labels") "'kubernetes.io/arch=arm64,node.cluster.x-k8s.io/pool=green,zone=a=b,nothing'", template);
    const struct node *n = capi_template(&t);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        sym key = sym_find(d.to, span_of(rows[i].key));
        sym value = key != SYM_NONE ? sym_pairs_get(n->meta.labels, key) : SYM_NONE;
        if ((value != SYM_NONE) != (rows[i].value != NULL) ||
            (value != SYM_NONE && !span_eq(sym_text(d.to, value), span_of(rows[i].value))))
            fail_msg("%s: %.*s", rows[i].key, SPAN_ARG(sym_text(d.to, value)));
    }
    assert_int_equal(d.asides, 1);
    assert_true(span_has_suffix(d.told, SPAN("\"nothing\" is not key=value")));
    end(&d);
}

static void reads_taints(void **state)
{
    (void)state;
    static const struct {
        const char *annotation, *want, *aside;
    } rows[] = {
        {"a=1:NoSchedule,b:NoExecute", "own=x:NoSchedule a=1:NoSchedule b=:NoExecute", ""},
        {"own=y:NoSchedule", "own=y:NoSchedule", ""},
        {"own=y:NoExecute", "own=x:NoSchedule own=y:NoExecute", ""},
        {"a=1:Never", "own=x:NoSchedule", "\"a=1:Never\" is not key=value:Effect"},
        {"a", "own=x:NoSchedule", "\"a\" is not key=value:Effect"},
        {"a=1=2:NoSchedule", "own=x:NoSchedule", "\"a=1=2:NoSchedule\" is not key=value:Effect"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct desk d;
        char annotations[256], got[256] = "";
        size_t at = 0;
        snprintf(annotations, sizeof(annotations), BASE "," CAP("taints") "'%s'", rows[i].annotation);
        struct capi_telling t =
            begin(&d, annotations, "spec: {taints: [{key: own, value: x, effect: NoSchedule, propagation: Always}]}");
        struct taints list = capi_template(&t)->taints;
        for (uint32_t k = 0; k < list.count; k++)
            at += (size_t)snprintf(got + at, sizeof(got) - at, "%s%.*s=%.*s:%s", k != 0 ? " " : "",
                                   SPAN_ARG(sym_text(d.to, list.items[k].key)), SPAN_ARG(sym_text(d.to, list.items[k].value)),
                                   taint_effect_name(list.items[k].effect));
        if (!span_eq(span_of(got), span_of(rows[i].want)) || !span_has_suffix(d.told, span_of(rows[i].aside)) ||
            d.asides != (rows[i].aside[0] != '\0'))
            fail_msg("row %zu: %s; %.*s", i, got, SPAN_ARG(d.told));
        end(&d);
    }
}

#define OPT(name_) "cluster.x-k8s.io/autoscaling-options-" name_ ": "

static void reads_options(void **state)
{
    (void)state;
    struct desk d;
    struct group_options o = {0};
    struct capi_telling t = begin(&d,
                                  OPT("scaledownutilizationthreshold") "'0.5'," OPT("scaledowngpuutilizationthreshold") "'0.7',"
                                  OPT("scaledownunneededtime") "10M0s," OPT("scaledownunreadytime") "20m0s,"
                                  OPT("maxnodeprovisiontime") "soon," OPT("maxnodestartuptime") "''," OPT("newer") "x,"
                                  OPT("ignoredaemonsetsutilization") "'True'",
                                  "");
    capi_options(&t, &o);
    assert_true(o.has_utilization_threshold && o.of.utilization_threshold == 0.5);
    assert_true(o.has_gpu_utilization_threshold && o.of.gpu_utilization_threshold == 0.7);
    assert_true(o.has_unneeded_time && o.of.unneeded_time == 10 * MS_MINUTE); /* case is no matter */
    assert_true(o.has_unready_time && o.of.unready_time == 20 * MS_MINUTE);
    assert_true(o.has_ignore_daemon_sets && o.of.ignore_daemon_sets);
    assert_false(o.has_provision_time || o.has_startup_time);
    assert_int_equal(d.asides, 1);
    assert_true(span_eq(d.told, SPAN("annotation cluster.x-k8s.io/autoscaling-options-maxnodeprovisiontime: \"soon\" cannot be "
                                     "read, and the flag holds")));
    end(&d);
}

static void reads_prices(void **state)
{
    (void)state;
    static const struct {
        const char *annotations, *aside;
        bool has;
        double price;
    } rows[] = {
        {"a: b", "", false, 0},
        {"stowage.dev/price: '0.0932'", "", true, 0.0932},
        {"stowage.dev/price: '0'", "", true, 0},
        {"stowage.dev/price: cheap", "annotation stowage.dev/price: \"cheap\" is no price; write dollars an hour, like 0.0932", false, 0},
        {"stowage.dev/price: '-1'", "annotation stowage.dev/price: \"-1\" is no price; write dollars an hour, like 0.0932", false, 0},
        {"stowage.dev/price: nan", "annotation stowage.dev/price: \"nan\" is no price; write dollars an hour, like 0.0932", false, 0},
        {"stowage.dev/price: '0.1 '", "annotation stowage.dev/price: \"0.1 \" is no price; write dollars an hour, like 0.0932", false, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct desk d;
        double price = 0;
        struct capi_telling t = begin(&d, rows[i].annotations, "");
        bool has = capi_price(&t, &price);
        if (has != rows[i].has || (has && price != rows[i].price) || !span_eq(d.told, span_of(rows[i].aside)))
            fail_msg("%s: %d, %g; %.*s", rows[i].annotations, has, price, SPAN_ARG(d.told));
        end(&d);
    }
}

static void parses_selectors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *ns, *cluster;
        uint32_t labels;
        const char *refusal;
    } rows[] = {
        {"clusterapi:namespace=blue", "blue", "", 0, ""},
        {"clusterapi:namespace=staging,clusterName=purple,owner=jim,x/y=", "staging", "purple", 2, ""},
        {"clusterapi:", "", "", 0, ""},
        {"clusterapi:,color=green,", "", "", 1, ""},
        {"clusterapi", NULL, NULL, 0, "\"clusterapi\": write it like clusterapi:"},
        {"clusterapi:a=b:c", NULL, NULL, 0, "\"clusterapi:a=b:c\": write it like clusterapi:"},
        {"asg:tag=x", NULL, NULL, 0, "\"asg:tag=x\": it has to begin with clusterapi:"},
        {"clusterapi:color", NULL, NULL, 0, "\"clusterapi:color\": \"color\" is not key=value"},
        {"clusterapi:a=b=c", NULL, NULL, 0, "\"clusterapi:a=b=c\": \"a=b=c\" is not key=value"},
        {"clusterapi:-a=b", NULL, NULL, 0, "\"clusterapi:-a=b\": \"-a\" is not a label's key"},
        {"clusterapi:a=b c", NULL, NULL, 0, "\"clusterapi:a=b c\": a: \"b c\" is not a label's value"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena a;
        struct err err = {0};
        struct cluster_api_selector s;
        arena_init(&a, 0);
        bool ok = cluster_api_selector_parse(&a, span_of(rows[i].text), &s, &err);
        if (ok != (rows[i].ns != NULL) || !span_has_prefix(span_of(err.msg), span_of(rows[i].refusal)) ||
            (ok && (!span_eq(s.ns, span_of(rows[i].ns)) || !span_eq(s.cluster, span_of(rows[i].cluster)) ||
                    s.labels.count != rows[i].labels)))
            fail_msg("%s: %s", rows[i].text, err.msg);
        arena_release(&a);
    }
}

static void parses_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *text, *group; /* NULL: refused */
    } rows[] = {
        {"1:10:MachineDeployment/default/md-0", "MachineDeployment/default/md-0"},
        {"0:0:MachinePool/a/b", "MachinePool/a/b"},
        {"0:3:MachineSet/a/b", "MachineSet/a/b"},
        {"3:1:MachineSet/a/b", NULL},
        {"-1:1:MachineSet/a/b", NULL},
        {"1:MachineSet/a/b", NULL},
        {"1:2:Machine/a/b", NULL},
        {"1:2:MachineSet/a", NULL},
        {"1:2:MachineSet/a/b/c", NULL},
        {"1:2:", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena a;
        struct err err = {0};
        struct cluster_api_bounds b;
        arena_init(&a, 0);
        bool ok = cluster_api_bounds_parse(&a, span_of(rows[i].text), &b, &err);
        if (ok != (rows[i].group != NULL) || (ok && !span_eq(b.group, span_of(rows[i].group))))
            fail_msg("%s: %s", rows[i].text, err.msg);
        arena_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_capacity), cmocka_unit_test(reads_labels),     cmocka_unit_test(reads_taints),
        cmocka_unit_test(reads_options),
        cmocka_unit_test(reads_prices),  cmocka_unit_test(parses_selectors), cmocka_unit_test(parses_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
