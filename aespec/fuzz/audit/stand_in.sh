# What stands in a shell script's place: see stand_in.py. Before it stand aespec_source, aespec_log, aespec_top and
# aespec_limit, or the function aespec_answer. A word is told as `=` and its base64, so that an empty one is one.
aespec_told=$(for aespec_word in "$@"; do printf '=%s,' "$(printf %s "$aespec_word" | base64 -w0)"; done)
aespec_folder=$(mktemp -d) || exit 125
if [ -t 0 ]; then : >"$aespec_folder/in"; else cat >"$aespec_folder/in"; fi
aespec_in=$(base64 -w0 <"$aespec_folder/in")
if [ -n "$aespec_log" ]; then
    aespec_shell=/bin/sh
    [ -z "$BASH_VERSION" ] || aespec_shell=/bin/bash
    "$aespec_shell" -c "$(printf %s "$aespec_source" | base64 -d)" "$0" "$@" \
        <"$aespec_folder/in" >"$aespec_folder/out" 2>"$aespec_folder/err"
    aespec_status=$?
    aespec_files=$(find "$aespec_top" -type f ! -path '*/.git/*' ! -name '*.pyc' ! -path '*/.pytest_cache/*' |
        head -n "$aespec_limit" | while IFS= read -r aespec_file; do sha256sum "$aespec_file"; done | base64 -w0)
    (
        umask 0
        printf 'sh %s %s %s %s %s %s %s %s\n' "$aespec_told." "$aespec_in." \
            "$(base64 -w0 <"$aespec_folder/out")." "$(base64 -w0 <"$aespec_folder/err")." "$aespec_status" \
            "$(pwd | base64 -w0)" "$aespec_files." "$(env -u aespec_log | base64 -w0)" >>"$aespec_log"
    )
    cat "$aespec_folder/out"
    cat "$aespec_folder/err" >&2
    rm -rf "$aespec_folder"
    exit "$aespec_status"
fi
rm -rf "$aespec_folder"
aespec_answer "$aespec_told $aespec_in"
exit 1
