# shellcheck shell=bash
# The hook of cudaup for bash 4.2 and newer. `cudaup init bash` prints it after lines that set _cudaup_bin, _cudaup_asked_of,
# _cudaup_home, _cudaup_system, _cudaup_asked and the variables of the directory that the shell starts in.
#
# At each prompt it looks, with builtins alone, whether anything changed that decides about the toolkit: the nearest
# .cuda-version and what it says, the default files, CUDAUP_VERSION, PATH, CUDA_HOME, whether the toolkit still exists.
# Only then does it ask the program. Nothing that it remembers is exported.

# shellcheck disable=SC2154 # the lines above set them
_cu_own=$_cudaup_home/default _cu_etc=$_cudaup_system/etc/cudaup/default
_cudaup_pwd='' _cudaup_places=('') _cudaup_yield='' _cudaup_yielded='' _cudaup_told=${_cudaup_told-}
_cu_near='' _cu_same='' _cudaup_same='' _cudaup_seen="${CUDA_HOME-};${PATH-}" _cu_root=/
_cudaup_there='' _cudaup_refused='' _cudaup_upper=A _cudaup_starting=yes

# At the prompt. This test is the whole cost where the last command succeeded, and a project's own pin and the user's
# default are as they were; all other cases are _cudaup_look's. A machine's default that comes where none was is seen at the
# next cd: to look for one here takes a thirtieth of the whole. bash copies a function's body at each call: what is seldom
# needed has functions of its own, the names in here are short, and `builtin`, which elsewhere goes before what people give
# functions or aliases of their own, is not spent on mapfile.
_cudaup_hook() {
  _cu_code=$?
  # shellcheck disable=SC2015 # whatever of this is not so, _cudaup_look is to look
  [[ -f $_cu_near && -r $_cu_near && -f $_cu_own && -e $_cu_root ]] && {
    mapfile -u3 _cu_a
    mapfile -u4 _cu_b
    [[ $_cu_code\;${PWD-}\;${_cu_a[*]-}\;${_cu_b[*]-}\;${CUDAUP_VERSION-}\;${CUDA_HOME-}\;${PATH-} == "$_cu_same" ]]
  } 3<"$_cu_near" 4<"$_cu_own" || _cudaup_look
}

# The same below the directory of the pin: nothing nearer may have come.
_cudaup_hook_below() {
  _cu_code=$?
  for _cudaup_at in "${_cudaup_nearer[@]}"; do
    [[ ! -e $_cudaup_at && ! -L $_cudaup_at ]] || break
  done
  # shellcheck disable=SC2015 # whatever of this is not so, _cudaup_look is to look
  [[ $_cudaup_at == "$_cu_near" && -f $_cu_near && -r $_cu_near && -f $_cu_own && -e $_cu_root ]] && {
    mapfile -u3 _cu_a
    mapfile -u4 _cu_b
    [[ $_cu_code\;${PWD-}\;${_cu_a[*]-}\;${_cu_b[*]-}\;${CUDAUP_VERSION-}\;${CUDA_HOME-}\;${PATH-} == "$_cu_same" ]]
  } 3<"$_cu_near" 4<"$_cu_own" || _cudaup_look
}

# Keeps $?, unless the shell would end for it (set -e). A link that leads nowhere is a name that is there: it counts, and
# the program says what is wrong with it. Where `==` takes a for A (nocasematch), all is looked at anew at each prompt.
_cudaup_look() {
  if [[ -n $_cudaup_starting ]]; then
    # What stands in a start file below cudaup's lines is no newer wish: the first prompt enters over it.
    [[ "${CUDA_HOME-};${PATH-}" == "$_cudaup_seen" ]] || _cudaup_asked='?'
    _cudaup_starting='' _cudaup_same=''
  fi
  [[ ${PWD-} == "$_cudaup_pwd" && a != "$_cudaup_upper" ]] || _cudaup_climb
  for _cudaup_at in "${_cudaup_places[@]}"; do
    [[ ! -e $_cudaup_at && ! -L $_cudaup_at ]] || break
  done
  # Opens nothing that would make it wait, and nothing that cannot be read.
  _cudaup_pin='' _cudaup_default='' _cudaup_other=''
  if [[ -f $_cudaup_at && -r $_cudaup_at ]]; then
    builtin read -rN4096 -u3 _cudaup_pin 3<"$_cudaup_at" || :
  fi
  if [[ -f $_cu_own && -r $_cu_own ]]; then
    builtin read -rN4096 -u3 _cudaup_default 3<"$_cu_own" || :
  elif [[ -e $_cu_own || -L $_cu_own ]]; then
    _cudaup_default='?'
  fi
  [[ ! -e $_cu_etc ]] || _cudaup_read_machine
  # In a directory that was renamed or deleted only the program knows where it is: there it is asked at each prompt.
  _cudaup_lost=''
  [[ ${PWD-} -ef . ]] || _cudaup_lost='?' _cudaup_same=''
  _cudaup_key="$_cudaup_lost$_cudaup_at;$_cudaup_pin;$_cudaup_default;$_cudaup_other;${CUDAUP_VERSION-}"
  if [[ "$_cudaup_key;${CUDA_HOME-};${PATH-}" != "$_cudaup_same" || ! -e $_cu_root ]]; then _cudaup_change || :; fi
  [[ $- != *a* ]] || builtin export -n "${!_cu@}"
  [[ $- == *e* ]] || return "$_cu_code"
}

_cudaup_read_machine() {
  if [[ -f $_cu_etc && -r $_cu_etc ]]; then
    builtin read -rN4096 -u3 _cudaup_other 3<"$_cu_etc" || :
  fi
}

# bash 4.4 garbles or cuts what `read -N` reads from the first character of several bytes on, and so would ask the program
# anew. What it has besides reads one byte at a time, so it is only for that.
if [[ $BASH_VERSION == 4.4.* ]]; then
  _cudaup_text=$(builtin declare -f _cudaup_look _cudaup_read_machine)
  builtin eval "${_cudaup_text//builtin read -rN4096/IFS= builtin read -rd '' -n4096}"
  builtin unset -v _cudaup_text
fi

# Asks the program, if what its last answer stood on is no longer so: the directory may only be another with the same
# answer.
_cudaup_change() {
  # Under `set -a` what a prompt sets is exported.
  builtin export -n "${!_cu@}"
  if [[ -n $_cudaup_refused ]]; then
    _cudaup_list
    builtin [ ":$_cudaup_there" = "$_cudaup_refused" ] || _cudaup_asked='?'
  fi
  if builtin [ "$_cudaup_lost$_cudaup_key" != "$_cudaup_asked" ]; then
    _cudaup_ask || return 0
  elif builtin [ "${CUDA_HOME-};${PATH-}" != "$_cudaup_seen" ] || [[ ! -e $_cu_root ]]; then
    _cudaup_ask --mend || return 0
  fi
  _cudaup_settle
}

# What is to be evaluated comes on stdout; what is to be read goes straight to stderr.
_cudaup_ask() {
  # Once it is there again it is asked.
  [[ -x $_cudaup_asked_of ]] || return 1
  builtin local _cudaup_text
  _cudaup_text=$(_CUDAUP_TOLD=$_cudaup_told _CUDAUP_YIELDED=$_cudaup_yielded "$_cudaup_asked_of" hook bash "$@") || return 1
  _cudaup_yield='' _cudaup_yielded=''
  builtin eval "$_cudaup_text" || :
}

# Which toolkits and add-ons there are: a refusal stands on that too, and another terminal may install what is missing. Only
# where a refusal was entered does a prompt look.
_cudaup_list() {
  # A pattern that fits nothing would be an error.
  [[ $BASHOPTS != *failglob* ]] || return 0
  _cu_a=("$_cudaup_home"/toolkits/*/ "$_cudaup_home"/addons/*/*/)
  _cudaup_there=${_cu_a[*]-}
}

# Sets _cudaup_places: where a pin for this directory can lie, the nearest first, and an empty name after the last.
_cudaup_climb() {
  builtin local _cudaup_dir _cudaup_end
  # What came from another hand holds until the directory changes.
  [[ -z $_cudaup_yield || ${PWD-} == "$_cudaup_pwd" ]] || _cudaup_asked='?'
  _cudaup_dir=${PWD-} _cudaup_end=${CUDAUP_CEILING:--}
  _cudaup_pwd=$_cudaup_dir _cudaup_places=() _cudaup_same=''
  _cudaup_dir=${_cudaup_dir%/} _cudaup_end=${_cudaup_end%/}
  while builtin [ "$_cudaup_dir" != "$_cudaup_end" ]; do
    _cudaup_places+=("$_cudaup_dir/.cuda-version")
    [[ $_cudaup_dir == */* ]] || break
    _cudaup_dir=${_cudaup_dir%/*}
  done
  _cudaup_places+=('')
}

# Takes what _cudaup_look found, and the variables, as seen.
_cudaup_settle() {
  _cudaup_asked=$_cudaup_key _cudaup_seen="${CUDA_HOME-};${PATH-}" _cu_root=/ _cu_near='' _cudaup_refused=''
  _cudaup_same="$_cudaup_key;$_cudaup_seen"
  _cudaup_watch
  # The short tests serve where a pin counts, and it and the default are small.
  if [[ a != "$_cudaup_upper" && -z $_cudaup_lost$_cudaup_yield$_cudaup_refused && -f $_cudaup_at && -r $_cudaup_at && -f $_cu_own && -r $_cu_own && ! -e $_cu_etc && ${#_cudaup_pin} -lt 4096 && ${#_cudaup_default} -lt 4096 ]]; then
    _cu_near=$_cudaup_at
    {
      builtin mapfile -n64 -u3 _cu_a
      builtin mapfile -n64 -u4 _cu_b
    } 3<"$_cu_near" 4<"$_cu_own" || :
    [[ -z ${_cu_a[63]-}${_cu_b[63]-} ]] || _cu_near=''
    _cu_same=0\;${PWD-}\;${_cu_a[*]-}\;${_cu_b[*]-}\;${CUDAUP_VERSION-}\;${CUDA_HOME-}\;${PATH-}
  fi
  _cudaup_at_prompt=_cudaup_hook _cudaup_nearer=()
  for _cudaup_at in "${_cudaup_places[@]}"; do
    _cudaup_nearer+=("$_cudaup_at")
    [[ $_cudaup_at != "$_cu_near" ]] || break
  done
  if ((${#_cudaup_nearer[@]} > 1)) && [[ -n $_cu_near ]]; then _cudaup_at_prompt=_cudaup_hook_below; fi
}

# Sets what the answer stands on besides: that the toolkit exists, or, after a refusal, which ones there are.
_cudaup_watch() {
  # A root that does not exist is not watched.
  if [[ -n ${CUDAUP_STATE-} && -e ${CUDA_HOME-} ]]; then _cu_root=$CUDA_HOME; fi
  if [[ ${CUDAUP_STATE-} == '1;refused;'* ]]; then _cudaup_list; _cudaup_refused=:$_cudaup_there _cudaup_same=''; fi
}

# The program, and after it the hook, so that `cudaup use` and `cudaup install` are in force at once; before it too, so that
# what it says of this shell holds for the directory that this command line may have changed to. `use --shell` answers with
# text for this shell.
function cudaup {
  _cudaup_hook || :
  builtin local _cudaup_code _cudaup_word _cudaup_before _cudaup_verb _cudaup_form _cudaup_text
  _cudaup_code=0 _cudaup_before='' _cudaup_verb='' _cudaup_form=''
  for _cudaup_word; do
    # The value of a global option is no verb.
    if [[ $_cudaup_before == --color ]]; then
      _cudaup_before=''
      continue
    fi
    _cudaup_before=$_cudaup_word
    case $_cudaup_word in
      --) break ;;
      -h | --help | -V | --version) _cudaup_form=help ;;
      --shell | --shell=*) _cudaup_form=${_cudaup_form:-text} ;;
      -*) ;;
      *) _cudaup_verb=${_cudaup_verb:-$_cudaup_word} ;;
    esac
  done
  if [[ $_cudaup_verb == use && $_cudaup_form == text ]]; then
    if _cudaup_text=$(_CUDAUP_SHELL=bash "$_cudaup_bin" "$@"); then
      builtin eval "$_cudaup_text" || :
    else
      _cudaup_code=$?
    fi
  else
    _CUDAUP_SHELL=bash "$_cudaup_bin" "$@" || _cudaup_code=$?
  fi
  # What these change the hook cannot see: which toolkits there are, or a wish that a newer one had pushed aside.
  case $_cudaup_code$_cudaup_verb$_cudaup_yield in
    0use* | 0install | 0uninstall | 0link | 0unlink | 0add | 0remove | 0sync) _cudaup_asked='?' _cudaup_same='' _cu_near='' ;;
  esac
  _cudaup_hook || :
  return "$_cudaup_code"
}

# The entry is one simple command. In a shell without the hook, such as the child of a shell that exported
# PROMPT_COMMAND, it does nothing, and where it can come there it keeps $?. It goes first, so that nothing has to be known
# of how the rest begins or ends. A text stays a text; in an array (from bash 5.1 on) it gets an element of its own, and the
# others find $? and PIPESTATUS untouched.
_cudaup_at_prompt=_cudaup_hook
_cudaup_enrol() {
  # Under `set -k` a command has no arguments with `=` in them.
  builtin local _cudaup_old _cudaup_kind _cudaup_entry
  _cudaup_kind=x
  for _cudaup_old in "${PROMPT_COMMAND[@]-}"; do
    # shellcheck disable=SC2016 # it is looked for as it stands there
    [[ $_cudaup_old != *'"${_cudaup_at_prompt-'* ]] || return 0
  done
  if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
    _cudaup_kind=${PROMPT_COMMAND+${PROMPT_COMMAND@a}}
  elif [[ " $(builtin readonly -p) " == *" PROMPT_COMMAND="* ]]; then
    _cudaup_kind=r
  fi
  # shellcheck disable=SC2016 # the entry is evaluated at each prompt
  _cudaup_entry='"${_cudaup_at_prompt-:}"'
  # shellcheck disable=SC2016
  [[ $_cudaup_kind != *x* ]] || _cudaup_entry='"${_cudaup_at_prompt-eval}" "(exit $?)"'
  # shellcheck disable=SC2178,SC2128 # the last line is for what is no array, or one of which only the first counts
  case $_cudaup_kind in
    *r*) builtin echo 'cudaup: PROMPT_COMMAND is read-only here, so this shell does not follow .cuda-version by itself' >&2 ;;
    *a*) PROMPT_COMMAND=("$_cudaup_entry" "${PROMPT_COMMAND[@]}") ;;
    *) PROMPT_COMMAND=$_cudaup_entry${PROMPT_COMMAND:+;$PROMPT_COMMAND} ;;
  esac
}
_cudaup_enrol
# The answer that came with this file: until the first prompt, toolkits may come and go.
_cudaup_watch
