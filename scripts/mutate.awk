# Lists the mutants of one C file: line, a tab, what was changed, a tab, the line that takes its place. One mutant a
# place and rewrite. Comments, strings, includes, declarations and assertions are let be: they compute nothing.
function list(what, text) {
    if (!listed[FNR, text]++)
        print FNR "\t" what "\t" text
}
function show(from, to, at, len) {
    list(from " -> " to, substr($0, 1, at - 1) to substr($0, at + len))
}
function each(from, to,    at, rest) {
    at = 1
    while ((rest = index(substr(code, at), from)) > 0) {
        at += rest - 1
        show(from, to, at, length(from))
        at += length(from)
    }
}
# What a function does when memory has run out, as far as that is plain: `return false;` behind `if (!x || !y)`, where x
# and y have just been allocated. test/host/cli/no_memory.c looks at it with the program itself.
function out_of_memory(    at, names, n, k, name) {
    if (code ~ /^}/)
        split("", allocated)
    if (match(code, /^ +[a-z][a-z0-9_>.-]* = (m|c|re)alloc\(/)) {
        name = code
        gsub(/^ +| =.*/, "", name)
        allocated[name]
    }
    at = checked
    checked = 0
    if (code ~ /^ +if \(![^&()]*\)( \{)?$/) {
        name = code
        gsub(/^ +if \(|\)( \{)?$/, "", name)
        n = split(name, names, / \|\| /)
        checked = n > 0
        for (k = 1; k <= n; k++)
            if (!(substr(names[k], 1, 1) == "!" && substr(names[k], 2) in allocated))
                checked = 0
    }
    return at && code ~ /^ +return (false|NULL|0);$/
}
BEGIN {
    rules = 0
    rule(" < ", " <= "); rule(" <= ", " < "); rule(" > ", " >= "); rule(" >= ", " > ")
    rule(" == ", " != "); rule(" != ", " == "); rule(" && ", " || "); rule(" || ", " && ")
    rule(" + 1", " + 2"); rule(" - 1", ""); rule(" + ", " - "); rule(" - ", " + ")
    rule(" += ", " -= "); rule(" |= ", " = "); rule(" & ", " | "); rule("++", "--")
    rule("true", "false"); rule("false", "true"); rule("(!", "("); rule(" * ", " + ")
    rule("continue;", "break;"); rule("break;", "continue;"); rule(" / ", " * "); rule(" % ", " / ")
    rule(" << ", " >> "); rule(" >> ", " << "); rule("min32(", "max32("); rule("max32(", "min32(")
    rule("min64(", "max64("); rule("max64(", "min64(")
}
function rule(from, to) { froms[rules] = from; tos[rules++] = to }
{
    code = $0
    while (match(code, /"([^"\\]|\\.)*"/))
        code = substr(code, 1, RSTART - 1) sprintf("%" RLENGTH "s", "") substr(code, RSTART + RLENGTH)
    gsub(/"/, " ", code)
    if (in_comment || code ~ /^[ ]*\/\*/) {
        in_comment = code !~ /\*\//
        next
    }
    if (match(code, /\/\*.*/)) {
        in_comment = substr(code, RSTART) !~ /\*\//
        code = substr(code, 1, RSTART - 1)
    }
    # Code stands in a function: indented, and no assertion. A brace at the margin ends one.
    if (code ~ /^[^ ].*[({]$/ || code ~ /^[a-z].*\) \{/)
        inside = 1
    # What functions do that give memory back is found by the build with sanitizers.
    if (code ~ /^(static )?void (free_[a-z0-9_]*|[a-z0-9_]*_free)\([^,]*(,[^,]*)?\) \{/)
        inside = 0
    if (code ~ /^}/ || code ~ /^(struct|enum|union|static const) [^()]*\{$/)
        inside = 0
    if (out_of_memory() || !inside || code ~ /^[^ ]/ || code ~ /assert|^#/)
        next
    # By how much a full table grows: more often is only slower.
    grows = code ~ / cap = .*2 \* /
    # A loop that counts down does not end, and anything notices: it would only make the share look better. Memory beyond
    # what is used means nothing.
    for (r = 0; r < rules; r++)
        if ((froms[r] != "++" || code !~ / for \(/) && (froms[r] != " + 1" || code !~ /alloc\(/) && !(grows && froms[r] == " * "))
            each(froms[r], tos[r])
    if (match(code, /^ +(} else )?if \(.*\)( \{)?$/)) {
        from = index(code, "if (") + 4
        match(code, /\)( \{)?$/)
        list("condition negated", substr($0, 1, from - 1) "!(" substr($0, from, RSTART - from) ")" substr($0, RSTART))
    }
    # A number that is one too large. 0 and 1 are the usual mistakes; others are tables. What the compiler is told to
    # expect is none, and what is allocated is memory beyond what is used.
    if (!grows && code !~ /__builtin_expect|alloc\(/ && match(code, /[ (\[]([0-9]+)[;),\]]/)) {
        number = substr(code, RSTART + 1, RLENGTH - 2)
        show(number, number + 1, RSTART + 1, RLENGTH - 2)
    }
    # Statements that are left out: assignments and calls that stand alone. Memory that is not given back is found by
    # the build with sanitizers.
    if (code !~ /^ +[a-z0-9_]*free(_all)?\(/ && code ~ /^ +[a-z_]+(->|\.|\[|\(|\+\+|--| [|&+-]?= )[^{}]*;[ ]*$/ && code !~ /^ +(return|case|default|goto|for|if|while|else)/) {
        match(code, /^ +/)
        list("left out", substr(code, 1, RLENGTH) ";")
    }
    # Another value is returned.
    if (match(code, /return [^;]+;/) && code !~ /return (0|NULL|false|true);/)
        show(substr(code, RSTART, RLENGTH), "return 0;", RSTART, RLENGTH)
    if (code ~ /return 0;/) {
        match(code, /return 0;/)
        show("return 0;", "return 1;", RSTART, RLENGTH)
    }
}
