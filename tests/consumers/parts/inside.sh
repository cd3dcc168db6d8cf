# shellcheck shell=bash
# One step of one consumer, in the environment in which the driver starts this: STEP is `take`, or `earlier` for what
# happened in the same directory while it was pinned to another toolkit.
# shellcheck source=tests/consumers/parts/evidence.sh
. "$CONSUMERS/parts/evidence.sh"
# shellcheck source=/dev/null
. "$CONSUMERS/each/$CONSUMER.sh"
set -e
"$STEP"
