# The hook of cudaup for fish 3 and newer. `cudaup init fish` prints it between the lines that set _cudaup_bin,
# _cudaup_home and _cudaup_system, and the variables of the directory that the shell starts in.
#
# At each prompt and each change of directory it looks, with builtins alone, whether anything changed that decides about
# the toolkit: the nearest .cuda-version and what it says, the default files, CUDAUP_VERSION, PATH, CUDA_HOME, whether
# the toolkit still exists. Only then does it ask the program. Nothing that it remembers is exported.

set -gu _cudaup_own $_cudaup_home/default
set -gu _cudaup_machine $_cudaup_system/etc/cudaup/default
for name in pwd places key asked yield path cuda_home
    set -gu _cudaup_$name ''
end
set -gu _cudaup_root /
set -q _cudaup_told; or set -gu _cudaup_told ''

# Asks the program where what its last answer stood on is no longer so. fish itself keeps $status.
function _cudaup_hook --on-event fish_prompt --on-variable PWD
    _cudaup_see
    if test "$_cudaup_key" != "$_cudaup_asked"
        set -g _cudaup_yield ''
        _cudaup_ask; or return
    else if test -n "$_cudaup_yield"
        return
    else if test "$PATH;$CUDA_HOME" = "$_cudaup_path;$_cudaup_cuda_home" -a -e "$_cudaup_root"
        return
    else
        _cudaup_ask --mend; or return
    end
    _cudaup_settle
end
