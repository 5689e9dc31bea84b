#!/bin/sh
# Draws the pages for docs/images: the report, the page of reproduce, and the live pages of a run, of a sweep and of a
# queue, each on a desktop (1280 pixels) and on a telephone (390 pixels), light and dark. Needs Chromium.
# usage: draw_pages.sh HEDDLE [FOLDER]
set -eu
heddle=$(realpath "$1")
folder=$(realpath "${2:-docs/images}")
browser=
for name in chromium chromium-headless-shell chromium-browser google-chrome; do
    [ -n "$browser" ] || ! command -v "$name" >/dev/null || browser=$name
done
if [ -z "$browser" ]; then
    echo 'draw_pages.sh: no Chromium: sudo apt-get install chromium' >&2
    exit 1
fi
tmp=$(mktemp -d)
server=
trap 'rm -rf "$tmp"; [ -z "$server" ] || kill $server 2>/dev/null || :' EXIT

# draw NAME URL WAIT: four pictures of a page. WAIT is the browser's option for how long it waits.
draw() {
    for scheme in light dark; do
        [ $scheme = dark ] && number=0 || number=1 # Blink's numbers of colour schemes
        for width in 1280 390; do
            timeout 90 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$tmp/profile" \
                --blink-settings=preferredColorScheme=$number "$3" --window-size=$width,900 \
                --screenshot="$folder/$1-$width-$scheme.png" "$2" >/dev/null 2>&1
        done
    done
}

"$heddle" sweep lud bfs hotspot -m spe,dpe,dws --profile -o "$tmp/runs.db" >/dev/null
"$heddle" report "$tmp/runs.db" --title 'Three programs under three models' -o "$tmp/report.html" >/dev/null
draw report "file://$tmp/report.html" --virtual-time-budget=3000
"$heddle" reproduce subwarp-table3 dpe-stacks -o "$tmp/figures.db" --to "$tmp/figures" >/dev/null
draw reproduction "file://$tmp/figures/index.html" --virtual-time-budget=3000
"$heddle" bench --size paper --live 127.0.0.1:8099 >/dev/null 2>&1 &
server=$!
sleep 3
draw live http://127.0.0.1:8099/ --timeout=2500
kill $server 2>/dev/null || :
"$heddle" sweep dual-path --size paper -j 2 -m spe,dpe,dws -o "$tmp/sweep.db" --live 127.0.0.1:8098 >/dev/null 2>&1 &
server=$!
sleep 12
draw sweep http://127.0.0.1:8098/ --timeout=2500
kill $server 2>/dev/null || :
"$heddle" sweep dual-path --size paper -m spe,dpe,dws --queue "$tmp/queue.db" >/dev/null
"$heddle" work "$tmp/queue.db" -j 2 >/dev/null 2>&1 &
server=$!
"$heddle" results "$tmp/queue.db" --progress --live 127.0.0.1:8097 >/dev/null 2>&1 &
server="$server $!"
sleep 12
draw queue http://127.0.0.1:8097/ --timeout=2500
