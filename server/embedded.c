#include "server/embedded.h"

#include <stdio.h>

#include "server/input.h"

static bool add(void *user, enum kind kind, struct doc_value object, struct err *err)
{
    return sim_cluster_add(user, kind, object, err);
}

bool embedded_load(struct sim_cluster *c, const struct options *o, const struct log *log,
                   struct err *err)
{
    struct input in;
    input_init(&in);
    in.undone = "started";
    in.taken = add;
    in.user = c;
    bool ok = input_read(&in, &o->files, o->instance_types, err);
    if (!ok) {
        fwrite(in.mistake_lines.ptr, 1, in.mistake_lines.len, stderr);
    } else {
        input_gates(&in, &o->gates);
        input_check(&in);
        for (size_t i = 0; i < in.warning_count; i++)
            log_warn(log, "load", "%.*s", SPAN_ARG(in.warnings[i]));
    }
    input_release(&in);
    return ok;
}
