# The text of `heddle help [COMMAND]` in the order of a manual page, as help2man reads it: usage, explanation, options
# or commands, examples after a prompt.
BEGIN { RS = ""; FS = "\n" }
NR == 1 { summary = $0; next }
NR == 2 { usage = $0; sub(/^ +/, "", usage); next }
NR == 3 { table = $0; next }
/^(Examples|Begin with these):/ {
    for (i = 2; i <= NF; i++) {
        sub(/^ +/, "", $i)
        sub(/  +/, " # ", $i) # what the example does stands behind it
        examples = examples "  $ " $i "\n"
    }
    next
}
sub(/^Exit status: /, "*Exit status*\n\n") { status = $0 "\n\n"; next }
{ text = text $0 "\n\n" }
END {
    is_command = table ~ /--/
    printf "Usage: %s\n\n%s", usage, is_command ? text : summary "\n\n"
    printf "%s\n\n%s\n\n%sExamples:\n\n%s", is_command ? "Options:" : "*Commands*", table, status, examples
}
