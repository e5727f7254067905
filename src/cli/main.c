/* main.c - the hearsay command: the table of subcommands. */
#define _POSIX_C_SOURCE 200809L
#include "cli/base/base.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>

/* The order is that of the help: the pipeline first. */
static const struct cli_entry main_commands[] = {
    {"randomize", "turn truths, one per line, into reports", cmd_randomize},
    {"tally", "count report streams and merge tallies", cmd_tally},
    {"estimate", "estimate shares or a mean from a tally", cmd_estimate},
    {"discover", "find frequent strings that nobody listed", cmd_discover},
    {"release", "publish noisy counts as a trusted curator", cmd_release},
    {"tasks", "check a task file and sign it for devices", cmd_tasks},
    {"device", "run one device: answer tasks, keep the budget, send",
     cmd_device},
    {"serve", "run a collector: accept uploads, serve estimates", cmd_serve},
    {"relay", "run a relay: forward sealed uploads, hiding the sender",
     cmd_relay},
    {"shuffle", "run a shuffler: mix sealed reports and forward them",
     cmd_shuffle},
    {"store", "check, export and import a collector's data", cmd_store},
    {"plan", "compute the people, error or epsilon you need", cmd_plan},
    {"mechanisms", "list the mechanisms with their error and cost",
     cmd_mechanisms},
    {"account", "compute privacy loss, and the effect of lying devices",
     cmd_account},
    {"audit", "check a mechanism's privacy claim", cmd_audit},
    {"simulate", "measure error and attacks on simulated people", cmd_simulate},
    {"survey", "plan and analyse a randomized-response survey", cmd_survey},
    {"help", "show what a command does and its options", cmd_help},
};

#define MAIN_COMMANDS (sizeof main_commands / sizeof main_commands[0])

const struct cli_entry *cli_command_at(size_t i)
{
    return i < MAIN_COMMANDS ? &main_commands[i] : NULL;
}

const struct cli_entry *cli_command_find(const char *name)
{
    for (size_t i = 0; i < MAIN_COMMANDS; i++)
        if (strcmp(main_commands[i].name, name) == 0)
            return &main_commands[i];
    return NULL;
}

int cli_command_unknown(const char *name)
{
    const char *names[MAIN_COMMANDS + 1] = {NULL};
    char meant[CLI_MEANT];

    for (size_t i = 0; i < MAIN_COMMANDS; i++)
        names[i] = main_commands[i].name;
    cli_note("unknown command '%s'%s", name,
             cli_meant(meant, name, names, "; 'hearsay help' lists them"));
    return CLI_USAGE;
}

int cli_command_extra(const char *word)
{
    cli_note("unexpected argument '%s'; see 'hearsay help'", word);
    return CLI_USAGE;
}

/* A standard stream that is closed stays an error to use; but its number is
 * taken, or the next file opened would be written to in its stead. */
static bool main_hold_streams(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};

    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", modes[fd]) != fd)
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    const struct cli_entry *entry;

    /* A closed pipe is an error that write(2) reports, not a sudden death. */
    signal(SIGPIPE, SIG_IGN);
    if (!main_hold_streams())
        return CLI_FAILED;

    if (argc < 2) {
        cli_note("no command; 'hearsay help' lists them");
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        if (argc > 2)
            return cli_command_extra(argv[2]);
        printf("hearsay %s\n", HSY_VERSION);
        return cli_finish();
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return cmd_help(argc - 1, argv + 1);

    entry = cli_command_find(argv[1]);
    if (entry == NULL)
        return cli_command_unknown(argv[1]);
    return entry->run(argc - 1, argv + 1);
}
