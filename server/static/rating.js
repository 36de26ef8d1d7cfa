"use strict";

// Keys for raters: y and n answer the question that is open, Enter stores, b goes back, g shows the guidelines.
{
  const triple = document.getElementById("rate");
  if (triple) rate(triple);
}

function rate(form) {
  const second = document.getElementById("second");
  // Of a triple two questions are asked, the second depending on the first; of a sentence or an intent one.
  const [one, two] = second ? ["interpretable", "supported"] : ["said", null];
  const guidelines = document.getElementById("guidelines");
  const answered = (name) => form.elements[name].value;

  function settle() {
    if (!second) return;
    second.disabled = answered("interpretable") !== "Y";
    if (second.disabled) for (const option of form.querySelectorAll("[name=supported]")) option.checked = false;
  }

  function choose(value) {
    const name = two && answered(one) === "Y" && !onFirst() ? two : one;
    const option = form.querySelector(`[name=${name}][value=${value}]`);
    option.checked = true;
    settle();
    if (two && name === one && value === "Y") form.querySelector("[name=supported]").focus();
    else option.focus();
  }

  function onFirst() { return document.activeElement?.name === one; }

  function typing() { return document.activeElement?.matches("textarea"); }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing()) return;
    const key = event.key.toLowerCase();
    if (key === "y" || key === "n") choose(key.toUpperCase());
    else if (key === "b") location.assign(form.dataset.previous);
    else if (key === "g") { guidelines.open = !guidelines.open; if (guidelines.open) guidelines.scrollIntoView(); }
    else if (key === "enter" && !document.activeElement?.matches("a, button, summary")) form.requestSubmit();
    else return;
    event.preventDefault();
  });
  form.addEventListener("change", settle);
  form.addEventListener("submit", (event) => {
    const open = !answered(one) ? "first" : two && !second.disabled && !answered(two) ? "second" : null;
    if (!open) return;
    event.preventDefault();
    document.getElementById(open).querySelector("input").focus();
  });
  settle();
}
