// terms.js - words of the field, explained where they stand.
//
// A term is a word with dots below it: pointing at it, or pressing it, shows what
// it means. `hearsay mechanisms` has the mechanisms in one line each, and the
// collector passes that on.

import { fresh, h } from "./dom.js";

const TERMS = {
  Reports: "A report is one answer of one device, changed at random before it is sent.",
  "Devices, at least": "Devices carry no number here. Of a task that repeats, the devices of its largest round are counted: there may be more.",
  Today: "Reports that were due today, by UTC.",
  "Null uploads": "Uploads without an answer, as long as one with it. A device sends one when it has nothing to report, so that sending tells nothing.",
  Release: "The version of this task. Another question or other noise makes a new release, which is counted by itself.",
  Level: "How often intervals made this way hold the true value: at 95 %, in 95 of 100 cases.",
  About: "Those who answered: what the people of these reports hold. The population: what all people hold of whom they are a random sample. Its intervals are wider, for another sample would hold something else.",
  "Lying devices": "This share of devices may send what it likes. The pale interval is wider by what it could do at most.",
  epsilon: "The privacy bound of what is sent: it changes the odds of any guess about the person by at most e to the power of \u03b5. Smaller is more private.",
  Collecting: "Devices are asked now, and enough have answered for an estimate to be shown.",
  "Enrolled devices": "Only devices with a token may answer this task.",
  Significance: "Significant: more than chance makes of words that nobody has. Others may be noise.",
  score: "Score intervals: all true values that would make these reports plausible. They stay within their level for few reports and small shares too.",
  wald: "Wald intervals: the estimate, and a multiple of its standard error to both sides.",
  wilson: "Wilson intervals: as score intervals, for the population that those who answered are a sample of.",
  exact: "Exact intervals (Clopper and Pearson): never below their level, and wider for it.",
  likelihood: "Likelihood intervals: all values that are not much less likely than the best one.",
  hoeffding: "Hoeffding intervals: they hold for any distribution, and are wide.",
  linear: "Linear intervals: from how the estimate by maximum likelihood varies, as if it were linear in the counts.",
  "Clock believed": "A clock that jumped ahead by days is on trial: until it is believed, no day closes by it.",
  "Lying devices assumed": "The share of lying devices whose effect is shown if nothing else is chosen.",
  "Least level": "No interval with a lower level is shown.",
  Commits: "Groups of uploads that were made durable together.",
  Folded: "Commits whose reports are in the tallies. What is not folded yet is counted soon.",
  Waiting: "Reports that are on disk, and not in a tally yet.",
  "Upload ids of open days": "The random number of each upload, kept until its day closes: nothing is counted twice.",
  "Null uploads since the start": "Uploads without an answer, which devices send so that sending tells nothing.",
  Shard: "One of the databases that share the reports of a cluster.",
  Standby: "Whether a second server has everything that was acknowledged, should this one be lost.",
  Timeline: "It grows by one each time that a standby takes over.",
  "In doubt": "Uploads for which the database did not answer in time: they may be counted, and devices send them again.",
  Retries: "Transactions that were tried again because another one was in their way.",
};

// What it is called on the page. Without an explanation it is a word.
export function term(word, text = TERMS[word], shown = word) {
  if (!text) return shown;
  const id = fresh("term");
  const note = h("span", { id, class: "explained", popover: "auto", role: "note", ontoggle: (e) => e.newState === "open" && place() }, text);
  const button = h("button", { class: shown === "?" ? "term ask" : "term", type: "button", popovertarget: id, title: text, "aria-label": shown === "?" ? "What is this?" : null }, shown);
  // Below the word, within the window.
  const place = () => {
    const word = button.getBoundingClientRect(), box = note.getBoundingClientRect();
    const below = word.bottom + 6 + box.height < innerHeight;
    note.style.setProperty("left", `${Math.max(10, Math.min(word.left, innerWidth - box.width - 10))}px`);
    note.style.setProperty("top", `${below ? word.bottom + 6 : Math.max(10, word.top - 6 - box.height)}px`);
  };
  return [button, note];
}
