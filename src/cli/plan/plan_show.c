/* plan_show.c - a plan as sentences and as one flat object. */
#include "cli/plan/internal.h"

#include <inttypes.h>

static const char *const plan_number_names[] = {"alpha", "n", "beta",
                                                "epsilon"};

/* ---- One flat object ----------------------------------------------------- */

static struct table_cell show_if(bool there, double x)
{
    return there ? cell_number(x) : (struct table_cell){.type = CELL_NONE};
}

static void show_object(const struct plan_run *x)
{
    const struct plan *p = &x->plan;
    const struct plan_facts *f = &p->facts;
    const struct plan_case *c = &p->at;
    const hsy_accuracy *a = &c->accuracy;
    const bool several = x->question.answers > 1;
    const bool curators = x->question.curators != 0;
    const struct table_field fields[] = {
        {"kind", cell_text(hsy_kind_name(c->info.kind))},
        {"missing", cell_text(plan_number_names[x->question.missing])},
        {"alpha", cell_number(p->number[PLAN_ALPHA])},
        {"beta", cell_number(p->number[PLAN_BETA])},
        {"n", cell_number(p->number[PLAN_N])},
        {"epsilon", cell_number(c->info.epsilon)},
        {"epsilon_exact", cell_number(c->info.epsilon_exact)},
        {"hoeffding", show_if(p->there[0], p->found[0])},
        {"normal", show_if(p->there[1], p->found[1])},
        {"exact", show_if(p->there[2], p->found[2])},
        {"coefficient", show_if(a->width > 0, a->width)},
        {"share", show_if(f->shares, a->share)},
        {"at_once", show_if(!f->discovery, a->at_once)},
        {"mechanism", cell_text(c->info.mechanism)},
        {"report_bits", cell_count(c->info.report_bits)},
        {"steps", cell_number(c->info.steps)},
        {"local_sd", show_if(!f->discovery, f->local_sd)},
        {"stderr_0", show_if(f->shares, f->stderr_0)},
        {"central_sd", show_if(!f->discovery, f->central_sd)},
        {"limit_sd", show_if(!f->discovery, f->limit_sd)},
        {"expected_error", show_if(!f->discovery, f->error)},
        {"expected_largest", show_if(f->shares, f->largest)},
        {"central_n", show_if(!f->discovery, f->central_n)},
        {"central_alpha", show_if(!f->discovery, f->central_alpha)},
        {"curators", show_if(curators, (double)x->question.curators)},
        {"curators_sd", show_if(curators, f->curators_sd)},
        {"curators_n", show_if(curators, f->curators_n)},
        {"groups", show_if(f->discovery, (double)c->nstages)},
        {"prior", cell_number(x->question.prior)},
        {"posterior", cell_number(f->posterior)},
        {"answers", show_if(several, (double)x->question.answers)},
        {"posterior_answers", show_if(several, f->posterior_answers)},
    };

    table_print_flat(stdout, x->options.format, fields,
                     sizeof fields / sizeof fields[0]);
}

/* ---- Sentences ----------------------------------------------------------- */

static const char *show_what(const struct plan_run *x)
{
    switch (x->plan.at.info.kind) {
    case HSY_KIND_NUMBER:
        return "the mean";
    case HSY_KIND_STRINGS:
        return "a string's share";
    case HSY_KIND_YES_NO:
        return "the share of yes";
    default:
        return x->question.all ? "every share" : "a share";
    }
}

static void show_head(const struct plan_run *x)
{
    const struct plan *p = &x->plan;
    const enum plan_number missing = x->question.missing;
    const char *what = show_what(x);

    if (p->at.nstages > 1)
        printf("A string that a share alpha of %s people have is found with "
               "probability at least\n1 - beta, by %s at epsilon %.9g, in %zu "
               "groups, unless\nmore than %" PRIu64 " prefixes of one length "
               "are at least half as frequent.\n\n",
               missing == PLAN_N ? "n" : "all", p->at.info.mechanism,
               p->at.info.epsilon, p->at.nstages,
               p->at.stages[p->at.nstages - 2].keep);
    else
        printf("%c%s, estimated by %s, is off by more than alpha\nwith "
               "probability at most beta.\n\n",
               what[0] == 't'   ? 'T'
               : what[0] == 'e' ? 'E'
                                : 'A',
               what + 1, p->at.info.mechanism);
    for (unsigned k = 0; k < PLAN_NUMBERS; k++)
        if (k != (unsigned)missing)
            printf("  %-10s %.10g\n", plan_number_names[k], p->number[k]);
}

static void show_bounds(const struct plan_run *x)
{
    static const char *const why[] = {"a theorem: holds for every n",
                                      "the normal approximation",
                                      "the binomial law"};
    const struct plan *p = &x->plan;
    const hsy_accuracy *a = &p->at.accuracy;

    for (unsigned b = 0; b < HSY_BOUNDS; b++) {
        if (!p->there[b])
            continue;
        printf("  %-10s %-16.10g %s: %s",
               plan_number_names[x->question.missing], p->found[b],
               plan_bound_names[b], why[b]);
        if (b != HSY_BOUND_HOEFFDING && p->at.nstages == 0 &&
            p->at.info.kind != HSY_KIND_NUMBER)
            printf(", at a share of %.4g", a->share);
        putchar('\n');
    }
    putchar('\n');
}

/* Of a share it is another at each, unless yes and no look alike. */
static void show_errors(const struct plan_facts *f, const hsy_scheme_info *info)
{
    if (f->shares && info->v0 != info->v1)
        printf("Standard error from noise alone: %.4g at a share of 0, %.4g at "
               "the mean\nshare of %.4g; there %.4g by the best mechanism "
               "known.\n",
               f->stderr_0, f->local_sd, 1.0 / info->d, f->limit_sd);
    else
        printf("Standard error from noise alone: %.4g%s; %.4g by the best%s"
               "mechanism known.\n",
               f->local_sd, f->shares ? " at any share" : "", f->limit_sd,
               f->shares ? "\n" : " ");
}

static void show_cost(const struct plan_run *x)
{
    const struct plan_facts *f = &x->plan.facts;
    const hsy_scheme_info *info = &x->plan.at.info;

    printf("%s: a report has %u bit%s, estimating takes about %.3g step%s.\n",
           info->mechanism, (unsigned)info->report_bits,
           info->report_bits == 1 ? "" : "s", info->steps,
           info->steps == 1 ? "" : "s");
    if (f->discovery)
        return;
    show_errors(f, info);
    if (f->shares && info->d > 2)
        printf("Expected error: %.4g for one share, and %.4g for the worst of "
               "all %u.\n",
               f->error, f->largest, (unsigned)info->d);
    printf("A trusted curator has a standard error of %.4g, and reaches alpha\n"
           "with %.0f people. That number grows as 1/(alpha epsilon), and "
           "without\n"
           "trust as 1/(alpha epsilon)^2.\n",
           f->central_sd, f->central_n);
    if (x->question.curators != 0)
        printf("%u curators, each with separate people, have a standard error "
               "of %.4g\ntogether, and reach alpha with about %.0f people.\n",
               (unsigned)x->question.curators, f->curators_sd, f->curators_n);
}

static void show_learned(const struct plan_run *x)
{
    const struct plan_facts *f = &x->plan.facts;

    printf(
        "\nOne answer raises a belief about a person from %.4g to at most %.4g",
        x->question.prior, f->posterior);
    if (x->question.answers > 1)
        printf(";\n%u fresh answers raise it to at most %.6g",
               (unsigned)x->question.answers, f->posterior_answers);
    puts(".");
}

void plan_show(const struct plan_run *x)
{
    if (x->options.format != TABLE_ALIGNED) {
        show_object(x);
        return;
    }
    show_head(x);
    show_bounds(x);
    show_cost(x);
    show_learned(x);
}
