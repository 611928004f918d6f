/* catalogue_file: the instance types that --instance-types names. */
#ifndef SERVER_CATALOGUE_FILE_H
#define SERVER_CATALOGUE_FILE_H

#include "cloud/catalogue.h"

/* NULL or empty: those that are built in. The source is the caller's, to be freed. */
bool catalogue_file(const char *path, struct catalogue_source **out, struct err *err);

#endif
