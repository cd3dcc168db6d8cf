# What fish itself runs before it shows a prompt, as often as the second argument says; the first is the subject: nothing,
# floor or cudaup. Prints nanoseconds for each, and the nvcc that PATH leads to. Run by hook.sh.
cd $BENCH_PROJECT
switch $argv[1]
    case cudaup
        $CUDAUP_HOME/bin/cudaup init fish | source
    case floor
        function floor_hook --on-event fish_prompt
            if test "$PWD" = "$floor_directory"
                read -lz text <../.cuda-version
                test "$text" = "$floor_text"
            end
        end
        set -g floor_directory $PWD
        read -gz floor_text <../.cuda-version
end
emit fish_prompt
set -l start (date +%s%N)
for n in (seq $argv[2])
    emit fish_prompt
end
set -l end (date +%s%N)
set -l count $argv[2]
test $count -gt 0; or set count 1
echo (math --scale=0 "($end - $start) / $count") (command -s nvcc)
