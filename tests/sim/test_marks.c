/* What a stand-in remembers of changes: each object once, the oldest first, whoever changed last; and who shares a name. */
#include "support_sim.h"

#include "sim/standins/marks.h"

static json_t *namespace_of(const char *name)
{
    return json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace", "metadata", "name", name);
}

static void assert_names(json_t *found /* taken */, const char *names)
{
    char is[64] = "";
    size_t i;
    json_t *object;
    json_array_foreach(found, i, object) {
        strcat(is, json_string_value(tree_get(object, "metadata.name")));
    }
    json_decref(found);
    assert_string_equal(is, names);
}

static void heard(void *user, enum kind k, const json_t *old, const json_t *fresh)
{
    if (k == KIND_NAMESPACE)
        marks_add(user, fresh != NULL ? fresh : old);
}

static void the_oldest_comes_first(void **state)
{
    (void)state;
    struct objects o;
    struct marks m;
    objects_init(&o, START);
    marks_init(&m, KIND_NAMESPACE);
    objects_put(&o, KIND_NAMESPACE, namespace_of("c"));
    objects_listen(&o, heard, &m);
    assert_names(marks_take(&m, &o), "c"); /* what is there is heard of at once */
    objects_put(&o, KIND_NAMESPACE, namespace_of("b"));
    objects_put(&o, KIND_NAMESPACE, namespace_of("a"));
    objects_put(&o, KIND_NAMESPACE, namespace_of("b"));
    objects_put(&o, KIND_NAMESPACE, namespace_of("c"));
    assert_names(marks_take(&m, &o), "cba");
    assert_false(marks_any(&m));
    objects_remove(&o, KIND_NAMESPACE, objects_find(&o, KIND_NAMESPACE, (struct span){NULL, 0}, SPAN("c")));
    objects_put(&o, KIND_NAMESPACE, namespace_of("c")); /* another, the youngest */
    objects_put(&o, KIND_NAMESPACE, namespace_of("a"));
    assert_names(marks_take(&m, &o), "ac");
    objects_put(&o, KIND_NAMESPACE, namespace_of("b"));
    objects_remove(&o, KIND_NAMESPACE, objects_find(&o, KIND_NAMESPACE, (struct span){NULL, 0}, SPAN("b")));
    assert_names(marks_take(&m, &o), ""); /* who is gone is nobody to look at */
    objects_unlisten(&o, &m);
    objects_put(&o, KIND_NAMESPACE, namespace_of("b"));
    assert_false(marks_any(&m));
    marks_release(&m);
    objects_release(&o);
}

static void who_moves_is_in_one_group(void **state)
{
    (void)state;
    struct groups g;
    struct span none = {NULL, 0};
    groups_init(&g);
    groups_move(&g, "p", none, SPAN("n1"));
    groups_move(&g, "q", none, SPAN("n1"));
    groups_move(&g, "p", SPAN("n1"), SPAN("n2"));
    assert_int_equal(json_object_size(groups_keys(&g, SPAN("n1"))), 1);
    assert_non_null(json_object_get(groups_keys(&g, SPAN("n2")), "p"));
    groups_move(&g, "p", SPAN("n2"), none);
    assert_null(groups_keys(&g, SPAN("n2"))); /* an empty group takes no room */
    assert_null(groups_keys(&g, none));
    groups_release(&g);
}

static void what_comes_and_goes_is_counted_by_name(void **state)
{
    (void)state;
    struct counts c;
    counts_init(&c);
    counts_add(&c, SPAN("web"), 1);
    counts_add(&c, SPAN("web"), 1);
    counts_add(&c, SPAN("api"), 1);
    counts_add(&c, (struct span){NULL, 0}, 1);
    assert_int_equal(counts_get(&c, SPAN("web")), 2);
    counts_add(&c, SPAN("web"), -1);
    counts_add(&c, SPAN("api"), -1);
    assert_int_equal(counts_get(&c, SPAN("web")), 1);
    assert_int_equal(counts_get(&c, SPAN("api")), 0);
    assert_int_equal(json_object_size(c.by_name), 1); /* nothing takes no room */
    assert_int_equal(counts_get(&c, (struct span){NULL, 0}), 0);
    counts_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_comes_first),
        cmocka_unit_test(who_moves_is_in_one_group),
        cmocka_unit_test(what_comes_and_goes_is_counted_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
