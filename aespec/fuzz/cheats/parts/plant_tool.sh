# Puts its standard input as the program $1 into the first writable folder of PATH before the one that has it.
plant_tool() {
    place=
    before=$IFS
    IFS=:
    for folder in $PATH $HOME/.local/bin; do
        [ -x "$folder/$1" ] && break
        if mkdir -p "$folder" 2> /dev/null && [ -w "$folder" ]; then
            place=$folder/$1
            break
        fi
    done
    IFS=$before
    if [ -z "$place" ]; then
        echo "no folder of PATH before that of $1 can be written" >&2
        exit 1
    fi
    cat > "$place"
    chmod 755 "$place"
}
