// The keys go to the terminal as soon as it shows something, without a click on it.
"use strict";
const watch = new MutationObserver(() => {
  if (document.body.classList.contains("-first-byte")) {
    watch.disconnect();
    document.querySelector(".xterm-helper-textarea")?.focus();
  }
});
document.addEventListener("DOMContentLoaded", () => {
  watch.observe(document.body, { attributes: true, attributeFilter: ["class"] });
});
