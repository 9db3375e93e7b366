# Prints $1 as one word of a shell script.
quote_word() {
    printf "'"
    printf '%s\n' "$1" | sed "s/'/'\\\\''/g; \$s/\$/'/"
}
