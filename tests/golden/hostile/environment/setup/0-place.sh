# Moves files to paths that a Dockerfile can't name.
umask 022
[ -d /app ] || { mkdir -p -- /app && chown agent: /app; }
mv -f -- /aespec-setup/odd-0-0 '/app/{{ x }} $(id) "q" '"'"'r'"'"' \.txt'
