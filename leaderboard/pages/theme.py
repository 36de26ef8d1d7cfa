"""Gradio's theme in the colours and letters of the product, which are CSS variables on every page of the server."""

from __future__ import annotations

import gradio as gr

_SANS = ["Inter Variable", "system-ui", "-apple-system", "Segoe UI", "Roboto", "Noto Sans", "sans-serif"]
_MONO = ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace"]


def _both(**tokens: str) -> dict[str, str]:
    """Each variable for light and dark: the tokens themselves change with the mode."""
    return {f"{name}{mode}": f"var(--aqa-{token})" for name, token in tokens.items() for mode in ("", "_dark")}


THEME = gr.themes.Base(font=_SANS, font_mono=_MONO, radius_size="sm", spacing_size="sm", text_size="md").set(
    **_both(
        body_background_fill="page",
        body_text_color="ink",
        body_text_color_subdued="quiet",
        background_fill_primary="card",
        background_fill_secondary="page",
        block_border_color="line",
        block_label_background_fill="card",
        block_label_text_color="quiet",
        block_title_text_color="quiet",
        block_info_text_color="quiet",
        border_color_primary="line",
        border_color_accent="accent",
        color_accent_soft="tint",
        input_background_fill="card",
        input_border_color="line",
        input_border_color_focus="accent",
        input_placeholder_color="quiet",
        link_text_color="accent",
        link_text_color_hover="accent",
        link_text_color_visited="accent",
        checkbox_background_color="card",
        checkbox_background_color_selected="accent",
        checkbox_border_color="quiet",
        checkbox_border_color_selected="accent",
        checkbox_label_background_fill="card",
        checkbox_label_background_fill_selected="tint",
        checkbox_label_border_color="line",
        checkbox_label_text_color="ink",
        checkbox_label_text_color_selected="ink",
        button_primary_background_fill="accent",
        button_primary_text_color="on-accent",
        button_secondary_background_fill="card",
        button_secondary_border_color="line",
        button_secondary_text_color="ink",
    ),
    block_border_width="0px",
    block_shadow="none",
    block_padding="4px 0px",
    input_border_width="1px",
    input_shadow="none",
    block_background_fill="transparent",
    block_background_fill_dark="transparent",
)
