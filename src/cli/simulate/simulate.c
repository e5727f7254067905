/* simulate.c - hearsay simulate attack: attackers against simulated
 * devices. (simulate_study.c has hearsay simulate --data, simulate_fleet.c
 * hearsay simulate fleet.) */
#include "cli/simulate/internal.h"
#include "sim/attack/attack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct cmd_simulate {
    const struct sim_limits *attack;
    struct sim_options o; /* 0: not given, until cmd_simulate_settle */
    enum table_format format;
    struct sim_result result;
    const char *plot;
    unsigned operands; /* "attack" and its name */
    struct cli_progress progress;
    uint64_t reports;
};

/* ---- Options ------------------------------------------------------------- */

static bool cmd_simulate_epsilon(struct cli_parser *p, void *to)
{
    uint64_t *nano = (uint64_t *)((char *)to + p->row->place);
    hsy_status st = hsy_epsilon_parse(nano, p->value, strlen(p->value));

    if (st == HSY_E_FORMAT)
        cli_usage(p,
                  "--%s: not a decimal number (a digit first, no exponent); "
                  "write it as 1, 0.5 or ln3",
                  p->name);
    else if (st != HSY_OK)
        cli_usage(p, "--%s: must be from 0.000001 to 32", p->name);
    return st == HSY_OK;
}

/* "attack", then which. */
static bool cmd_simulate_operand(struct cli_parser *p, void *to)
{
    struct cmd_simulate *c = to;
    const char *names[SIM_KINDS + 1] = {NULL};
    const char *near;

    if (c->operands++ == 0) {
        if (strcmp(p->value, "attack") == 0)
            return true;
        cli_usage(p, "no simulation '%.64s'; there is 'attack'", p->value);
        return false;
    }
    if (c->attack != NULL) {
        cli_usage(p, "'%.64s' is one word too many", p->value);
        return false;
    }
    for (unsigned i = 0; i < SIM_KINDS; i++) {
        const struct sim_limits *attack = sim_limits((enum sim_kind)i);

        names[i] = attack->name;
        if (strcmp(p->value, names[i]) != 0)
            continue;
        c->attack = attack;
        c->result.kind = (enum sim_kind)i;
        return true;
    }
    near = text_nearest(p->value, names);
    cli_usage(p, "no attack '%.64s'; %s%s%s", p->value,
              near != NULL ? "did you mean '" : "take ",
              near != NULL ? near : SIMULATE_ATTACKS, near != NULL ? "'?" : "");
    return false;
}

#define ATTACK(member) offsetof(struct cmd_simulate, member)

static const struct cli_option cmd_simulate_options[] = {
    {0, "days", "T",
     "how long devices are asked (default 1000; change\n"
     "200, drift 3650)",
     CLI_INTO_COUNT, ATTACK(o.days), 1, SIM_DAYS_MAX},
    {0, "devices", "N",
     "how many (default 1000; fingerprint 2000, drift\n10000; poisoning 100000 "
     "honest ones)",
     CLI_INTO_COUNT, ATTACK(o.devices), 2, SIM_DEVICES_MAX},
    {0, "epsilon", "E", "privacy of one report (default ln3)", CLI_INTO_CALL,
     ATTACK(o.nano_report), .call = cmd_simulate_epsilon},
    {0, "permanent", "E",
     "of the answer a two-step client keeps (default\ntwice that)",
     CLI_INTO_CALL, ATTACK(o.nano_permanent), .call = cmd_simulate_epsilon},
    {0, "grain", "DAYS",
     "drift: width of bins, distance of points; divides\n36500 (default "
     "3650)",
     CLI_INTO_COUNT, ATTACK(o.grain), 1, SIM_DRIFT_RANGE},
    {0, "yes", "Y", "averaging: weigh Y times yes (default 75) ...",
     CLI_INTO_COUNT, ATTACK(o.yes), 0, SIM_DEVICES_MAX},
    {0, "of", "N", "... in N fresh answers (default 100)", CLI_INTO_COUNT,
     ATTACK(o.of), 1, SIM_DEVICES_MAX},
    {0, "seed", "N", "of all devices' keys (default 1)", CLI_INTO_COUNT,
     ATTACK(o.seed), 0, UINT64_MAX},
    {0, "plot", "FILE.svg", "write the figure", CLI_INTO_TEXT, ATTACK(plot)},
    CLI_FORMAT_ROW(ATTACK(format)),
    {0}};

static const struct cli_command cmd_simulate_command = {
    "simulate attack", "NAME [options]",
    "Attack simulated devices that are asked again and again.\n"
    "\n"
    "  averaging     guess the truth from many answers to one question\n"
    "  change        tell whether the truth has changed, and when\n"
    "  fingerprint   recognise a device by what it sent before\n"
    "  drift         what age in days costs, which is another every day\n"
    "  poisoning     make values come out large by devices that lie\n"
    "\n"
    "Clients toss fresh coins each time, keep one answer and send it as it is\n"
    "(memoised), or keep one and add noise to it each time (two-step). Beside\n"
    "what the attacker achieves stands what he may achieve.",
    cmd_simulate_options, .operand = cmd_simulate_operand};

/* What all attacks take, and which of the others each does: no option is
 * ignored. */
#define ATTACK_ALL "devices epsilon permanent seed plot format"

static const char *const cmd_simulate_takes_of[SIM_KINDS] = {
    [SIM_AVERAGING] = ATTACK_ALL " days yes of",
    [SIM_CHANGE] = ATTACK_ALL " days",
    [SIM_FINGERPRINT] = ATTACK_ALL,
    [SIM_DRIFT] = ATTACK_ALL " days grain",
    [SIM_POISONING] = ATTACK_ALL};

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
static int cmd_simulate_settle(struct cmd_simulate *c, struct cli_parser *p)
{
    const struct sim_limits *a = c->attack;
    struct sim_options *o = &c->o;
    const char *stray = cli_stray(p, cmd_simulate_takes_of[c->result.kind]);
    int code = stray == NULL
                   ? CLI_DONE
                   : cli_usage(p, "--%s does not go with '%s'", stray, a->name);

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
        code = cli_usage(p, "--permanent must not be below --epsilon: each "
                            "report is made from the answer that is kept");
    if (code == CLI_DONE && SIM_DRIFT_RANGE % o->grain != 0)
        code = cli_usage(p, "--grain must divide %u", SIM_DRIFT_RANGE);
    if (code == CLI_DONE && o->nano_report > a->nano_most)
        code = cli_usage(p, "poisoning takes --epsilon up to 4: from there on "
                            "tables of hashes grow, and what lies gain "
                            "hardly does");
    if (code == CLI_DONE && o->yes > o->of)
        code = cli_usage(p, "--yes is at most --of: so many of all answers");
    return code;
}

/* ---- Running ------------------------------------------------------------- */

static void cmd_simulate_tick(void *ctx, uint64_t reports)
{
    struct cmd_simulate *c = ctx;

    c->reports += reports;
    cli_progress_tick(&c->progress, c->reports, "reports");
}

static int cmd_simulate_figure(const struct cmd_simulate *c, struct output *out)
{
    hsy_error err = {0};
    char *svg = NULL;
    size_t len = 0;
    hsy_status st = sim_svg(&svg, &len, &c->result, &err);

    return cli_finish_figure(out, c->plot, st, svg, len, &err);
}

static int cmd_simulate_all(struct cmd_simulate *c)
{
    struct output *out = NULL;
    hsy_error err = {0};
    hsy_status st;
    int code = CLI_DONE;

    if (c->plot != NULL)
        code = cli_open_output(&out, c->plot);
    if (code != CLI_DONE)
        return code;
    c->o.tick = cmd_simulate_tick;
    c->o.ctx = c;
    st = sim_run(&c->result, &c->o, &err);
    cli_progress_end(&c->progress);
    if (st != HSY_OK) {
        output_abort(out);
        return cli_fail_error(c->attack->name, &err);
    }
    if (out != NULL)
        code = cmd_simulate_figure(c, out);
    if (code != CLI_DONE)
        return code;
    sim_print(stdout, c->format, &c->result, &c->o);
    return cli_finish();
}

int cmd_simulate(int argc, char **argv)
{
    struct cmd_simulate c = {
        .o = {.yes = 75, .of = 100, .seed = 1, .grain = SIM_DRIFT_GRAIN}};
    struct cli_parser p;
    int code;

    if (simulate_puzzles(argc, argv))
        return simulate_puzzle(argc, argv);
    if (simulate_discovers(argc, argv))
        return simulate_discover(argc, argv);
    if (argc >= 2 && strcmp(argv[1], "fleet") == 0)
        return simulate_fleet(argc - 1, argv + 1);
    if (argc < 2 || strcmp(argv[1], "attack") != 0)
        return simulate_study(argc, argv);
    hsy_epsilon_parse(&c.o.nano_report, "ln3", 3);
    if (!cli_read(&p, &cmd_simulate_command, argc, argv, &c))
        return p.exit;
    if (c.attack == NULL)
        return cli_usage(&p, "say what: 'attack' and " SIMULATE_ATTACKS);
    code = cmd_simulate_settle(&c, &p);
    return code == CLI_DONE ? cmd_simulate_all(&c) : code;
}
