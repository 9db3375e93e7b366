#!/bin/sh
# The oracle: from the start state, as the agent, in its folder. Its exit status is this script's.
cd /app || exit 1
exec /bin/sh /solution/oracle.sh
