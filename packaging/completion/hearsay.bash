# hearsay.bash - completion for the hearsay command.
#
# Commands, options and mechanisms are asked of the command itself. What a
# command's first words and an option's values may be stands here.

_hearsay_values() { # option: the words its value may be, if they are known
    case $1 in
    --format) echo table csv json ;;
    --interval) echo wald wilson score exact likelihood hoeffding ;;
    --sizes) echo equal rising diminishing ;;
    --target) echo people population ;;
    --neighbours) echo replace add-remove ;;
    --post) echo none norm norm-sub norm-mul norm-cut base-cut mle power power-ns em ;;
    --density) echo em ems ;;
    --data) echo zipf: geometric: poisson: uniform gaussian: file: ;;
    --sampling) echo auto users ;;
    --discover) echo pem treehist sfp ;;
    --method) echo sampler nnls ;;
    --correction) echo fdr bonferroni ;;
    --assume-lying | --lying) echo 0.1% 1% 5% ;;
    --delta) echo 1e-6 1e-9 ;;
    --role) echo scraper analyst operator ;;
    --quantile) echo 0.5 0.25,0.5,0.75 0.9 ;;
    --mechanism)
        echo auto
        "$hearsay" mechanisms --format csv 2>/dev/null | sed '1d;s/,.*//'
        ;;
    --oracle) echo grr sue oue ss hr pgr olh blh cms hcms ;;
    --alphabet) echo a-z a-z0-9 ;;
    --set)
        echo g= pool-bits= pool-seed= subset= window= outputs= mix= grid= \
            blocks= q= t= fanout= hashes= width= cohorts= filter-bits= \
            sampled-bits= bits= first= step= prefix-bits= max-candidates= \
            sizes= piece-bits= fragment-bits= fragments= word-share= \
            spinner= coins= channel= rappor= matrix=
        ;;
    *) return 1 ;;
    esac
}

_hearsay() {
    local hearsay=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]}
    local before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} words

    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ] || { [ "$command" = help ] &&
        [ "$COMP_CWORD" -eq 2 ]; }; then
        words="$("$hearsay" help 2>/dev/null |
            sed -n '/^usage/,/^A question/s/^  \([a-z]*\)  *.*/\1/p')"
        [ "$COMP_CWORD" -eq 1 ] && words="$words --version --help"
    elif [ "$command" = tasks ] && [ "$COMP_CWORD" -eq 2 ] &&
        [[ $word != -* ]]; then
        words="check compile keygen sheet show"
    elif [ "$command" = store ] && [ "$COMP_CWORD" -eq 2 ] &&
        [[ $word != -* ]]; then
        words="check export import compact forget-nulls retire purge init-cluster"
    elif [ "$command" = account ] && [ "$COMP_CWORD" -eq 2 ] &&
        [[ $word != -* ]]; then
        words="group compose longitudinal shuffle poisoning"
    elif [ "$command" = device ] && [ "$COMP_CWORD" -eq 2 ] &&
        [[ $word != -* ]]; then
        words="init answer budget log tasks policy send pack consent forget take"
    elif [ "$command" = serve ] && [ "$COMP_CWORD" -eq 2 ] &&
        [[ $word != -* ]]; then
        words="check token $(compgen -f -X '!*.yaml' -- "$word")"
    elif [ "$command" = serve ] && [ "$COMP_CWORD" -eq 3 ] &&
        [ "${COMP_WORDS[2]}" = token ]; then
        words="add list revoke expire enrol forwarder"
    elif [ "$command" = shuffle ] && [ "$COMP_CWORD" -eq 2 ] &&
        [[ $word != -* ]]; then
        words="serve check keys statement"
    elif [ "$command" = device ] && [ "$COMP_CWORD" -eq 4 ] &&
        [ "${COMP_WORDS[2]}" = consent ]; then
        words="none collect send"
    elif words=$(_hearsay_values "$before"); then
        [ "$before" = --set ] && compopt -o nospace 2>/dev/null
    elif [ "$command" = simulate ] && [[ ${COMP_WORDS[2]} == @(attack|fleet) ]] &&
        [[ $word == -* ]]; then
        words="$("$hearsay" simulate "${COMP_WORDS[2]}" --help 2>/dev/null |
            sed -n 's/^  \(--[a-z-]*\).*/\1/p') --help"
    elif [ "$command" = simulate ] && [[ $word == -* ]] &&
        [[ " ${COMP_WORDS[*]} " == *" --discover "* ]]; then
        local form=pem
        [[ " ${COMP_WORDS[*]} " == *" --discover sfp "* ]] && form=sfp
        words="$("$hearsay" simulate --discover "$form" --help 2>/dev/null |
            sed -n 's/^  \(--[a-z-]*\).*/\1/p') --help"
    elif [ "$command" = discover ] && [[ $word == -* ]] &&
        [[ " ${COMP_WORDS[*]} " == *" --"@(start|next|batches)" "* ]]; then
        words="$("$hearsay" discover --next --help 2>/dev/null |
            sed -n 's/^  \(--[a-z-]*\).*/\1/p') --help"
    elif [[ $word == -* ]]; then
        words="$("$hearsay" help "$command" 2>/dev/null |
            sed -n 's/^  \(--[a-z-]*\).*/\1/p') --help"
    elif [ "$command" = survey ] && [ "$COMP_CWORD" -eq 2 ]; then
        words=simulate
    elif [ "$command" = simulate ] && [ "$COMP_CWORD" -eq 2 ]; then
        words="attack fleet"
    elif [ "$command" = simulate ] && [ "$COMP_CWORD" -eq 3 ] &&
        [ "${COMP_WORDS[2]}" = attack ]; then
        words="averaging change fingerprint drift poisoning"
    else
        compopt -o default 2>/dev/null
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _hearsay hearsay
