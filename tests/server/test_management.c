/* Which flags name a management cluster beside the workload's (docs/cluster-api.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/groups.h"

#define KUBECONFIG                                                                                                      \
    "{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}], clusters: " \
    "[{name: a, cluster: {server: 'http://127.0.0.1:1'}}], users: [{name: a, user: {token: t}}]}"

static const struct {
    const char *label, *flags[3];
    bool elsewhere;
    const char *error; /* NULL: none */
} rows[] = {
    {"one cluster", {"--cloud-provider=clusterapi"}, false, NULL},
    {"a kubeconfig of its own", {"--cloud-provider=clusterapi", "--cloud-config=FILE"}, true, NULL},
    {"and authoritative", {"--cloud-provider=clusterapi", "--cloud-config=FILE", "--clusterapi-cloud-config-authoritative"}, true,
     NULL},
    {"where we run", {"--cloud-provider=clusterapi", "--clusterapi-cloud-config-authoritative"}, true, NULL},
    {"authoritative: not", {"--cloud-provider=clusterapi", "--clusterapi-cloud-config-authoritative=false"}, false, NULL},
    {"kwok's file is none", {"--cloud-provider=kwok", "--cloud-config=FILE"}, false, NULL},
    {"none there", {"--cloud-provider=clusterapi", "--cloud-config=/nowhere/at/all"}, false, "--cloud-config: kubeconfig: "},
};

static void flags_name_it(void **state)
{
    (void)state;
    char path[] = "/tmp/stowage-management-XXXXXX";
    FILE *f = fdopen(mkstemp(path), "w");
    fputs(KUBECONFIG, f);
    fclose(f);
    setenv("KUBECONFIG", path, 1); /* of the Pod that is none */
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena a;
        struct group_options_given given;
        struct mirror *mirror;
        struct err err = {0};
        char file[64], *argv[3], **rest;
        int argc = 0, count;
        arena_init(&a, 0);
        snprintf(file, sizeof(file), "--cloud-config=%s", path);
        for (; argc < 3 && rows[i].flags[argc] != NULL; argc++)
            argv[argc] = strcmp(rows[i].flags[argc], "--cloud-config=FILE") == 0 ? file : (char *)(uintptr_t)rows[i].flags[argc];
        assert_true(group_options_take(&a, argc, argv, NULL, &given, &count, &rest, &err));
        assert_int_equal(count, 0);
        assert_int_equal(given.without_meaning.count, 0);
        bool fine = groups_management(&a, &given, &(struct client_policy){0}, &mirror, &err);
        if (fine != (rows[i].error == NULL) || (mirror != NULL) != rows[i].elsewhere)
            fail_msg("%s: %s, %s", rows[i].label, fine ? "fine" : err.msg, mirror != NULL ? "elsewhere" : "here");
        if (!fine && !span_has_prefix(span_of(err.msg), span_of(rows[i].error)))
            fail_msg("%s: %s", rows[i].label, err.msg);
        mirror_free(mirror);
        arena_release(&a);
    }
    unsetenv("KUBECONFIG");
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(flags_name_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
