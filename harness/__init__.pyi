"""Names of the package for type checkers; ``__init__.py`` imports them on first use."""

from harness.api import MetricResult as MetricResult
from harness.api import evaluate as evaluate
from harness.api import metric as metric
from harness.cli.train import train as train
from harness.decisions.correlate.correlate import correlate as correlate
from harness.decisions.estimate import estimate as estimate
from harness.decisions.estimate import label_plan as label_plan
from harness.decisions.gate.verb import gate as gate
from harness.decisions.power.verb import power as power
from harness.decisions.rewards.rewards import reward as reward
from harness.decisions.same.verb import same as same
from harness.errors import HarnessError as HarnessError
from harness.hub import push as push
from harness.page.notebook import as_chart as as_chart
from harness.page.notebook import as_html as as_html
from harness.page.report import report as report
from harness.programs.environments_verb import env as env
from harness.registry.function_plugins import distance_function as distance_function
from harness.registry.function_plugins import embedding_function as embedding_function
from harness.registry.function_plugins import metric_function as metric_function
from harness.registry.hooks import hookimpl as hookimpl
from harness.reporting.foreign_files import export as export
from harness.reporting.verb_text import as_text as as_text
from harness.run.finished import Run as Run
from harness.run.merge import merge as merge
from harness.run.tasks import rescore as rescore
from harness.spec.models import Spec as Spec
from harness.testing.scaffold import new_plugin as new_plugin
from harness.testing.verb import check as check
from harness.verbs.cards import show as show
from harness.verbs.catalogue import list as list
from harness.verbs.compare import compare as compare
from harness.verbs.describe import describe as describe
from harness.verbs.schema import schema as schema
from harness.verbs.score import score as score
from harness.verbs.validate import validate as validate
from harness.verbs.warm import warm as warm

__version__: str
