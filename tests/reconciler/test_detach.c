/* Which volumes a node's machine waits for, by the pods that are still on the node (spec disruption 14.7). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "reconciler/termination/detach.h"
#include "tests/reconciler/support_objects.h"

#define POD(name, spec, claim)                                                                     \
    "metadata: {name: " name ", namespace: d, uid: u-" name "}\n"                                  \
    "spec: {nodeName: m" spec ", volumes: [{name: v, persistentVolumeClaim: {claimName: " claim "}}]}\n"
#define STAYS ", tolerations: [{operator: Exists}]"
#define ENDED(name, claim) POD(name, "", claim) "status: {phase: Succeeded}\n"
#define OWN "csi-1", "m", "pv-1"

static const struct {
    const char *label;
    const char *pods[3];
    const char *name, *node, *volume; /* of the VolumeAttachment */
    bool waits;
} rows[] = {
    {"no pod is left", {0}, OWN, true},
    {"of a pod that is drained", {POD("a", "", "pvc-1")}, OWN, true},
    {"of a pod that stays", {POD("a", STAYS, "pvc-1")}, OWN, false},
    {"of a pod that has ended: it is not drained, and keeps it", {ENDED("a", "pvc-1")}, OWN, false},
    {"a pod that stays has another volume", {POD("a", STAYS, "pvc-2")}, OWN, true},
    {"of its namespace there is no such claim", {POD("a", STAYS, "missing")}, OWN, true},
    {"one that is drained and one that stays", {POD("a", "", "pvc-1"), POD("b", STAYS, "pvc-1")}, OWN, false},
    {"in the other order", {POD("a", STAYS, "pvc-1"), POD("b", "", "pvc-1")}, OWN, false},
    {"of another node", {POD("a", "", "pvc-1")}, "csi-1", "other", "pv-1", false},
    {"of no PersistentVolume", {POD("a", "", "pvc-1")}, "csi-1", "m", "", false},
};

static const struct volume_claim *claim_named(const void *from, struct span ns, struct span name)
{
    static struct volume_claim c;
    (void)from;
    if (!span_eq(ns, SPAN("d")) || !span_has_prefix(name, SPAN("pvc-")))
        return NULL;
    c = (struct volume_claim){.volume = span_eq(name, SPAN("pvc-1")) ? SPAN("pv-1") : SPAN("pv-2")};
    return &c;
}

static struct detach_node node_with(const struct pod *const *pods, uint32_t count)
{
    return (struct detach_node){.name = sym_intern(objects_syms(), SPAN("m")), .pods = pods, .pod_count = count,
                                .claim = claim_named, .now = NOW};
}

static void volumes_are_waited_for(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        const struct pod *pods[3];
        uint32_t count = 0;
        objects_begin();
        for (; count < 3 && rows[r].pods[count] != NULL; count++)
            pods[count] = pod_of(rows[r].pods[count]);
        struct detach_node n = node_with(pods, count);
        const struct volume_attachment x = {.meta.name = span_of(rows[r].name),
                                            .node = sym_intern(objects_syms(), span_of(rows[r].node)),
                                            .volume = span_of(rows[r].volume)};
        struct attachments got = {0};
        detach_look(objects_arena(), &got, &n, &x);
        struct span want = rows[r].waits ? SPAN("1 volume is still attached (VolumeAttachment csi-1)") : SPAN("");
        struct span said = detach_sentence(objects_arena(), &got);
        if (!span_eq(said, want))
            fail_msg("%s: \"%.*s\"", rows[r].label, SPAN_ARG(said));
        objects_clear();
    }
}

/* By name, whatever the order of the cache, five at most. */
static void volumes_are_named(void **state)
{
    static const char *const names[] = {"d", "g", "a", "c", "f", "b", "e"};
    static const char *const want[] = {
        "", "1 volume is still attached (VolumeAttachment d)", "2 volumes are still attached (VolumeAttachment d, g)",
        "3 volumes are still attached (VolumeAttachment a, d, g)", "4 volumes are still attached (VolumeAttachment a, c, d, g)",
        "5 volumes are still attached (VolumeAttachment a, c, d, f, g)",
        "6 volumes are still attached (VolumeAttachment a, b, c, d, f and 1 other(s))",
        "7 volumes are still attached (VolumeAttachment a, b, c, d, e and 2 other(s))"};
    (void)state;
    objects_begin();
    struct detach_node n = node_with(NULL, 0);
    struct volume_attachment all[COUNT_OF(names)];
    struct attachments got = {0};
    for (size_t i = 0; i <= COUNT_OF(names); i++) {
        assert_string_equal(arena_cstr(objects_arena(), detach_sentence(objects_arena(), &got)), want[i]);
        if (i == COUNT_OF(names))
            break;
        all[i] = (struct volume_attachment){.meta.name = span_of(names[i]), .node = n.name, .volume = SPAN("pv")};
        detach_look(objects_arena(), &got, &n, &all[i]);
    }
    objects_clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(volumes_are_waited_for), cmocka_unit_test(volumes_are_named)};
    return cmocka_run_group_tests_name("detach", tests, NULL, NULL);
}
