/* Objects of a small cluster as YAML, and questions to the extender with their answers as words. */
#ifndef TESTS_EXTENDER_SUPPORT_ASK_H
#define TESTS_EXTENDER_SUPPORT_ASK_H

#include <jansson.h>

#include "support_cluster.h"

/* Of a controller of which we do not know whether a Service makes kube-scheduler spread its pods: they are told all
 * nodes that take them. */
#define OWNED(owner, name, cpu, node, more)                                                        \
    "---\napiVersion: v1\nkind: Pod\n"                                                             \
    "metadata: {namespace: web, name: " name ", uid: uid-" name ", ownerReferences: "               \
    "[{apiVersion: apps/v1, kind: CloneSet, name: " owner ", uid: uid-" owner ", controller: true}]}\n" \
    "spec:\n  containers: [{name: c, resources: {requests: {cpu: '" cpu "', memory: 1Gi}}}]\n" node \
    "status:\n  phase: Pending\n" more
#define POD(name, cpu, node, more) OWNED("set", name, cpu, node, more)
#define WAITS "  conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]\n"
#define BOUND(node) "  nodeName: " node "\n"
#define NODE(name, more)                                                                           \
    "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: " name "\n" more                          \
    "spec: {providerID: 'kwok://" name "'}\n"                                                      \
    "status:\n  allocatable: {cpu: '4', memory: 16Gi, pods: '110'}\n"                              \
    "  capacity: {cpu: '4', memory: 16Gi, pods: '110'}\n"                                          \
    "  conditions: [{type: Ready, status: 'True'}]\n"

/* ExtenderArgs; names are separated by spaces. uid NULL: uid-<pod>. */
void ask_put_args(struct buf *b, const char *pod, const char *uid, const char *names);
json_t *ask_parsed(const struct buf *reply);
/* Names of an array, or keys of an object, joined by spaces. */
void ask_joined(json_t *from, char *out, size_t size);

struct answer {
    char passed[256], failed[256], unresolvable[256]; /* names, joined by spaces */
    struct extender_verdict verdict;
};
void ask_filter_answer(struct cluster *c, const char *pod, const char *names, struct answer *out);
/* Names of the nodes that preempting leaves, of "node:victim node:victim". */
void ask_preempt_left(struct cluster *c, const char *pod, const char *candidates, char *out, size_t size);
/* The reply of preempting, and its request, are NodeNameToMetaVictims with these members. */
void ask_expect_preempt(struct cluster *c, const char *pod, const char *nominated, const char *candidates,
                        const char *want, const char *label);

#endif
