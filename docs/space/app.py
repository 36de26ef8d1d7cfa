"""A Hugging Face Space as the front of an AQA Leaderboard that runs elsewhere: its board, and the door for files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import gradio as gr
import httpx


class Service:
    """The API of one service, as a Space needs it."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._http = httpx.Client(base_url=f"{self.url}/api/v1", timeout=60)
        self._held: dict[str, tuple[str, Any]] = {}

    def benchmarks(self) -> list[tuple[str, str]]:
        """Title and id of each."""
        return [
            (each["title"] or each["id"], each["id"]) for each in _read(self._http.get("/benchmarks"))["benchmarks"]
        ]

    def board(self, benchmark: str) -> Any:
        """The board, read anew only if it has changed."""
        tag, held = self._held.get(benchmark, ("", None))
        answer = self._http.get("/leaderboard", params={"benchmark": benchmark}, headers={"If-None-Match": tag})
        if answer.status_code != 304:
            held = _read(answer)
            self._held[benchmark] = (answer.headers.get("ETag", ""), held)
        return held

    def submit(self, token: str, benchmark: str, system: str, path: str) -> Any:
        """Send a file under the sender's own token; the entry as the service took it."""
        with Path(path).open("rb") as file:
            return _read(
                self._http.post(
                    "/submissions", headers=_sign(token), data={"benchmark": benchmark, "system": system},
                    files={"file": (Path(path).name, file)},
                )
            )  # fmt: skip

    def status(self, token: str, submission: str) -> Any:
        """Where an entry stands."""
        return _read(self._http.get(f"/submissions/{submission}", headers=_sign(token)))


def build(service: Service) -> gr.Blocks:
    """The page."""
    with gr.Blocks(title="AQA Leaderboard") as page:
        gr.Markdown(f"# AQA Leaderboard\n\nAttributed question answering. The service is at {service.url}.")
        with gr.Tab("Board"):
            benchmark = gr.Dropdown(label="Benchmark", choices=[])
            note = gr.Markdown()
            table = gr.Dataframe(label="Systems", interactive=False, wrap=True)
        with gr.Tab("Submit"):
            token = gr.Textbox(label="Your team's token", type="password")
            system = gr.Textbox(label="Name of the system")
            file = gr.File(label="Predictions: CSV, TSV, JSONL, JSON or Parquet", type="filepath")
            send = gr.Button("Submit", variant="primary")
            number = gr.Textbox(label="Submission")
            look = gr.Button("Where does it stand?")
            told = gr.Markdown()

        def load() -> Any:
            there = service.benchmarks()
            return gr.update(choices=there, value=there[0][1] if there else None)

        def show(benchmark: str | None) -> tuple[Any, str]:
            return _table(service.board(benchmark)) if benchmark else ({"headers": [], "data": []}, "No benchmark yet.")

        def submit(token: str, benchmark: str, system: str, file: str | None) -> tuple[str, str]:
            if not file:
                raise gr.Error("Choose a file first.")
            entry = service.submit(token, benchmark, system, file)
            return entry["id"], _standing(entry)

        page.load(load, None, benchmark, api_name="benchmarks")
        benchmark.change(show, benchmark, [table, note], api_name="board")
        send.click(submit, [token, benchmark, system, file], [number, told], api_name="submit")
        look.click(lambda t, n: _standing(service.status(t, n)), [token, number], told, api_name="status")
    return page


def _table(board: Any) -> tuple[Any, str]:
    """Names, ranks and values in percent with their intervals; what is undefined says so."""
    titles = {column["key"]: column["title"] for column in board["columns"]}
    data = [
        [_rank(row["rank"]), row["system"], row["team"], row["architecture"]]
        + [_cell(row["metrics"][key]) for key in titles]
        for row in sorted(board["rows"], key=_place)
    ]
    note = "The human ratings of this benchmark are synthetic. " if board["synthetic_ratings"] else ""
    ranked = titles.get(board["rank_by"], "nothing yet")
    note += f"Systems: {len(data)}. Ranked by: {ranked}. In percent, with 95 % intervals."
    return {"headers": ["Rank", "System", "Team", "Architecture", *titles.values()], "data": data}, note


def _place(row: Any) -> tuple[bool, int, int]:
    """The best first, those without a rank last."""
    rank = row["rank"]
    return (rank is None, rank["best"] if rank else 0, rank["worst"] if rank else 0)


def _rank(rank: Any) -> str:
    if rank is None:
        return ""
    return str(rank["best"]) if rank["best"] == rank["worst"] else f"{rank['best']}–{rank['worst']}"


def _cell(cell: Any) -> str:
    if cell["value"] is None:
        return "n/a"
    ends = "" if cell["low"] is None else f" [{100 * cell['low']:.1f}, {100 * cell['high']:.1f}]"
    return f"{100 * cell['value']:.1f}{ends}{' (not comparable)' if cell['struck'] else ''}"


def _standing(entry: Any) -> str:
    end = f" {entry['reason']}" if entry["reason"] else ""
    return f"**{entry['system']}**, version {entry['version']}: {entry['state']}, {entry['stage']}.{end}"


def _sign(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token.strip()}"} if token.strip() else {}


def _read(answer: httpx.Response) -> Any:
    """The answer, or the service's own words on what is wrong and how to mend it."""
    if answer.is_success:
        return answer.json()
    try:
        error = answer.json()["error"]
    except (ValueError, KeyError, TypeError):
        raise gr.Error(f"The service answered {answer.status_code}.") from None
    rows = "".join(f" Row {place['row']}: {place['message']}" for place in error["places"][:5])
    raise gr.Error(f"{error['message']} {error['hint']}{rows}")


if __name__ == "__main__":
    build(Service(os.environ["AQA_URL"])).launch()
