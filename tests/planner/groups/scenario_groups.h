/* Groups of the scenarios: machines of 4 cores and 16 GiB unless said otherwise. */
#ifndef TESTS_PLANNER_GROUPS_SCENARIO_GROUPS_H
#define TESTS_PLANNER_GROUPS_SCENARIO_GROUPS_H

#define G_OF(name, min, max, labels, shape, more)                                                                      \
    "- {name: " name ", minSize: " #min ", maxSize: " #max ", template: {metadata: {labels: {pool: " name labels        \
    "}}, status: {allocatable: {" shape ", pods: 110}}}" more "}\n"
#define G(name, min, max) G_OF(name, min, max, "", "cpu: 4, memory: 16Gi", "")
#define G_WITH(name, min, max, more) G_OF(name, min, max, "", "cpu: 4, memory: 16Gi", ", " more)
#define GROUPS(list) "groups:\n" list

#endif
