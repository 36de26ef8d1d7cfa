"""What every page begins with, and what its callbacks have in common."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import gradio as gr

from core.database import Database
from core.tracks import QA
from leaderboard.benchmarks import choices
from leaderboard.pages import PAGES, SITE
from leaderboard.pages.render import render

QUIET: dict[str, Any] = {"show_progress": "hidden", "queue": False, "api_visibility": "private"}
"""How callbacks run: at once, with nothing drawn over what is shown, and not part of a public API."""

# The query of what is shown goes to the address bar, and its name to the tab. A value of `KEPT` leaves what is shown:
# it is already as it should be, and any later value differs from it, so that it is shown.
KEPT = "<!--kept {}-->"
SCRIPT = """
const slot = element.querySelector('.slot');
const sync = () => {
  if (props.value?.startsWith('<!--kept ')) return;
  slot.innerHTML = props.value ?? '';
  const elsewhere = element.querySelector('[data-goto]');
  if (elsewhere) location.replace(elsewhere.dataset.goto);
  const shown = element.querySelector('[data-query]');
  if (!shown) return;
  // A query alone would be taken from the base address of all pages, and so name the first of them.
  history.replaceState(null, '', location.pathname + shown.dataset.query);
  if (shown.dataset.title) document.title = shown.dataset.title + ' · AQA Leaderboard';
};
watch('value', sync);
sync();
// Gradio's page has a base address, so that a link into the page would load it anew, without its query.
element.addEventListener('click', event => {
  const link = event.target.closest('a[href^="#"]');
  const aim = link && document.getElementById(link.getAttribute('href').slice(1));
  if (!aim) return;
  event.preventDefault();
  const folded = aim.closest('details');
  if (folded) folded.open = true;
  aim.tabIndex = -1;
  aim.focus();
  aim.scrollIntoView({block: 'center'});
});
"""
# Gradio would compare what is shown with what is to be shown node by node, which takes a large table a long time; what
# stands in the slot is set at once instead.
_SLOT = '<div class="slot"></div>'


# Plotly hangs itself on `window`; each figure is saved as it is drawn.
SAVE = """
element.addEventListener('click', event => {
  const button = event.target.closest('[data-save]');
  if (!button) return;
  const drawn = document.querySelector('#' + button.dataset.plot + ' .js-plotly-plot');
  if (!drawn) return;
  const name = button.dataset.plot;
  if (button.dataset.save !== 'json') {
    const size = {width: 900, height: 600, scale: 2};
    window.Plotly.downloadImage(drawn, {format: button.dataset.save, filename: name, ...size});
    return;
  }
  const link = document.createElement('a');
  const own = (key, value) => key[0] === '_' ? undefined : value;
  const text = JSON.stringify({data: drawn.data, layout: drawn.layout}, own);
  link.href = URL.createObjectURL(new Blob([text], {type: 'application/json'}));
  link.download = name + '.json';
  link.click();
  URL.revokeObjectURL(link.href);
});
"""
# Buttons inside the HTML carry the value that a control takes; the control's own event follows.
CHOOSE = """
element.addEventListener('click', event => {
  const button = event.target.closest('[data-choose]');
  if (button) trigger('click', {choose: button.dataset.choose});
});
"""


def heading(title: str, path: str) -> None:
    """What every page begins with; the server puts the ways to the other pages above it."""
    gr.Navbar(visible=False)
    tab = json.dumps(f"{PAGES[path]} · {SITE}")
    html = render("heading.html", title=title)
    gr.HTML(html, js_on_load=f"document.title = {tab};", apply_default_css=False, elem_id="heading")


def view_of(elem_id: str, script: str = "") -> gr.HTML:
    """A part of a page that a callback fills with HTML; its query goes to the address bar and its name to the tab."""
    return gr.HTML(html_template=_SLOT, js_on_load=SCRIPT + script, elem_id=elem_id, apply_default_css=False)


def benchmark_choices(database: Database, wanted: str, track: str | None = QA) -> tuple[list[tuple[str, str]], str]:
    """The benchmarks of a track (None: of all), and the wanted one or else the first; empty where there is none."""
    with database.reading() as session:
        there = choices(session, track)
    ids = [benchmark_id for _, benchmark_id in there]
    return there, wanted if wanted in ids else next(iter(ids), "")


def query_of(**parts: Any) -> str:
    """A URL query of the parts that hold something."""
    return "?" + urlencode({key: value for key, value in parts.items() if value}, safe=",:")


def page_number(given: Any) -> int:
    """A page from 1 on, whatever was typed."""
    try:
        return max(int(given), 1)
    except (TypeError, ValueError, OverflowError):
        return 1


def plot(figure: dict[str, Any] | None) -> Any:
    """A figure as Gradio's plot component takes it."""
    if figure is None:
        return gr.update(value=None, visible=False)
    import orjson
    from gradio.components.plot import PlotData

    return gr.update(value=PlotData(type="plotly", plot=orjson.dumps(figure).decode()), visible=True)
