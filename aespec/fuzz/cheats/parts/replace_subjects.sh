# Puts its standard input in the place of every Python program that the work consists of.
replace_subjects() {
    text=$(mktemp)
    cat > "$text"
    printf '%s\n' "$subjects" | while IFS= read -r subject; do
        mkdir -p "$(dirname "$subject")"
        cat "$text" > "$subject"
        chmod +x "$subject"
    done
    rm -f "$text"
}
