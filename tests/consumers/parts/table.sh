# shellcheck shell=bash
# shellcheck disable=SC2154  # what `run` has set
# The table in docs/consumers.md. Rows of consumers that did not run this time stay as they are.

declare -A rows

# row CONSUMER TITLE CELL...
row() {
    local name=$1 line="| $2"
    shift 2
    line+=$(printf ' | %s' "$@")
    rows[$name]="$line | <!-- $name -->"
}

write_page() {
    local name line table
    for name in "${consumers[@]}"; do
        [ -z "${rows[$name]:-}" ] || continue
        line=$(grep -F -- "<!-- $name -->" "$page" || true)
        [ -z "$line" ] || rows[$name]=$line
    done
    # shellcheck disable=SC2016  # these are quotes of Markdown
    table='| what builds or searches | through the hook | shims alone | `cudaup exec` |'$'\n''|---|---|---|---|'
    for name in "${consumers[@]}"; do table+=${rows[$name]:+$'\n'${rows[$name]}}; done
    table=$table awk '
        /^<!-- the table/ { print; print ENVIRON["table"]; inside = 1; next }
        /^<!-- end of the table/ { inside = 0 }
        !inside { print }
    ' "$page" >"$work/page"
    cp -- "$work/page" "$page"
    say "renewed: docs/consumers.md"
}
