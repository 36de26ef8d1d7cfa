"""What the board's JSON is measured against: a Flask page that reads the same bytes from SQLite and returns them."""

from __future__ import annotations

import sqlite3
import sys


def main(port: int, path: str) -> None:
    """Serve it as the product serves its Flask: uvicorn, and a2wsgi between."""
    import uvicorn
    from a2wsgi import WSGIMiddleware
    from flask import Flask, Response

    app = Flask("plain")

    @app.get("/")
    def page() -> Response:
        connection = sqlite3.connect(path)
        (body,) = connection.execute("SELECT body FROM page WHERE id = 1").fetchone()
        connection.close()
        return Response(body, mimetype="application/json")

    uvicorn.run(WSGIMiddleware(app), host="127.0.0.1", port=port, log_level="error", log_config=None)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
