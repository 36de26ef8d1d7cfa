// Keeps a list of jobs up to date; focus and open details stay where they were.
const part = document.getElementById("jobs");

async function look() {
  try {
    const answer = await fetch(part.dataset.jobs, { redirect: "error" });
    if (answer.ok) renew(await answer.text());
    if ([401, 403].includes(answer.status)) return location.reload();
  } catch { /* the next look may succeed */ }
  setTimeout(look, document.hidden ? 15000 : 3000);
}

function renew(html) {
  const held = part.contains(document.activeElement) ? document.activeElement.id : "";
  const region = part.querySelector(".scroll");
  const [left, top] = region ? [region.scrollLeft, region.scrollTop] : [0, 0];
  const open = [...part.querySelectorAll("details[open][id]")].map((each) => each.id);
  part.innerHTML = html;
  part.querySelector(".scroll")?.scrollTo(left, top);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (held) document.getElementById(held)?.focus({ preventScroll: true });
}

if (part?.dataset.jobs) setTimeout(look, 3000);
