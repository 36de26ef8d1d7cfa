"use strict";

{
  // The visitor's choice of light or dark, before anything is painted; without one, the system's counts.
  const chosen = localStorage.getItem("aqa-theme");
  const root = document.documentElement;
  root.classList.add("aqa-scripted");
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  const isDark = () => root.dataset.theme === "dark" || (!root.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);

  document.addEventListener("DOMContentLoaded", () => {
    const top = document.querySelector(".aqa-top");
    const more = top.querySelector(".aqa-more");
    const theme = top.querySelector(".aqa-theme");
    const team = top.querySelector(".aqa-team");

    more.addEventListener("click", () => {
      const open = top.toggleAttribute("data-open");
      more.setAttribute("aria-expanded", open);
    });

    // The board's framework marks its own pages dark by a class; it follows the same choice.
    const mark = () => {
      if (root.dataset.theme && document.body.classList.contains("dark") !== isDark()) {
        document.body.classList.toggle("dark", isDark());
      }
      const label = isDark() ? "Switch to light colours" : "Switch to dark colours";
      if (theme.title !== label) { theme.title = label; theme.setAttribute("aria-label", label); }
      theme.dataset.now = isDark() ? "dark" : "light";
    };
    theme.hidden = false;
    theme.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      localStorage.setItem("aqa-theme", root.dataset.theme);
      if (document.querySelector("gradio-app")) document.body.classList.toggle("dark", isDark());
      mark();
    });
    if (document.querySelector("gradio-app")) {
      new MutationObserver(mark).observe(document.body, { attributes: true, attributeFilter: ["class"] });
    }
    mark();

    // One menu at a time, closed by Escape and by a click elsewhere.
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      if (team?.open) { team.open = false; team.querySelector("summary").focus(); }
      if (top.hasAttribute("data-open")) { more.click(); more.focus(); }
    });
    document.addEventListener("click", (event) => { if (team?.open && !team.contains(event.target)) team.open = false; });

    // From view to view of the board, the benchmark stays the one that is shown; in another tab, too, which is opened
    // without a click.
    const keep = (event) => {
      const link = event.target.closest(".aqa-nav a[data-board]");
      const benchmark = new URLSearchParams(location.search).get("benchmark");
      if (!link || !benchmark) return;
      link.search = new URLSearchParams({ benchmark });
    };
    for (const name of ["pointerdown", "click"]) top.addEventListener(name, keep);
  });
}
