/* How fast a LIST becomes structs: a PodList as an API server sends it (managedFields, probes, env,
 * statuses), parsed alone, parsed and decoded, and packed as the store keeps it. One page of 500 pods is
 * what the client decodes at a time; the whole list at once shows the data path, and as YAML what `plan` reads
 * of `kubectl get -o yaml`.
 *
 * usage: bench_decode [PODS] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/json.h"
#include "kube/kind.h"
#include "kube/pod.h"
#include "server/yaml_text.h"

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void put_managed_fields(struct json *j)
{
    static const char *const managers[] = {"kube-controller-manager", "kubelet"};
    json_put_array(j, "managedFields");
    for (size_t m = 0; m < COUNT_OF(managers); m++) {
        json_object_begin(j);
        json_put_string(j, "manager", span_of(managers[m]));
        json_put_string(j, "operation", SPAN("Update"));
        json_put_string(j, "apiVersion", SPAN("v1"));
        json_put_string(j, "fieldsType", SPAN("FieldsV1"));
        json_put_object(j, "fieldsV1");
        json_put_object(j, "f:metadata");
        for (int i = 0; i < 45; i++) {
            char key[64];
            int n = snprintf(key, sizeof(key), "f:some-field-of-the-object-%d", i);
            json_key(j, (struct span){key, (size_t)n});
            json_raw(j, SPAN("{\".\":{},\"f:name\":{},\"f:value\":{}}"));
        }
        json_object_end(j);
        json_object_end(j);
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_metadata(struct json *j, int i)
{
    char text[64];
    json_put_object(j, "metadata");
    json_put_string(j, "name", (struct span){text, (size_t)snprintf(text, sizeof(text),
                                                                    "web-%d-7d9f8", i)});
    json_put_string(j, "namespace", SPAN("shop"));
    json_put_string(j, "uid", (struct span){text, (size_t)snprintf(
                                 text, sizeof(text), "6f1f0b7a-0000-4000-8000-%012d", i)});
    json_put_string(j, "resourceVersion", (struct span){text, (size_t)snprintf(
                                 text, sizeof(text), "%d", 1000000 + i)});
    json_put_string(j, "creationTimestamp", SPAN("2026-01-02T03:04:05Z"));
    json_key(j, SPAN("labels"));
    json_raw(j, SPAN("{\"app\":\"web\",\"app.kubernetes.io/instance\":\"web\","
                     "\"pod-template-hash\":\"7d9f8\",\"tier\":\"front\"}"));
    json_key(j, SPAN("annotations"));
    json_raw(j, SPAN("{\"prometheus.io/scrape\":\"true\",\"note\":\"a \\\"quoted\\\" \\u00e9 text\"}"));
    json_key(j, SPAN("ownerReferences"));
    json_raw(j, SPAN("[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"web-7d9f8\","
                     "\"uid\":\"r\",\"controller\":true,\"blockOwnerDeletion\":true}]"));
    put_managed_fields(j);
    json_object_end(j);
}

static void put_spec(struct json *j)
{
    json_put_object(j, "spec");
    json_put_array(j, "containers");
    for (int c = 0; c < 2; c++) {
        json_object_begin(j);
        json_put_string(j, "name", SPAN("main"));
        json_put_string(j, "image", SPAN("registry.example/web:1.2.3"));
        json_put_array(j, "env");
        for (int e = 0; e < 20; e++)
            json_raw(j, SPAN("{\"name\":\"SOME_SETTING\",\"value\":\"some value of it\"}"));
        json_array_end(j);
        json_key(j, SPAN("resources"));
        json_raw(j, SPAN("{\"limits\":{\"memory\":\"256Mi\"},"
                         "\"requests\":{\"cpu\":\"250m\",\"memory\":\"128Mi\"}}"));
        json_key(j, SPAN("readinessProbe"));
        json_raw(j, SPAN("{\"httpGet\":{\"path\":\"/ready\",\"port\":8080,\"scheme\":\"HTTP\"},"
                         "\"timeoutSeconds\":1,\"periodSeconds\":10,\"failureThreshold\":3}"));
        json_object_end(j);
    }
    json_array_end(j);
    json_put_string(j, "nodeName", SPAN("general-6kq2x"));
    json_put_string(j, "schedulerName", SPAN("default-scheduler"));
    json_key(j, SPAN("nodeSelector"));
    json_raw(j, SPAN("{\"kubernetes.io/arch\":\"amd64\"}"));
    json_key(j, SPAN("tolerations"));
    json_raw(j, SPAN("[{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\","
                     "\"effect\":\"NoExecute\",\"tolerationSeconds\":300}]"));
    json_key(j, SPAN("affinity"));
    json_raw(j, SPAN("{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
                     "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"disk\","
                     "\"operator\":\"In\",\"values\":[\"ssd\",\"nvme\"]}]}]}}}"));
    json_object_end(j);
}

static void put_list(struct buf *b, int pods)
{
    struct json j = JSON_TO(b);
    json_object_begin(&j);
    json_put_string(&j, "kind", SPAN("PodList"));
    json_put_array(&j, "items");
    for (int i = 0; i < pods; i++) {
        json_object_begin(&j);
        put_metadata(&j, i);
        put_spec(&j);
        json_key(&j, SPAN("status"));
        json_raw(&j, SPAN("{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":"
                          "\"True\",\"lastTransitionTime\":\"2026-01-02T03:04:05Z\"}],"
                          "\"podIP\":\"10.0.0.1\",\"startTime\":\"2026-01-02T03:04:05Z\"}"));
        json_object_end(&j);
    }
    json_array_end(&j);
    json_object_end(&j);
}

enum what { PARSE, DECODE, PACK, WHAT_COUNT };

/* One run; the count of pods decoded, so that nothing is optimised away. */
static size_t run(struct doc_parser *p, struct span text, bool is_yaml, enum what what)
{
    const struct doc *doc;
    struct err err;
    struct doc_value items;
    size_t at = 0;
    bool parsed = is_yaml ? doc_parse_yaml(p, text, &at, &doc, &err)
                          : doc_parse_json(p, text, &doc, &err);
    if (!parsed || !doc_find(doc_root(doc), SPAN("items"), &items))
        abort();
    if (what == PARSE)
        return 0;
    struct symtab *syms = kube_symtab_new();
    struct arena a;
    arena_init(&a, 0);
    size_t count = 0;
    for (struct doc_iter it = doc_iter_of(items); doc_next(&it); count++) {
        struct pod pod;
        if (what == PACK)
            arena_clear(&a);
        if (!decode_one(&a, syms, it.value, &pod_schema, &pod, &err))
            abort();
        if (what == PACK)
            free(schema_pack(&pod_schema, &pod, 0, syms, NULL, NULL));
    }
    arena_release(&a);
    symtab_unref(syms);
    return count;
}

static void measure(struct doc_parser *p, struct span text, bool is_yaml, const char *label)
{
    static const char *const names[WHAT_COUNT] = {"parse", "parse and decode",
                                                  "parse, decode and pack"};
    double first = 0;
    for (int what = 0; what < WHAT_COUNT; what++) {
        double best = 1e9;
        for (int round = 0; round < (is_yaml ? 3 : 7); round++) {
            double from = now_s();
            run(p, text, is_yaml, (enum what)what);
            double took = now_s() - from;
            best = took < best ? took : best;
        }
        first = what == 0 ? best : first;
        printf("%-12s %-24s %7.1f MB  %8.2f ms  %5.2f GB/s  %4.2f x parse\n", label, names[what],
               (double)text.len / 1e6, best * 1e3, (double)text.len / best / 1e9, best / first);
    }
}

/* So many pods that the text is about as long as the JSON of all. */
static void measure_yaml(struct doc_parser *p, int pods)
{
    struct buf json = {.max = (size_t)1 << 30}, yaml = {.max = (size_t)1 << 30};
    struct err err;
    put_list(&json, pods * 2 / 3);
    if (!yaml_text(&yaml, buf_span(&json), &err))
        abort();
    measure(p, buf_span(&yaml), true, "YAML");
    buf_release(&json);
    buf_release(&yaml);
}

int main(int argc, char **argv)
{
    int pods = argc > 1 ? atoi(argv[1]) : 10000;
    struct buf all = {.max = (size_t)1 << 30}, page = {0};
    put_list(&all, pods);
    put_list(&page, 500);
    struct doc_parser *p = doc_parser_new();
    measure(p, buf_span(&page), false, "one page");
    measure(p, buf_span(&all), false, "whole list");
    measure_yaml(p, pods);
    doc_parser_free(p);
    buf_release(&all);
    buf_release(&page);
    return 0;
}
