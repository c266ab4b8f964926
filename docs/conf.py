"""The documentation site: Sphinx settings. Build it with ``make docs``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ["TQDM_DISABLE"] = "1"

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
sys.path.insert(0, str(HERE.parent))

import propkernels  # noqa: E402

project = "propkernels"
author = "The propkernels developers"
copyright = f"2026, {author}"
version = release = propkernels.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "linked_names",
    "mathml",
    "measured",
    "other_libraries",
    "search_words",
    "source_pages",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "measured/results", "_templates"]
suppress_warnings = ["config.cache"]

# the pages
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline"]
myst_heading_anchors = 3
myst_url_schemes = ("http", "https", "mailto")

# the reference
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
toc_object_entries_show_parents = "hide"

# the gallery
SECTIONS = ("learn", "explain", "search", "images", "scale", "inside")
sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples" / "gallery")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "doc_module": ("propkernels",),
    "backreferences_dir": "gallery/backreferences",
    "reference_url": {"propkernels": None},
    "subsection_order": [f"../examples/gallery/{name}" for name in SECTIONS],
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "remove_config_comments": True,
    "plot_gallery": "True",
    "abort_on_example_error": False,
    "default_thumb_file": str(HERE / "measured" / "pictures" / "worked_example.png"),
    "image_srcset": ["2x"],
    "thumbnail_size": (480, 336),
    "write_computation_times": False,
}
warnings.filterwarnings("ignore", message=".*Agg.*non-interactive.*")

# the look
html_theme = "pydata_sphinx_theme"
html_title = "propkernels"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = ""
html_sidebars = {"index": [], "start/*": [], "api/index": [], "api/generated/*": ["api_groups"]}
html_context = {
    "api_groups": re.findall(r"^(.+)\n-+$", (HERE / "api" / "index.rst").read_text(), re.MULTILINE)
}
html_theme_options = {
    "logo": {"text": "propkernels", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "icon_links": [],
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
if "SITE_VERSION" in os.environ:  # a site of several versions, which docs/versions.py puts together
    html_theme_options |= {
        "switcher": {
            "json_url": "https://propkernels.github.io/propkernels/versions.json",
            "version_match": os.environ["SITE_VERSION"],
        },
        "navbar_end": ["version-switcher", "theme-switcher"],
        "check_switcher": False,
    }
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def write_demo(app: Any, error: Exception | None) -> None:
    """Put the explorer's page of FAMILIES into the site."""
    if error is None and app.builder.name == "html":
        page = str(Path(app.outdir) / "demo.html")
        command = [sys.executable, "-m", "propkernels.cli", "demo", "--html", page]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def setup(app: Any) -> None:
    """Write the page when the site is built."""
    app.connect("build-finished", write_demo)
