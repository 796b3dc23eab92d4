# SPDX-License-Identifier: GPL-2.0-only
"""The site's configuration for Sphinx; tools/docs stages what it reads."""
project = "Tactus"
author = "the Tactus authors"
copyright = "the Tactus authors"  # noqa: A001 (Sphinx's name)
extensions = ["myst_parser", "sphinx.ext.graphviz"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
master_doc = "index"
html_theme = "furo"
html_title = "Tactus"
graphviz_output_format = "svg"
myst_heading_anchors = 4
highlight_language = "text"
# Headings of README.md's kind may skip a level; C names of Linux are not documented here.
suppress_warnings = ["myst.header", "ref.identifier", "ref.c", "toc.not_readable", "app.add_source"]
nitpicky = False
