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

# The outcomes of one consumer in one way, shortened: lines of project and outcome, of which equal ones stand together.
cell() {
    local project text key out='' groups=()
    declare -A of=()
    while IFS=$'\t' read -r project text; do
        # What is said beside a project's own toolkit can be the same in others.
        case $text in
            "$project" | "$project;"* | "$project ("*) key=own${text#"$project"} ;;
            *) key=$text ;;
        esac
        [ -n "${of[$key]:-}" ] || groups+=("$key")
        of[$key]+=", $project"
    done <<<"$1"
    for key in "${groups[@]}"; do
        project=${of[$key]#, }
        case $key in
            own*) text=$project${key#own} ;;
            *) text=$key; [ "${#groups[@]}" = 1 ] || text="in $project: $key" ;;
        esac
        out+=${out:+<br>}$text
    done
    printf '%s' "${out//|/\\|}"
}
