/* task_sheet.c - a document's deployment sheet, as a data-protection officer
 * asks for it: who sees what, what it costs, what is kept, what deletion means.
 * docs/deployment-sheet.md explains it. */

#include "host/base/day.h"
#include "host/base/table.h"
#include "host/base/written.h"
#include "host/tasks/calendar.h"
#include "host/tasks/policy.h"
#include "host/tasks/task_cost.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define SHEET_LABEL 4096u /* bytes of a label, with a question of 1024 */

struct sheet {
    FILE *to;
    const struct task_file *file;
    const struct task_costs *costs;
    hsy_parties parties;
    bool local, shuffled;          /* whether there are such tasks */
    bool relay_all, relay_allowed; /* every task demands one; one can be used */
};

/* ---- Pieces of text ------------------------------------------------------ */

/* Text of a document, which may hold anything: as words of Markdown. */
static void sheet_words(const struct sheet *s, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)text[i];

        if (c < ' ' || c == 0x7f) {
            putc(' ', s->to);
            continue;
        }
        if (strchr("\\`*_[]<>|#&", c) != NULL)
            putc('\\', s->to);
        putc(c, s->to);
    }
}

/* Exact, with up to nine places. */
static void sheet_nano(const struct sheet *s, uint64_t nano)
{
    char text[WRITTEN_NUMBER];

    written_nano(text, nano);
    fputs(nano == UINT64_MAX ? "no bound" : text, s->to);
}

/* "2 (odds 7.4 times)". */
static void sheet_epsilon(const struct sheet *s, uint64_t nano)
{
    const uint64_t tenths = hsy_odds(nano);

    sheet_nano(s, nano);
    if (tenths >= 1000)
        fprintf(s->to, " (odds %" PRIu64 " times)", tenths / 10);
    else if (tenths != 0)
        fprintf(s->to, " (odds %" PRIu64 ".%" PRIu64 " times)", tenths / 10,
                tenths % 10);
    else
        fputs(" (odds: no promise)", s->to);
}

/* A real epsilon in nano-epsilon, rounded up. */
static uint64_t sheet_up(double epsilon)
{
    return epsilon < HSY_NANO ? (uint64_t)ceil(epsilon * HSY_NANO) : UINT64_MAX;
}

static uint64_t sheet_sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void sheet_days(const struct sheet *s, uint32_t first, uint32_t end)
{
    char from[DAY_TEXT], to[DAY_TEXT];

    day_text(from, first);
    day_text(to, end - 1);
    fprintf(s->to, "%s to %s", from, to);
}

/* ---- Document and parties ------------------------------------------------ */

static void sheet_relay(const struct sheet *s)
{
    fputs("| relay | ", s->to);
    if (s->parties.relay_len != 0) {
        sheet_words(s, s->parties.relay, s->parties.relay_len);
        fputs(", run by [ name; not the collector's operator ]", s->to);
    } else if (s->relay_allowed)
        fputs("[ none is named; whether the program uses one, and who runs it "
              "]",
              s->to);
    else
        fputs("none: devices connect to the collector", s->to);
    fputs(" |\n", s->to);
}

static void sheet_operators(const struct sheet *s, const hsy_task *task)
{
    hsy_statement said;

    for (uint32_t i = 0; i < task->shufflers; i++) {
        if (hsy_statement_decode(
                &said, task->statements + (size_t)i * HSY_STATEMENT_WIRE,
                NULL) != HSY_OK)
            continue;
        fputs(i == 0 ? "" : ", then ", s->to);
        sheet_words(s, said.operated_by, strlen(said.operated_by));
    }
}

static void sheet_head(const struct sheet *s, const char *signature)
{
    const hsy_document *doc = &s->file->doc;

    fprintf(s->to,
            "# Deployment sheet\n\n"
            "`hearsay tasks sheet` made this from a task document. Every "
            "number follows from\n"
            "the document. `[ ... ]` marks what it cannot know: fill these in."
            "\n\n## Document and parties\n\n| | |\n|---|---|\n"
            "| document | version %" PRIu64 ", taken by devices ",
            doc->version);
    sheet_days(s, doc->issued, doc->expires);
    fprintf(s->to, " |\n| signature | %s |\n",
            signature != NULL ? signature : "none yet: a tasks.yaml");
    fputs("| operator of the collector | [ name, address, contact ] |\n"
          "| data-protection officer | [ name, contact ] |\n"
          "| purpose and legal basis | [ why this is asked ] |\n"
          "| people asked | [ who they are, how they are told and agree ] |\n"
          "| analysts | [ who may read estimates, by which token ] |\n",
          s->to);
    sheet_relay(s);
    if (!s->shuffled)
        fputs("| shufflers | none |\n", s->to);
}

/* ---- What is asked, and its price ---------------------------------------- */

static void sheet_asked(const struct sheet *s)
{
    fputs("\n## What is asked\n\n"
          "| task | private data | question | days | reports | noise added by "
          "|\n|---|---|---|---|--:|---|\n",
          s->to);
    for (size_t i = 0; i < s->costs->n; i++) {
        const struct task_cost *row = &s->costs->rows[i];

        fprintf(s->to, "| %s | %s | ", row->task->id, row->task->source);
        sheet_words(s, row->task->question, row->task->question_len);
        fputs(" | ", s->to);
        sheet_days(s, row->task->start, row->task->end);
        fprintf(s->to, " | %" PRIu64 " | %s |\n",
                row->info.slots * row->info.rounds * row->task->sends,
                row->scheme.mechanism);
    }
    fputs("\nreports: how many one device sends at most, in all.\n", s->to);
}

static void sheet_price(const struct sheet *s, const struct task_cost *row)
{
    fprintf(s->to, "| %s | ", row->task->id);
    sheet_epsilon(s, row->info.nano_report);
    fputs(" | ", s->to);
    if (row->info.memo != NULL)
        sheet_nano(s, sheet_up(row->memo.epsilon_permanent));
    else
        fputs("none is kept", s->to);
    fputs(" | ", s->to);
    sheet_nano(s, row->info.nano_slot);
    fprintf(s->to, " | %" PRIu64 " | ", row->info.slots);
    sheet_epsilon(s, row->info.nano_task);
    fputs(" |\n", s->to);
}

static void sheet_prices(const struct sheet *s)
{
    fputs("\n## What it can tell about a person\n\n"
          "Epsilon bounds what is learned: whatever was believed about a "
          "person before, the\n"
          "odds of it move by at most e^epsilon. The bound rests on the device "
          "alone.\n\n"
          "| task | one report: epsilon_report | any number of reports of one "
          "kept answer: epsilon_permanent | charged for a slot: epsilon_slot "
          "| slots | from the first day to the last: epsilon_task |\n"
          "|---|---|--:|--:|--:|---|\n",
          s->to);
    for (size_t i = 0; i < s->costs->n; i++)
        sheet_price(s, &s->costs->rows[i]);
    if (task_costs_keep(s->costs, 2, UINT32_MAX))
        fputs("\nWhere a task keeps more than one answer a slot "
              "(max_changes), that and when the\n"
              "answer changed may show; no epsilon bounds that.\n",
              s->to);
}

/* ---- For life ------------------------------------------------------------ */

/* Whether a task before this one is charged for both: the stages of a search
 * are one release, and its first answer pays for all of them. */
static bool sheet_paid(const struct sheet *s, size_t i)
{
    const struct task_cost *const rows = s->costs->rows;

    for (size_t j = 0; j < i; j++)
        if (strcmp(rows[j].task->source, rows[i].task->source) == 0 &&
            memcmp(rows[j].info.digest, rows[i].info.digest, HSY_DIGEST) == 0)
            return true;
    return false;
}

/* All tasks of a source; NULL: of all sources. */
static void sheet_total(const struct sheet *s, const char *source)
{
    uint64_t nano = 0;
    size_t tasks = 0;

    for (size_t i = 0; i < s->costs->n; i++) {
        const struct task_cost *row = &s->costs->rows[i];

        if (source != NULL && strcmp(row->task->source, source) != 0)
            continue;
        if (!sheet_paid(s, i))
            nano = sheet_sum(nano, row->info.nano_task);
        tasks++;
    }
    fprintf(s->to, "| %s | %zu | ", source != NULL ? source : "all together",
            tasks);
    sheet_epsilon(s, nano);
    fputs(" |\n", s->to);
}

static bool sheet_source_before(const struct sheet *s, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(s->file->all[j].source, s->file->all[i].source) == 0)
            return true;
    return false;
}

static void sheet_life(const struct sheet *s)
{
    fputs("\n## For life\n\n"
          "A device that answers everything in this document spends at most:"
          "\n\n| private data | tasks | sum of epsilon_task |\n|---|--:|---|\n",
          s->to);
    for (size_t i = 0; i < s->costs->n; i++)
        if (!sheet_source_before(s, i))
            sheet_total(s, s->file->all[i].source);
    sheet_total(s, NULL);
    fputs("\nA later document may ask more. The caps of the device's own "
          "policy bound a whole\n"
          "life, and no document can raise them: [ cap_lifetime of a source "
          "and of all sources\n"
          "in the program's policy; `hearsay device init` writes ",
          s->to);
    sheet_nano(s, POLICY_LIFETIME);
    fputs(" and ", s->to);
    sheet_nano(s, POLICY_ALL_LIFETIME);
    fputs(" unless told ].\n", s->to);
}

/* ---- Shuffled tasks ------------------------------------------------------ */

static void sheet_batch(const struct sheet *s, const struct task_cost *row)
{
    const hsy_task *task = row->task;
    hsy_worth w;

    if (task->model != HSY_MODEL_SHUFFLED)
        return;
    fprintf(s->to, "| %s | ", task->id);
    sheet_operators(s, task);
    fprintf(s->to, " | %" PRIu32 " | ", task->min_batch);
    if (task_model_worth(&w, &row->info, NULL) == HSY_OK)
        fprintf(s->to, "%" PRIu64, w.n);
    else
        fputs("-", s->to);
    fputs(" | ", s->to);
    sheet_nano(s, task->nano_central);
    fprintf(s->to, " | %.3g |\n",
            (double)task->delta.num / (double)task->delta.den);
}

static void sheet_batches(const struct sheet *s)
{
    if (!s->shuffled)
        return;
    fputs("\n## Shuffled tasks\n\n"
          "Reports of these are mixed in batches. The smaller epsilon_central "
          "holds unless the\n"
          "collector and all shufflers of a task work together; epsilon_report "
          "holds always.\n\n"
          "| task | shufflers run by | smallest batch | honest reports counted "
          "on | epsilon_central | delta |\n|---|---|--:|--:|--:|--:|\n",
          s->to);
    for (size_t i = 0; i < s->costs->n; i++)
        sheet_batch(s, &s->costs->rows[i]);
}

/* ---- Who sees what ------------------------------------------------------- */

static void sheet_collector(const struct sheet *s)
{
    if (s->local && !s->relay_all)
        fputs("| collector | task, noisy report and day of each upload; its "
              "address while the connection is open, if no relay is used; it "
              "keeps no address | truths |\n",
              s->to);
    if (s->local && s->relay_all)
        fputs("| collector | task, noisy report and day of each upload | "
              "truths; addresses |\n",
              s->to);
    if (s->shuffled)
        fputs("| collector, of shuffled tasks | the mixed noisy reports of a "
              "batch | truths; addresses; which upload a report came with |\n",
              s->to);
}

static void sheet_seen(const struct sheet *s)
{
    fputs("\n## Who sees what\n\n| who | sees | does not see |\n|---|---|---|\n"
          "| the person's device | the truth, its noisy answer, what was spent "
          "| anything of other people |\n",
          s->to);
    if (s->relay_allowed)
        fputs("| relay | addresses and times: who takes part | tasks, reports, "
              "whether there is one |\n",
              s->to);
    if (s->shuffled)
        fputs("| first shuffler | task and day of each sealed upload | truths, "
              "reports, addresses |\n"
              "| later shufflers | batches of sealed reports | truths, "
              "reports, addresses, order |\n",
              s->to);
    sheet_collector(s);
    fputs("| the server that gives out this document | addresses that fetch it "
          "[ where do devices fetch it? ] | what they answer |\n"
          "| analysts | estimates and counts of at least `min_reports` devices "
          "at a time | single reports |\n"
          "| operators of the collector | counts as they grow, and so single "
          "noisy reports | truths |\n"
          "| who watches a device's network | that it takes part, when | what "
          "is sent, if TLS is used [ is it? ] |\n",
          s->to);
}

/* ---- What is kept, and deletion ------------------------------------------ */

static void sheet_kept_tasks(const struct sheet *s)
{
    fputs("\n| task | kept answer, on the device | unsent reports, on the "
          "device | fewest reports shown |\n|---|--:|--:|--:|\n",
          s->to);
    for (size_t i = 0; i < s->costs->n; i++) {
        const struct task_cost *row = &s->costs->rows[i];

        fprintf(s->to, "| %s | ", row->task->id);
        if (row->info.memo != NULL)
            fprintf(s->to, "%" PRIu32 " days", calendar_slot(&row->info.task));
        else
            fputs("none", s->to);
        fprintf(s->to, " | %" PRIu32 " days | %" PRIu32 " |\n",
                row->task->grace_days, row->task->min_reports);
    }
}

static void sheet_kept(const struct sheet *s)
{
    fputs("\n## What is kept, and for how long\n\n"
          "| where | what | how long |\n|---|---|---|\n"
          "| device | truths | never; the program that asks may: [ does it? ] "
          "|\n"
          "| device | what was spent | as long as the device's state: without "
          "it a device would spend anew |\n",
          s->to);
    if (s->relay_allowed)
        fputs("| relay | nothing | [ logs in front of it ] |\n", s->to);
    for (size_t i = 0; i < s->costs->n; i++) {
        const hsy_task *task = s->costs->rows[i].task;

        if (task->model == HSY_MODEL_SHUFFLED)
            fprintf(s->to,
                    "| shufflers, %s | sealed reports of a batch | until the "
                    "next party has them; too few for a batch: %" PRIu32
                    " days, then erased |\n",
                    task->id, task->max_wait);
    }
    fputs("| collector | single noisy reports | [ about `checkpoint_seconds` "
          "of hearsay.yaml ]; then only counts |\n"
          "| collector | random ids of uploads | [ `grace_days` of "
          "hearsay.yaml, and a day ] |\n"
          "| collector | counts of each task; of single days too | until the "
          "task is retired: [ when ]; single days: [ `keep_days` ] |\n"
          "| collector | addresses, times finer than a day | never |\n"
          "| backups | all that the collector had at that moment | [ how many, "
          "how long ] |\n"
          "| outside hearsay | logs of proxies, of the host, of the network | "
          "[ who has them, how long ] |\n",
          s->to);
    sheet_kept_tasks(s);
}

static void sheet_deletion(const struct sheet *s)
{
    fputs("\n## What deletion means\n\n"
          "- **A person stops.** Taking consent back (`hearsay device consent "
          "DIR none`) deletes\n"
          "  the reports that wait on the device; nothing more is sent but "
          "empty uploads if\n"
          "  consent returns.\n"
          "- **A person has the device forget.** `hearsay device forget` "
          "deletes kept answers and\n"
          "  reports of a source and closes its tasks for good. What was spent "
          "stays written down.\n"
          "- **A report that was counted cannot be taken out.** Nothing in it "
          "or beside it says\n"
          "  whose it is. What it tells stays within its epsilon, for ever.\n"
          "- **The operator deletes a task.** `hearsay store retire` removes "
          "the counts of one,\n"
          "  `hearsay store purge` of all that were over before a day. Copies "
          "in backups: [ when ].\n"
          "- Requests of people: [ who answers them, and how ].\n",
          s->to);
}

static void sheet_labels(const struct sheet *s)
{
    char label[SHEET_LABEL];

    fputs("\n## What people are told\n", s->to);
    for (size_t i = 0; i < s->costs->n; i++) {
        const struct task_cost *row = &s->costs->rows[i];
        const size_t len =
            hsy_release_label(row->release, label, sizeof label, row->task);

        fprintf(s->to, "\n### %s\n\n", row->task->id);
        sheet_words(s, label, len < sizeof label ? len : sizeof label - 1);
        fputs("\n", s->to);
    }
}

/* ---- All of it ----------------------------------------------------------- */

void task_sheet_write(FILE *to, const struct task_file *file,
                      const struct task_costs *costs, const char *signature)
{
    struct sheet s = {
        .to = to, .file = file, .costs = costs, .relay_all = true};

    if (file->yaml == NULL)
        hsy_document_parties(&file->doc, &s.parties);
    else if (file->doc.parties != NULL)
        s.parties = *file->doc.parties;
    s.relay_allowed = s.parties.gateway_keys != 0;
    for (size_t i = 0; i < file->n; i++) {
        const hsy_task *task = &file->all[i];

        *(task->model == HSY_MODEL_SHUFFLED ? &s.shuffled : &s.local) = true;
        if ((task->flags & HSY_TASK_RELAY) == 0)
            s.relay_all = false;
    }
    sheet_head(&s, signature);
    sheet_asked(&s);
    sheet_prices(&s);
    sheet_life(&s);
    sheet_batches(&s);
    sheet_seen(&s);
    sheet_kept(&s);
    sheet_deletion(&s);
    sheet_labels(&s);
}
