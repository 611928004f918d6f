/* reboot: the Node says another boot, and that was it. */
#include "cloud/kwok_operation.h"

static void on_node_rebooted(void *user, const struct api_result *r)
{
    struct operation *o = user;
    if (r->err.kind == ERR_NONE)
        operation_finish(o, NULL, 0);
    else
        operation_fail_request(o, r, "rebooting Node");
}

uint64_t kwok_reboot(struct provider *p, const struct claim_order *order, struct span operation, machine_done *done,
                     void *user)
{
    struct operation *o = operation_new(kwok_of(p), VERB_REBOOT, done, user);
    uint64_t id = o->id;
    o->node_name = arena_dup(&o->arena, sym_text(order->syms, order->claim->node_name));
    if (o->node_name.len == 0) {
        operation_fail_with(o, ERR_RETRY, "NodeClaim %.*s has no Node yet", SPAN_ARG(order->claim->meta.name));
        return id;
    }
    struct span body = arena_printf(&o->arena, "{\"status\":{\"nodeInfo\":{\"bootID\":\"kwok-%.*s\"}}}", SPAN_ARG(operation));
    operation_send(o,
                   (struct api_request){.verb = API_MERGE,
                                        .kind = KIND_NODE,
                                        .name = o->node_name,
                                        .subresource = SPAN("status"),
                                        .body = body},
                   on_node_rebooted);
    return id;
}
