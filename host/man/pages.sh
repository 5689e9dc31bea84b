#!/bin/sh
# heddle(1) and heddle-COMMAND(1) from the texts of `heddle help`, by help2man; none where it is not installed.
# usage: host/man/pages.sh HEDDLE FOLDER
set -eu
heddle=$1 folder=$2
mkdir -p "$folder"
rm -f "$folder"/heddle.1 "$folder"/heddle-*.1
command -v help2man >/dev/null 2>&1 || exit 0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

page() { # arguments: name of the page, command. help2man names a page after its program, so each page gets one
    cat >"$tmp/$1" <<EOF
#!/bin/sh
exec "$heddle" help $2 | awk -f "${0%/*}/help.awk"
EOF
    chmod +x "$tmp/$1"
    summary=$("$heddle" help $2 | sed -n '1s/^Heddle //; 1s/\.$//; 1p')
    help2man --no-info --version-string="$1 ${version#heddle }" --source="$version" --manual=Heddle --name="$summary" \
        --include="$tmp/see" --help-option=help --output="$folder/$1.1" "$tmp/$1"
}
version=$("$heddle" --version)
see() {
    printf '[see also]\n'
    printf '.BR %s (1)\n' "$@"
}
commands=$("$heddle" help --names)
see $(printf 'heddle-%s\n' $commands) >"$tmp/see"
page heddle ''
see heddle >"$tmp/see"
for c in $commands; do page "heddle-$c" "$c"; done
