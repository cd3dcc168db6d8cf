# The hook of cudaup for fish 3 and newer. `cudaup init fish` prints it after lines that set _cudaup_bin, _cudaup_asked_of,
# _cudaup_home, _cudaup_system and the variables of the directory that the shell starts in.
#
# At each prompt and each change of directory it looks, with builtins alone, whether anything changed that decides about
# the toolkit: the nearest .cuda-version and what it says, the default files, CUDAUP_VERSION, PATH, CUDA_HOME, whether
# the toolkit still exists. Only then does it ask the program. Nothing that it remembers is exported.

set -gu _cudaup_own "$_cudaup_home/default"
set -gu _cudaup_machine "$_cudaup_system/etc/cudaup/default"
for _cudaup_name in pwd first second near_same seen asked yield yielded there refused calm starting
    set -gu _cudaup_$_cudaup_name ''
end
set -e _cudaup_name
set -gu _cudaup_places ''
set -gu _cudaup_links
set -gu _cudaup_shape -n ''
set -gu _cudaup_root /
set -gu _cudaup_fresh yes
# Where an old fish cannot tell whether two names are one directory, every name holds.
set -gu _cudaup_here -ef .
test . -ef . 2>/dev/null; or set -gu _cudaup_here != ''
set -q _cudaup_told; or set -gu _cudaup_told ''

# The first four lines are the whole cost where all is as it was: which files there are, and what they say. Whatever else
# may be is _cudaup_look's. fish itself keeps $status.
function _cudaup_hook --on-event fish_prompt --on-variable PWD
    test $_cudaup_shape
    and read -lz first <$_cudaup_first
    and read -lz second <$_cudaup_second
    and test "$PWD;$first;$second;$CUDAUP_VERSION;$CUDA_HOME;$PATH" = "$_cudaup_near_same"
    or _cudaup_look
end

# Opens nothing that would make it wait, and nothing that cannot be read. A link that leads nowhere is a name that is
# there: it counts, and the program says what is wrong with it.
function _cudaup_look
    test "$PWD" != "$_cudaup_pwd" $_cudaup_links; and _cudaup_climb
    set -l at
    for at in $_cudaup_places
        test -e "$at"; and break
    end
    test -f "$at" -a -r "$at"; and read -lzn4096 pin <$at
    test -f "$_cudaup_own" -a -r "$_cudaup_own"; and read -lzn4096 default <$_cudaup_own
    or test ! -e "$_cudaup_own" -a ! -L "$_cudaup_own"; or set -l default '?'
    test -f "$_cudaup_machine" -a -r "$_cudaup_machine"; and read -lzn4096 other <$_cudaup_machine
    set -l key "$at;$pin;$default;$other;$CUDAUP_VERSION"
    test "$PWD" $_cudaup_here; or _cudaup_lose
    if test "$key;$CUDA_HOME;$PATH" != "$_cudaup_asked;$_cudaup_seen" -o ! -e "$_cudaup_root" -o -n "$_cudaup_refused"
        _cudaup_change $key "$at"
    else if test -n "$_cudaup_starting"
        set -g _cudaup_starting ''
    else if test -n "$_cudaup_calm"
        _cudaup_shorten $key "$at"
    else
        set -g _cudaup_calm yes
    end
end

# In a directory that was renamed or deleted only the program knows where it is: there it is asked at each prompt.
function _cudaup_lose --no-scope-shadowing
    set key "lost;$key"
    set -g _cudaup_asked '?'
end

# Asks the program, if what its last answer stood on is no longer so: the directory may only be another with the same
# answer. At the start the answer came with this file.
# A function that changes the directory may have exported variables of its own (`set -lx PATH`), of which fish gives
# copies to what it calls: the copies go, since what is set is the shell's own value, to be made from that.
function _cudaup_change --argument-names key at
    # fish 3.1 erases one at a time.
    set -el PATH
    set -el CUDA_HOME
    set -el CUDAUP_VERSION
    if test -n "$_cudaup_starting"
        # What stands in a start file below cudaup's lines is no newer wish: the first prompt enters over it.
        set -g _cudaup_starting ''
        set -g _cudaup_asked '?'
    end
    if test -n "$_cudaup_refused"
        if test -n "$at" -a ! -e "$at" -a ! -L "$at"
            # The link that led nowhere is gone.
            set -g _cudaup_pwd ''
            set -g _cudaup_refused ''
            _cudaup_look
            return 0
        end
        _cudaup_list
        test "has:$_cudaup_there" = "$_cudaup_refused"; or set -g _cudaup_asked '?'
    end
    if test -n "$_cudaup_fresh"
        set -g _cudaup_fresh ''
    else if test "$key" != "$_cudaup_asked"
        _cudaup_ask; or return 0
    else if test "$CUDA_HOME;$PATH" != "$_cudaup_seen" -o ! -e "$_cudaup_root"
        _cudaup_ask --mend; or return 0
    end
    set -g _cudaup_asked $key
    set -g _cudaup_seen "$CUDA_HOME;$PATH"
    set -g _cudaup_shape -n ''
    set -g _cudaup_refused ''
    # A root that does not exist is not watched.
    set -g _cudaup_root /
    switch "$CUDAUP_STATE"
        case ''
        case '1;refused;*'
            _cudaup_list
            set -g _cudaup_refused "has:$_cudaup_there"
        case '*'
            test -e "$CUDA_HOME"; and set -g _cudaup_root $CUDA_HOME
    end
    return 0
end

# Sets up the short test of _cudaup_hook, once a directory is stayed in: one or two small files that can be read, and nothing where nothing was.
function _cudaup_shorten --argument-names key at
    set -g _cudaup_shape -n ''
    test -z "$_cudaup_yield$_cudaup_refused" -a ! -e "$_cudaup_machine"; or return
    set -l shape -e $_cudaup_root -a ! -e $_cudaup_machine
    set -l files
    test -n "$at"; and set files $at
    for file in $_cudaup_places
        test "$file" = "$at"; and break
        set -a shape -a ! -e $file -a ! -L $file
    end
    if test -e $_cudaup_own
        set -a files $_cudaup_own
    else
        set -a shape -a ! -e $_cudaup_own
    end
    set -q files[1]; or return
    test -f $files[1] -a -r $files[1] -a -f $files[-1] -a -r $files[-1]; or return
    set -a shape -a -f $files[1] -a -f $files[-1]
    # Without a command substitution, which costs as much as all the rest.
    string match -qr '(?s)^.{4096}' -- $key; and return
    set -g _cudaup_first $files[1]
    set -g _cudaup_second $files[-1]
    read -lz first <$_cudaup_first
    read -lz second <$_cudaup_second
    set -g _cudaup_near_same "$PWD;$first;$second;$CUDAUP_VERSION;$CUDA_HOME;$PATH"
    set -g _cudaup_shape $shape
end

# What is to be evaluated comes on stdout; what is to be read goes straight to stderr.
function _cudaup_ask
    # Once it is there again it is asked.
    test -x "$_cudaup_asked_of"; or return 1
    # As in _cudaup_change: all else that the program may change.
    set -el LD_LIBRARY_PATH; set -el CPATH; set -el LIBRARY_PATH; set -el PKG_CONFIG_PATH; set -el CUDA_PATH
    set -el CUDA_ROOT; set -el CUDAToolkit_ROOT; set -el CUDA_TOOLKIT_ROOT_DIR; set -el CUDAHOSTCXX; set -el NVCC_CCBIN
    set -el NVCC_PREPEND_FLAGS; set -el CUDNN_HOME; set -el CUDNN_PATH; set -el CUDNN_ROOT; set -el NCCL_HOME
    set -el NCCL_ROOT; set -el CUTENSOR_ROOT; set -el CUTENSOR_PATH; set -el CUSPARSELT_ROOT; set -el CUSPARSELT_PATH
    set -el NVSHMEM_HOME; set -el NVSHMEM_DIR; set -el CUDAUP_STATE
    set -lx _CUDAUP_TOLD $_cudaup_told
    set -lx _CUDAUP_YIELDED $_cudaup_yielded
    set -g _cudaup_yield ''
    set -g _cudaup_yielded ''
    command $_cudaup_asked_of hook fish $argv | builtin source
    return 0
end

# Which toolkits and add-ons there are: a refusal stands on that too, and another terminal may install what is missing. Only
# where a refusal was entered does a prompt look.
function _cudaup_list
    set -g _cudaup_there $_cudaup_home/toolkits/*/ $_cudaup_home/addons/*/*/
end

# Sets _cudaup_places: where a pin for this directory can lie, the nearest first, and after the last an empty name. A link
# that leads nowhere ends them, and is looked for anew while _cudaup_links, the end of a test, says that there are links.
function _cudaup_climb
    set -g _cudaup_pwd $PWD
    set -g _cudaup_calm ''
    # What came from another hand holds until the directory changes.
    test -z "$_cudaup_yield"; or set -g _cudaup_asked '?'
    set -g _cudaup_places ''
    set -l pwd $PWD
    test "$pwd" = /; and set pwd ''
    set -l dir ''
    set -g _cudaup_links
    # Each command counts here: fish takes as long for one as for a file test.
    for part in (string split / -- $pwd)
        set dir $dir$part/
        set -p _cudaup_places $dir.cuda-version
        set -a _cudaup_links -o -L $dir.cuda-version
    end
    test -z "$CUDAUP_CEILING"; or _cudaup_end_at_ceiling
    test -n '' $_cudaup_links; and _cudaup_end_at_link
end

# Above the ceiling nothing is looked at, links neither.
function _cudaup_end_at_ceiling
    set -l ceiling (string trim --right --chars=/ -- $CUDAUP_CEILING)/.cuda-version
    set -l places
    set -g _cudaup_links
    for place in $_cudaup_places
        test "$place" = "$ceiling"; and break
        set -a places $place
        set -a _cudaup_links -o -L "$place"
    end
    set -g _cudaup_places $places ''
end

function _cudaup_end_at_link
    set -l places
    for place in $_cudaup_places
        set -a places $place
        if test -L "$place" -a ! -e "$place"
            set -g _cudaup_places $places
            break
        end
    end
end

# The program, and after it the hook, so that `cudaup use` and `cudaup install` are in force at once; before it too, so that
# what it says of this shell holds for a version file that this command line may have changed. `use --shell` answers with text
# for this shell.
function cudaup
    _cudaup_hook
    set -l verb ''
    set -l form ''
    set -l before ''
    for word in $argv
        # The value of a global option is no verb.
        if test "$before" = --color
            set before ''
            continue
        end
        set before $word
        switch $word
            case --
                break
            case -h --help -V --version
                set form help
            case --shell '--shell=*'
                test -n "$form"; or set form text
            case '-*'
            case '*'
                test -n "$verb"; or set verb $word
        end
    end
    set -l code 0
    set -lx _CUDAUP_SHELL fish
    if test "$verb$form" = usetext
        set -l text (command $_cudaup_bin $argv)
        set code $status
        test $code -eq 0; and string join \n -- $text | builtin source
    else
        command $_cudaup_bin $argv
        set code $status
    end
    set -e _CUDAUP_SHELL
    # What these change the hook cannot see: which toolkits there are, or a wish that a newer one had pushed aside.
    switch $code$verb$_cudaup_yield
        case '0use*' 0install 0uninstall 0link 0unlink 0add 0remove 0sync
            set -g _cudaup_asked '?'
            set -g _cudaup_shape -n ''
    end
    _cudaup_hook
    return $code
end

_cudaup_hook
set -gu _cudaup_starting yes
