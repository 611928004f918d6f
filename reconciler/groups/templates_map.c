#include "reconciler/groups/templates_map.h"

#include <stdlib.h>

#include "base/json.h"
#include "reconciler/groups/told.h"
#include "reconciler/stages.h"

#define TEMPLATES_KEY "templates"

static void keep_uid(struct kept_templates *t, struct span uid)
{
    free((void *)(uintptr_t)t->uid.ptr);
    t->uid = (struct span){NULL, 0};
    if (uid.len == 0)
        return;
    char *copy = mem_new(uid.len);
    memcpy(copy, uid.ptr, uid.len);
    t->uid = (struct span){copy, uid.len};
}

void templates_map_forget(struct keeper *k)
{
    keep_uid(&k->templates, (struct span){NULL, 0});
}

/* --- reading --- */

static void on_read(struct reconciler *r, struct call *c)
{
    struct kept_templates *t = &r->keeper.templates;
    if (r->keeper.learned == NULL)
        return; /* it is kept for nobody any more */
    t->asked = true;
    if (c->err.kind != ERR_NONE && c->err.kind != ERR_NOT_FOUND) {
        told_templates_unread(r, &c->err);
        return;
    }
    t->read = true;
    t->unread = false;
    keep_uid(t, c->err.kind == ERR_NONE ? c->uid_now : (struct span){NULL, 0});
    t->written = span_hash(c->data);
    learned_read(r->keeper.learned, c->data);
}

bool templates_map_known(struct pass *p)
{
    struct kept_templates *t = &p->r->keeper.templates;
    const struct group_settings *s = &p->r->config.groups;
    if (s->flags.as_upstream || t->read)
        return true;
    if (gate_open(&t->gate, UINT64_MAX, p->mono)) {
        struct call *c = call_new(p->r, &t->gate, on_read);
        c->wants = TEMPLATES_KEY;
        call_get(c, KIND_CONFIG_MAP, s->flags.config_namespace, SPAN(TEMPLATES_CONFIG_MAP));
    }
    return t->asked;
}

/* --- writing --- */

/* Another has made it, or it is gone: it is read anew, and what is new there is learned. Any other failure is that of one write. */
static void on_written(struct reconciler *r, struct call *c)
{
    struct kept_templates *t = &r->keeper.templates;
    if (c->err.kind == ERR_NONE && c->uid_now.len != 0) {
        keep_uid(t, c->uid_now);
        t->written = t->sent;
    } else if (c->err.kind == ERR_NOT_FOUND || c->status == 409 || c->status == 422) { /* it is another by now */
        t->read = false;
    }
}

static void put_body(struct buf *out, const struct group_settings *s, bool whole, struct span text)
{
    struct json j = JSON_TO(out);
    json_object_begin(&j);
    if (whole) {
        json_put_string(&j, "apiVersion", SPAN("v1"));
        json_put_string(&j, "kind", SPAN("ConfigMap"));
        json_put_object(&j, "metadata");
        json_put_string(&j, "name", SPAN(TEMPLATES_CONFIG_MAP));
        json_put_string(&j, "namespace", s->flags.config_namespace);
        json_object_end(&j);
    }
    json_put_object(&j, "data");
    json_put_string(&j, TEMPLATES_KEY, text);
    json_object_end(&j);
    json_object_end(&j);
}

void templates_map_write(struct pass *p)
{
    struct keeper *k = &p->r->keeper;
    struct kept_templates *t = &k->templates;
    const struct group_settings *s = &p->r->config.groups;
    if (!t->read || !gate_open(&t->gate, UINT64_MAX, p->mono))
        return;
    struct span text = learned_text(k->learned, p->a);
    t->sent = span_hash(text);
    if (t->sent == t->written)
        return;
    struct meta m = {.ns = s->flags.config_namespace, .name = SPAN(TEMPLATES_CONFIG_MAP), .uid = t->uid};
    struct buf body = {0};
    put_body(&body, s, m.uid.len == 0, text);
    act(p, &(struct action){.verb = m.uid.len != 0 ? API_MERGE : API_CREATE,
                            .kind = KIND_CONFIG_MAP,
                            .object = &m,
                            .gate = &t->gate,
                            .rests = ACT_ON_UID,
                            .body = buf_span(&body),
                            .done = on_written});
    buf_release(&body);
}
