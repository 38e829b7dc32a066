"""Keys of the cache of machine code, and the error without a folder for it."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError
from harness.plugins.compiled.cache_keys import imported, source_stamp


def test_no_folder_for_machine_code_is_an_error_that_names_the_setting():
    with pytest.raises(HarnessError, match="set NUMBA_CACHE_DIR"), imported():
        raise RuntimeError("cannot cache function 'f': no locator available for file 'f.py'")


def test_other_errors_of_an_import_are_raised_unchanged():
    with pytest.raises(RuntimeError, match="another"), imported():
        raise RuntimeError("another")


def test_the_stamp_changes_with_any_source_and_skips_missing_ones(tmp_path):
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text("a")
    other.write_text("b")
    stamp = source_stamp(str(one), str(other))
    assert source_stamp(str(one), str(other), None, str(tmp_path / "none.py")) == stamp
    other.write_text("c")
    assert source_stamp(str(one), str(other)) != stamp
