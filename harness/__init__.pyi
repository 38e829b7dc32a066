"""Names of the package for type checkers; ``__init__.py`` imports them on first use."""

from harness.analysis.compare import compare as compare
from harness.analysis.correlate import correlate as correlate
from harness.analysis.estimate import estimate as estimate
from harness.analysis.estimate import label_plan as label_plan
from harness.analysis.power import power as power
from harness.api import MetricResult as MetricResult
from harness.api import evaluate as evaluate
from harness.api import metric as metric
from harness.api import score as score
from harness.errors import HarnessError as HarnessError
from harness.judgments.task_kinds import rescore as rescore
from harness.registry.function_plugins import distance_function as distance_function
from harness.registry.function_plugins import embedding_function as embedding_function
from harness.registry.function_plugins import metric_function as metric_function
from harness.registry.hooks import hookimpl as hookimpl
from harness.reporting.foreign_files import export as export
from harness.reporting.notebook import as_chart as as_chart
from harness.reporting.notebook import as_html as as_html
from harness.reporting.report import report as report
from harness.run.finished import Run as Run
from harness.run.rewards import reward as reward
from harness.spec.models import Spec as Spec

__version__: str
