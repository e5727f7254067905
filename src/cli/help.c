/* help.c - hearsay help [COMMAND]. */
#include "cli/base/base.h"

#include <string.h>

static void help_overview(void)
{
    const struct cli_entry *entry;

    puts("hearsay - statistics from answers that prove nothing\n"
         "usage: hearsay COMMAND [options] [FILE], hearsay help COMMAND\n");
    for (size_t i = 0; (entry = cli_command_at(i)) != NULL; i++)
        printf("  %-12s %s\n", entry->name, entry->summary);
    puts("\n"
         "A question: "
         "hearsay randomize --yes-no --epsilon 1 truths | hearsay estimate");
}

static bool help_asks(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int cmd_help(int argc, char **argv)
{
    char *ask[] = {"", "--help", NULL};
    const struct cli_entry *entry;

    if (argc > 2 && cli_command_find(argv[1]) != NULL) {
        cli_note("'%s' is one word too many; 'hearsay help %s' has it all",
                 argv[2], argv[1]);
        return CLI_USAGE;
    }
    if (argc > 2)
        return cli_command_extra(argv[2]);
    entry = cli_command_find(argc < 2 || help_asks(argv[1]) ? "help" : argv[1]);
    if (entry == NULL)
        return cli_command_unknown(argv[1]);
    if (entry->run != cmd_help)
        return entry->run(2, ask);
    help_overview();
    return cli_finish();
}
