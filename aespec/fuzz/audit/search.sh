# Looks through the agent's own view of the start state for what shouldn't be there. Run by sh as the agent.
# Beside it lie: tokens (one a line), sizes (arguments of find), digests (SHA-256 of contents), blobs (ids of
# git). It prints a kind, a place and what was found there, parted by tabs; in the end `end`.
place=/var/tmp/aespec-search
unpacked=$(mktemp -d)
binary=-a
grep -a x /dev/null 2> /dev/null
[ $? -gt 1 ] && binary=

# Everything but what the system mounts and what packages bring along.
own_files() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /usr/lib -o -path /usr/share -o -path /usr/bin \
        -o -path /usr/sbin -o -path /usr/include -o -path /usr/libexec -o -path /lib -o -path /lib64 -o -path /bin \
        -o -path /sbin -o -path /boot -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache/apt \
        -o -path "$place" -o -path "$unpacked" -o -path /usr/local/lib -o -name .git \) -prune -o "$@" 2> /dev/null
}
found_in() { grep $binary -oFf "$place/tokens" | sort -u | head -n 40; }
tell() { while IFS= read -r line; do printf '%s\t%s\t%s\n' "$1" "$2" "$line"; done; }

if [ -s "$place/tokens" ]; then
    own_files -type f -size -16384k -exec grep $binary -lFf "$place/tokens" {} + | head -n 200 |
        while IFS= read -r file; do found_in < "$file" | tell token "$file"; done
    env | found_in | tell environment "the environment"
    own_files -type f \( -name '*.whl' -o -name '*.zip' -o -name '*.gz' -o -name '*.tgz' \) -size -40960k -print |
        head -n 50 | while IFS= read -r file; do
        case $file in
            *.whl | *.zip) unzip -p "$file" 2> /dev/null || python3 -m zipfile -e "$file" "$unpacked/of" 2> /dev/null ;;
            *) gzip -dc "$file" 2> /dev/null ;;
        esac | head -c 100000000 | found_in | tell package "$file"
        [ -d "$unpacked/of" ] || continue
        find "$unpacked/of" -type f -size -16384k -exec cat {} + | head -c 100000000 | found_in | tell package "$file"
        rm -rf "$unpacked/of"
    done
fi

if command -v git > /dev/null; then
    find / -xdev \( -path /proc -o -path /sys -o -path /dev \) -prune -o \( -name .git -o -name '*.git' \) -print 2> /dev/null |
        head -n 10 | while IFS= read -r repository; do
        set -f
        while read -r blob; do
            git -c "safe.directory=*" --git-dir="$repository" cat-file -e "$blob" 2> /dev/null &&
                printf 'blob\t%s\t%s\n' "$repository" "$blob"
        done < "$place/blobs"
        [ -s "$place/tokens" ] && git -c "safe.directory=*" --git-dir="$repository" \
            cat-file --batch-all-objects --batch --buffer 2> /dev/null | head -c 200000000 | found_in |
            tell history "$repository"
        set +f
    done
fi

if [ -s "$place/sizes" ]; then
    set -f
    # shellcheck disable=SC2046
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path "$place" \) -prune -o \
        -type f \( $(cat "$place/sizes") \) -exec sha256sum {} + 2> /dev/null |
        grep -Ff "$place/digests" | head -n 100 | while read -r digest file; do
        printf 'copy\t%s\t%s\n' "$file" "$digest"
    done
    set +f
fi
rm -rf "$unpacked"
printf 'end\t\t\n'
