# Lists the mutants of a C file, one for each place and rule: line number, tab, change, tab, the new line. Comments,
# strings, includes, declarations and assertions are not changed: they compute nothing.
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
# Returns whether a line handles an allocation failure in a recognisable form: `return false;` after `if (!x || !y)`, where
# x and y have just been allocated. Such lines are not changed; test/host/cli/no_memory.c tests them with the program.
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
    # Only code in functions changes: indented lines without assertions. A brace in the first column ends a function.
    if (code ~ /^[^ ].*[({]$/ || code ~ /^[a-z].*\) \{/)
        inside = 1
    # Sanitizer builds test functions that free memory.
    if (code ~ /^(static )?void (free_[a-z0-9_]*|[a-z0-9_]*_free)\([^,]*(,[^,]*)?\) \{/)
        inside = 0
    if (code ~ /^}/ || code ~ /^(struct|enum|union|static const) [^()]*\{$/)
        inside = 0
    if (out_of_memory() || !inside || code ~ /^[^ ]/ || code ~ /assert|^#/)
        next
    # The growth factor of a full table only affects speed.
    grows = code ~ / cap = .*2 \* /
    # A loop that counts down never ends, so any test detects it, and the result would only look better. Allocating more
    # memory has no effect.
    for (r = 0; r < rules; r++)
        if ((froms[r] != "++" || code !~ / for \(/) && (froms[r] != " + 1" || code !~ /alloc\(/) && !(grows && froms[r] == " * "))
            each(froms[r], tos[r])
    if (match(code, /^ +(} else )?if \(.*\)( \{)?$/)) {
        from = index(code, "if (") + 4
        match(code, /\)( \{)?$/)
        list("condition negated", substr($0, 1, from - 1) "!(" substr($0, from, RSTART - from) ")" substr($0, RSTART))
    }
    # Adds 1 to a number; not in hints to the compiler, and not in allocations.
    if (!grows && code !~ /__builtin_expect|alloc\(/ && match(code, /[ (\[]([0-9]+)[;),\]]/)) {
        number = substr(code, RSTART + 1, RLENGTH - 2)
        show(number, number + 1, RSTART + 1, RLENGTH - 2)
    }
    # Removes a statement: an assignment or a call. Sanitizer builds find memory that is not freed.
    if (code !~ /^ +[a-z0-9_]*free(_all)?\(/ && code ~ /^ +[a-z_]+(->|\.|\[|\(|\+\+|--| [|&+-]?= )[^{}]*;[ ]*$/ && code !~ /^ +(return|case|default|goto|for|if|while|else)/) {
        match(code, /^ +/)
        list("left out", substr(code, 1, RLENGTH) ";")
    }
    # Returns another value.
    if (match(code, /return [^;]+;/) && code !~ /return (0|NULL|false|true);/)
        show(substr(code, RSTART, RLENGTH), "return 0;", RSTART, RLENGTH)
    if (code ~ /return 0;/) {
        match(code, /return 0;/)
        show("return 0;", "return 1;", RSTART, RLENGTH)
    }
}
