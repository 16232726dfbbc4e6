"""Sphinx configuration for the documentation site; `sources.py` prepares the files it reads."""

from pygments.lexers import RustLexer, TextLexer
from sphinx.application import Sphinx

project = "ASARA"
root_doc = "README"
language = "en"
extensions = ["myst_parser"]
myst_enable_extensions = ["attrs_block", "deflist"]  # for the references
myst_heading_anchors = 6  # links to headings, as on GitHub
smartquotes = False  # two dashes begin an option
nitpicky = True
suppress_warnings = ["misc.highlighting_failure"]  # examples with "…" are not whole programs

html_theme = "furo"
html_title = "ASARA"
html_favicon = "../../../clients/web/public/favicon.svg"
html_static_path = ["docs.css"]
html_css_files = ["docs.css"]
html_show_search_summary = False  # a browser refuses to read them from file:
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"


def setup(app: Sphinx) -> None:
    """Tell Sphinx how to highlight code blocks in languages that Pygments does not know."""
    app.add_lexer("rust,no_run", RustLexer)
    app.add_lexer("haproxy", TextLexer)
