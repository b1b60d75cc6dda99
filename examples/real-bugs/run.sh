#!/usr/bin/env bash
# Measures how often, and how soon, each bug of this folder is found, and that the fixed versions
# stay silent. See README.md.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

usage() {
    cat <<TEXT
usage: ./run.sh [--only NAME] [--except NAME] [--seeds N] [--iterations N] [--silent N] [--strategy S]
                [--json FILE] [--config KEY=VALUE]

  --only NAME      one bug instead of all (may be repeated); given once, the report of a failure
                   follows, and is replayed from its token
  --except NAME    all but this one (may be repeated)
  --seeds N        seeds for each buggy version (100)
  --iterations N   iterations a seed on the buggy version (1000)
  --silent N       iterations on the fixed version, with one seed (ten times as many)
  --strategy S     one strategy instead of random and pct:d=3 (may be repeated)
  --json FILE      also write everything that was measured to FILE
  --config K=V     a setting for the builds, as cargo takes it (may be repeated)

bugs: ${bugs[*]}
TEXT
}

fail() {
    echo "run.sh: $1" >&2
    exit 2
}

bugs=()
for folder in "$here"/*/buggy; do
    bugs+=("$(basename "$(dirname "$folder")")")
done

only=() except=() strategies=() settings=() seeds=100 iterations=1000 silent="" json=""

positive() {
    [[ $2 =~ ^[1-9][0-9]{0,8}$ ]] || fail "invalid $1 \`$2\`: expected a positive integer"
}

while (($# > 0)); do
    option=$1
    case $option in
        --help | -h)
            usage
            exit 0
            ;;
        --only | --except | --seeds | --iterations | --silent | --strategy | --json | --config) ;;
        *) fail "unknown option \`$option\`: there are --only, --except, --seeds, --iterations, --silent, --strategy, --json, --config and --help" ;;
    esac
    (($# > 1)) || fail "option \`$option\` needs a value"
    value=$2
    shift 2
    case $option in
        --only | --except)
            [[ " ${bugs[*]} " == *" $value "* ]] || fail "no bug is called \`$value\`: there are ${bugs[*]}"
            if [[ $option == --only ]]; then only+=("$value"); else except+=("$value"); fi
            ;;
        --seeds) positive "$option" "$value" && seeds=$value ;;
        --iterations) positive "$option" "$value" && iterations=$value ;;
        --silent) positive "$option" "$value" && silent=$value ;;
        --config) settings+=(--config "$value") ;;
        --strategy) strategies+=("$value") ;;
        --json)
            { : >"$value"; } 2>/dev/null || fail "cannot write --json \`$value\`"
            json=$value
            ;;
    esac
done
((${#only[@]} > 0)) || only=("${bugs[@]}")
if ((${#except[@]} > 0)); then
    all=("${only[@]}") only=()
    for bug in "${all[@]}"; do
        [[ " ${except[*]} " == *" $bug "* ]] || only+=("$bug")
    done
    ((${#only[@]} > 0)) || fail "\`--except\` leaves none"
fi
((${#strategies[@]} > 0)) || strategies=(random pct:d=3)
: "${silent:=$((iterations * 10))}"

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$here/target}"
results=()
missed=0

# The value of one field of a campaign's totals.
field() {
    sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"]*\)\"\{0,1\},.*/\1/p" <<<"${2%%,\"runs\":*},"
}

# measure BUG VERSION STRATEGY SEEDS ITERATIONS EXPECT
measure() {
    local result status=0 verdict=ok found median
    result=$("$CARGO_TARGET_DIR/release/$1-$2" --strategy "$3" --seeds "$4" --iterations "$5" --expect "$6") || status=$?
    # 0: as expected, 1: not as expected. Anything else never came to a result.
    ((status <= 1)) && [[ $result == {* ]] || exit 2
    if ((status == 1)); then
        verdict=MISSED
        missed=1
    fi
    found=$(field found_seeds "$result")
    median=$(field median_iteration "$result")
    [[ $median == null ]] && median=-
    printf '%-28s %-8s %-12s %5s of %-5s %8s %8s   %s\n' \
        "$1" "$2" "$3" "$found" "$4" "$median" "$5" "$verdict"
    results+=("$result")
}

# The bugs whose packages are built, a line each. Cargo leaves the machine idle between packages, so that those
# that are built are run meanwhile.
build() {
    local bug manifest
    for bug in "${only[@]}"; do
        for manifest in "$here/$bug"/*/Cargo.toml; do
            cargo build --quiet --release ${settings[@]+"${settings[@]}"} --manifest-path "$manifest" || return
        done
        echo "$bug"
    done
}

echo "building in $CARGO_TARGET_DIR" >&2
exec 3< <(build)
printf '%-28s %-8s %-12s %14s %8s %8s   %s\n' bug version strategy "found (seeds)" median budget bound
for bug in "${only[@]}"; do
    read -r built <&3 && [[ $built == "$bug" ]] || fail "$bug could not be built"
    for strategy in "${strategies[@]}"; do
        for folder in "$here/$bug"/*/; do
            version=$(basename "$folder")
            case $version in
                buggy) measure "$bug" "$version" "$strategy" "$seeds" "$iterations" found ;;
                fixed | control) measure "$bug" "$version" "$strategy" 1 "$silent" silent ;;
            esac
        done
    done
done

if ((${#only[@]} == 1)); then
    printf '\n'
    "$CARGO_TARGET_DIR/release/${only[0]}-buggy" --report
fi

if [[ -n $json ]]; then
    {
        echo "["
        for index in "${!results[@]}"; do
            ((index == 0)) || echo ","
            printf '%s' "${results[index]}"
        done
        printf '\n]\n'
    } >"$json"
fi
if ((missed)); then
    echo "run.sh: a bound was missed" >&2
    exit 1
fi
