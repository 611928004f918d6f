/* snapshot_look: what a node shows of labels and taints, what a class wants of them, and whether the one suits the
 * other, as kube-scheduler reads selectors. */
#include "planner/groups/snapshot/inner.h"

#include <string.h>

#include "kube/wellknown.h"

/* --- which labels matter --- */

static void ask(struct snapshot *s, sym key)
{
    if (key >= s->asked_limit) {
        uint32_t limit = s->asked_limit != 0 ? s->asked_limit : 256;
        while (limit <= key)
            limit *= 2;
        bool *asked = ARENA_ARRAY(s->arena, bool, limit);
        if (s->asked_limit != 0)
            memcpy(asked, s->asked, s->asked_limit * sizeof(bool));
        s->asked = asked;
        s->asked_limit = limit;
    }
    s->asked[key] = true;
}

static void ask_of(struct snapshot *s, const struct pod *p)
{
    for (uint32_t i = 0; i < p->node_selector.count; i++)
        ask(s, p->node_selector.items[i].key);
    if (p->affinity == NULL)
        return;
    for (uint32_t t = 0; t < p->affinity->required_node.count; t++) {
        const struct node_term *term = &p->affinity->required_node.items[t];
        for (uint32_t i = 0; i < term->match_expressions.count; i++)
            ask(s, term->match_expressions.items[i].key);
        s->names |= term->has_match_fields;
    }
}

void snapshot_look_init(struct snapshot *s)
{
    intern_init(&s->look_ids, s->arena);
    intern_init(&s->want_ids, s->arena);
    intern_init(&s->set_ids, s->arena);
    for (uint32_t c = 0; c < s->world->classes.count; c++)
        ask_of(s, s->world->classes.items[c].example);
}

sym snapshot_label(const struct snapshot *s, uint32_t row, bool copy, sym key)
{
    if (copy && key == SYM_HOSTNAME)
        return SNAPSHOT_OWN;
    const struct world_node *n = &s->world->nodes[row];
    return sym_pairs_get(world_row_labels(n), key);
}

/* --- looks --- */

static struct taints taints_of(const struct snapshot *s, uint32_t row)
{
    const struct node *n = s->world->nodes[row].node;
    return n != NULL ? n->taints : (struct taints){0};
}

static void look_words(const struct snapshot *s, struct words *x, const struct node_look *l)
{
    const struct world_node *row = &s->world->nodes[l->row];
    struct sym_pairs labels = world_row_labels(row);
    struct taints taints = taints_of(s, l->row);
    words_put(x, (uint32_t)l->ghost << 1 | (row->node != NULL && row->node->unschedulable));
    words_put(x, s->names ? (l->copy ? SNAPSHOT_OWN : row->name_sym) : 0);
    words_put(x, taints.count);
    for (uint32_t i = 0; i < taints.count; i++) {
        words_put(x, taints.items[i].key);
        words_put(x, taints.items[i].value);
        words_put(x, taints.items[i].effect);
    }
    for (uint32_t i = 0; i < labels.count; i++) {
        sym key = labels.items[i].key;
        if (key >= s->asked_limit || !s->asked[key] || (l->copy && key == SYM_HOSTNAME))
            continue;
        words_put(x, key);
        words_put(x, labels.items[i].value);
    }
    if (l->copy) {
        words_put(x, SYM_HOSTNAME);
        words_put(x, SNAPSHOT_OWN);
    }
}

uint32_t snapshot_look_of(struct snapshot *s, const struct node_state *n)
{
    struct node_look look = {n->row, n->ghost, n->copy};
    uint32_t *known = &s->nodes[n->row].copy_look;
    if (n->copy && !n->ghost && *known != 0)
        return *known - 1;
    struct words x;
    words_init(&x, s->arena);
    look_words(s, &x, &look);
    bool is_new;
    uint32_t id = intern_put(&s->look_ids, &x, &is_new);
    if (is_new) {
        uint32_t count = id;
        ARENA_PUSH(s->arena, s->looks, count, s->look_capacity, look);
    }
    if (n->copy && !n->ghost)
        *known = id + 1;
    return id;
}

/* --- wants --- */

static void expression_words(struct words *x, const struct expressions *list)
{
    words_put(x, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct expression *e = &list->items[i];
        words_put(x, e->key);
        words_put(x, e->op);
        words_put(x, e->values.count);
        for (uint32_t v = 0; v < e->values.count; v++)
            words_put(x, e->values.items[v]);
    }
}

static void want_words(struct words *x, const struct pod *p)
{
    words_put(x, p->node_selector.count);
    for (uint32_t i = 0; i < p->node_selector.count; i++) {
        words_put(x, p->node_selector.items[i].key);
        words_put(x, p->node_selector.items[i].value);
    }
    words_put(x, p->tolerations.count);
    for (uint32_t i = 0; i < p->tolerations.count; i++) {
        const struct toleration *t = &p->tolerations.items[i];
        words_put(x, t->key);
        words_put(x, t->value);
        words_put(x, (uint32_t)t->op << 8 | t->effect);
    }
    if (p->affinity == NULL || !p->affinity->has_required_node)
        return;
    words_put(x, p->affinity->required_node.count);
    for (uint32_t t = 0; t < p->affinity->required_node.count; t++) {
        expression_words(x, &p->affinity->required_node.items[t].match_expressions);
        expression_words(x, &p->affinity->required_node.items[t].match_fields);
    }
}

uint32_t snapshot_want_of(struct snapshot *s, uint32_t class_id)
{
    struct class_state *k = &s->classes[class_id];
    if (k->want != 0)
        return k->want - 1;
    const struct pod *p = s->world->classes.items[class_id].example;
    struct words x;
    words_init(&x, s->arena);
    want_words(&x, p);
    bool is_new;
    uint32_t id = intern_put(&s->want_ids, &x, &is_new);
    if (is_new && id >= s->want_capacity) {
        uint32_t capacity = s->want_capacity != 0 ? s->want_capacity * 2 : 16;
        const struct pod **wants = ARENA_ARRAY(s->arena, const struct pod *, capacity);
        uint8_t **suits = ARENA_ARRAY(s->arena, uint8_t *, capacity);
        uint32_t *limits = ARENA_ARRAY(s->arena, uint32_t, capacity);
        for (uint32_t i = 0; i < s->want_capacity; i++) {
            wants[i] = s->wants[i];
            suits[i] = s->suits[i];
            limits[i] = s->suit_limits[i];
        }
        s->wants = wants;
        s->suits = suits;
        s->suit_limits = limits;
        s->want_capacity = capacity;
    }
    if (is_new)
        s->wants[id] = p;
    k->ports = ports_sorted(s->arena, p->ports);
    k->want = id + 1;
    return id;
}

/* --- whether one suits the other --- */

static bool number(const struct snapshot *s, sym value, int64_t *out)
{
    return value != SNAPSHOT_OWN && span_int64(sym_text(s->world->syms, value), out);
}

static bool compares(const struct snapshot *s, const struct expression *e, sym value)
{
    int64_t has, asked;
    if (e->values.count != 1 || !number(s, value, &has) || !number(s, e->values.items[0], &asked))
        return false;
    return e->op == OP_GT ? has > asked : has < asked;
}

static bool meets(const struct snapshot *s, const struct expression *e, sym value)
{
    switch (e->op) {
    case OP_IN:
        return value != SYM_NONE && syms_has(e->values, value);
    case OP_NOT_IN:
        return value == SYM_NONE || !syms_has(e->values, value);
    case OP_EXISTS:
        return value != SYM_NONE;
    case OP_DOES_NOT_EXIST:
        return value == SYM_NONE;
    case OP_GT:
    case OP_LT:
        return value != SYM_NONE && compares(s, e, value);
    case OP_NONE:
    case OP_GTE:
    case OP_LTE:
        break;
    }
    return false;
}

/* An empty term matches nothing. */
static bool term_meets(const struct snapshot *s, const struct node_term *t, const struct node_look *l)
{
    for (uint32_t i = 0; i < t->match_expressions.count; i++) {
        const struct expression *e = &t->match_expressions.items[i];
        if (!meets(s, e, snapshot_label(s, l->row, l->copy, e->key)))
            return false;
    }
    sym name = l->copy ? SNAPSHOT_OWN : s->world->nodes[l->row].name_sym;
    for (uint32_t i = 0; i < t->match_fields.count; i++)
        if (!meets(s, &t->match_fields.items[i], name))
            return false;
    return t->match_expressions.count + t->match_fields.count != 0;
}

static bool labels_suit(const struct snapshot *s, const struct pod *p, const struct node_look *l)
{
    for (uint32_t i = 0; i < p->node_selector.count; i++)
        if (snapshot_label(s, l->row, l->copy, p->node_selector.items[i].key) != p->node_selector.items[i].value)
            return false;
    if (p->affinity == NULL || !p->affinity->has_required_node)
        return true;
    for (uint32_t t = 0; t < p->affinity->required_node.count; t++)
        if (term_meets(s, &p->affinity->required_node.items[t], l))
            return true;
    return false;
}

static bool taints_suit(const struct snapshot *s, const struct pod *p, const struct node_look *l)
{
    struct taint doomed = {.key = SYM_TO_BE_DELETED, .effect = TAINT_NO_SCHEDULE};
    struct taints taints = taints_of(s, l->row);
    for (uint32_t i = 0; i < taints.count; i++) {
        enum taint_effect e = taints.items[i].effect;
        if ((e == TAINT_NO_SCHEDULE || e == TAINT_NO_EXECUTE) &&
            !taint_tolerated(&taints.items[i], p->tolerations, s->world->syms))
            return false;
    }
    return !l->ghost || taint_tolerated(&doomed, p->tolerations, NULL);
}

static bool cordon_suits(const struct snapshot *s, const struct pod *p, const struct node_look *l)
{
    const struct node *n = s->world->nodes[l->row].node;
    struct taint cordon = {.key = SYM_UNSCHEDULABLE, .effect = TAINT_NO_SCHEDULE};
    return n == NULL || !n->unschedulable || taint_tolerated(&cordon, p->tolerations, NULL);
}

uint8_t snapshot_suits(struct snapshot *s, uint32_t want, uint32_t look)
{
    if (look >= s->suit_limits[want]) {
        uint32_t limit = s->look_ids.count + s->look_ids.count / 2 + 16;
        uint8_t *suits = ARENA_ARRAY(s->arena, uint8_t, limit);
        if (s->suit_limits[want] != 0)
            memcpy(suits, s->suits[want], s->suit_limits[want]);
        s->suits[want] = suits;
        s->suit_limits[want] = limit;
    }
    uint8_t *known = &s->suits[want][look];
    if (*known == 0) {
        const struct pod *p = s->wants[want];
        const struct node_look *l = &s->looks[look];
        *known = (uint8_t)(SUIT_KNOWN | (taints_suit(s, p, l) ? SUIT_TAINTS : 0) |
                           (labels_suit(s, p, l) ? SUIT_LABELS : 0) | (cordon_suits(s, p, l) ? SUIT_CORDON : 0));
    }
    return *known;
}
