# Makes the repository from the stream of commits beside this script: no remote, no reflog, no hooks.
export HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null LC_ALL=C TZ=UTC
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 022
command -v git >/dev/null || { echo 'a repo needs git in the image: add "git" to apt' >&2; exit 1; }
mkdir -p -- /app
cd -- /app
# git refuses a folder that is another's, and this one may be the agent's already.
chown root: .
git init --quiet --template= .
git symbolic-ref HEAD refs/heads/main
git -c core.logAllRefUpdates=false -c core.ignoreCase=false fast-import --quiet --done < /aespec-setup/0-repo.stream
git -c core.logAllRefUpdates=false update-ref -d refs/heads/aespec-import
git -c core.logAllRefUpdates=false -c advice.detachedHead=false reset --quiet --hard
rm -rf .git/logs .git/ORIG_HEAD .git/FETCH_HEAD .git/branches /aespec-setup/0-repo.stream
git ls-files -z | xargs -0 -r chown -h agent:
chown -R agent: .git
chown agent: .
