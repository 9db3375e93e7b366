# Times the parts of a run. To be sourced.
#   part NAME BUDGET_S COMMAND…   runs COMMAND and notes how it went; returns its status
#   parts_table                   prints the notes: part, seconds, budget, verdict
# The notes go to the file AESPEC_PARTS, which scripts that call each other share.
AESPEC_PARTS=${AESPEC_PARTS:-$(mktemp)}
export AESPEC_PARTS

part() {
    local name=$1 budget=$2 status errexit=$- begin end
    shift 2
    # Behind || or && or if, bash runs a function on after a failure in it, whatever is set inside, and a
    # broken part would count as good. So a part stands as a statement of its own.
    set +e
    ( set -e; false; true )
    if [ $? = 0 ]; then
        printf 'part %s: call it as a statement of its own, not in a condition\n' "$name" >&2
        exit 70
    fi
    printf '== %s\n' "$name" >&2
    begin=$(date +%s.%N)
    ( set -e; "$@" )
    status=$?
    case $errexit in *e*) set -e ;; esac
    end=$(date +%s.%N)
    awk -v n="$name" -v b="$budget" -v s="$status" -v t0="$begin" -v t1="$end" \
        'BEGIN { t = t1 - t0; printf "%s\t%.1f\t%d\t%s\n", n, t, b, s ? "FAILED (" s ")" : (t > b ? "ok, over budget" : "ok") }' \
        >>"$AESPEC_PARTS"
    return "$status"
}

parts_table() {
    awk -F'\t' 'BEGIN { printf "%-22s %9s %9s  %s\n", "part", "seconds", "budget", "verdict" }
        { printf "%-22s %9.1f %9d  %s\n", $1, $2, $3, $4; total += $2; budget += $3 }
        END { printf "%-22s %9.1f %9d\n", "sum of parts", total, budget }' "$AESPEC_PARTS"
}
