# What zsh itself runs before it shows a prompt, as often as the second argument says; the first is the subject: nothing,
# floor or cudaup. Prints nanoseconds for each, and the nvcc that PATH leads to. Run by hook.sh.
zmodload zsh/datetime
cd "$BENCH_PROJECT" || exit
case $1 in
    cudaup) eval "$("$CUDAUP_HOME/bin/cudaup" init zsh)" ;;
    floor)
        floor_hook() {
            local text=
            [[ $PWD == "$floor_directory" ]] && IFS= read -r -d "" text <../.cuda-version
            [[ $text == "$floor_text" ]]
        }
        floor_directory=$PWD
        IFS= read -r -d "" floor_text <../.cuda-version
        precmd_functions=(floor_hook) ;;
    nothing) precmd_functions=() ;;
esac
prompt() { local each; for each in $precmd_functions; do $each; done }
prompt
start=$EPOCHREALTIME
for ((n = 0; n < $2; n++)); do prompt; done
end=$EPOCHREALTIME
printf "%.0f %s\n" $(( (end - start) * 1e9 / ($2 + !$2) )) "$(whence -p nvcc)"
