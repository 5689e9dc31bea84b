#!/bin/sh
# Lists the statistics that differ between two builds: runs the benchmarks (size small) in every model on several presets
# with both builds. Statistics host.* are not compared.
#   scripts/compare_stats.sh BEFORE AFTER [BENCHMARK...]     two heddle binaries
#   MODELS="spe its" CONFIGS="fermi"                         only these models and presets
# Exit status: 0 all statistics are equal, 1 some differ.
set -eu
[ $# -ge 2 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
before=$1 after=$2
shift 2
models=${MODELS:-functional functional/dpe functional/dws functional/its functional/minpc spe dpe dws10 dws50 dws100 its si minpc}
configs=${CONFIGS:-fermi turing volta-classic tiny}
[ $# -gt 0 ] || set -- $("$before" list benchmarks | awk 'NR > 2 {print $1}')
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT INT TERM

# Prints lines "benchmark kernel statistic<tab>value"; a program that does not fit the machine shows its message.
figures() {
	bin=$1 model=$2 config=$3
	shift 3
	for name in "$@"; do
		set -- bench "$name" -m "${model%%/*}" -c "$config" --json "$tmp/json"
		case $model in functional/*) set -- "$@" -s "reconv=${model#*/}" ;; esac
		"$bin" "$@" >"$tmp/out" 2>&1 || sed -n "s|^heddle: \(.*\)|$name \1|p" "$tmp/out" | sed 's|/[^ ]*/||g'
		[ ! -s "$tmp/json" ] || jq -r --arg name "$name" 'paths(scalars) as $p
			| select($p | map(tostring) | any(startswith("host.") or . == "command") | not)
			| "\($name) \($p | map(tostring) | join(" "))\t\(getpath($p))"' "$tmp/json" | sort
		rm -f "$tmp/json"
	done
}

differ=0 runs=0
for config in $configs; do
	for model in $models; do
		figures "$before" "$model" "$config" "$@" >"$tmp/before" || true
		figures "$after" "$model" "$config" "$@" >"$tmp/after" || true
		runs=$((runs + 1))
		if ! cmp -s "$tmp/before" "$tmp/after"; then
			differ=$((differ + 1))
			echo "$model -c $config:"
			diff "$tmp/before" "$tmp/after" | sed -n 's/^[<>]/   &/p' | head -n "${LINES_SHOWN:-40}"
		fi
	done
done
echo "$runs runs compared, $differ differ"
[ "$differ" -eq 0 ]
