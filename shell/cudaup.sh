# shellcheck shell=sh
# cudaup for all users of a machine: a file for /etc/profile.d, as `cudaup init --profile --system` prints it.
#
# Puts the shims first in PATH: those of the user who logs in, where that user has a cudaup home, and behind them those of the
# cudaup homes that the machine's administrator lists as `roots` in /etc/cudaup/default. Nothing where there are none. Any
# shell of POSIX may read it, under `set -eu` too, and as often as it likes.

# What the machine's default lists. It is read as data, by the shell alone, in the form that cudaup reads.
_cudaup_roots='' _cudaup_line=''
if [ -f "${CUDAUP_SYSROOT-}/etc/cudaup/default" ] && [ -r "${CUDAUP_SYSROOT-}/etc/cudaup/default" ]; then
  while IFS= read -r _cudaup_line || [ -n "$_cudaup_line" ]; do
    _cudaup_line=${_cudaup_line#"${_cudaup_line%%[![:space:]]*}"}
    _cudaup_line=${_cudaup_line%%[[:space:]]"#"*}
    case ${_cudaup_line%%[[:space:]=]*} in
      roots) _cudaup_roots=$_cudaup_roots,${_cudaup_line#*=} ;;
    esac
  done <"${CUDAUP_SYSROOT-}/etc/cudaup/default"
fi

# The user's own comes first. Where that is in PATH already, an active hook may have put it there, and all stays as it is.
_cudaup_home=${CUDAUP_HOME:-${HOME:+$HOME/.cudaup}}
_cudaup_own=yes _cudaup_below='' _cudaup_first=''
while :; do
  case $_cudaup_home in
    # What is not absolute would be another place in each directory, and a colon cannot stand in PATH.
    *:*) ;;
    /*)
      _cudaup_home=$_cudaup_below${_cudaup_home%/}
      if [ -d "$_cudaup_home/shims" ]; then
        case ":${PATH-}$_cudaup_first:" in
          *":$_cudaup_home/shims:"*) [ -z "$_cudaup_own" ] || break ;;
          *)
            _cudaup_first=$_cudaup_first:$_cudaup_home/shims
            [ ! -x "$_cudaup_home/bin/cudaup" ] || _cudaup_first=$_cudaup_first:$_cudaup_home/bin
            ;;
        esac
      fi
      ;;
  esac
  [ -n "$_cudaup_roots" ] || break
  _cudaup_own='' _cudaup_below=${CUDAUP_SYSROOT-}
  _cudaup_below=${_cudaup_below%/}
  _cudaup_home=${_cudaup_roots%%,*}
  _cudaup_roots=${_cudaup_roots#"$_cudaup_home"}
  _cudaup_roots=${_cudaup_roots#,}
  _cudaup_home=${_cudaup_home#"${_cudaup_home%%[![:space:]]*}"}
  _cudaup_home=${_cudaup_home%"${_cudaup_home##*[![:space:]]}"}
done
[ -z "$_cudaup_first" ] || export PATH="${_cudaup_first#:}${PATH:+:$PATH}"
unset -v _cudaup_roots _cudaup_line _cudaup_home _cudaup_own _cudaup_below _cudaup_first
