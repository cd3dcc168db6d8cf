# shellcheck shell=bash
# What bash itself runs before it shows a prompt, as often as the second argument says; the first is the subject: nothing,
# floor or cudaup. Prints nanoseconds for each, and the nvcc that PATH leads to. Run by hook.sh.
cd "$BENCH_PROJECT" || exit
case $1 in
    cudaup) eval "$("$CUDAUP_HOME/bin/cudaup" init bash)" ;;
    floor)
        floor_hook() {
            local text=
            [[ $PWD == "$floor_directory" ]] && IFS= read -r -d "" -n 4096 text <../.cuda-version
            [[ $text == "$floor_text" ]]
        }
        floor_directory=$PWD
        IFS= read -r -d "" -n 4096 floor_text <../.cuda-version
        PROMPT_COMMAND=floor_hook ;;
    nothing) PROMPT_COMMAND= ;;
esac
prompt() { local each; for each in "${PROMPT_COMMAND[@]}"; do eval "$each"; done; }
prompt
start=$EPOCHREALTIME
for ((n = 0; n < $2; n++)); do prompt; done
end=$EPOCHREALTIME
printf "%s %s\n" "$(( (${end/[.,]/} - ${start/[.,]/}) * 1000 / ($2 + !$2) ))" "$(type -P nvcc)"
