/* Files of settings, the first byte chooses which: a kubeconfig, a catalogue of instance types, a scheduler
 * configuration. Each is read or refused with a sentence. */
#undef NDEBUG
#include <assert.h>

#include "cloud/catalogue.h"
#include "kube/kubeconfig.h"
#include "planner/pods/default_spread.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_kubeconfig(struct span text)
{
    struct arena a;
    arena_init(&a, 0);
    struct kubeconfig_file file = {SPAN("config"), text};
    struct client_config config;
    struct err err = {.kind = ERR_NONE};
    if (kubeconfig_decode(&a, &file, 1, (struct span){NULL, 0}, &config, &err))
        assert(config.server.len != 0);
    else
        assert(err.kind != ERR_NONE && err.msg[0] != '\0');
    arena_release(&a);
}

static void read_catalogue(struct span text)
{
    struct catalogue_source *source;
    struct err err = {.kind = ERR_NONE};
    if (!catalogue_decode(text, SPAN("types.json"), &source, &err)) {
        assert(err.kind != ERR_NONE && err.msg[0] != '\0');
        return;
    }
    struct arena a;
    arena_init(&a, 0);
    struct symtab *syms = kube_symtab_new();
    struct catalogue c;
    catalogue_build(source, &a, syms, &c);
    for (uint32_t i = 1; i < c.count; i++) /* one name may stand in entries of different pools */
        assert(span_cmp(c.items[i - 1].name, c.items[i].name) <= 0);
    catalogue_source_free(source);
    symtab_unref(syms);
    arena_release(&a);
}

static void read_scheduler_config(struct span text)
{
    struct arena a;
    arena_init(&a, 0);
    struct default_spread_config config;
    struct err err = {.kind = ERR_NONE};
    if (!default_spread_decode(&a, text, &config, &err))
        assert(err.kind != ERR_NONE && err.msg[0] != '\0');
    else
        for (uint32_t i = 0; i < config.count; i++)
            assert(config.items[i].max_skew > 0 && config.items[i].topology_key.len != 0);
    arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct span text = {(const char *)data + 1, size - 1};
    switch (data[0] % 3) {
    case 0:
        read_kubeconfig(text);
        break;
    case 1:
        read_catalogue(text);
        break;
    default:
        read_scheduler_config(text);
        break;
    }
    return 0;
}
