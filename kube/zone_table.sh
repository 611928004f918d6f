#!/bin/bash
# zone_table.sh [ZONEINFO] > kube/zone_table.c : the rule by which each time zone goes now, from the tz database (public domain;
# the line at the end of each of its files).
set -euo pipefail
dir=${1:-/usr/share/zoneinfo}
version=$(sed -n '1s/# version //p' "$dir/tzdata.zi")
awk '$1 == "Z" { print $2 } $1 == "L" { print $3 }' "$dir/tzdata.zi" | grep -vx Factory | LC_ALL=C sort | while read -r name; do
    printf '%s %s\n' "$(tail -n 1 "$dir/$name")" "$name"
done | LC_ALL=C sort -s -k 1,1 | awk -v version="$version" '
function minutes(text,    sign, part) { # "-5:30", "26", ""
    sign = text ~ /^-/ ? -1 : 1
    sub(/^[-+]/, "", text)
    split(text, part, ":")
    return sign * (part[1] * 60 + part[2])
}
function turn(text,    part, at) { # "M3.5.0/3"
    split(text, at, "/")
    split(substr(at[1], 2), part, ".")
    return sprintf("{%d, %d, %d, %d}", part[1], part[2], part[3], at[2] == "" ? 120 : minutes(at[2]))
}
function flush(    i) {
    if (names == "")
        return
    printf "    {{%s},\n     ", rule
    width = 5
    count = split(names, list, " ")
    for (i = 1; i <= count; i++)
        printf "\"%s%s\"%s", list[i], i < count ? " " : "", i < count ? "\n     " : "},\n"
    names = ""
}
BEGIN {
    print "/* Made by kube/zone_table.sh of version " version " of the tz database: not to be edited. */"
    print "#include \"kube/zone.h\"\n"
    print "const struct zone_row zone_rows[] = {"
}
{
    count = split($1, field, ",")
    text = field[1]
    if (!match(text, /^(<[^>]*>|[A-Za-z]+)/)) exit 1
    text = substr(text, RLENGTH + 1)
    match(text, /^[-+0-9:]+/)
    standard = -minutes(substr(text, 1, RLENGTH))
    text = substr(text, RLENGTH + 1)
    mine = standard ", " standard ", {0, 0, 0, 0}, {0, 0, 0, 0}"
    if (count == 3) {
        match(text, /^(<[^>]*>|[A-Za-z]+)/)
        text = substr(text, RLENGTH + 1)
        mine = standard ", " (text == "" ? standard + 60 : -minutes(text)) ", " turn(field[2]) ", " turn(field[3])
    }
    if (mine != rule)
        flush()
    rule = mine
    names = names == "" ? $2 : names " " $2
}
END {
    flush()
    print "};\nconst size_t zone_row_count = COUNT_OF(zone_rows);"
}'
