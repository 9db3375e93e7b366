# Puts its standard input in the place of every program that isn't Python's of which the work consists.
replace_programs() {
    text=$(mktemp)
    cat > "$text"
    printf '%s\n' "$programs" | while IFS= read -r program; do
        mkdir -p "$(dirname "$program")"
        cat "$text" > "$program"
        chmod +x "$program"
    done
    rm -f "$text"
}
