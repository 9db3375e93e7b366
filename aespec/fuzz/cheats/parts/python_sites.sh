# Prints the folders of installed packages of every Python that is found, those that can be written.
python_sites() {
    for python in python3 /usr/bin/python3 /usr/local/bin/python3; do
        "$python" -c 'import site; print("\n".join(site.getsitepackages()))' 2> /dev/null
        "$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' 2> /dev/null
    done | sort -u | while IFS= read -r site; do
        [ -w "$site" ] && printf '%s\n' "$site"
    done
}
