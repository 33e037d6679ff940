// The page's address may end with a line (#L217), which only the browser knows; the terminal's socket is told of it.
// The keys go to the terminal as soon as it shows something, without a click on it.
"use strict";
const watch = new MutationObserver(() => {
  if (document.body.classList.contains("-first-byte")) {
    watch.disconnect();
    document.querySelector(".xterm-helper-textarea")?.focus();
  }
});
document.addEventListener("DOMContentLoaded", () => {
  const terminal = document.querySelector(".textual-terminal");
  const line = /^#L([0-9]{1,15})$/.exec(location.hash);
  if (line && location.pathname.startsWith("/o/")) {
    terminal.dataset.sessionWebsocketUrl += `/L${line[1]}`;
  }
  watch.observe(document.body, { attributes: true, attributeFilter: ["class"] });
});
