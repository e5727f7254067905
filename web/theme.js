// theme.js - light or dark: as the system has it, or as the reader chose.

import { byId, say } from "./dom.js";

const KEY = "hearsay-theme";
const NEXT = { "": "dark", dark: "light", light: "" };
const NAMES = { "": "System", dark: "Dark", light: "Light" };

export function startTheme(changed) {
  const button = byId("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  let now = localStorage.getItem(KEY) ?? "";
  if (!(now in NEXT)) now = "";
  const show = () => {
    if (now) document.documentElement.dataset.theme = now;
    else delete document.documentElement.dataset.theme;
    say(button, NAMES[now]);
    button.setAttribute("aria-label", `Colours: ${NAMES[now]}. Change`);
    button.dataset.now = now || "system";
  };
  button.addEventListener("click", () => {
    now = NEXT[now];
    localStorage.setItem(KEY, now);
    show();
    changed();
  });
  system.addEventListener("change", () => changed());
  show();
}
