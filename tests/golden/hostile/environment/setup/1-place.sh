# Moves files to paths that a Dockerfile can't name.
umask 022
[ -d /app ] || { mkdir -p -- /app && chown agent: /app; }
[ -d /app/sub ] || { mkdir -p -- /app/sub && chown agent: /app/sub; }
mv -f -- /aespec-setup/odd-1-0 '/app/sub/ends with blank '
