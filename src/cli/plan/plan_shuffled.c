/* plan_shuffled.c - what a batch of shuffled reports promises, and its error.
 */
#include "cli/plan/internal.h"

#include "host/worth/worth.h"

#include <inttypes.h>
#include <stdlib.h>

static void shuffled_object(const struct plan_run *x,
                            const struct plan_batch *b)
{
    const struct table_field fields[] = {
        {"kind", cell_text(hsy_kind_name(b->info.kind))},
        {"mechanism", cell_text(b->info.mechanism)},
        {"epsilon_report", cell_number(b->worth.epsilon_report)},
        {"epsilon_central", cell_number(b->worth.epsilon)},
        {"delta", cell_number(b->delta)},
        {"bound", cell_text(hsy_shuffle_bound_name(b->worth.by))},
        {"min_batch", cell_count(x->options.min_batch)},
        {"assume_honest", cell_number(x->options.honest)},
        {"n", cell_count(b->worth.n)},
        {"shuffled_sd", cell_number(b->shuffled_sd)},
        {"local", cell_text(b->local)},
        {"local_sd", cell_number(b->local_sd)},
        {"central_sd", cell_number(b->central_sd)},
    };

    table_print_flat(stdout, x->options.format, fields,
                     sizeof fields / sizeof fields[0]);
}

/* Seven digits, and never less than it is. */
static double shuffled_up(double epsilon)
{
    double up = epsilon;
    char text[32];

    for (snprintf(text, sizeof text, "%.7g", up); strtod(text, NULL) < epsilon;
         snprintf(text, sizeof text, "%.7g", up))
        up *= 1 + 1e-7;
    return up;
}

static void shuffled_say(const struct plan_run *x, const struct plan_batch *b)
{
    const char *what =
        b->info.kind == HSY_KIND_NUMBER ? "the mean" : "a share near 0";
    const double error = b->local_sd / b->shuffled_sd;

    printf("Batches of at least %" PRIu64 " reports by %s, shuffled.\n\n",
           x->options.min_batch, b->info.mechanism);
    printf("  %-16s %-12.7g of a report, even if everybody else colludes\n",
           "epsilon_report", shuffled_up(b->worth.epsilon_report));
    printf("  %-16s %-12.7g of a batch, with delta %.3g: the %s bound with\n"
           "  %-16s %-12s %" PRIu64 " honest reports\n\n",
           "epsilon_central", shuffled_up(b->worth.epsilon), b->delta,
           hsy_shuffle_bound_name(b->worth.by), "", "", b->worth.n);
    printf("Standard error of %s by noise alone, from %" PRIu64 " people:\n\n",
           what, x->options.min_batch);
    printf("  shuffled         %.4g\n"
           "  local            %-12.4g by %s at epsilon %.7g\n"
           "  one curator      %-12.4g trusted with every truth\n\n",
           b->shuffled_sd, b->local_sd, b->local, b->worth.epsilon,
           b->central_sd);
    printf("Local reports of that epsilon have %.4g times the error, %.4g "
           "times its square.\n"
           "Assumes that one of the shufflers is honest, and %.4g of those who "
           "report.\n",
           error, error * error, x->options.honest);
}

static int shuffled_refused(const struct plan_run *x,
                            const struct plan_batch *b, hsy_error *err)
{
    switch (b->why) {
    case PLAN_WHY_MEMORY:
        return cli_fail_nomem();
    case PLAN_WHY_SPEC:
        return cli_scheme_refused(&x->question.spec, err);
    case PLAN_WHY_ASKED:
        return cli_fail_error("--delta", err);
    case PLAN_WHY_ITERATIVE:
        return cli_fail("%s: %s", b->info.mechanism, err->msg);
    default:
        return cli_fail_error("--mechanism", err);
    }
}

int plan_shuffled_show(const struct plan_run *x)
{
    const struct plan_options *o = &x->options;
    const struct plan_batch_ask ask = {
        .spec = x->question.spec,
        .central = (double)o->nano_central / HSY_NANO,
        .batch = {o->min_batch, worth_share(o->honest), o->delta}};
    struct plan_batch b;
    hsy_error err = {0};

    if (plan_batch(&b, &ask, &err) != HSY_OK)
        return shuffled_refused(x, &b, &err);
    if (o->format == TABLE_ALIGNED)
        shuffled_say(x, &b);
    else
        shuffled_object(x, &b);
    return cli_finish();
}
