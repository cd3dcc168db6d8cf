# shellcheck shell=bash
# shellcheck disable=SC2154  # what `run` has set
# From evidence to an outcome: which toolkit was taken, or that it was a mixture.

# The toolkit in whose tree a path lies, or that has this release (12.4, or CUDART_VERSION's 12040).
toolkit_of() {
    local value=$1 release
    case $value in
        /*)
            value=$(realpath -m -- "$value")
            for release in "${names[@]}"; do
                case $value/ in "${root[$release]}"/*) printf '%s' "$release"; return ;; esac
            done
            printf '%s' "${value/#"$home"/\~}"
            ;;
        [0-9]*[0-9][0-9][0-9]) printf '%d.%d' $((value / 1000)) $((value % 1000 / 10)) ;;
        *) printf '%s' "$value" ;;
    esac
}

# What was seen, as one line. A toolkit's name alone: that one and no other.
outcome() {
    local kind value taken='' kinds='' notes='' remark='' absent='' first='' mixed=''
    while read -r kind value; do
        case $kind in
            skip) printf 'skipped: %s' "$value"; return ;;
            nothing) printf 'none: %s' "${value//"$home"/\~}"; return ;;
            remark) remark=" ($value)"; continue ;;
            note) notes+="; $value"; continue ;;
        esac
        [ "$kind $value" != 'loaded absent' ] || { absent='; libcudart is not found when it runs'; continue; }
        taken=$(toolkit_of "$value")
        first=${first:-$taken}
        [ "$taken" = "$first" ] || mixed=1
        case $kinds in *", $taken $kind"*) ;; *) kinds+=", $taken $kind" ;; esac
    done <"$1"
    if [ -n "$mixed" ]; then
        printf 'mixture: %s' "${kinds#, }"
    else
        case $first in
            '') printf 'none' ;;
            [/~]*) printf 'none: takes %s' "$first" ;;
            *) printf '%s' "$first" ;;
        esac
    fi
    printf '%s' "$remark$absent$notes"
}

# An outcome in words that hold for every project: of this one's toolkit, and of the one that was there earlier.
relative() {
    local text=$1 this=$2 earlier=$3
    case $text in
        mixture:*) text=${text//" $this "/ this } text=${text//" $earlier "/ earlier } ;;
        "$earlier") text='the earlier one, whole' ;;
        "$earlier;"*) text="the earlier one, whole${text#"$earlier"}" ;;
    esac
    printf '%s' "$text"
}

# Through the hook and with exec nothing but the project's own toolkit will do.
is_right() { case $1 in "$2" | "$2 ("*')') ;; *) return 1 ;; esac; }

# The outcomes of one consumer in one way, shortened: `rows` holds lines of project and outcome.
cell() {
    local project text right='' groups='' out=''
    declare -A others=()
    local order=()
    while IFS=$'\t' read -r project text; do
        if is_right "$text" "$project"; then
            right+=", $text"
            continue
        fi
        [ -n "${others[$text]:-}" ] || order+=("$text")
        others[$text]+=", $project"
    done <<<"$1"
    [ -z "$right" ] || out=${right#, }
    for text in "${order[@]}"; do
        groups=${others[$text]#, }
        if [ -z "$right" ] && [ "${#order[@]}" = 1 ]; then
            out=$text
        else
            out+="${out:+<br>}in $groups: $text"
        fi
    done
    printf '%s' "${out//|/\\|}"
}
