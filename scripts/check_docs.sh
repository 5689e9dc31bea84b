#!/bin/sh
# Pages that the program itself prints must say what it prints. usage: check_docs.sh HEDDLE [--update]
set -u
heddle=$1
failed=0
page() { # FILE, heddle arguments
    file=$1
    shift
    if [ "$update" = --update ]; then
        "$heddle" "$@" >"$file"
    elif ! "$heddle" "$@" | cmp -s - "$file"; then
        echo "lint: $file is out of date; run: make docs" >&2
        failed=1
    fi
}
update=${2:-}
page docs/instructions.md list instructions --markdown
page docs/options.md list options --markdown
page docs/statistics-table.md list statistics --markdown
[ $failed = 0 ] && echo 'lint: documents are up to date'
exit $failed
