/* listing: what the AWS command line prints as one list, in one JSON value or, page by page, in several. */
#ifndef CLOUD_AWS_LISTING_H
#define CLOUD_AWS_LISTING_H

#include "base/decode.h"

/* Calls `take` for each item of the list, the value's member of that name or, as --query leaves it, the value itself.
 * False: it is no such list, or `take` refused an item; err says where: "types.json:12: InstanceTypes[3]: why". */
typedef bool listing_take(void *user, struct doc_value item, struct err *err);
bool listing_read(struct span text, struct span file, const char *name, listing_take *take, void *user, struct err *err);

#endif
