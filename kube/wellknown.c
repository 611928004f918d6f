#include "kube/wellknown.h"

const struct span wellknown_text[] = {
#define X(id, text) SPAN_INIT(text),
    WELLKNOWN_LIST(X)
#undef X
};

struct symtab *kube_symtab_new(void)
{
    return symtab_new(wellknown_text, COUNT_OF(wellknown_text));
}
