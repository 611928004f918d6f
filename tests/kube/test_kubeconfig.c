#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "kube/kubeconfig.h"

static struct kubeconfig_file file_of(const char *path, const char *text)
{
    return (struct kubeconfig_file){span_of(path), span_of(text)};
}

#define FRAME(cluster, user)                                                                       \
    "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n"                                \
    "- {name: c, context: {cluster: k, user: u}}\n"                                                \
    "clusters:\n- {name: k, cluster: {" cluster "}}\nusers:\n- {name: u, user: {" user "}}\n"

static const char whole[] = "apiVersion: v1\n"
                            "kind: Config\n"
                            "preferences: {}\n"
                            "current-context: dev\n"
                            "contexts:\n"
                            "- name: dev\n"
                            "  context: {cluster: kind, user: admin, namespace: web}\n"
                            "- name: prod\n"
                            "  context: {cluster: prod, user: robot}\n"
                            "clusters:\n"
                            "- name: kind\n"
                            "  cluster:\n"
                            "    server: https://127.0.0.1:6443/\n"
                            "    certificate-authority-data: Q0EgUEVN\n"
                            "    certificate-authority: passed-over.crt\n"
                            "- name: prod\n"
                            "  cluster:\n"
                            "    server: https://prod.example:443/k8s/clusters/c-1\n"
                            "    certificate-authority: pki/ca.crt\n"
                            "    tls-server-name: kubernetes\n"
                            "    proxy-url: http://proxy:3128\n"
                            "    disable-compression: true\n"
                            "users:\n"
                            "- name: admin\n"
                            "  user:\n"
                            "    client-certificate-data: Q0VSVA==\n"
                            "    client-key: /etc/keys/admin.key\n"
                            "- name: robot\n"
                            "  user: {token: abc, tokenFile: token}\n";

static void expect(const char *what, struct span got, const char *want)
{
    if (!span_eq(got, span_of(want)))
        fail_msg("%s: got \"%.*s\", want \"%s\"", what, SPAN_ARG(got), want);
}

static void test_the_current_context(void **state)
{
    (void)state;
    struct arena a;
    struct client_config c;
    struct err err;
    arena_init(&a, 0);
    struct kubeconfig_file f = file_of("/home/me/.kube/config", whole);
    if (!kubeconfig_decode(&a, &f, 1, (struct span){0}, &c, &err))
        fail_msg("%s", err.msg);
    expect("server", c.server, "https://127.0.0.1:6443");
    expect("ca", c.ca.data, "CA PEM");
    expect("ca file", c.ca.file, "");
    expect("cert", c.cert.data, "CERT");
    expect("key", c.key.file, "/etc/keys/admin.key");
    expect("namespace", c.ns, "web");
    expect("source", c.source, "context dev of /home/me/.kube/config");
    assert_int_equal(c.token.len + c.token_file.len, 0);
    arena_release(&a);
}

static void test_a_named_context(void **state)
{
    (void)state;
    struct arena a;
    struct client_config c;
    struct err err;
    arena_init(&a, 0);
    struct kubeconfig_file f = file_of("conf/config", whole);
    if (!kubeconfig_decode(&a, &f, 1, SPAN("prod"), &c, &err))
        fail_msg("%s", err.msg);
    expect("server", c.server, "https://prod.example:443/k8s/clusters/c-1");
    expect("ca", c.ca.file, "conf/pki/ca.crt");
    expect("name", c.tls_server_name, "kubernetes");
    expect("proxy", c.proxy_url, "http://proxy:3128");
    expect("token", c.token, "abc");
    expect("token file", c.token_file, "conf/token");
    expect("namespace", c.ns, "default");
    assert_true(c.no_compression);
    assert_false(c.skip_verify);
    arena_release(&a);
}

static void test_json_is_the_same(void **state)
{
    (void)state;
    struct arena a;
    struct client_config c;
    struct err err;
    arena_init(&a, 0);
    struct kubeconfig_file f = file_of(
        "f",
        "{\"current-context\":\"c\",\"contexts\":[{\"name\":\"c\",\"context\":{\"cluster\":\"k\","
        "\"user\":\"\"}}],\n\t\"clusters\":[{\"name\":\"k\",\"cluster\":{\"server\":\"http://"
        "h\"}}],"
        "\"users\":null}");
    if (!kubeconfig_decode(&a, &f, 1, (struct span){0}, &c, &err))
        fail_msg("%s", err.msg);
    expect("server", c.server, "http://h");
    arena_release(&a);
}

static void test_of_several_files_the_first_wins(void **state)
{
    (void)state;
    struct arena a;
    struct client_config c;
    struct err err;
    arena_init(&a, 0);
    struct kubeconfig_file files[] = {
        file_of("/a/one", "contexts:\n- {name: c, context: {cluster: k, user: u}}\n"
                          "users:\n- {name: u, user: {tokenFile: mine}}\n"),
        file_of("/a/empty", ""),
        file_of("/b/two",
                FRAME("server: 'https://two', certificate-authority: ca", "token: other")),
        file_of(
            "/c/three",
            "current-context: other\nclusters:\n- {name: k, cluster: {server: 'https://three'}}\n"),
    };
    if (!kubeconfig_decode(&a, files, COUNT_OF(files), (struct span){0}, &c, &err))
        fail_msg("%s", err.msg);
    expect("server", c.server, "https://two");
    expect("ca", c.ca.file, "/b/ca");
    expect("token file", c.token_file, "/a/mine");
    arena_release(&a);
}

static const struct {
    const char *label, *text, *says[3];
} refused[] = {
    {"exec",
     FRAME("server: 'https://h'", "exec: {command: aws, apiVersion: v1, args: [x]}"),
     {"user \"u\"", "exec plugins are not supported", "\"aws\""}},
    {"auth-provider",
     FRAME("server: 'https://h'", "auth-provider: {name: gcp}"),
     {"user \"u\"", "auth-provider \"gcp\" is not supported", "token"}},
    {"password",
     FRAME("server: 'https://h'", "username: joe, password: x"),
     {"user \"u\"", "password", "tokenFile"}},
    {"impersonation",
     FRAME("server: 'https://h'", "token: x, as: root"),
     {"user \"u\"", "impersonation", "root"}},
    {"certificate without a key",
     FRAME("server: 'https://h'", "client-certificate: x"),
     {"user \"u\"", "client-key is missing", "f"}},
    {"key without a certificate",
     FRAME("server: 'https://h'", "client-key-data: eA=="),
     {"user \"u\"", "client-certificate is missing", "f"}},
    {"not base64",
     FRAME("server: 'https://h', certificate-authority-data: '%'", "token: x"),
     {"cluster \"k\"", "certificate-authority-data is not base64", "f"}},
    {"no server",
     FRAME("certificate-authority: x", "token: x"),
     {"cluster \"k\"", "server is missing", "f"}},
    {"no scheme", FRAME("server: 'h:6443'", "token: x"), {"cluster \"k\"", "https://", "h:6443"}},
    {"no host", FRAME("server: 'https:///x'", "token: x"), {"cluster \"k\"", "plain URL", "f"}},
    {"a query", FRAME("server: 'https://h/?x'", "token: x"), {"cluster \"k\"", "plain URL", "f"}},
    {"credentials", FRAME("server: 'https://u:p@h'", "token: x"), {"cluster \"k\"", "plain URL", "f"}},
    {"a part of a page", FRAME("server: 'https://h/#x'", "token: x"), {"cluster \"k\"", "plain URL", "f"}},
    {"a line break",
     FRAME("server: \"https://h\\nX: y\"", "token: x"),
     {"cluster \"k\"", "plain URL", "f"}},
    {"no current context", "contexts: []\n", {"current-context is not set", "f", "f"}},
    {"context missing", "current-context: x\n", {"no context \"x\"", "f", "f"}},
    {"cluster missing",
     "current-context: c\ncontexts:\n- {name: c, context: {cluster: k, user: u}}\n",
     {"context \"c\"", "no cluster \"k\"", "f"}},
    {"user missing",
     "current-context: c\ncontexts:\n- {name: c, context: {cluster: k, user: u}}\n"
     "clusters:\n- {name: k, cluster: {server: 'https://h'}}\n",
     {"context \"c\"", "no user \"u\"", "f"}},
    {"wrong type", "current-context: {}\n", {"f", "current-context", "string"}},
    {"not YAML", "a: [\n", {"kubeconfig f", "", ""}},
};

static void test_refusals_name_the_place_and_the_fix(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct client_config c;
        struct err err;
        struct kubeconfig_file f = file_of("f", refused[i].text);
        if (kubeconfig_decode(&a, &f, 1, (struct span){0}, &c, &err))
            fail_msg("%s: accepted", refused[i].label);
        for (size_t j = 0; j < COUNT_OF(refused[i].says); j++)
            if (!span_contains(span_of(err.msg), span_of(refused[i].says[j])))
                fail_msg("%s: \"%s\" does not say \"%s\"", refused[i].label, err.msg,
                         refused[i].says[j]);
        if (strchr(err.msg, '\n') != NULL && strstr(refused[i].label, "line break") == NULL)
            fail_msg("%s: more than one line", refused[i].label);
    }
    arena_release(&a);
}

static void test_in_a_pod(void **state)
{
    (void)state;
    struct arena a;
    struct client_config c;
    struct err err;
    arena_init(&a, 0);
    assert_true(kubeconfig_in_cluster(&a, SPAN("10.96.0.1"), SPAN("443"), SPAN("/sa"),
                                      SPAN("ns-1\n"), &c, &err));
    expect("server", c.server, "https://10.96.0.1:443");
    expect("ca", c.ca.file, "/sa/ca.crt");
    expect("token", c.token_file, "/sa/token");
    expect("namespace", c.ns, "ns-1");
    assert_true(kubeconfig_in_cluster(&a, SPAN("fd00::1"), SPAN("6443"), SPAN("/sa"),
                                      (struct span){0}, &c, &err));
    expect("IPv6", c.server, "https://[fd00::1]:6443");
    expect("no namespace", c.ns, "default");
    assert_false(kubeconfig_in_cluster(&a, SPAN("10.96.0.1"), (struct span){0}, SPAN("/sa"),
                                       SPAN("x"), &c, &err));
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_current_context),
        cmocka_unit_test(test_a_named_context),
        cmocka_unit_test(test_json_is_the_same),
        cmocka_unit_test(test_of_several_files_the_first_wins),
        cmocka_unit_test(test_refusals_name_the_place_and_the_fix),
        cmocka_unit_test(test_in_a_pod),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
