"""Names of the package for type checkers; ``__init__.py`` imports them on first use."""

from harness.analysis.compare import compare as compare
from harness.api import MetricResult as MetricResult
from harness.api import evaluate as evaluate
from harness.api import metric as metric
from harness.api import score as score
from harness.decisions.correlate.correlate import correlate as correlate
from harness.decisions.estimate import estimate as estimate
from harness.decisions.estimate import label_plan as label_plan
from harness.decisions.power.power import power as power
from harness.decisions.rewards.rewards import reward as reward
from harness.errors import HarnessError as HarnessError
from harness.page.notebook import as_chart as as_chart
from harness.page.notebook import as_html as as_html
from harness.page.report import report as report
from harness.registry.function_plugins import distance_function as distance_function
from harness.registry.function_plugins import embedding_function as embedding_function
from harness.registry.function_plugins import metric_function as metric_function
from harness.registry.hooks import hookimpl as hookimpl
from harness.reporting.foreign_files import export as export
from harness.run.finished import Run as Run
from harness.run.tasks import rescore as rescore
from harness.spec.models import Spec as Spec

__version__: str
