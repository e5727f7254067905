// privacy.js - what a report, and all reports of a task, can tell about the
// person behind them.

import { fresh, h, s } from "./dom.js";
import { known } from "./numbers.js";
import { term } from "./terms.js";
import { believed, believedText, epsilonText, oddsText, TELLS_ALL, times } from "./words.js";

const said = (epsilon) => term("epsilon", undefined, epsilonText(epsilon));

// Beliefs before and after, as bars: chance of a guess, and at most what it can
// become.
function beliefs(odds) {
  return h("dl", { class: "beliefs" }, [0.01, 0.1, 0.5].map((before) => {
    const [was, now] = believedText(before, odds);
    return h("div", null, h("dt", null, `A guess ${was}`),
      h("dd", null, s("svg", { class: "thin", "aria-hidden": "true" }, s("rect", { class: "back", width: "100%", height: "100%", rx: 3 }), s("rect", { class: "after", width: `${100 * believed(before, odds)}%`, height: "100%", rx: 3 }), s("rect", { class: "before", width: `${100 * before}%`, height: "100%", rx: 3 })), h("span", { class: "number" }, now)));
  }));
}

function open(life, odds) {
  return h("div", { class: "promise" }, h("h3", null, "All reports of the task"), h("p", { class: "big" }, h("span", { class: "number" }, "May tell"), h("span", { class: "spread" }, known(odds) ? `${oddsText(odds)}, ` : null, said(life))),
    h("p", { class: "soft" }, "Every report is changed anew. Whoever collects all that one device can send may learn the answer: the bound on the odds is too large to mean anything."));
}

function part(title, epsilon, odds, text) {
  return h("div", { class: "promise" }, h("h3", null, title), h("p", { class: "big" }, h("span", { class: "number" }, oddsText(odds)), h("span", { class: "spread" }, said(epsilon))), h("p", { class: "soft" }, text), beliefs(odds));
}

export function privacyCard(task) {
  const id = fresh("privacy");
  const life = task.epsilon_task, { odds, odds_task: all } = task;
  return h("section", { class: "card", "aria-labelledby": id }, h("div", { class: "head" }, h("h2", { id }, "What it says about a person")),
    h("div", { class: "promises" },
      part("One report", task.epsilon, odds, `Whoever sees one report may change the odds of any guess about the person by at most a factor of ${times(odds)}.`),
      !known(life) ? null : !known(all) || all > TELLS_ALL ? open(life, all) : part("All reports of the task", life, all, all === odds ? "There is no more than that: further answers bring nothing new." : "The same for everything a device ever sends for this task.")),
    task.privacy ? h("blockquote", { class: "quote", dir: "auto" }, h("h3", null, "What people are told"), h("p", null, task.privacy)) : null);
}
