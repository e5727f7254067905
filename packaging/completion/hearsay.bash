# hearsay.bash - completion for the hearsay command.
#
# The words stand in tables that tools/options writes; mechanisms are asked of
# the command itself.

# ---- from the tables, by tools/options
_hearsay_verbs() { # COMMAND: what it can do
    case $1 in
    'discover')
        echo plan start next show
        ;;
    'tasks')
        echo check compile keygen sheet show
        ;;
    'device')
        echo init answer budget log tasks policy send pack consent forget take
        ;;
    'serve')
        echo check token
        ;;
    'shuffle')
        echo serve check keys statement
        ;;
    'store')
        echo check export import compact forget-nulls retire purge init-cluster
        ;;
    'account')
        echo group compose longitudinal shuffle poisoning
        ;;
    'simulate')
        echo study attack fleet discover
        ;;
    'survey')
        echo simulate
        ;;
    'serve token')
        echo add list revoke expire enrol forwarder
        ;;
    'simulate attack')
        echo averaging change fingerprint drift poisoning
        ;;
    'simulate discover')
        echo pem treehist sfp
        ;;
    *) return 1 ;;
    esac
}
_hearsay_options() { # COMMAND, perhaps with a verb
    case $1 in
    'randomize')
        echo --yes-no --values --values-file --domain --range --bins --strings \
            --attribute --ignore-columns --column --epsilon --mechanism \
            --alphabet --oracle --set --task --max-bits --max-steps --users \
            --other --clip --output --simulate --seed --json
        ;;
    'tally')
        echo --output --round --column --yes-no --values --values-file --domain \
            --range --bins --strings --epsilon --mechanism --alphabet --oracle \
            --set --other --task
        ;;
    'estimate')
        echo --level --interval --simultaneous --target --post --candidates --top \
            --against --devices --rounds --assume-lying --min-batch \
            --assume-honest --delta --plot --covariance --density --quantile \
            --between --rappor --map --associate --all --method --correction \
            --alpha --attribute --joint --format
        ;;
    'discover')
        echo --top --keep --significant --alpha --max-candidates --threshold \
            --all --level --simultaneous --all-stages --plot --frequency --miss \
            --epsilon --mechanism --bits --step --alphabet --oracle --set \
            --batches --sizes --source --question --id --from --to --task \
            --output --format
        ;;
    'discover plan')
        echo --top --keep --significant --alpha --max-candidates --threshold \
            --all --frequency --miss --epsilon --mechanism --bits --step \
            --alphabet --oracle --set --batches --sizes --format
        ;;
    'discover start')
        echo --top --keep --significant --alpha --max-candidates --epsilon --bits \
            --step --alphabet --oracle --sizes --source --question --id --from \
            --to --output
        ;;
    'discover next')
        echo --top --keep --significant --alpha --max-candidates --to --task \
            --output
        ;;
    'discover show')
        echo --top --keep --significant --alpha --max-candidates --threshold \
            --all --level --simultaneous --all-stages --plot --format
        ;;
    'release')
        echo --yes-no --values --values-file --domain --range --bins --epsilon \
            --neighbours --other --clip --output --simulate --seed
        ;;
    'tasks')
        echo --against --key --next-key --output --seal --labels --format
        ;;
    'tasks check')
        echo --against --format
        ;;
    'tasks compile')
        echo --against --key --next-key --output
        ;;
    'tasks keygen')
        echo --output --seal
        ;;
    'tasks sheet')
        echo --key
        ;;
    'tasks show')
        echo --key --labels --format
        ;;
    'device')
        echo --public-key --document --source --day --lifetime --policy --pin \
            --anchor --output --mark-sent --take --token --ca --relay --spread \
            --wait --attempts --backoff --seconds --one-connection --loaded \
            --lock-wait --now --format
        ;;
    'device init')
        echo --public-key --document --source --day --lifetime --policy --pin \
            --anchor --lock-wait --now
        ;;
    'device answer')
        echo --lock-wait --now
        ;;
    'device budget')
        echo --lock-wait --now --format
        ;;
    'device log')
        echo --lock-wait --format
        ;;
    'device tasks')
        echo --loaded --lock-wait --now --format
        ;;
    'device policy')
        echo --lock-wait --format
        ;;
    'device send')
        echo --take --token --ca --relay --spread --wait --attempts --backoff \
            --seconds --one-connection --lock-wait --now --format
        ;;
    'device pack')
        echo --output --mark-sent --lock-wait --now
        ;;
    'device consent')
        echo --lock-wait --now
        ;;
    'device forget')
        echo --lock-wait --now
        ;;
    'device take')
        echo --token --ca --relay --spread --wait --attempts --backoff --seconds \
            --lock-wait --now
        ;;
    'serve')
        echo --data --document --public-key --listen --admin --admin-open --set \
            --accept-clock --rehearsal
        ;;
    'serve check')
        echo --data --document --public-key --listen --admin --admin-open --set \
            --accept-clock --rehearsal
        ;;
    'relay')
        echo --listen --gateway --admin --ca --tls-cert --tls-key --proxy \
            --connections --address-connections --gateway-connections --waiting \
            --body-bytes --answer-bytes --answer-seconds --drain-seconds \
            --sandbox --log-json
        ;;
    'shuffle')
        echo --data --document --public-key --listen --admin --admin-open --set \
            --accept-clock --rehearsal --next --output --sign-key --seal-key \
            --gateway-key --operator --release --place --of --min-batch \
            --max-wait --close-after --from --until
        ;;
    'shuffle serve')
        echo --data --document --public-key --listen --admin --admin-open --set \
            --accept-clock --rehearsal --next
        ;;
    'shuffle check')
        echo --data --document --public-key --listen --admin --admin-open --set \
            --accept-clock --rehearsal --next
        ;;
    'shuffle keys')
        echo --output
        ;;
    'shuffle statement')
        echo --output --sign-key --seal-key --gateway-key --operator --release \
            --place --of --min-batch --max-wait --close-after --from --until
        ;;
    'store')
        echo --output --tallies --with --format --before
        ;;
    'store check')
        echo --with --format
        ;;
    'store export')
        echo --output --tallies
        ;;
    'store purge')
        echo --before
        ;;
    'plan')
        echo --yes-no --values --values-file --domain --range --bins --strings \
            --n --alpha --beta --epsilon --all --share --mechanism --set --prior \
            --answers --curators --top --plot --plot-learned --task --days \
            --devices --model --min-batch --epsilon-central --delta \
            --assume-honest --format
        ;;
    'mechanisms')
        echo --epsilon --domain --task --max-bits --max-steps --users --format
        ;;
    'account')
        echo --epsilon --delta --k --file --n --target --reports --permanent \
            --grain --days --lying --targets --held --yes-no --domain --range \
            --bins --strings --mechanism --set --plot --format
        ;;
    'account group')
        echo --epsilon --delta --k --plot --format
        ;;
    'account compose')
        echo --epsilon --delta --k --file --plot --format
        ;;
    'account longitudinal')
        echo --epsilon --delta --reports --permanent --grain --days --yes-no \
            --domain --range --bins --strings --mechanism --set --plot --format
        ;;
    'account shuffle')
        echo --epsilon --delta --n --target --yes-no --domain --range --bins \
            --strings --mechanism --set --plot --format
        ;;
    'account poisoning')
        echo --epsilon --lying --targets --held --yes-no --domain --range --bins \
            --strings --mechanism --set --plot --format
        ;;
    'audit')
        echo --yes-no --values --values-file --domain --range --bins --strings \
            --epsilon --mechanism --alphabet --oracle --set --task --all \
            --samples --confidence --seed --format
        ;;
    'survey')
        echo --epsilon --spinner --coins --channel --unrelated --two-sample \
            --forced --crosswise --matrix --yes --n --counts --answers --column \
            --group --weight --sample --values-file --level --plot --power \
            --margin --shares --chance --share --innocuous --questionnaire \
            --question --other-question --runs --seed --format
        ;;
    'survey simulate')
        echo --epsilon --spinner --coins --channel --unrelated --two-sample \
            --forced --crosswise --n --level --margin --shares --chance --share \
            --innocuous --question --other-question --runs --seed --format
        ;;
    'serve token')
        echo --data --storage --role --count --quota --expires
        ;;
    'serve token add')
        echo --data --storage --role
        ;;
    'serve token list')
        echo --data --storage
        ;;
    'serve token revoke')
        echo --data --storage
        ;;
    'serve token expire')
        echo --data --storage --expires
        ;;
    'serve token enrol')
        echo --data --storage --count --quota --expires
        ;;
    'serve token forwarder')
        echo --data --storage --count --quota --expires
        ;;
    'simulate study')
        echo --data --domain --range --bins --users --mechanism --model --epsilon \
            --delta --assume-honest --set --runs --top --sampling --seed \
            --threads --plot --dump --format
        ;;
    'simulate attack')
        echo --days --devices --epsilon --permanent --grain --yes --of --seed \
            --plot --format
        ;;
    'simulate attack averaging')
        echo --days --devices --epsilon --permanent --yes --of --seed --plot \
            --format
        ;;
    'simulate attack change')
        echo --days --devices --epsilon --permanent --seed --plot --format
        ;;
    'simulate attack fingerprint')
        echo --devices --epsilon --permanent --seed --plot --format
        ;;
    'simulate attack drift')
        echo --days --devices --epsilon --permanent --grain --seed --plot \
            --format
        ;;
    'simulate attack poisoning')
        echo --devices --epsilon --permanent --seed --plot --format
        ;;
    'simulate fleet')
        echo --devices --days --clock --attendance --seed --truth --relay \
            --document --public-key --threads --connections --batch --rate \
            --repeat --attempts --token --ca --format
        ;;
    'simulate discover')
        echo --interactive --sizes --rounds --bits --integers --step --first \
            --pool-bits --top --keep --significant --max-candidates --data \
            --domain --users --mechanism --epsilon --runs --seed --threads \
            --plot --dump --format
        ;;
    'simulate discover pem')
        echo --interactive --sizes --rounds --bits --integers --step --first \
            --pool-bits --top --keep --significant --max-candidates --data \
            --domain --users --mechanism --epsilon --runs --seed --threads \
            --plot --dump --format
        ;;
    'simulate discover treehist')
        echo --sizes --rounds --bits --integers --step --first --pool-bits --top \
            --keep --significant --max-candidates --data --domain --users \
            --mechanism --epsilon --runs --seed --threads --plot --dump --format
        ;;
    'simulate discover sfp')
        echo --words --alphabet --data --users --epsilon --set --oracle --top \
            --threshold --all --alpha --max-candidates --runs --seed --threads \
            --format
        ;;
    *) return 1 ;;
    esac
}
_hearsay_words() { # [COMMAND] --OPTION: what its value may be
    case $1 in
    'estimate --alpha')
        echo 1% 5% 10%
        ;;
    '--alpha')
        echo 1% 5%
        ;;
    '--alphabet')
        echo a-z a-z0-9
        ;;
    '--assume-honest')
        echo 90% 100%
        ;;
    '--assume-lying')
        echo 0.1% 1% 5%
        ;;
    '--attendance')
        echo stay leave join
        ;;
    '--beta')
        echo 1% 5%
        ;;
    '--chance')
        echo 80% 90%
        ;;
    '--coins')
        echo 50%,50%
        ;;
    '--correction')
        echo fdr bonferroni
        ;;
    '--crosswise')
        echo 1/4
        ;;
    'simulate discover sfp --data')
        echo zipf: geometric: poisson: uniform gaussian:
        ;;
    '--data')
        echo zipf: geometric: poisson: uniform gaussian: file:
        ;;
    '--delta')
        echo 1e-6 1e-9
        ;;
    '--density')
        echo auto em ems
        ;;
    'simulate discover sfp --epsilon')
        echo 4 8
        ;;
    '--epsilon')
        echo 1 2 ln3
        ;;
    '--forced')
        echo 1/6,1/6
        ;;
    '--format')
        echo table csv json
        ;;
    '--frequency')
        echo 0.1% 1%
        ;;
    '--interval')
        echo auto wald wilson score exact likelihood hoeffding
        ;;
    '--level')
        echo 90% 95% 99%
        ;;
    '--lying')
        echo 0.1% 1% 5%
        ;;
    '--mechanism')
        echo pem sfp
        ;;
    '--method')
        echo sampler nnls
        ;;
    '--miss')
        echo 1% 5%
        ;;
    'simulate study --model')
        echo local shuffled central multiparty:
        ;;
    '--model')
        echo local shuffled
        ;;
    '--neighbours')
        echo replace add-remove
        ;;
    '--oracle')
        echo grr sue oue ss hr pgr olh blh cms hcms
        ;;
    '--pin')
        echo document none
        ;;
    '--post')
        echo none norm norm-sub norm-mul norm-cut base-cut mle power power-ns em
        ;;
    '--quantile')
        echo 50% 25%,50%,75% 90%
        ;;
    '--role')
        echo scraper analyst operator
        ;;
    '--sampling')
        echo auto users
        ;;
    '--sandbox')
        echo off on required
        ;;
    '--set')
        echo g= pool-bits= pool-seed= subset= window= outputs= mix= grid= blocks= \
            q= t= fanout= hashes= width= cohorts= filter-bits= sampled-bits= \
            bits= first= step= prefix-bits= max-candidates= sizes= piece-bits= \
            fragment-bits= fragments= word-share= spinner= coins= channel= \
            rappor= matrix=
        ;;
    '--sizes')
        echo equal rising diminishing
        ;;
    '--spinner')
        echo 70% 75% 3/4
        ;;
    '--target')
        echo people population
        ;;
    *) return 1 ;;
    esac
}
# ---- end of the tables

# What may be the value of an option of a command.
_hearsay_values() { # path option
    if [ "$2" = --mechanism ]; then
        echo auto
        "$hearsay" mechanisms --format csv 2>/dev/null | sed '1d;s/,.*//'
    else
        _hearsay_words "$1 $2" || _hearsay_words "$2"
    fi
}

_hearsay() {
    local hearsay=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]}
    local before=${COMP_WORDS[COMP_CWORD - 1]} path=${COMP_WORDS[1]}
    local at=2 words

    COMPREPLY=()
    if [ "$path" = help ]; then
        path=${COMP_WORDS[2]} at=3
    fi
    # As many verbs as there are: "simulate discover sfp".
    while [ "$at" -lt "$COMP_CWORD" ] &&
        [[ " $(_hearsay_verbs "$path") " == *" ${COMP_WORDS[at]} "* ]]; do
        path="$path ${COMP_WORDS[at]}"
        at=$((at + 1))
    done
    if [ "$COMP_CWORD" -lt "$at" ]; then
        words="$("$hearsay" help 2>/dev/null |
            sed -n '/^usage/,/^A question/s/^  \([a-z]*\)  *.*/\1/p')"
        [ "$COMP_CWORD" -eq 1 ] && words="$words --version --help"
    elif [[ $before == --* ]] && words=$(_hearsay_values "$path" "$before"); then
        [ "$before" = --set ] && compopt -o nospace 2>/dev/null
    elif [[ $word == -* ]]; then
        words="$(_hearsay_options "$path") --help"
    elif [ "$COMP_CWORD" -eq "$at" ] && words=$(_hearsay_verbs "$path"); then
        [ "$path" = serve ] &&
            words="$words $(compgen -f -X '!*.yaml' -- "$word")"
    elif [ "$path" = "device consent" ] && [ "$COMP_CWORD" -eq 4 ]; then
        words="none collect send"
    else
        compopt -o default 2>/dev/null
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _hearsay hearsay
