/* simulate.c - hearsay simulate, and its attacks against simulated devices. */
#include "cli/simulate/internal.h"
#include "sim/attack/attack.h"

#include <inttypes.h>
#include <stdlib.h>

struct cmd_simulate {
    struct cli_parser parser;
    const struct sim_limits *attack;
    struct sim_options o; /* 0: not given, until cmd_simulate_settle */
    enum table_format format;
    struct sim_result result;
    const char *plot;
    struct cli_progress progress;
};

/* ---- Options ------------------------------------------------------------- */

static int cmd_simulate_within(struct cli_parser *p, const char *attack,
                               const char *option, uint64_t x, uint64_t least,
                               uint64_t most)
{
    if (x >= least && x <= most)
        return CLI_DONE;
    return cli_usage(p, "%s takes --%s from %" PRIu64 " to %" PRIu64, attack,
                     option, least, most);
}

/* What was not said, and whether all goes together. */
static int cmd_simulate_settle(struct cmd_simulate *c)
{
    struct cli_parser *p = &c->parser;
    const struct sim_limits *a = c->attack;
    struct sim_options *o = &c->o;
    int code = CLI_DONE;

    if (!cli_given(p, "days"))
        o->days = a->days;
    if (!cli_given(p, "devices"))
        o->devices = a->devices;
    if (!cli_given(p, "permanent"))
        o->nano_permanent = 2 * o->nano_report < HSY_EPSILON_MAX
                                ? 2 * o->nano_report
                                : HSY_EPSILON_MAX;
    if (code == CLI_DONE)
        code = cmd_simulate_within(p, a->name, "days", o->days, a->days_least,
                                   a->days_most);
    if (code == CLI_DONE)
        code = cmd_simulate_within(p, a->name, "devices", o->devices,
                                   a->devices_least, a->devices_most);
    if (code == CLI_DONE && o->nano_permanent < o->nano_report)
        code = cli_usage(p, "--permanent must not be below --epsilon, because "
                            "each report is made from the permanent answer");
    if (code == CLI_DONE && SIM_DRIFT_RANGE % o->grain != 0)
        code = cli_usage(p, "--grain must divide %u", SIM_DRIFT_RANGE);
    if (code == CLI_DONE && o->nano_report > a->nano_most)
        code = cli_usage(p, "poisoning takes --epsilon up to 4");
    if (code == CLI_DONE && o->yes > o->of)
        code = cli_usage(p, "--yes must not exceed --of");
    return code;
}

/* ---- Running ------------------------------------------------------------- */

static int cmd_simulate_all(struct cmd_simulate *c)
{
    struct output *out = NULL;
    struct cli_figure f = {0};
    hsy_error err = {0};
    hsy_status st;
    int code = CLI_DONE;

    if (c->plot != NULL)
        code = cli_open_output(&out, c->plot);
    if (code != CLI_DONE)
        return code;
    c->progress = (struct cli_progress){
        .what = "devices", .total = (double)(c->attack->rounds * c->o.devices)};
    c->o.tick = cli_progress_add;
    c->o.ctx = &c->progress;
    st = sim_run(&c->result, &c->o, &err);
    cli_progress_end(&c->progress);
    if (st != HSY_OK) {
        output_abort(out);
        return cli_fail_error(c->attack->name, &err);
    }
    if (out != NULL)
        code = cli_finish_figure(
            out, c->plot, sim_svg(&f.svg, &f.len, &c->result, &f.err), &f);
    if (code != CLI_DONE)
        return code;
    sim_print(stdout, c->format, &c->result, &c->o);
    return cli_finish();
}

/* The attack is the verb. */
static int cmd_simulate_attack(void *to)
{
    struct cmd_simulate *c = to;
    unsigned kind = 0;
    int code;

    while (!cli_does(&c->parser, sim_limits((enum sim_kind)kind)->name))
        kind++;
    c->result.kind = (enum sim_kind)kind;
    c->attack = sim_limits(c->result.kind);
    code = cmd_simulate_settle(c);
    return code == CLI_DONE ? cmd_simulate_all(c) : code;
}

#define ATTACK(member) offsetof(struct cmd_simulate, member)

static const struct cli_option attack_options[] = {
    {"days", "T",
     "number of days on which devices are asked (default 1000; change 200, "
     "drift 3650)",
     CLI_INTO_COUNT, ATTACK(o.days), 1, SIM_DAYS_MAX,
     .verbs = "averaging change drift"},
    {"devices", "N",
     "number of devices (default 1000; fingerprint 2000, drift 10000; "
     "poisoning 100000 honest ones)",
     CLI_INTO_COUNT, ATTACK(o.devices), 2, SIM_DEVICES_MAX},
    {"epsilon", "E", "privacy of one report", CLI_INTO_EPSILON,
     ATTACK(o.nano_report), .preset = "ln3"},
    {"permanent", "E",
     "epsilon of a two-step client's permanent answer (default: twice "
     "--epsilon)",
     CLI_INTO_EPSILON, ATTACK(o.nano_permanent)},
    {"grain", "DAYS",
     "bin width and distance of points; must divide 36500 (default 3650)",
     CLI_INTO_COUNT, ATTACK(o.grain), 1, SIM_DRIFT_RANGE, .verbs = "drift"},
    {"yes", "Y", "print what Y yes answers among --of N prove", CLI_INTO_COUNT,
     ATTACK(o.yes), 0, SIM_DEVICES_MAX, .preset = "75", .verbs = "averaging"},
    {"of", "N", "number of fresh answers for --yes", CLI_INTO_COUNT,
     ATTACK(o.of), 1, SIM_DEVICES_MAX, .preset = "100", .verbs = "averaging"},
    {"seed", "N", "seed of all devices' keys", CLI_INTO_COUNT, ATTACK(o.seed),
     0, UINT64_MAX, .preset = "1"},
    {"plot", "FILE.svg", "write a figure (.svg or .png)", CLI_INTO_TEXT,
     ATTACK(plot)},
    CLI_FORMAT_ROW(ATTACK(format)),
    {0}};

static const struct cli_verb attack_verbs[] = {
    {"averaging", NULL, "[options]", .run = cmd_simulate_attack,
     .about = "Guess the truth from repeated answers."},
    {"change", NULL, "[options]", .run = cmd_simulate_attack,
     .about = "Detect whether and when the truth changed."},
    {"fingerprint", NULL, "[options]", .run = cmd_simulate_attack,
     .about = "Recognise a device by its earlier uploads."},
    {"drift", NULL, "[options]", .run = cmd_simulate_attack,
     .about = "Measure the cost of a truth that changes daily (age)."},
    {"poisoning", NULL, "[options]", .run = cmd_simulate_attack,
     .about = "Inflate the estimates of chosen values with lying devices."},
    {0}};

static const struct cli_command attack_command = {
    "simulate attack",
    "NAME [options]",
    "Attack simulated devices that are asked repeatedly. Clients draw fresh "
    "noise\neach time, keep one answer and resend it unchanged (memoised), or "
    "keep one and\nadd fresh noise to it each time (two-step). The result of "
    "the attack is printed\nbeside its theoretical limit.",
    attack_options,
    .verbs = attack_verbs,
    .listed = true};

static int simulate_attack(int argc, char **argv)
{
    struct cmd_simulate c = {.o.grain = SIM_DRIFT_GRAIN};

    return cli_run(&c.parser, &attack_command, argc, argv, &c);
}

/* ---- What is simulated --------------------------------------------------- */

static const struct cli_option simulate_none[] = {{0}};

static const struct cli_verb simulate_verbs[] = {
    {"study", NULL, "--data D --domain K [options]", .own = simulate_study,
     .about = "Measure the error on people with known truths."},
    {"attack", NULL, "NAME [options]", .own = simulate_attack,
     .about = "Attack simulated devices, or the estimates."},
    {"fleet", "URL", "[options]", .own = simulate_fleet,
     .about = "Send reports of simulated devices to a real collector."},
    {"discover", "pem|treehist|sfp", "--data D [options]",
     .own = simulate_discover,
     .about = "Measure how well frequent unlisted strings are found."},
    {0}};

static const struct cli_command simulate_command = {
    "simulate",
    NULL,
    "Simulate people and devices, and compare the results with the "
    "truth.\n'hearsay simulate study --help' and so on list the options.",
    simulate_none,
    .verbs = simulate_verbs,
    .listed = true};

int cmd_simulate(int argc, char **argv)
{
    struct cli_parser p;

    return cli_run(&p, &simulate_command, argc, argv, NULL);
}
