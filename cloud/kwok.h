/* kwok: machines that are Node objects, kept alive by the kwok controller (spec api 7.6).
 *
 * Where it differs from Karpenter's provider of that name:
 * - The Node's name is the NodeClaim's, so that a second create of one claim meets the first; it
 * carries the claim's UID as annotation stowage.dev/nodeclaim-uid.
 * - create writes the Node only while that claim exists and is not deleting: the claim is read
 * again just before. remove deletes the Node of that claim and no other's, list tells whose each
 * one is.
 * - A claim that lists no instance types (no `In` on them) may become any that its pool is offered;
 *   Karpenter's provider refuses it, and takes the values of any operator as the list.
 * - A node's capacity is its type's, not the claim's requests. No compatible offering is
 *   ERR_CAPACITY. Equal prices go by the type's name, then the order of its offerings.
 * - Its repair policies are those of the catalogue's file, if that has any.
 * - An offering that is out of stock (tests say so) is not offered for three minutes.
 *
 * Any thread may call the operations; `done` is called on the API thread, or within the operation
 * when nothing has to be asked. */
#ifndef CLOUD_KWOK_H
#define CLOUD_KWOK_H

#include "cloud/catalogue.h"
#include "cloud/provider.h"
#include "kube/api.h"

enum { KWOK_SOLD_OUT_MS = 3 * MS_MINUTE };

/* What becomes of a machine that is asked for. */
enum kwok_fate {
    KWOK_COMES,
    KWOK_FAILS,           /* the call fails (ERR_RETRY): no machine */
    KWOK_NEVER_REGISTERS, /* a machine that is paid for, of which no Node ever comes */
};

struct kwok_config {
    struct api *api;
    struct catalogue_source *types; /* taken over */
    /* Whether a machine of this offering can be had now; NULL: always. For tests and simulations.
     */
    bool (*in_stock)(void *user, struct span type, struct span zone, struct span capacity_type);
    /* Of the machine that a claim is about to get; NULL: it comes. For tests and simulations. */
    enum kwok_fate (*fate)(void *user, struct span claim);
    void *user;
    void (*wake)(void *user); /* step has something to do; may be NULL */
};

/* Of other node classes it knows nothing. */
bool kwok_serves(const struct node_class_ref *ref);
struct provider *kwok_new(const struct kwok_config *config);
/* From now on each offering costs what `price` says of it, which was `listed` at first. Any thread; `price` is not
 * called after it returns. */
void kwok_reprice(struct provider *p,
                  double (*price)(void *user, struct span type, struct span zone, struct span capacity_type,
                                  double listed),
                  void *user);

#endif
