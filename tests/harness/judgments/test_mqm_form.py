"""MQM tables."""

import pytest

from harness.errors import InputError
from harness.judgments.source_files import read_judgments

HEAD = "system\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"


def test_errors_are_summed_by_rater(tmp_path, source):
    path = tmp_path / "mqm.tsv"
    errors = [
        ("s", 1, "r1", "x <v>y</v>", "Accuracy/Omission", "Major"),
        ("s", 1, "r1", "<v>x</v> y", "Fluency/Punctuation", "Minor"),
        ("s", 1, "r2", "x y", "No-error", "No-error"),
        ("s", 2, "r1", "z", "Non-translation!", "Major"),
        ("t", 2, "r1", "w", "Style", "Minor"),
    ]
    path.write_text(
        HEAD
        + "".join(f"{s}\t{k}\t{r}\tq\t{t}\t{c}\t{v}\n" for s, k, r, t, c, v in errors)
    )
    judged = read_judgments(source(str(path), form="mqm", columns={"source": "source"}))
    assert [(c.system, c.texts[0], c.ratings) for c in judged.captions] == [
        ("s", "x y", (-5.1, 0.0)),
        ("s", "z", (-25.0,)),
        ("t", "w", (-1.0,)),
    ]
    assert judged.items[0].source == "q"
    path.write_text(path.read_text() + "t\t3\tr\tq\tw\tStyle\tHuge\n")
    with pytest.raises(
        InputError,
        match=r"mqm\.tsv:7: 'severity' is 'Huge'; expected one of critical, major",
    ):
        read_judgments(source(str(path), form="mqm"))


def test_every_severity_has_its_weight(tmp_path, source):
    path = tmp_path / "mqm.tsv"
    errors = [
        ("Critical", "Style", -25.0),
        ("major", "non-translation", -25.0),
        ("minor", "Non-translation", -1.0),
        ("Major", "Style", -5.0),
        ("Major", "Fluency/Punctuation", -5.0),
        ("minor", "Fluency/Punctuation", -0.1),
        ("Minor", "Fluency/Grammar", -1.0),
        ("Neutral", "Fluency/Punctuation", 0.0),
        ("no-error", "", 0.0),
        ("No error", "", 0.0),
    ]
    path.write_text(
        HEAD
        + "".join(
            f"s\t{k}\tr\tq\tw\t{category}\t{severity}\n"
            for k, (severity, category, _) in enumerate(errors)
        )
    )
    judged = read_judgments(source(str(path), form="mqm"))
    assert [caption.ratings for caption in judged.captions] == [
        (weight,) for *_, weight in errors
    ]
