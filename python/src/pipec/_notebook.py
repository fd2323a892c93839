"""What notebooks show."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

SHOWN_STEPS = 5000
"""Schedules with more steps are shown as text: the outputs of a notebook are part of
its file."""


class Svg(str):
    """The text of a picture, which notebooks show as one."""

    def __repr__(self) -> str:
        return f"<pipec.Svg: {len(self)} characters>"

    def _repr_svg_(self) -> str:
        return str(self)


class Page(str):
    """The text of an HTML page, which notebooks show in a frame of its own: its
    scripts do not reach the notebook."""

    def __repr__(self) -> str:
        return f"<pipec.Page: {len(self)} characters>"

    def _repr_html_(self) -> str:
        import html

        return (f'<iframe srcdoc="{html.escape(str(self))}" sandbox="allow-scripts allow-downloads" '
                'style="width: 100%; height: 480px; border: 0"></iframe>')
