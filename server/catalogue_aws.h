/* catalogue_aws: a catalogue made of files that the AWS command line prints. */
#ifndef SERVER_CATALOGUE_AWS_H
#define SERVER_CATALOGUE_AWS_H

#include "cloud/catalogue.h"
#include "server/options.h"

/* `files` are what `aws ec2 describe-instance-types` printed, the others are named by `o`. What is left out, or has no
 * price, is told in `notes`, lines for standard error. *out is to be freed, before the arena. */
bool catalogue_from_aws(struct arena *a, const struct texts *files, const struct options *o, struct catalogue_source **out,
                        struct buf *notes, struct err *err);

#endif
