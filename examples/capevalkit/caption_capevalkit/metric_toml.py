"""Files ``metric.toml`` of capevalkit, by which it knows a metric: read for the command
that scores with it, in the checkout that the file lies in.

capevalkit looks for its metrics in ``metrics/NAME/metric.toml`` of its own checkout, or
of the folder that an installed one keeps in its cache. So does this module: of a file
in a checkout the command is that of the checkout, of any other that on PATH.
"""

import tomllib
from pathlib import Path

FILE = "metric.toml"
SCORES = {
    "bleu": "BLEU-4",
    "rouge": "ROUGE-L",
    "meteor": "METEOR",
    "cider": "CIDEr",
    "spice": "SPICE",
    "jaspice": "JaSPICE",
    "clipscore": "CLIPScore",
    "clipscore-vitl": "CLIPScore",
    "clipscoreavg": "CLIPScoreavg",
    "refclipscore": "RefCLIPScore",
    "refclipscore-vitl": "RefCLIPScore",
    "pacscore": "PAC-S",
    "pacscore-vitl": "PAC-S",
    "pacscoreavg": "PAC-Savg",
    "refpacscore": "RefPAC-S",
    "refpacscore-vitl": "RefPAC-S",
    "pacscorepp": "PAC-S++",
    "pacscoreppavg": "PAC-S++avg",
    "refpacscorepp": "RefPAC-S++",
    "polos": "Polos",
    "vela": "VELA",
    "fleur": "FLEUR",
    "reffleur": "RefFLEUR",
    "expert": "EXPERT",
}
"""Metric of capevalkit 0.1.3 -> name of its score in the output; the file has none."""
WITHOUT_IMAGES = ("bleu", "rouge", "meteor", "cider", "spice", "jaspice")
WITHOUT_REFERENCES = (
    "clipscore",
    "clipscore-vitl",
    "clipscoreavg",
    "pacscore",
    "pacscore-vitl",
    "pacscoreavg",
    "pacscorepp",
    "pacscoreppavg",
    "fleur",
    "expert",
)


class MetricFileError(Exception):
    """A file that is no ``metric.toml`` as capevalkit reads it."""


class MetricFile:
    """A metric of capevalkit as its file declares it."""

    def __init__(self, path):
        path = Path(path).absolute()
        content = read_toml(path)
        metric = table(content, "metric", path)
        self.path = path
        self.name = text(metric, "metric.name", path)
        for key in ("python", "module"):
            text(metric, f"metric.{key}", path)
        if metric.get("enabled") is False:
            raise MetricFileError(f"{path}: metric.enabled is false")
        text(table(content, "repository", path), "repository.dir", path)
        command = table(content, "runner", path).get("command")
        if not is_texts(command):
            raise MetricFileError(
                f"{path}: runner.command is {command!r:.60}; expected a list of texts"
            )

    def command(self):
        """Return the words of ``capevalkit score`` for this metric."""
        root = self.path.parent.parent.parent
        project = root / "pyproject.toml"
        of_capevalkit = (
            project.is_file()
            and read_toml(project).get("project", {}).get("name") == "capevalkit"
        )
        words = ["uv", "run", "--project", str(root)] if of_capevalkit else []
        return [*words, "capevalkit", "score", "--metric", self.name]

    def needs(self):
        """Return what a metric of capevalkit needs; None for one that it has not."""
        if self.name not in SCORES:
            return None
        needs = ["candidate"]
        needs += ["references"] if self.name not in WITHOUT_REFERENCES else []
        return needs + (["image"] if self.name not in WITHOUT_IMAGES else [])


def read_toml(path):
    """Return the content of a file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MetricFileError(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise MetricFileError(f"{path}: no TOML: {error}") from error


def table(content, key, path):
    """Return a table of a file."""
    value = content.get(key)
    if not isinstance(value, dict):
        raise MetricFileError(f"{path}: no table [{key}]; expected a {FILE}")
    return value


def text(content, key, path):
    """Return a text of a table."""
    value = content.get(key.partition(".")[2])
    if not isinstance(value, str) or not value:
        raise MetricFileError(f"{path}: {key} is {value!r:.40}; expected a text")
    return value


def is_texts(value):
    """Return True for a list of at least one text."""
    is_list = isinstance(value, list) and bool(value)
    return is_list and all(isinstance(item, str) for item in value)
