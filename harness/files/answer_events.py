"""Sets of events of the answers of models: texts with times in them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from harness.contracts import (
    Candidates,
    Event,
    EventSet,
    Example,
    Failure,
    Generation,
    Values,
    is_event_set,
)
from harness.errors import InputError
from harness.files.captions import check_text
from harness.files.generated.timed_texts import (
    TimeScale,
    TimeUnit,
    TwoUnitsError,
    read_timed_text,
)

_UNIT_ADVICE = " (time_unit: seconds, hundredths or frames says which)"


@dataclass(frozen=True)
class AnswerEvents:
    """Reading of answers as sets of events.

    >>> reading = AnswerEvents()
    >>> text = reading.to_set("0 - 4 seconds, a dog. 4 - 9 seconds, a cat.", None)
    >>> [event.place for event in EventSet.from_text(text).events]
    [(0.0, 4.0), (4.0, 9.0)]
    """

    scale: TimeScale = field(default_factory=TimeScale)
    """Unit of times without one."""

    @classmethod
    def of_parameters(
        cls, events: str | None, time_unit: TimeUnit | None, fps: float | None
    ) -> AnswerEvents | None:
        """Return the reading that an adapter's parameters ask for; None where its
        captions stay texts.

        Raises :class:`InputError` for ``time_unit`` or ``fps`` without ``events:
        sets``, an unknown unit, and frames without their rate.
        """
        if events == "sets":
            return cls(TimeScale(time_unit, fps))
        for name, value in (("time_unit", time_unit), ("fps", fps)):
            if value is not None:
                raise InputError(
                    f"{name} is the unit of times in answers; expected events: sets "
                    "beside it",
                    parameter=name,
                    value=value,
                )
        return None

    def settings(self) -> Values:
        """Return the parameters that change the sets, for fingerprints."""
        optional: Values = {"time_unit": self.scale.unit, "fps": self.scale.fps}
        given = {name: value for name, value in optional.items() if value is not None}
        return {"events": "sets", **given}

    def to_set(self, answer: str, duration: float | None) -> str:
        """Return the text of the set of events of an answer.

        Parameters
        ----------
        answer : str
            The whole answer; a text of a set is returned as it is.
        duration : float or None
            Length of the video in seconds.

        Raises
        ------
        InputError
            For an answer without times or with times that have two readings.
        """
        if is_event_set(answer):
            return answer
        where = "answer"
        try:
            events = read_timed_text(answer, where, duration, self.scale)
        except TwoUnitsError as error:
            raise InputError(error.message + _UNIT_ADVICE, where) from error
        if events is None:
            raise InputError(
                "it holds no times; expected events such as '12.0 - 24.5 seconds, a "
                "man runs', '[00:12] a man runs', or a JSON list of objects with "
                "start, end and text",
                where,
            )
        return EventSet(
            tuple(
                Event(check_text(event.text, where), (event.start, event.end))
                for event in events
            ),
            duration,
        ).to_text()

    def to_sets(
        self, answers: Iterable[str], duration: float | None
    ) -> Candidates | Failure:
        """Return the texts of the sets of all answers of an example, or a
        :class:`Failure` that keeps the first answer that is none.
        """
        texts: list[str] = []
        for number, answer in enumerate(answers, 1):
            try:
                texts.append(self.to_set(answer, duration))
            except InputError as error:
                which = "the answer" if number == 1 else f"answer {number}"
                return Failure(
                    f"no events can be read from {which}: {error.message}; "
                    f"found {answer!r}"
                )
        return tuple(texts)

    def finish(
        self, result: Generation | Failure, example: Example
    ) -> Generation | Failure:
        """Return a result with sets of events as its candidates, or a
        :class:`Failure`.
        """
        if isinstance(result, Failure):
            return result
        sets = self.to_sets(result.candidates, example_duration(example))
        if isinstance(sets, Failure):
            return sets
        return replace(result, candidates=sets)


def example_duration(example: Example) -> float | None:
    """Return the length of the video of an example in seconds: its metadata's, else
    that of its references; None where neither has one.
    """
    value = example.meta.get("duration")
    if isinstance(value, (int, float)) and 0 < value < math.inf:
        return float(value)
    for reference in example.references:
        if is_event_set(reference):
            duration = EventSet.from_text(reference).duration
            if duration is not None:
                return duration
    return None
