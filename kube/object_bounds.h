/* object_bounds: how large one Pod, pod template, NodePool or NodeOverlay may be and still be planned.
 *
 * Any tenant can write an object of a megabyte, and 1.5 MiB is what the API server takes. Decoding, and all that is done
 * with an object once, takes the time and memory of its bytes. Planning compares parts of an object with each other and
 * with nodes, types and other objects, so its lists are bounded. People write tens of entries; generators hundreds.
 *
 * An object beyond the bounds has meta.excess set, and is used only as far as that is safe:
 * - A Pod keeps its labels, owners, annotations, volumes and requests, and loses its rules (kube/pod_decode.c). While
 *   it is pending it is left out of plans, with the sentence as its reason. Once it is bound it holds its room, and its
 *   node is not empty. The extender has no opinion about it: kube-scheduler decides alone.
 * - The template of a DaemonSet loses its rules, too: room is held for its requests on new nodes without taints.
 * - A NodePool is refused by the webhook, and is not ready when it was admitted before: no node is launched for it, other
 *   pools are not affected. A NodeOverlay is refused, too, and has no effect.
 * Objects of other kinds have no bounds: nothing that is done with them takes more than the time of their bytes.
 * tests/server/test_huge_objects.c fills every list of every kind. */
#ifndef KUBE_OBJECT_BOUNDS_H
#define KUBE_OBJECT_BOUNDS_H

enum {
    OBJECT_LIST_MAX = 1000,     /* entries of one list or map that is read */
    OBJECT_ENTRIES_MAX = 10000, /* of all of them together: lists within lists multiply */
};

/* Further members of a struct schema; `meta_` is the struct meta in the decoded type. */
#define OBJECT_BOUNDS(type_, meta_)                                                                \
    .list_max = OBJECT_LIST_MAX, .entries_max = OBJECT_ENTRIES_MAX, .excess = offsetof(type_, meta_.excess)

#endif
