// Runs before anything is drawn, so that a dark page never flashes white.
// Mantine keeps the chosen scheme under this key; "auto" follows the system.
(function () {
  "use strict";
  let scheme = "auto";
  try {
    scheme = window.localStorage.getItem("mantine-color-scheme-value") || "auto";
  } catch {
    // Storage may be blocked; then the system decides.
  }
  if (scheme === "auto") {
    scheme = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
  document.documentElement.setAttribute("data-mantine-color-scheme", scheme);
})();
