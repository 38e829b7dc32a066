"""Components that have started something end with the last run that goes on."""

from __future__ import annotations

from harness.registry.component_ends import end_with_run, ending_components


class Started:
    """Something that counts how often it is closed."""

    closed = 0

    def close(self) -> None:
        self.closed += 1


def test_a_component_ends_with_the_run_that_used_it():
    used, other = Started(), Started()
    with ending_components():
        end_with_run(used)
        end_with_run(used)
        assert not used.closed
    assert (used.closed, other.closed) == (1, 0)


def test_a_component_that_is_used_outside_of_a_run_stays():
    component = Started()
    end_with_run(component)
    with ending_components():
        pass
    assert not component.closed


def test_the_last_of_two_runs_closes_all():
    component = Started()
    outer, inner = ending_components(), ending_components()
    with outer:
        with inner:
            end_with_run(component)
        assert not component.closed
    assert component.closed == 1


def test_an_error_of_the_run_closes_them_too():
    component = Started()
    try:
        with ending_components():
            end_with_run(component)
            raise ValueError
    except ValueError:
        pass
    assert component.closed == 1
