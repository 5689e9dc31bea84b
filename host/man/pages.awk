# A manual page for each function of heddle.h, out of its declaration and the comment above it.
# usage: awk -v dir=FOLDER -f host/man/pages.awk host/heddle.h
# Functions that follow each other without a comment between share the one above them.

function sentence(text) { # the first one, as a whole or to its first stop
    if (match(text, /[.:;] /))
        text = substr(text, 1, RSTART - 1)
    sub(/\.$/, "", text)
    return text
}
function troff(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    sub(/^[.']/, "\\\\\\&&", text)
    return text
}
function page(declaration, comment,    name, file, what) {
    name = declaration
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    if (comment == "") {
        print "pages: " name " has no comment" > "/dev/stderr"
        exit 1
    }
    file = dir "/" name ".3"
    what = sentence(comment)
    printf ".TH %s 3 \"\" \"heddle %s\" \"Library functions\"\n", toupper(name), version > file
    printf ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.nf\n.B #include <heddle.h>\n.PP\n", name, troff(what) > file
    printf ".B %s\n.fi\n.SH DESCRIPTION\n%s\n", troff(declaration), troff(comment) > file
    if (declaration ~ /^enum heddle_status / && name != "heddle_status")
        printf ".SH RETURN VALUE\nHEDDLE_OK (0), or another status; heddle_error(3) says why.\n" > file
    printf ".SH SEE ALSO\n.BR heddle (3)\n" > file
    close(file)
    print name
}
/^#define HEDDLE_VERSION/ { version = $3; gsub(/"/, "", version) }
/^#ifdef __cplusplus/ { inside = 1; next }
!inside { next }
in_struct { in_struct = !/^};/; next }
/^(struct|enum) [a-z_]+ \{/ { in_struct = !/};$/; next }
/^\/\*/ { comment = ""; in_comment = 1 }
in_comment {
    line = $0
    if (sub(/ *\*\/.*/, "", line))
        in_comment = 0
    sub(/^ *\/?\*+ ?/, "", line)
    comment = comment (comment == "" || line == "" ? "" : " ") line
    next
}
/^[a-z].*[ *](heddle_[a-z_]+|ptx_run)\(/ { declaration = ""; declaring = 1 }
declaring {
    line = $0
    sub(/ *\/\*.*\*\//, "", line)
    sub(/^ +/, "", line)
    declaration = declaration (declaration == "" ? "" : " ") line
    if (line ~ /;$/) {
        declaring = 0
        page(declaration, comment)
    }
}
