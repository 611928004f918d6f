# Reads lists of mutants (README.md). Used by `check`, `one` and `run` with `-v root=TREE -v mode=MODE`:
#   check   prints a line for each slip of a list, and exits 1 when there is one
#   list    prints "NUMBER TEST FILE NAME", separated by tabs
#   apply   writes mutant `-v number=N` of the tree's file to standard output
BEGIN { RS = "\n"; count = 0 }

function slip(text) { print text; bad = 1 }

# The text of a file, remembered.
function text_of(file,    line, text, path)
{
    if (file in texts)
        return texts[file]
    text = ""
    path = root "/" file
    while ((getline line < path) > 0)
        text = text line "\n"
    close(path)
    return texts[file] = text
}

function exists(file,    line, got) { got = (getline line < (root "/" file)); close(root "/" file); return got >= 0 }

function occurrences(text, what,    n, at)
{
    for (n = 0; (at = index(text, what)) > 0; n++)
        text = substr(text, at + length(what))
    return n
}

# planner/test_trial is made from tests/planner/test_trial.c (tests/CMakeLists.txt).
function test_is_there(test)
{
    return test ~ /^planner\/scenarios(_cheapest)?$/ || exists("tests/" test ".c")
}

function judge(    n)
{
    if (name in names)
        slip(where ": two mutants are called \"" name "\"")
    names[name] = 1
    if (file == "" || test == "" || old == "")
        return slip(where ": \"" name "\" lacks its file, its test or its old text")
    if (old == new)
        slip(where ": \"" name "\" changes nothing")
    if (!test_is_there(test))
        slip(where ": \"" name "\": there is no test " test)
    if (!exists(file))
        return slip(where ": \"" name "\": there is no file " file)
    n = occurrences(text_of(file), old)
    if (n != 1)
        slip(where ": \"" name "\": its old text is in " file " " (n ? n " times" : "no more") "; say the rule as it stands now")
}

function finish(    text, at)
{
    if (name == "")
        return
    count++
    if (mode == "check")
        judge()
    if (mode == "list")
        print count "\t" test "\t" file "\t" name
    if (mode == "apply" && count == number) {
        text = text_of(file)
        at = index(text, old)
        printf "%s", substr(text, 1, at - 1) new substr(text, at + length(old))
    }
    name = file = test = old = new = ""
    olds = news = 0
}

FNR == 1 { finish() }
/^#/ { next }
/^$/ { finish(); next }
/^mutant / { finish(); name = substr($0, 8); where = FILENAME ":" FNR; next }
/^file / { file = $2; next }
/^test / { test = $2; next }
/^-/ { old = old (olds++ ? "\n" : "") substr($0, 3); next }
/^\+/ { new = new (news++ ? "\n" : "") substr($0, 3); next }
{ slip(FILENAME ":" FNR ": not a line of a mutant: " $0) }
END {
    finish()
    exit bad
}
