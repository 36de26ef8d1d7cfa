"use strict";

// Sends the form with a progress bar; without this file the same form is posted plainly.
function watchUpload(form) {
  const result = document.getElementById("result");
  const bar = document.getElementById("sending");
  const label = document.getElementById("sending-label");
  const file = form.elements.file;

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = file.files[0];
    const limit = Number(form.dataset.limit);
    const reference = form.elements.reference?.value.trim();
    if (!chosen && !reference) return tell("No file was chosen.");
    if (chosen && chosen.size > limit) return tell(`The file is larger than ${limit / 1048576} MiB. Send it gzipped, or smaller.`);
    send(new FormData(form, event.submitter));
  });

  function send(data) {
    const request = new XMLHttpRequest();
    busy(true);
    label.textContent = "Sending";
    request.upload.onprogress = (event) => { bar.value = (100 * event.loaded) / event.total; };
    request.upload.onload = () => { bar.removeAttribute("value"); label.textContent = file.files[0] ? "Reading the file" : "Fetching the file"; };
    request.onload = () => { busy(false); finish(request); };
    request.onerror = () => { busy(false); tell("The connection broke before the file was sent. Try again."); };
    request.open("POST", form.action);
    request.send(data);
  }

  function finish(request) {
    if (new URL(request.responseURL).pathname !== location.pathname) return location.assign(request.responseURL);
    const page = new DOMParser().parseFromString(request.responseText, "text/html");
    const fresh = page.getElementById("result");
    if (!fresh) return tell(page.querySelector("h1")?.textContent || `The answer was ${request.status}.`);
    result.replaceChildren(...fresh.childNodes);
    show();
  }

  function tell(message) {
    const alert = document.createElement("div");
    alert.className = "alert bad";
    alert.setAttribute("role", "alert");
    alert.textContent = message;
    result.replaceChildren(alert);
    show();
  }

  function show() { result.scrollIntoView({ block: "nearest" }); }

  function busy(on) {
    document.getElementById("upload").hidden = !on;
    bar.value = 0;
    for (const button of form.querySelectorAll(".actions button")) button.disabled = on;
  }
}

function watchDrop(area, file) {
  area.querySelector(".drop-text").hidden = false;
  const over = (on) => (event) => { event.preventDefault(); area.classList.toggle("over", on); };
  area.addEventListener("dragover", over(true));
  area.addEventListener("dragleave", over(false));
  area.addEventListener("drop", (event) => {
    over(false)(event);
    if (event.dataTransfer.files.length) file.files = event.dataTransfer.files;
  });
}

// Shows only the settings that the chosen architecture reads; without this file all are shown.
function watchArchitecture(form) {
  const choose = () => {
    const reads = form.elements.architecture.selectedOptions[0].dataset.reads.split(" ");
    for (const part of form.querySelectorAll("[data-setting]")) {
      part.hidden = !reads.includes(part.dataset.setting);
      part.querySelector("input").disabled = part.hidden;
    }
  };
  form.elements.architecture.addEventListener("change", choose);
  choose();
}

// Asks for the live part of the page until nothing more will change, and estimates the time left.
function follow(part) {
  let began = null;

  async function look() {
    try {
      const answer = await fetch(part.dataset.live, { redirect: "error" });
      if (answer.ok) part.innerHTML = await answer.text();
    } catch { /* the next look may succeed */ }
    const status = document.getElementById("status");
    if (["scored", "failed", "done", "partial"].includes(status.dataset.state)) return;
    estimate(Number(status.dataset.progress));
    setTimeout(look, document.hidden ? 5000 : 1000);
  }

  function estimate(progress) {
    const now = performance.now();
    if (!began || progress < began.progress) began = { now, progress };
    const done = progress - began.progress;
    if (done <= 0) return;
    const seconds = Math.ceil(((1 - progress) * (now - began.now)) / done / 1000);
    document.getElementById("eta").textContent = `About ${seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`} left.`;
  }

  setTimeout(look, 500);
}

const form = document.getElementById("submit");
if (form) { watchUpload(form); watchDrop(document.getElementById("drop"), form.elements.file); }
const model = document.getElementById("model");
if (model) watchArchitecture(model);
const live = document.querySelector("[data-live]");
if (live) follow(live);
