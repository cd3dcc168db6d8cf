# The hook of cudaup for zsh 5 and newer. `cudaup init zsh` prints it after lines that set _cudaup_bin, _cudaup_asked_of,
# _cudaup_home, _cudaup_system and the variables of the directory that the shell starts in.
#
# At each prompt and each change of directory it looks, with builtins alone, whether anything changed that decides about
# the toolkit: the nearest .cuda-version and what it says, the default files, CUDAUP_VERSION, PATH, CUDA_HOME, whether
# the toolkit still exists. Only then does it ask the program. Nothing that it remembers is exported.

typeset -g _cudaup_own="$_cudaup_home/default" _cudaup_machine="$_cudaup_system/etc/cudaup/default"
typeset -g _cudaup_pwd='' _cudaup_asked='' _cudaup_yield='' _cudaup_yielded='' _cudaup_told="${_cudaup_told-}"
typeset -g _cudaup_near='' _cudaup_near_same='' _cudaup_first='' _cudaup_second='' _cudaup_starting=''
typeset -g _cudaup_same='' _cudaup_seen='' _cudaup_root=/ _cudaup_fresh=yes _cudaup_there='' _cudaup_refused=''
typeset -ga _cudaup_places

# This test is the whole cost where a project's own pin and the user's default are as they were, under whatever options
# the user has set; all other cases are _cudaup_look's. zsh itself keeps $? for the other functions. `builtin` goes before
# what people give functions or aliases of their own.
function _cudaup_hook {
  [[ ! -o allexport && -f $_cudaup_near && -r $_cudaup_near && -f $_cudaup_own && -r $_cudaup_own && -e $_cudaup_root && ! -e $_cudaup_machine ]] && {
    builtin read -rk4096 -u3 _cudaup_first
    builtin read -rk4096 -u4 _cudaup_second
    [[ "$PWD;$_cudaup_first;$_cudaup_second;${CUDAUP_VERSION-};${CUDA_HOME-};$PATH" == "$_cudaup_near_same" ]]
  } 3<"$_cudaup_near" 4<"$_cudaup_own" || _cudaup_look
}

function _cudaup_look {
  # What is set under this option is exported, also what was not.
  [[ ! -o allexport ]] || builtin typeset -g +x -m '_cudaup_*'
  emulate -L zsh
  builtin local at pin default other lost
  # What stands in a start file below cudaup's lines is no newer wish: the first prompt enters over it.
  [[ -z $_cudaup_starting || "${CUDA_HOME-};$PATH" == "$_cudaup_seen" ]] || _cudaup_asked='?'
  _cudaup_starting=''
  [[ $PWD == "$_cudaup_pwd" ]] || _cudaup_climb
  # A link that leads nowhere is a name that is there: it counts, and the program says what is wrong with it.
  for at in $_cudaup_places ''; do
    [[ ! -e $at && ! -L $at ]] || break
  done
  # Opens nothing that would make it wait, and nothing that cannot be read.
  [[ ! -f $at || ! -r $at ]] || builtin read -rk4096 -u3 pin 3<$at
  if [[ -f $_cudaup_own && -r $_cudaup_own ]]; then
    builtin read -rk4096 -u3 default 3<$_cudaup_own
  elif [[ -e $_cudaup_own || -L $_cudaup_own ]]; then
    default='?'
  fi
  [[ ! -f $_cudaup_machine || ! -r $_cudaup_machine ]] || builtin read -rk4096 -u3 other 3<$_cudaup_machine
  # In a directory that was renamed or deleted only the program knows where it is: there it is asked at each prompt.
  [[ $PWD -ef . ]] || lost='?' _cudaup_same='' _cudaup_asked='?'
  if [[ "$lost$at;$pin;$default;$other;${CUDAUP_VERSION-};${CUDA_HOME-};$PATH" != "$_cudaup_same" || ! -e $_cudaup_root ]]; then
    _cudaup_change "$lost$at;$pin;$default;$other;${CUDAUP_VERSION-}"
  fi
  # The short test serves where the pin of this very directory counts.
  _cudaup_near=''
  if [[ -n $at && $at == "${_cudaup_places[1]}" && -z $lost$_cudaup_yield$_cudaup_refused && ! -e $_cudaup_machine &&
    "$at;$pin;$default;$other;${CUDAUP_VERSION-};${CUDA_HOME-};$PATH" == "$_cudaup_same" ]]; then
    _cudaup_near=$at _cudaup_near_same="$PWD;$pin;$default;${CUDAUP_VERSION-};${CUDA_HOME-};$PATH"
  fi
}

# Asks the program, since what its last answer stood on is no longer so. At the start the answer came with this file.
function _cudaup_change {
  if [[ -n $_cudaup_refused ]]; then
    _cudaup_list
    if [[ ":$_cudaup_there" != "$_cudaup_refused" ]]; then
      _cudaup_asked='?'
    elif [[ $1 == "$_cudaup_asked" && "${CUDA_HOME-};$PATH" == "$_cudaup_seen" ]]; then
      return 0
    fi
  fi
  if [[ -n $_cudaup_fresh ]]; then
    _cudaup_fresh=''
  elif [[ $1 != "$_cudaup_asked" ]]; then
    _cudaup_ask || return 0
  else
    _cudaup_ask --mend || return 0
  fi
  _cudaup_asked=$1 _cudaup_seen="${CUDA_HOME-};$PATH" _cudaup_root=/ _cudaup_refused=''
  _cudaup_same="$1;$_cudaup_seen"
  # A root that does not exist is not watched.
  if [[ -n ${CUDAUP_STATE-} && -e ${CUDA_HOME-} ]]; then _cudaup_root=$CUDA_HOME; fi
  if [[ ${CUDAUP_STATE-} == '1;refused;'* ]]; then _cudaup_list; _cudaup_refused=:$_cudaup_there _cudaup_same=''; fi
}

# What is to be evaluated comes on stdout; what is to be read goes straight to stderr.
function _cudaup_ask {
  # Once it is there again it is asked.
  [[ -x $_cudaup_asked_of ]] || return 1
  builtin local _cudaup_text
  _cudaup_text=$(_CUDAUP_TOLD=$_cudaup_told _CUDAUP_YIELDED=$_cudaup_yielded $_cudaup_asked_of hook zsh "$@") || return 1
  _cudaup_yield='' _cudaup_yielded=''
  builtin eval $_cudaup_text || :
}

# Which toolkits and add-ons there are: a refusal stands on that too, and another terminal may install what is missing. Only
# where a refusal was entered does a prompt look.
function _cudaup_list {
  builtin local -a there
  # For this function alone, as `emulate -L` has it; a qualifier (N) would be no syntax for a file read under `emulate sh`.
  builtin setopt null_glob
  there=($_cudaup_home/toolkits/*/ $_cudaup_home/addons/*/*/)
  _cudaup_there="$there"
}

# Sets _cudaup_places: where a pin for this directory can lie, the nearest first.
function _cudaup_climb {
  builtin local dir=${PWD%/} end=${CUDAUP_CEILING:--}
  # What came from another hand holds until the directory changes.
  [[ -z $_cudaup_yield ]] || _cudaup_asked='?' _cudaup_same=''
  _cudaup_pwd=$PWD
  _cudaup_places=()
  end=${end%/}
  while [[ $dir != "$end" ]]; do
    _cudaup_places+=("$dir/.cuda-version")
    [[ $dir == */* ]] || break
    dir=${dir%/*}
  done
}

# The program, and after it the hook, so that `cudaup use` and `cudaup install` are in force at once; before it too, so that
# what it says of this shell holds for a version file that this command line may have changed. `use --shell` answers with text
# for this shell.
function cudaup {
  emulate -L zsh
  _cudaup_hook
  builtin local _cudaup_code=0 _cudaup_word _cudaup_before='' _cudaup_verb='' _cudaup_form='' _cudaup_text
  for _cudaup_word in "$@"; do
    # The value of a global option is no verb.
    if [[ $_cudaup_before == --color ]]; then
      _cudaup_before=''
      continue
    fi
    _cudaup_before=$_cudaup_word
    case $_cudaup_word in
      --) break ;;
      -h|--help|-V|--version) _cudaup_form=help ;;
      --shell|--shell=*) _cudaup_form=${_cudaup_form:-text} ;;
      -*) ;;
      *) _cudaup_verb=${_cudaup_verb:-$_cudaup_word} ;;
    esac
  done
  if [[ $_cudaup_verb == use && $_cudaup_form == text ]]; then
    if _cudaup_text=$(_CUDAUP_SHELL=zsh $_cudaup_bin "$@"); then
      builtin eval $_cudaup_text || :
    else
      _cudaup_code=$?
    fi
  else
    _CUDAUP_SHELL=zsh $_cudaup_bin "$@" || _cudaup_code=$?
  fi
  # What these change the hook cannot see: which toolkits there are, or a wish that a newer one had pushed aside.
  case $_cudaup_code$_cudaup_verb$_cudaup_yield in
    0use*|0install|0uninstall|0link|0unlink|0add|0remove|0sync) _cudaup_asked='?' _cudaup_same='' _cudaup_near='' ;;
  esac
  _cudaup_hook
  return $_cudaup_code
}

# First, so that what draws the prompt sees the new variables.
function _cudaup_enrol {
  emulate -L zsh
  typeset -ga precmd_functions chpwd_functions
  precmd_functions=(_cudaup_hook ${precmd_functions:#_cudaup_hook})
  chpwd_functions=(_cudaup_hook ${chpwd_functions:#_cudaup_hook})
}
_cudaup_enrol
_cudaup_hook
_cudaup_starting=yes _cudaup_near=''
[[ ! -o allexport ]] || builtin typeset -g +x -m '_cudaup_*'
