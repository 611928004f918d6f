/* catalogue_check: what is wrong with types that read: nothing that any reader refuses, but that nobody can buy, or that
 * is hardly meant. Looks at what stands in the file, before anything is derived. */
#ifndef CLOUD_CATALOGUE_CHECK_H
#define CLOUD_CATALOGUE_CHECK_H

#include "cloud/catalogue.h"
#include "cloud/catalogue_source.h"

/* `types` is the list that they were read from, for lines. */
void catalogue_check_types(struct catalogue_source *s, struct doc_value types, catalogue_told *tell, void *user);

#endif
