/* plan_show.c - a plan as sentences and as one flat object. */
#include "cli/plan/internal.h"

#include <math.h>

/* What follows from a plan beside its four numbers. */
struct show_facts {
    double error, largest; /* to be expected of a share, and of all d */
    double local_sd, central_sd, limit_sd;
    double central_n, central_alpha;
    double guess, posterior; /* of one answer and of all */
    bool shares, discovery;
};

/* What one person changes in a curator's counts: of a histogram one by 1 up
 * and another by 1 down; of a sum all steps that the range is cut into. */
#define SHOW_STEPS 1048576.0

static double show_sensitivity(const hsy_info *info)
{
    if (info->kind == HSY_KIND_NUMBER)
        return SHOW_STEPS;
    return info->kind == HSY_KIND_VALUES || info->kind == HSY_KIND_BINS ? 2 : 1;
}

/* n times the variance, the mean of all shares. */
static double show_variance(const hsy_info *info)
{
    return info->d < 2 ? info->v0 : info->v0 + (info->v1 - info->v0) / info->d;
}

static struct show_facts show_facts(const struct plan *p)
{
    const hsy_info *info = &p->at.info;
    const double n = p->number[PLAN_N], unit = p->at.unit;
    const double epsilon = info->epsilon, wide = show_sensitivity(info);
    const double beta = p->number[PLAN_BETA] / fmax(p->at.accuracy.at_once, 1);
    const double r = exp(-epsilon / wide);
    const double step = info->kind == HSY_KIND_NUMBER ? unit / SHOW_STEPS : 1;
    struct show_facts f = {.discovery = p->at.nstages != 0};

    f.shares = !f.discovery && info->kind != HSY_KIND_NUMBER;
    f.local_sd = unit * sqrt(show_variance(info) / n);
    f.central_sd = step * sqrt(2 * r) / (1 - r) / n;
    f.limit_sd = unit * sqrt(p->limit / n);
    f.error = f.local_sd * sqrt(2 / acos(-1.0));
    f.largest = f.local_sd * hsy_normal_largest(info->d != 0 ? info->d : 1);
    f.central_n =
        hsy_central_users(epsilon, wide, p->number[PLAN_ALPHA] / step, beta);
    f.central_alpha = step * hsy_central_alpha(epsilon, wide, n, beta);
    f.guess = plan_posterior(p->options.prior, epsilon);
    f.posterior =
        plan_posterior(p->options.prior, epsilon * (double)p->options.answers);
    return f;
}

/* ---- One flat object ----------------------------------------------------- */

static struct cli_cell show_if(bool there, double x)
{
    return there ? cli_number(x) : (struct cli_cell){.type = CLI_NONE};
}

static void show_object(const struct plan *p, const struct show_facts *f)
{
    const struct plan_case *c = &p->at;
    const hsy_accuracy *a = &c->accuracy;
    const bool several = p->options.answers > 1;
    const struct cli_field fields[] = {
        {"kind", cli_text(hsy_kind_name(c->info.kind))},
        {"missing", cli_text(plan_number_names[p->missing])},
        {"alpha", cli_number(p->number[PLAN_ALPHA])},
        {"beta", cli_number(p->number[PLAN_BETA])},
        {"n", cli_number(p->number[PLAN_N])},
        {"epsilon", cli_number(c->info.epsilon)},
        {"epsilon_exact", cli_number(c->info.epsilon_exact)},
        {"hoeffding", show_if(p->there[0], p->found[0])},
        {"normal", show_if(p->there[1], p->found[1])},
        {"exact", show_if(p->there[2], p->found[2])},
        {"coefficient", show_if(a->width > 0, a->width)},
        {"share", show_if(f->shares, a->share)},
        {"at_once", show_if(!f->discovery, a->at_once)},
        {"mechanism", cli_text(c->info.mechanism)},
        {"report_bits", cli_count(c->info.report_bits)},
        {"steps", cli_number(c->info.steps)},
        {"local_sd", show_if(!f->discovery, f->local_sd)},
        {"central_sd", show_if(!f->discovery, f->central_sd)},
        {"limit_sd", show_if(!f->discovery, f->limit_sd)},
        {"expected_error", show_if(!f->discovery, f->error)},
        {"expected_largest", show_if(f->shares, f->largest)},
        {"central_n", show_if(!f->discovery, f->central_n)},
        {"central_alpha", show_if(!f->discovery, f->central_alpha)},
        {"groups", show_if(f->discovery, (double)c->nstages)},
        {"prior", cli_number(p->options.prior)},
        {"posterior", cli_number(f->guess)},
        {"answers", show_if(several, (double)p->options.answers)},
        {"posterior_answers", show_if(several, f->posterior)},
    };

    cli_print_flat(p->options.format, fields, sizeof fields / sizeof fields[0]);
}

/* ---- Sentences ----------------------------------------------------------- */

static const char *show_what(const struct plan *p)
{
    switch (p->at.info.kind) {
    case HSY_KIND_NUMBER:
        return "the mean";
    case HSY_KIND_STRINGS:
        return "a string's share";
    case HSY_KIND_YES_NO:
        return "the share of yes";
    default:
        return p->options.all ? "every share" : "a share";
    }
}

static void show_head(const struct plan *p)
{
    const double *x = p->number;
    const char *what = show_what(p);

    if (p->at.nstages != 0)
        printf("A string that a share alpha of %s people holds is found, but "
               "for a chance beta,\nby %s at epsilon %.9g, in %zu groups.\n\n",
               p->missing == PLAN_N ? "n" : "all", p->at.info.mechanism,
               p->at.info.epsilon, p->at.nstages);
    else
        printf("%c%s, estimated by %s, is off by more than alpha\n"
               "with chance at most beta.\n\n",
               what[0] == 't'   ? 'T'
               : what[0] == 'e' ? 'E'
                                : 'A',
               what + 1, p->at.info.mechanism);
    for (unsigned k = 0; k < PLAN_NUMBERS; k++)
        if (k != (unsigned)p->missing)
            printf("  %-10s %.10g\n", plan_number_names[k], x[k]);
}

static void show_bounds(const struct plan *p)
{
    static const char *const why[] = {"a theorem: holds for every n",
                                      "the normal approximation",
                                      "the binomial law"};
    const hsy_accuracy *a = &p->at.accuracy;

    for (unsigned b = 0; b < HSY_BOUNDS; b++) {
        if (!p->there[b])
            continue;
        printf("  %-10s %-16.10g %s: %s", plan_number_names[p->missing],
               p->found[b], plan_bound_names[b], why[b]);
        if (b != HSY_BOUND_HOEFFDING && p->at.nstages == 0 &&
            p->at.info.kind != HSY_KIND_NUMBER)
            printf(", at a share of %.4g", a->share);
        putchar('\n');
    }
    putchar('\n');
}

static void show_cost(const struct plan *p, const struct show_facts *f)
{
    const hsy_info *info = &p->at.info;

    printf("%s: a report has %u bit%s, estimating takes about %.3g step%s.\n",
           info->mechanism, (unsigned)info->report_bits,
           info->report_bits == 1 ? "" : "s", info->steps,
           info->steps == 1 ? "" : "s");
    if (f->discovery)
        return;
    printf("Standard error by noise alone %.4g; %.4g by the best mechanism "
           "known.\n",
           f->local_sd, f->limit_sd);
    if (f->shares && info->d > 2)
        printf("To be expected: an error of %.4g for one share, and %.4g for\n"
               "the worst of all %u.\n",
               f->error, f->largest, (unsigned)info->d);
    printf("A trusted curator has a standard error of %.4g, and reaches alpha\n"
           "with %.0f people (about 1/(alpha epsilon), against\n"
           "1/(alpha epsilon)^2 without trust).\n",
           f->central_sd, f->central_n);
}

static void show_learned(const struct plan *p, const struct show_facts *f)
{
    printf("\nWho believed something of a person with chance %.4g may believe "
           "it with %.4g\nafter one answer, at most",
           p->options.prior, f->guess);
    if (p->options.answers > 1)
        printf("; after %u fresh answers with %.6g",
               (unsigned)p->options.answers, f->posterior);
    puts(".");
}

void plan_show(const struct plan *p)
{
    const struct show_facts f = show_facts(p);

    if (p->options.format != CLI_TABLE) {
        show_object(p, &f);
        return;
    }
    show_head(p);
    show_bounds(p);
    show_cost(p, &f);
    show_learned(p, &f);
}

#undef SHOW_STEPS
