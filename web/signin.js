// signin.js - the door: a token, and what is wrong with the one that was given.

import { setToken } from "./api.js";
import { h } from "./dom.js";

function reason(problem, wrong) {
  if (problem.status === 403) return "This token may not read figures: it takes one of the role analyst or operator.";
  if (problem.status === 401 && wrong) return "This token is not known here. It may have been revoked, or mistyped.";
  if (problem.status === 401) return "";
  return problem.status ? `${problem.message}.` : "The collector does not answer. Is it running?";
}

export class SignInView {
  constructor(app, problem, wrong) {
    this.title = "Sign in";
    const why = reason(problem, wrong);
    const input = h("input", { id: "token", type: "password", autocomplete: "off", spellcheck: "false", required: true, "aria-describedby": why ? "why help" : "help", "aria-invalid": why ? "true" : null });
    const button = h("button", { class: "main", type: "submit" }, "Open");
    const enter = async (event) => {
      event.preventDefault();
      button.disabled = true;
      setToken(input.value.trim());
      await app.enter();
      button.disabled = false;
    };
    this.node = h("section", { class: "door card", "aria-labelledby": "door" },
      h("h1", { id: "door" }, "What people said, and nobody in particular"),
      h("p", { class: "soft" }, "Estimates from randomized reports, each with its error. Reading them takes a token."),
      why ? h("p", { id: "why", class: "problem", role: "alert" }, why) : null,
      h("form", { onsubmit: enter }, h("label", { for: "token" }, "Token"), h("div", { class: "line" }, input, button)),
      h("p", { id: "help", class: "soft small" }, "An operator makes one with ", h("code", null, "hearsay serve token add"), ". It is kept in this tab only."));
  }
}
