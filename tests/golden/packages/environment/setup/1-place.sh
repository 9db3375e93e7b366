# Moves files to paths that a Dockerfile can't name.
umask 022
[ -d '/opt/odd name' ] || { mkdir -p -- '/opt/odd name' && chown root: '/opt/odd name'; }
mv -f -- /aespec-setup/odd-1-0 '/opt/odd name/it'"'"'s $here.txt'
