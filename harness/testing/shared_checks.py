"""Checks that several kinds share: description, identity, repeatability, pickling, parameters and side effects.

Each takes a :class:`~harness.testing.base_subject.BaseSubject`; the module of a kind registers those that apply to it.
"""

from __future__ import annotations

import re

from harness.errors import HarnessError
from harness.registry import parameters as constructor_parameters
from harness.testing.base_subject import AnySubject
from harness.testing.results import NotApplicable, Violation, ensure
from harness.testing.side_effects import ensure_same_random_state, global_seed
from harness.testing.variants import constructor_values, have_equal_attributes, pickled_copy, second_instance, variants

_ADDRESS = re.compile(r"\bat 0x[0-9a-f]+|<[\w.]+ object")
SEEDS = (1, 2)
"""Seeds of the global random states under which results are computed again."""


def name(subject: AnySubject) -> None:
    """The attribute ``name`` is a text other than ``unnamed``."""
    value = getattr(subject.component, "name", None)
    ensure(isinstance(value, str) and value.strip() and value != "unnamed", f"name is {value!r}")


def described(subject: AnySubject) -> None:
    """The class has a docstring (``harness show`` prints it)."""
    factory = type(subject.component)
    ensure((factory.__doc__ or "").strip(), f"the class {factory.__name__} has no docstring")


def signature(subject: AnySubject) -> None:
    """``signature()`` is one line of text, the same at every call and for an instance with the same parameters."""
    _ensure_stable_identity(subject)


def fingerprint(subject: AnySubject) -> None:
    """``fingerprint()`` is one line of text, the same at every call and for an instance with the same parameters."""
    _ensure_stable_identity(subject)


def _ensure_stable_identity(subject: AnySubject) -> None:
    component, call, text = subject.component, f"{subject.identity_method}()", subject.identity()
    ensure(isinstance(text, str) and text.strip(), f"{call} returns {text!r}; expected a text")
    ensure("\n" not in text, f"{call} has several lines: {text!r:.80}")
    ensure(not _ADDRESS.search(text), f"{call} contains an object's address, which changes per process: {text!r:.100}")
    ensure(subject.identity() == text, f"{call} changes from call to call")
    try:
        second = second_instance(component, constructor_values(component, subject.parameters))
    except NotApplicable:
        return
    ensure(
        subject.identity(second) == text or not have_equal_attributes(component, second),
        f"{call} differs between two equal instances: {text!r:.60} and {subject.identity(second)!r:.60}",
    )


def deterministic(subject: AnySubject) -> None:
    """The results are the same again, whatever the global random state."""
    base = subject.base
    for seed in SEEDS:
        with global_seed(seed):
            difference = subject.difference(base, subject.compute())
        ensure(not difference, f"returns other {subject.noun} when run again: {difference}")


def random_state(subject: AnySubject) -> None:
    """The global random states of Python and numpy do not change."""
    subject.base  # noqa: B018  (raises when the component does not run)
    ensure_same_random_state(subject.compute)


def pickles(subject: AnySubject) -> None:
    """A pickled copy, as a worker process gets it, has the same signature and returns the same results."""
    base, copy = subject.base, pickled_copy(subject.component)
    ensure(subject.identity(copy) == subject.identity(), f"has another {subject.identity_method} after pickling")
    difference = subject.difference(base, subject.compute(copy))
    ensure(not difference, f"returns other {subject.noun} after pickling: {difference}")


def parameters(subject: AnySubject) -> None:
    """A parameter that changes the results changes the signature or fingerprint, by which caches are keyed."""
    base, identity, count = subject.base, subject.identity(), 0
    if not constructor_parameters(type(subject.component)):
        raise NotApplicable("has no parameters")
    for change, variant in variants(subject.component, subject.parameters):
        try:
            results = subject.compute(variant)
        except (HarnessError, NotApplicable, ValueError, ImportError):
            continue  # the value does not work on these inputs, so nothing is cached under it
        count += 1
        if not subject.nearly_equal(base, results) and subject.identity(variant) == identity:
            raise Violation(f"{change} changes the {subject.noun} but not the {subject.identity_method} {identity!r:.80}")
    if not count:
        raise NotApplicable("no parameter has a plain value that can be changed")


def signature_in_use(subject: AnySubject) -> None:
    """Scoring does not change the signature."""
    _ensure_identity_in_use(subject)


def fingerprint_in_use(subject: AnySubject) -> None:
    """Generating captions does not change the fingerprint."""
    _ensure_identity_in_use(subject)


def _ensure_identity_in_use(subject: AnySubject) -> None:
    before = subject.first_identity  # the recorded run comes first
    ensure(subject.identity() == before, f"the {subject.identity_method} changes when the component is used")


def prints_nothing(subject: AnySubject) -> None:
    """Nothing is printed to stdout, which is reserved for results."""
    output = subject.side_effects.output
    ensure(not output, f"prints to stdout: {output[:60]!r}")


def writes_nothing(subject: AnySubject) -> None:
    """No file is written into the working folder."""
    files = dict.fromkeys(subject.side_effects.files)
    ensure(not files, f"writes into the working folder: {', '.join(files)[:80]}")


def no_network(subject: AnySubject) -> None:
    """No network connection is opened."""
    connections = dict.fromkeys(subject.side_effects.connections)
    ensure(not connections, f"connects to {', '.join(connections)[:80]}")


REPEATABLE = (deterministic, random_state, pickles, parameters)
"""Checks that the same work gives the same results, here and in another process, for one identity."""
LOCAL_CONDUCT = (prints_nothing, writes_nothing)
"""Side effects of every kind; adapters and readers may open connections to a server."""
CONDUCT = (*LOCAL_CONDUCT, no_network)
