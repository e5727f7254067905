/* help.c - hearsay help [COMMAND [VERB]]. */
#include "cli/base/base.h"

#include <string.h>

#define HELP_WORDS 3 /* behind the command, as "discover sfp" */

static void help_overview(void)
{
    const struct cli_entry *entry;

    puts("hearsay - statistics under local differential privacy\nusage: "
         "hearsay COMMAND [options] [FILE], hearsay help COMMAND\n");
    for (size_t i = 0; (entry = cli_command_at(i)) != NULL; i++)
        printf("  %-12s %s\n", entry->name, entry->summary);
    puts("\nExample: hearsay randomize --yes-no --epsilon 1 truths | hearsay "
         "estimate\nIn the help of a command, '...' marks an option that needs "
         "the one above.");
}

static bool help_asks(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* "help COMMAND WORD..." is "COMMAND WORD... --help". */
int cmd_help(int argc, char **argv)
{
    char *ask[HELP_WORDS + 3] = {""};
    const struct cli_entry *entry;
    int n = argc > 2 ? argc - 1 : 1;

    if (n > HELP_WORDS)
        return cli_command_extra(argv[2 + HELP_WORDS]);
    entry = cli_command_find(argc < 2 || help_asks(argv[1]) ? "help" : argv[1]);
    if (entry == NULL)
        return cli_command_unknown(argv[1]);
    if (entry->run != cmd_help) {
        for (int i = 1; i < n; i++)
            ask[i] = argv[i + 1];
        ask[n] = "--help";
        return entry->run(n + 1, ask);
    }
    if (argc > 2)
        return cli_command_extra(argv[2]);
    help_overview();
    return cli_finish();
}
