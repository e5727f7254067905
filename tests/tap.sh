# tap.sh - test results as TAP lines, for tests in bash: sourced from the root
# of the repository. The same words as in tap.h.
tap_count=0
tap_failed=0

ok() { # STATUS SENTENCE [LOG]: of a failure, the log's beginning is shown
    tap_count=$((tap_count + 1))
    if [[ $1 == 0 ]]; then
        echo "ok $tap_count - $2"
        return
    fi
    tap_failed=$((tap_failed + 1))
    echo "not ok $tap_count - $2"
    [[ -z ${3:-} ]] || head -40 "$3" | sed 's/^/# /'
}

tap_done() { # the plan at the end; the status of the whole
    echo "1..$tap_count"
    [[ $tap_failed == 0 ]]
}
