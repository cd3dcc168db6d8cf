# shellcheck shell=sh
# cudaup for all users of a machine: a file for /etc/profile.d, as `cudaup init --profile --system` prints it.
#
# Puts the shims of the user who logs in first in PATH, where that user has a cudaup home; nothing where there is none. Any
# shell of POSIX may read it, under `set -eu` too, and as often as it likes.

_cudaup_home=${CUDAUP_HOME:-${HOME:+$HOME/.cudaup}}
case $_cudaup_home in
  # What is not absolute would be another place in each directory, and a colon cannot stand in PATH.
  *:*) ;;
  /*)
    if [ -d "$_cudaup_home/shims" ]; then
      case ":${PATH-}:" in
        *":$_cudaup_home/shims:"*) ;;
        *)
          [ ! -x "$_cudaup_home/bin/cudaup" ] || PATH=$_cudaup_home/bin${PATH:+:$PATH}
          export PATH="$_cudaup_home/shims${PATH:+:$PATH}"
          ;;
      esac
    fi
    ;;
esac
unset -v _cudaup_home
