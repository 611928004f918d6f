/* json_scan: where the values of a JSON text begin and end, found without reading them.
 *
 * For texts too large to be parsed whole: who cuts one into its values needs the memory of one value.
 * What is scanned may be no JSON: the parser says so, value by value. Spans point into the text. */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include "span.h"

/* The next of the values that stand one after the other, from *at on, which is moved behind it. One that
 * does not end takes all the rest. False: there is none. */
bool json_scan_next(struct span text, size_t *at, struct span *value_out);

/* An object's member of that name that is a list; what stands between its brackets. False: there is none, more than
 * one, or the object is not well-formed as far as can be seen. */
bool json_scan_list(struct span object, struct span name, struct span *inside_out);

/* The same of a member that is an object, and what stands between its braces. */
bool json_scan_object(struct span object, struct span name, struct span *inside_out);

/* The next member of what stands between an object's braces; its name without quotes, as it is written. False as of
 * json_scan_item. */
bool json_scan_member(struct span inside, size_t *at, struct span *name_out, struct span *value_out);

/* The next item of what stands between a list's brackets. False with *at short of the end: no item is there, or no
 * comma before it. */
bool json_scan_item(struct span inside, size_t *at, struct span *item_out);

#endif
