/* main.c - the hearsay command: the table of subcommands. */
#define _POSIX_C_SOURCE 200809L
#include "cli/base/base.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>

/* The order is that of the help: the pipeline first. */
static const struct cli_entry main_commands[] = {
    {"randomize", "truths, one a line, to a stream of reports", cmd_randomize},
    {"tally", "report streams and tallies to one tally", cmd_tally},
    {"estimate", "a tally to estimates with their errors", cmd_estimate},
    {"discover", "a tally of pem or sfp to strings nobody listed",
     cmd_discover},
    {"release", "a trusted curator's truths to a noisy tally", cmd_release},
    {"tasks", "check and sign what devices are asked", cmd_tasks},
    {"device", "answer as one device does: budget, log, uploads", cmd_device},
    {"serve", "run a collector: uploads in, estimates and a page out",
     cmd_serve},
    {"relay", "forward sealed uploads, so that nobody knows who", cmd_relay},
    {"shuffle", "mix sealed reports and pass them on, as a shuffler",
     cmd_shuffle},
    {"store", "check, export, import a collector's data", cmd_store},
    {"plan", "how many people, how much error, which epsilon", cmd_plan},
    {"mechanisms", "the mechanisms, their error and their cost",
     cmd_mechanisms},
    {"account", "what was spent: groups, time, shuffling, liars", cmd_account},
    {"audit", "check a mechanism's privacy claim", cmd_audit},
    {"simulate", "error on people of known truth; attacks on devices",
     cmd_simulate},
    {"survey", "answers of an interview survey to a share", cmd_survey},
    {"help", "what a command does and its options", cmd_help},
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
    cli_note("no command '%s'%s", name,
             cli_meant(meant, name, names, "; 'hearsay help' lists them"));
    return CLI_USAGE;
}

int cli_command_extra(const char *word)
{
    cli_note("unexpected argument '%s'; 'hearsay help' has the usage", word);
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
