#!/bin/sh
# The oracle: from the start state, as the agent, in its folder. Its exit status is this script's.
cd /app || exit 1
for python in /usr/bin/python3 /usr/local/bin/python3 /bin/python3 /opt/python/bin/python3; do
    if [ -x "$python" ]; then
        exec "$python" -B /solution/oracle.py
    fi
done
echo "no python3 for the oracle" >&2
exit 127
