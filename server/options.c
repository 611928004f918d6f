#include "server/option_value.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/nearest.h"
#include "server/group_options.h"

#define AT(member) .offset = offsetof(struct options, member)
#define GATES                                                                                      \
    "NodeRepair=false,ReservedCapacity=true,SpotToSpotConsolidation=false,NodeOverlay=false,"      \
    "StaticCapacity=false,CapacityBuffer=false,TerminateFirstDrift=false,"                         \
    "TerminateFirstRepair=false,PodDeletionCostManagement=false"

static const struct option table[] = {
    {.name = "filename", .is_file = true, .letter = 'f', .type = OPTION_TEXTS, AT(files), .group = OPTION_ALL | OPTION_TOP,
     .help = "a file or directory of objects, - for standard input; may be repeated"},
    {.name = "instance-types", .is_file = true, .alias = "instance-types-file-path",
     .env = "INSTANCE_TYPES_FILE_PATH", .type = OPTION_TEXT, AT(instance_types),
     .group = OPTION_ALL | OPTION_CHECK | OPTION_TOP, .help = "catalogue of instance types; default: the one built in"},
    {.name = "preference-policy", .env = "PREFERENCE_POLICY", .type = OPTION_CHOICE,
     .choices = "Respect|Ignore", .fallback = "Respect", AT(preference_policy),
     .group = OPTION_ALL, .help = "whether preferences are tried before being dropped"},
    {.name = "min-values-policy", .env = "MIN_VALUES_POLICY", .type = OPTION_CHOICE,
     .choices = "Strict|BestEffort", .fallback = "Strict", AT(min_values_policy),
     .group = OPTION_ALL, .help = "BestEffort lowers minValues to what is there"},
    {.name = "feature-gates", .env = "FEATURE_GATES", .type = OPTION_GATES, .fallback = GATES,
     AT(gates), .group = OPTION_ALL | OPTION_CHECK, .help = "Karpenter's gates, A=true,B=false"},
    {.name = "ignore-dra-requests", .env = "IGNORE_DRA_REQUESTS", .type = OPTION_BOOL,
     .fallback = "true", AT(ignore_dra_requests), .group = OPTION_ALL,
     .help = "pods with resource claims are reported, not planned"},
    {.name = "legacy-node-repair", .env = "LEGACY_NODE_REPAIR", .type = OPTION_BOOL,
     .fallback = "false", AT(legacy_node_repair), .group = OPTION_ALL,
     .help = "with gate NodeRepair: unwell nodes are deleted by force, without method Repair"},
    {.name = "scheduler-config", .env = "SCHEDULER_CONFIG", .type = OPTION_TEXT,
     AT(scheduler_config), .group = OPTION_ALL,
     .help = "YAML or JSON with the scheduler's podTopologySpread.defaultConstraints"},

    {.name = "kubeconfig", .is_file = true, .type = OPTION_TEXT, AT(kubeconfig),
     .group = OPTION_CLUSTER | OPTION_READ, .help = "default: $KUBECONFIG, in-cluster, else ~/.kube/config"},
    {.name = "context", .type = OPTION_TEXT, AT(context), .group = OPTION_CLUSTER | OPTION_READ,
     .help = "context of the kubeconfig; default: its current one"},
    {.name = "placement", .type = OPTION_CHOICE, .choices = "extender|nominate",
     .fallback = "extender", AT(placement), .group = OPTION_CLUSTER | OPTION_SIMULATE,
     .help = "how the scheduler learns of the plan: it asks, or pods are nominated for nodes"},
    {.name = "nominate-from", .type = OPTION_INT, .max = 1000000, .fallback = "2500", AT(nominate_from),
     .group = OPTION_CLUSTER | OPTION_SIMULATE,
     .help = "with so many nodes planned pods are nominated, too, though the scheduler asks: it then looks at one "
             "node; 0: never"},
    {.name = "embedded", .type = OPTION_BOOL, .fallback = "false", AT(embedded),
     .group = OPTION_SERVE, .help = "run on a cluster in memory instead of a real one"},
    {.name = "webhook-listen", .type = OPTION_TEXT, AT(webhook_listen), .group = OPTION_SERVE,
     .help = "address of the admission webhook (TLS); default: :8443, on loopback with --embedded"},
    {.name = "extender-listen", .type = OPTION_TEXT, AT(extender_listen), .group = OPTION_SERVE,
     .help = "address of the scheduler extender (TLS, client certificate); default: :9443, on "
             "loopback with --embedded"},
    {.name = "page-listen", .type = OPTION_TEXT, .fallback = "127.0.0.1:8090", AT(page_listen),
     .group = OPTION_SERVE, .help = "address of the page, /plan and /explain; empty: none"},
    {.name = "page-host", .type = OPTION_NAMES, AT(page_hosts), .group = OPTION_SERVE,
     .help = "a name by which the page may be asked for, beside loopback's and every address; .NAME: all below it; may be "
             "repeated"},
    {.name = "page-token-file", .is_file = true, .type = OPTION_TEXT, AT(page_token_file),
     .group = OPTION_SERVE | OPTION_ASK,
     .help = "file whose first line is a token that whoever asks the page's listener must show; default: none"},
    {.name = "page-insecure", .type = OPTION_BOOL, .fallback = "false", AT(page_insecure), .group = OPTION_SERVE,
     .help = "serve the page without a token on an address other than loopback; every client that reaches it can read it"},
    {.name = "metrics-port", .env = "METRICS_PORT", .type = OPTION_INT, .max = 65535,
     .fallback = "8080", AT(metrics_port), .group = OPTION_SERVE, .help = "port of /metrics; on loopback with --embedded"},
    {.name = "disable-cluster-state-observability", .env = "DISABLE_CLUSTER_STATE_OBSERVABILITY",
     .type = OPTION_BOOL, .fallback = "false", AT(disable_cluster_state_observability),
     .group = OPTION_SERVE, .help = "no series of single pods, nodes and NodePools in /metrics"},
    {.name = "metrics-pods-max", .type = OPTION_INT, .max = 1000000, .fallback = "20000",
     AT(metrics_pods_max), .group = OPTION_SERVE,
     .help = "pods have series of their own in /metrics only in a cluster with no more; 0: none"},
    {.name = "health-probe-port", .env = "HEALTH_PROBE_PORT", .type = OPTION_INT, .max = 65535,
     .fallback = "8081", AT(health_port), .group = OPTION_SERVE,
     .help = "port of /healthz, /readyz, /livez; on loopback with --embedded"},
    {.name = "threads", .type = OPTION_INT, .min = 1, .max = 64, .fallback = "2", AT(threads),
     .group = OPTION_SERVE, .help = "threads that answer the extender; the webhook has one of its own"},
    {.name = "tls-cert", .is_file = true, .type = OPTION_TEXT, AT(tls_cert), .group = OPTION_SERVE,
     .help = "serving certificate file; default: one of our own CA"},
    {.name = "tls-key", .is_file = true, .type = OPTION_TEXT, AT(tls_key), .group = OPTION_SERVE,
     .help = "its key file"},
    {.name = "tls-min-version", .type = OPTION_CHOICE, .choices = "VersionTLS12|VersionTLS13", .fallback = "VersionTLS12",
     .may_be_empty = true, AT(tls_min_version), .group = OPTION_SERVE,
     .help = "oldest version of TLS that webhook and extender accept, as kube-scheduler's flag"},
    {.name = "tls-cipher-suites", .type = OPTION_NAMES, AT(tls_cipher_suites), .group = OPTION_SERVE,
     .help = "NAME,...: cipher suites of TLS 1.2 that webhook and extender accept, named as for kube-scheduler; those of TLS 1.3 "
             "cannot be chosen; default: ECDHE with AES-GCM or ChaCha20-Poly1305"},
    {.name = "extender-client-ca", .is_file = true, .type = OPTION_TEXT, AT(extender_client_ca),
     .group = OPTION_SERVE, .help = "CA file of the scheduler's certificate; default: our own CA"},
    {.name = "extender-client-names", .type = OPTION_NAMES, AT(extender_client_names),
     .group = OPTION_SERVE,
     .help = "NAME,...: common names, DNS names or URIs of the certificates that the extender accepts; "
             "default: the one that our own CA signs for the scheduler; needed with --extender-client-ca"},
    {.name = "extender-insecure", .type = OPTION_BOOL, .fallback = "false", AT(extender_insecure),
     .group = OPTION_SERVE, .help = "ask no client certificate of the scheduler"},
    {.name = "scheduler-secret-namespace", .type = OPTION_TEXT, AT(scheduler_secret_ns), .group = OPTION_CLUSTER,
     .help = "namespace of Secret stowage-scheduler-client, the scheduler's certificate; default: the own namespace"},
    {.name = "webhook-client-ca", .is_file = true, .type = OPTION_TEXT, AT(webhook_client_ca), .group = OPTION_SERVE,
     .help = "CA file of the API server's certificate, which the webhook asks for then; default: it asks for none"},
    {.name = "webhook-client-names", .type = OPTION_NAMES, AT(webhook_client_names), .group = OPTION_SERVE,
     .help = "NAME,...: as --extender-client-names, of the certificates that the webhook accepts; "
             "default: all that --webhook-client-ca has signed"},
    {.name = "leaf-life", .type = OPTION_DURATION, .fallback = "8760h", AT(leaf_life), .group = OPTION_SERVE,
     .help = "how long a certificate of our own CA lasts; renewed at two thirds; from 5s to 876000h"},
    {.name = "ca-life", .type = OPTION_DURATION, .fallback = "87600h", AT(ca_life), .group = OPTION_SERVE,
     .help = "how long our own CA signs, after it was announced for as long; at least twice --leaf-life"},
    {.name = "register-webhooks", .type = OPTION_BOOL, .fallback = "false", AT(register_webhooks),
     .group = OPTION_SERVE, .help = "write the webhook configuration ourselves"},
    {.name = "strict-admission", .type = OPTION_BOOL, .fallback = "false", AT(strict_admission),
     .group = OPTION_SERVE, .help = "refuse what the webhook only warns of else"},
    {.name = "webhook-url", .type = OPTION_TEXT, AT(webhook_url), .group = OPTION_SERVE,
     .help = "base URL that the API server calls, instead of the Service"},
    {.name = "kube-client-qps", .env = "KUBE_CLIENT_QPS", .type = OPTION_NUMBER,
     .fallback = "200", AT(client_qps), .group = OPTION_SERVE,
     .help = "writes a second to the API server"},
    {.name = "kube-client-burst", .env = "KUBE_CLIENT_BURST", .type = OPTION_INT, .min = 1,
     .max = 100000, .fallback = "300", AT(client_burst), .group = OPTION_SERVE,
     .help = "writes at once"},
    {.name = "batch-idle-duration", .env = "BATCH_IDLE_DURATION", .type = OPTION_DURATION,
     .fallback = "1s", AT(batch_idle), .group = OPTION_LOOP,
     .help = "a batch of pods ends after this long without a new one"},
    {.name = "batch-max-duration", .env = "BATCH_MAX_DURATION", .type = OPTION_DURATION,
     .fallback = "10s", AT(batch_max), .group = OPTION_LOOP,
     .help = "and after this long at the latest"},
    {.name = "consolidation-cool-down", .type = OPTION_DURATION, .fallback = "5m", AT(cool_down),
     .group = OPTION_LOOP,
     .help = "how long nodes that a consolidation has moved pods to are in no other; 0s: not at all"},
    {.name = "empty-return", .type = OPTION_DURATION, .fallback = "0s", AT(empty_return), .group = OPTION_LOOP,
     .help = "what is bought twice within it keeps empty nodes for what may come; 0s: none"},
    {.name = "max-nodes-per-minute", .type = OPTION_INT, .max = 1000000, .fallback = "0",
     AT(max_nodes_per_minute), .group = OPTION_LOOP, .help = "cap on buying; 0: none"},
    {.name = "max-hourly-price", .type = OPTION_NUMBER, .fallback = "0", AT(max_hourly_price),
     .group = OPTION_LOOP, .help = "cap on the price of all nodes; 0: none"},
    {.name = "leader-election-name", .env = "LEADER_ELECTION_NAME", .type = OPTION_TEXT,
     .fallback = "stowage-leader-election", AT(lease_name), .group = OPTION_CLUSTER,
     .help = "name of the Lease"},
    {.name = "leader-election-namespace", .env = "LEADER_ELECTION_NAMESPACE", .type = OPTION_TEXT,
     AT(lease_namespace), .group = OPTION_SERVE, .help = "default: the own namespace"},
    {.name = "lease-duration", .type = OPTION_DURATION, .fallback = "15s", AT(lease_duration),
     .group = OPTION_SERVE, .help = "how long a silent leader keeps the Lease"},
    {.name = "lease-renew-deadline", .type = OPTION_DURATION, .fallback = "10s", AT(lease_renew),
     .group = OPTION_SERVE, .help = "how long renewing may fail before we stop leading"},
    {.name = "lease-retry-period", .type = OPTION_DURATION, .fallback = "2s", AT(lease_retry),
     .group = OPTION_SERVE, .help = "how often the Lease is tried"},
    {.name = "disable-leader-election", .env = "DISABLE_LEADER_ELECTION", .type = OPTION_BOOL,
     .fallback = "false", AT(disable_leader_election), .group = OPTION_SERVE,
     .help = "lead without a Lease; for a single replica"},
    {.name = "cluster-api-pools", .type = OPTION_BOOL, .fallback = "false", AT(cluster_api_pools), .group = OPTION_SERVE,
     .help = "NodePools of ClusterAPINodeClass, too: Cluster API's MachineDeployments"},
    {.name = "ca-compat", .type = OPTION_BOOL, .fallback = "false", AT(ca_compat), .group = OPTION_SERVE,
     .help = "takes a command line of Cluster Autoscaler as it is, and says which of its flags mean nothing here"},
    {.name = "ca-compat", .type = OPTION_TEXT, AT(ca_flags), .group = OPTION_CHECK,
     .help = "FLAGS: what would change for a cluster that Cluster Autoscaler keeps with this command line, given in one "
             "argument"},
    {.name = "coexist", .type = OPTION_BOOL, .fallback = "false", AT(coexist),
     .group = OPTION_SERVE, .help = "act although another autoscaler's Lease is live"},
    {.name = "shutdown-delay", .type = OPTION_DURATION, .fallback = "0s", AT(shutdown_delay),
     .group = OPTION_SERVE, .help = "serve on this long after SIGTERM"},
    {.name = "namespace", .env = "SYSTEM_NAMESPACE", .type = OPTION_TEXT, AT(own_namespace),
     .group = OPTION_CLUSTER, .help = "Stowage's namespace; default: the service account's, of check stowage-system"},
    {.name = "pod-name", .env = "POD_NAME", .type = OPTION_TEXT, AT(pod_name),
     .group = OPTION_SERVE, .help = "own Pod, to be labelled while leading"},
    {.name = "log-level", .env = "LOG_LEVEL", .type = OPTION_CHOICE,
     .choices = "error|warn|info|debug", .fallback = "info", .may_be_empty = true, AT(log_level),
     .group = OPTION_SERVE,
     .help = "least important line that is written"},
    {.name = "log-format", .type = OPTION_CHOICE, .choices = "auto|text|json", .fallback = "auto",
     AT(log_format), .group = OPTION_SERVE, .help = "auto: text on a terminal, JSON elsewhere"},

    {.name = "output", .letter = 'o', .type = OPTION_CHOICE, .choices = "table|json|yaml",
     .fallback = "table", AT(output), .group = OPTION_SIMULATE | OPTION_VERSION, .help = "form of the answer"},
    {.name = "output", .letter = 'o', .type = OPTION_CHOICE, .choices = "table|json|yaml|wide|name|html",
     .fallback = "table", AT(output), .group = OPTION_READ,
     .help = "form of the answer; wide: nothing merged or cut, and who goes where; name: what is bought; html: as --report"},
    {.name = "output", .letter = 'o', .type = OPTION_CHOICE, .choices = "table|json|yaml|github",
     .fallback = "table", AT(output), .group = OPTION_CHECK | OPTION_CATALOGUE,
     .help = "form of the answer; github: annotations of a change"},
    {.name = "search", .type = OPTION_CHOICE, .choices = "cheapest|greedy", .fallback = "cheapest",
     AT(search), .group = OPTION_ALL,
     .help = "greedy has Karpenter's outcome; cheapest is never dearer"},
    {.name = "effort", .type = OPTION_INT, .max = INT64_MAX, .fallback = "0", AT(effort),
     .group = OPTION_PLAN, .help = "steps that the search may take; 0: the default"},
    {.name = "time-budget", .type = OPTION_DURATION, .fallback = "0s", AT(time_budget),
     .group = OPTION_PLAN, .help = "stops the search after this long, with what it has by then; 0s: never"},
    {.name = "max-instance-types", .type = OPTION_INT, .min = 1, .max = 100000, .fallback = "600",
     AT(max_instance_types), .group = OPTION_PLAN, .help = "longest list of types of a claim"},
    {.name = "now", .type = OPTION_TEXT, AT(now), .group = OPTION_PLAN,
     .help = "RFC 3339 time to plan at; default: the clock's"},
    {.name = "node-groups", .is_file = true, .type = OPTION_TEXT, AT(node_groups), .group = OPTION_PLAN,
     .help = "file of node groups, which are scaled as Cluster Autoscaler scales them; takes its flags, too"},
    {.name = "all-unbound", .type = OPTION_BOOL, .fallback = "false", AT(all_unbound),
     .group = OPTION_PLAN, .help = "plan every pod without a node, not only unschedulable ones"},
    {.name = "no-expand", .type = OPTION_BOOL, .fallback = "false", AT(no_expand),
     .group = OPTION_PLAN, .help = "make up no pods for Deployments, Jobs and the like that are given without theirs"},
    {.name = "include-cronjobs", .type = OPTION_BOOL, .fallback = "false", AT(include_cron_jobs),
     .group = OPTION_PLAN, .help = "plan a run of each CronJob, too"},
    {.name = "with-cluster", .type = OPTION_BOOL, .fallback = "false", AT(with_cluster), .group = OPTION_READ,
     .help = "the files of -f are on top of the cluster of the kubeconfig, which is only read"},
    {.name = "replicas", .type = OPTION_COUNTS, AT(replicas), .group = OPTION_PLAN,
     .help = "WORKLOAD=N,...: what if it had so many pods; NAME or NAMESPACE/NAME"},
    {.name = "reserved-offering-mode", .type = OPTION_CHOICE, .choices = "auto|strict|fallback",
     .fallback = "auto", AT(reserved_offering_mode), .group = OPTION_PLAN,
     .help = "strict: a pod that could use a reserved offering, all taken, waits; auto: "
             "strict, with --remove fallback"},
    {.name = "credit-reservation", .type = OPTION_COUNTS, AT(credit_reservation),
     .group = OPTION_PLAN,
     .help = "ID=N,...: so many more instances are left of a reservation than the catalogue says"},
    {.name = "remove", .type = OPTION_NAMES, AT(remove), .group = OPTION_PLAN,
     .help = "NODE,...: what if these nodes were gone; their pods are planned"},
    {.name = "remove-for", .type = OPTION_CHOICE, .choices = "consolidation|drift|repair",
     .fallback = "consolidation", AT(remove_for), .group = OPTION_PLAN,
     .help = "why they would go: which of their pods are planned, and where they may go"},
    {.name = "disruption", .type = OPTION_BOOL, .fallback = "false", AT(disruption),
     .group = OPTION_PLAN, .help = "also which nodes leave, and for what: of the first method that finds any"},
    {.name = "disruption-all", .type = OPTION_BOOL, .fallback = "false", AT(disruption_all),
     .group = OPTION_PLAN, .help = "the same of every method, each as if the others had found nothing"},
    {.name = "nominated", .type = OPTION_NAMES, AT(nominated), .group = OPTION_PLAN,
     .help = "NODE,...: a recent pass placed pods on these: not to be disrupted"},
    {.name = "buffer-nodes", .type = OPTION_NAMES, AT(buffer_nodes), .group = OPTION_PLAN,
     .help = "NODE,...: the last pass placed pods of CapacityBuffers on these: not empty"},
    {.name = "rebooted", .type = OPTION_COUNTS, AT(rebooted), .group = OPTION_PLAN,
     .help = "NODE=N,...: times that Repair had these rebooted in the last 24 h"},
    {.name = "reserved-nodes", .type = OPTION_COUNTS, AT(reserved_nodes), .group = OPTION_PLAN,
     .help = "POOL=N,...: nodes of a static NodePool on their way that have no NodeClaim yet"},
    {.name = "repeat", .type = OPTION_INT, .max = 1000000, .fallback = "0", AT(repeat),
     .group = OPTION_PLAN, .help = "solve this often and print the times"},
    {.name = "verbose", .letter = 'v', .type = OPTION_BOOL, .fallback = "false", AT(verbose),
     .group = OPTION_PLAN, .help = "say more"},

    {.name = "compare", .type = OPTION_CHOICE, .choices = "none|karpenter", .fallback = "none", AT(compare),
     .group = OPTION_SIMULATE, .help = "karpenter: played a second time with --search greedy, which decides as it does"},
    {.name = "report", .is_file = true, .type = OPTION_TEXT, AT(report), .group = OPTION_SIMULATE | OPTION_PLAN,
     .help = "a file that is written: a page with the nodes and whose pods fill them, of simulate a chart of both over time"},
    {.name = "log", .type = OPTION_BOOL, .fallback = "false", AT(show_log), .group = OPTION_SIMULATE,
     .help = "what happened and was decided, line by line, on standard error"},

    {.name = "namespace", .letter = 'n', .type = OPTION_TEXT, AT(pod_namespace),
     .group = OPTION_EXPLAIN, .help = "of the pod, unless its name says it; default: default"},
    {.name = "at", .type = OPTION_TEXT, AT(at), .group = OPTION_EXPLAIN,
     .help = "RFC 3339 time: how many nodes of the nodepool might be disrupted then; default: now"},
    {.name = "server", .type = OPTION_TEXT, .fallback = "http://127.0.0.1:8090", AT(server),
     .group = OPTION_ASK, .help = "base URL of a running server's --page-listen"},
    {.name = "filename", .is_file = true, .letter = 'f', .type = OPTION_TEXTS, AT(files), .group = OPTION_CHECK,
     .help = "a file or directory of objects to be checked instead of a cluster, - for standard input; may be repeated"},
    {.name = "warnings-as-errors", .type = OPTION_BOOL, .fallback = "false", AT(warnings_as_errors),
     .group = OPTION_CHECK | OPTION_CATALOGUE, .help = "exit 1 on warnings, too"},
    {.name = "scheduler-config", .is_file = true, .type = OPTION_TEXT, AT(scheduler_file), .group = OPTION_CHECK,
     .help = "file of kube-scheduler's --config, to be checked"},
    {.name = "cluster", .type = OPTION_BOOL, .fallback = "false", AT(installation), .group = OPTION_CHECK,
     .help = "what of an installation is missing, in its order, each with the command that brings it"},
    {.name = "account", .type = OPTION_TEXT, AT(account), .group = OPTION_CHECK,
     .help = "NAMESPACE/NAME of the service account whose permissions are asked; default: our own, with --cluster Stowage's"},

    {.name = "prices", .is_file = true, .type = OPTION_TEXTS, AT(prices), .group = OPTION_AWS,
     .help = "AWS's price list: a region's offer file, or what `aws pricing get-products` prints; may be repeated"},
    {.name = "spot", .is_file = true, .type = OPTION_TEXTS, AT(spot), .group = OPTION_AWS,
     .help = "what `aws ec2 describe-spot-price-history` prints; may be repeated"},
    {.name = "type-offerings", .is_file = true, .type = OPTION_TEXTS, AT(type_offerings), .group = OPTION_AWS,
     .help = "what `aws ec2 describe-instance-type-offerings --location-type availability-zone` prints; default: every type "
             "is in every zone"},
    {.name = "zones", .type = OPTION_NAMES, AT(zones), .group = OPTION_AWS,
     .help = "ZONE,...: where to buy; default: those of --type-offerings, else of --spot"},
    {.name = "region", .type = OPTION_TEXT, AT(region), .group = OPTION_AWS, .help = "default: that of the zones"},
    {.name = "vm-memory-overhead-percent", .env = "VM_MEMORY_OVERHEAD_PERCENT", .type = OPTION_NUMBER, .fallback = "0.075",
     AT(vm_memory_overhead), .group = OPTION_AWS,
     .help = "share of a machine's memory that never reaches it, as Karpenter's option of that name: 0.075 is 7.5 %"},
    {.name = "reserved-enis", .env = "RESERVED_ENIS", .type = OPTION_INT, .max = 1000, .fallback = "0", AT(reserved_enis),
     .group = OPTION_AWS, .help = "network interfaces that pods cannot use, as Karpenter's option of that name"},

    {.name = "karpenter-service", .env = "KARPENTER_SERVICE", .type = OPTION_TEXT,
     AT(unused_text), .group = OPTION_SERVE, .without_meaning = true, .help = "Karpenter's"},
    {.name = "enable-profiling", .env = "ENABLE_PROFILING", .type = OPTION_BOOL, AT(unused_bool),
     .fallback = "false", .group = OPTION_SERVE, .without_meaning = true, .help = "Karpenter's"},
    {.name = "disable-controller-warmup", .env = "DISABLE_CONTROLLER_WARMUP", .type = OPTION_BOOL,
     AT(unused_bool), .fallback = "true", .group = OPTION_SERVE, .without_meaning = true,
     .help = "Karpenter's"},
    {.name = "memory-limit", .env = "MEMORY_LIMIT", .type = OPTION_INT, .min = -1,
     .max = INT64_MAX, .fallback = "-1", AT(unused_int), .group = OPTION_SERVE,
     .without_meaning = true, .help = "Karpenter's"},
    {.name = "cpu-requests", .env = "CPU_REQUESTS", .type = OPTION_INT, .min = INT64_MIN,
     .max = INT64_MAX, .fallback = "1000", AT(unused_int), .group = OPTION_SERVE,
     .without_meaning = true, .help = "Karpenter's"},
    {.name = "log-output-paths", .env = "LOG_OUTPUT_PATHS", .type = OPTION_TEXT, AT(unused_text),
     .group = OPTION_SERVE, .without_meaning = true, .help = "Karpenter's"},
    {.name = "log-error-output-paths", .env = "LOG_ERROR_OUTPUT_PATHS", .type = OPTION_TEXT,
     AT(unused_text), .group = OPTION_SERVE, .without_meaning = true, .help = "Karpenter's"},
};

/* --- where values come from --- */

static const char *own_env_name(struct arena *a, const char *flag)
{
    struct span name = arena_printf(a, "STOWAGE_%s", flag);
    char *at = (char *)(uintptr_t)name.ptr;
    for (; *at != '\0'; at++)
        *at = *at == '-' ? '_' : (char)(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at);
    return name.ptr;
}

/* The weakest first, and all of them: a value that does not parse is a mistake also where another wins. */
static bool read_environment(struct arena *a, const struct option *o,
                             const char *(*getenv_fn)(const char *), struct options *out,
                             struct err *err)
{
    const char *names[] = {o->env, o->alias != NULL ? own_env_name(a, o->alias) : NULL,
                           own_env_name(a, o->name)};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *text = names[i] != NULL ? getenv_fn(names[i]) : NULL;
        if (text != NULL && text[0] != '\0' && !option_set(a, o, names[i], text, out, err))
            return false;
    }
    return true;
}

const struct option *option_row(size_t i)
{
    return i < COUNT_OF(table) ? &table[i] : NULL;
}

static const struct option *find_option(enum option_group group, struct span name)
{
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        const struct option *o = &table[i];
        if ((o->group & group) == 0)
            continue;
        if (span_eq(name, span_of(o->name)) ||
            (o->alias != NULL && span_eq(name, span_of(o->alias))) ||
            (name.len == 1 && o->letter == name.ptr[0]))
            return o;
    }
    return NULL;
}

bool options_has(enum option_group group, struct span name)
{
    return find_option(group, name) != NULL;
}

static bool unknown_flag(enum option_group group, const char *flag, struct span name,
                         struct err *err)
{
    const char **words = mem_array(COUNT_OF(table) + group_option_count(), sizeof(*words));
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if ((table[i].group & group) != 0 && !table[i].without_meaning)
            words[count++] = table[i].name;
    for (uint32_t i = 0; (group & (OPTION_PLAN | OPTION_SERVE)) != 0 && i < group_option_count(); i++)
        if (group == OPTION_SERVE || group_option_has_meaning(i))
            words[count++] = group_option_name(i);
    char given[64];
    snprintf(given, sizeof(given), "%.*s", SPAN_ARG(name));
    const char *near = nearest_word(given, words, count);
    const struct option *o = near != NULL ? find_option(group, span_of(near)) : NULL;
    int shown = (int)strcspn(flag, "=");
    free(words);
    if (o == NULL && near != NULL)
        return err_set(err, ERR_INVALID, "no flag %.*s; did you mean --%s?", shown, flag, near);
    if (o == NULL)
        return err_set(err, ERR_INVALID, "no flag %.*s; --help lists them", shown, flag);
    if (o->letter != 0)
        return err_set(err, ERR_INVALID, "no flag %.*s; did you mean --%s (-%c)?", shown, flag,
                       o->name, o->letter);
    return err_set(err, ERR_INVALID, "no flag %.*s; did you mean --%s?", shown, flag, o->name);
}

struct given { /* one flag of argv: --name=value, --name value, -n value, -nvalue or a bare boolean */
    const struct option *option;
    const char *shown, *value;
    bool help;
};

static bool next_flag(struct arena *a, enum option_group group, int argc, char *const *argv,
                      int *at, struct given *out, struct err *err)
{
    const char *arg = argv[(*at)++];
    *out = (struct given){.help = strcmp(arg, "-h") == 0 || strcmp(arg, "--help") == 0};
    if (out->help)
        return true;
    if (arg[0] != '-' || arg[1] == '\0')
        return err_set(err, ERR_INVALID, "\"%s\" is not a flag; files are given with -f", arg);
    struct span value;
    struct span name = span_cut(span_of(arg + (arg[1] == '-' ? 2 : 1)), '=', &value);
    out->option = find_option(group, name);
    bool is_joined = out->option == NULL && arg[1] != '-'; /* -ojson, as kubectl takes it */
    if (is_joined)
        out->option = find_option(group, (struct span){arg + 1, 1});
    if (out->option == NULL || (is_joined && out->option->type == OPTION_BOOL))
        return unknown_flag(group, arg, name, err);
    out->shown = arena_printf(a, "%.*s", is_joined ? 2 : (int)strcspn(arg, "="), arg).ptr;
    out->value = is_joined ? arg + 2 : value.ptr;
    if (out->value == NULL && out->option->type == OPTION_BOOL)
        out->value = "true";
    if (out->value == NULL && *at == argc)
        return err_set(err, ERR_INVALID, "%s needs a value", out->shown);
    if (out->value == NULL)
        out->value = argv[(*at)++];
    return true;
}

bool options_read(struct arena *a, enum option_group group, int argc, char *const *argv,
                  const char *(*getenv_fn)(const char *), struct options *out, bool *help_out,
                  struct err *err)
{
    *out = (struct options){0};
    *help_out = false;
    struct given g;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (table[i].fallback != NULL &&
            !option_set(a, &table[i], table[i].name, table[i].fallback, out, err))
            return false;
    for (int at = 0; at < argc;) { /* first of all: a bad value must not hide the help */
        if (!next_flag(a, group, argc, argv, &at, &g, err))
            return false;
        if (g.help) {
            *help_out = true;
            return true;
        }
    }
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if ((table[i].group & group) != 0 && !read_environment(a, &table[i], getenv_fn, out, err))
            return false;
    for (int at = 0; at < argc;)
        if (!next_flag(a, group, argc, argv, &at, &g, err) ||
            !option_set(a, g.option, g.shown, g.value, out, err))
            return false;
    return true;
}

struct span options_without_meaning(struct arena *a, enum option_group group, int argc,
                                    char *const *argv, const char *(*getenv_fn)(const char *))
{
    struct buf b = {0};
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        const struct option *o = &table[i];
        if (!o->without_meaning || (o->group & group) == 0)
            continue;
        bool is_given = getenv_fn(own_env_name(a, o->name)) != NULL || getenv_fn(o->env) != NULL;
        struct given g;
        struct err err;
        for (int at = 0; at < argc && !is_given;)
            is_given = next_flag(a, group, argc, argv, &at, &g, &err) && g.option == o;
        if (is_given)
            buf_addf(&b, "%s--%s", b.len != 0 ? ", " : "", o->name);
    }
    struct span text = b.len != 0 ? arena_dup(a, buf_span(&b)) : (struct span){NULL, 0};
    buf_release(&b);
    return text;
}

const char *options_listen(struct arena *a, const struct options *o, int64_t port)
{
    return arena_printf(a, "%s:%lld", o->embedded ? "127.0.0.1" : "", (long long)port).ptr;
}

bool options_name_clients(struct arena *a, struct options *o, const char *own, struct err *err)
{
    const char *ca = o->extender_client_ca, *webhook_ca = o->webhook_client_ca;
    if (o->webhook_client_names.count != 0 && (webhook_ca == NULL || webhook_ca[0] == '\0'))
        return err_set(err, ERR_INVALID, "--webhook-client-names has no effect without --webhook-client-ca, the CA file of "
                                         "the API server's certificate");
    if (o->extender_insecure || o->extender_client_names.count != 0)
        return true;
    if (ca != NULL && ca[0] != '\0')
        return err_set(err, ERR_INVALID, "--extender-client-ca has signed for others than the scheduler, too: name whose "
                                         "certificates the extender accepts, as in "
                                         "--extender-client-names=system:kube-scheduler");
    const char **names = ARENA_ARRAY(a, const char *, 1);
    names[0] = own;
    o->extender_client_names = (struct texts){names, 1};
    return true;
}
