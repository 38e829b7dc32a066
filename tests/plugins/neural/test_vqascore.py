"""VQAScore with tiny models that see images: the probability of the answer beside a
pass of the model itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError, InputError
from harness.run.features import FeatureCache

transformers = pytest.importorskip("transformers")

from harness.registry.torchvision_guard import guard_torchvision  # noqa: E402

guard_torchvision()
import torch  # noqa: E402
from PIL import Image  # noqa: E402

from harness_metrics.neural.vqascore import QUESTION, VqaScore  # noqa: E402
from tests.support import tiny_models  # noqa: E402

NAMES = ("llava", "qwen2_vl")
QUESTION_OF_WORDS = "says {} ?"
SETS = [
    CaptionSet("x", ("a dog runs", "the cat"), ("a dog",), media="0.png"),
    CaptionSet("y", ("the red ball on the mat", "a dog runs"), ("a",), media="1.png"),
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    base = tmp_path_factory.mktemp("models")
    for name in (*NAMES, "gpt2"):
        tiny_models.BUILDERS[name](base / name)
    tiny_models.llava(base / "plain", chat=False)
    tiny_models.pictures(base)
    return base


def build(folders, name="llava", **parameters: Any) -> VqaScore:
    settings: Any = {"question": QUESTION_OF_WORDS, "answer": "dog", **parameters}
    return VqaScore(model=str(folders / name), images=str(folders), **settings)


def probability(folders, name, image, question, answer):
    """Return the product of the probabilities of the words of an answer, one pass of
    the model of transformers for each.
    """
    adapter = build(folders, name)._loaded_model
    processor = transformers.AutoProcessor.from_pretrained(folders / name)
    message = [{"type": "image"}, {"type": "text", "text": question}]
    words = processor.apply_chat_template(
        [{"role": "user", "content": message}],
        add_generation_prompt=True,
        tokenize=False,
    )
    total = 1.0
    for word in answer.split():
        with Image.open(folders / image) as opened, torch.inference_mode():
            inputs = processor(
                text=words, images=opened.convert("RGB"), return_tensors="pt"
            )
            logits = adapter.loaded.model(**inputs).logits[0, -1]
        token = processor.tokenizer.convert_tokens_to_ids(word)
        total *= float(logits.double().softmax(-1)[token])
        words = f"{words} {word}"
    return total


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("answer", ["dog", "the cat"])
def test_the_score_is_the_probability_of_the_answer(folders, name, answer):
    metric = build(folders, name, answer=answer)
    features = FeatureCache()
    found = metric.scores(features.batch(SETS), features, None)
    expected = [
        np.mean(
            [
                probability(
                    folders,
                    name,
                    item.media,
                    QUESTION_OF_WORDS.replace("{}", caption),
                    answer,
                )
                for caption in item.candidates
            ]
        )
        for item in SETS
    ]
    assert found == pytest.approx(expected, rel=1e-4)
    assert len(set(found)) == 2 and all(0 < value < 1 for value in found)


def test_each_pair_of_image_and_caption_is_one_question(folders, monkeypatch):
    metric = build(folders, batch_size=2)
    adapter = metric._loaded_model
    asked: list[tuple[str | None, str]] = []
    score = adapter.score_references
    monkeypatch.setattr(
        adapter,
        "score_references",
        lambda examples: (
            asked.extend((e.media, e.meta["question"]) for e in examples)
            or score(examples)
        ),
    )
    features = FeatureCache()
    sets = [
        CaptionSet("x", ("a dog", "a dog"), ("a",), media="0.png"),
        CaptionSet("y", ("a dog", "the cat"), ("a",), media="1.png"),
        CaptionSet("z", ("the red ball", "a dog"), ("a",), media="0.png"),
    ]
    first = metric.scores(features.batch(sets), features, None)
    # prompts of one length stand together
    assert asked == [
        ("0.png", "says a dog ?"),
        ("1.png", "says a dog ?"),
        ("1.png", "says the cat ?"),
        ("0.png", "says the red ball ?"),
    ]
    again = metric.scores(features.batch(sets[:2]), features, None)
    assert len(asked) == 4 and again.tolist() == first[:2].tolist()
    one_by_one = build(folders, batch_size=1)
    other = FeatureCache()
    assert one_by_one.scores(other.batch(sets), other, None) == pytest.approx(
        first, rel=1e-5
    )


def test_braces_in_a_caption_are_text(folders):
    metric = build(folders)
    example = metric._question("x", "0.png", "a {dog} {} {question}")
    text = metric._loaded_model.builder.text(example)
    assert "says a {dog} {} {question} ?" in text


def test_the_signature_is_that_of_question_answer_and_model(folders):
    metric = build(folders)
    name, question, answer, fingerprint = metric.signature().split("|")
    assert (name, answer) == ("vqascore", "answer:dog")
    assert question.startswith("prompt:")
    assert fingerprint == metric._loaded_model.fingerprint()
    signatures = {
        build(folders, **other).signature()
        for other in (
            {},
            {"answer": "cat"},
            {"question": "a {}"},
            {"dtype": "float64"},
            {"system": "a dog"},
        )
    }
    assert len(signatures) == 5
    assert build(folders, batch_size=1).signature() == metric.signature()
    spec = metric.spec
    assert (spec.needs, spec.bounds) == (frozenset({"images"}), (0.0, 1.0))


def test_the_default_is_the_question_of_the_source():
    metric = VqaScore(model="owner/name")
    assert metric.question == QUESTION
    text = metric._question("x", "0.png", "a dog").meta["question"]
    assert text == 'Does this figure show "a dog"? Please answer yes or no.'
    assert metric.answer == "Yes"


def one_line(call, kind, message):
    with pytest.raises(kind, match=message) as raised:
        call()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("question", ["Is it shown?", "{} or {}?"])
def test_a_question_without_one_place_is_refused(question):
    one_line(
        lambda: VqaScore(model="owner/name", question=question),
        HarnessError,
        r"vqascore: question has \d places for the caption; expected a text with one",
    )


def test_models_that_do_not_fit_are_refused(folders):
    one_line(
        lambda: VqaScore(model="owner/name", answer=" "),
        HarnessError,
        "vqascore: answer is empty; expected a text such as Yes",
    )
    one_line(
        build(folders, "plain").signature, HarnessError, "plain has no chat template"
    )
    one_line(
        build(folders, "gpt2").signature,
        HarnessError,
        "gpt2 reads text only, not image",
    )
    one_line(build(folders, "gone").signature, InputError, "gone: no such folder")


@pytest.mark.parametrize(
    ("media", "message"),
    [
        (None, "no image of the example 'x'"),
        ("gone.png", "example 'x' cannot be scored: .*gone.png: no such image"),
        ("broken.png", "example 'x' cannot be scored: .*broken.png: is no image"),
    ],
)
def test_an_image_that_cannot_be_read_is_an_input_error(folders, media, message):
    features = FeatureCache()
    batch = features.batch([CaptionSet("x", ("a dog",), ("a",), media=media)])
    metric = build(folders)
    one_line(lambda: metric.scores(batch, features, None), InputError, message)


def test_an_example_without_a_name_of_an_image_has_the_file_of_its_id(
    folders, monkeypatch
):
    named = FeatureCache()
    by_name = build(folders).scores(
        named.batch([CaptionSet("1", ("a dog",), ("a",), media="1.png")]), named, None
    )
    found = FeatureCache()
    batch = found.batch([CaptionSet("1", ("a dog",), ("a",))])
    monkeypatch.chdir(folders.parent)
    by_id = VqaScore(
        model=str(folders / "llava"),
        images=folders.name,
        question=QUESTION_OF_WORDS,
        answer="dog",
    )
    assert by_id.scores(batch, found, None).tolist() == by_name.tolist()

    nowhere = VqaScore(model=str(folders / "llava"), question="says {}", answer="dog")
    one_line(
        lambda: nowhere.scores(batch, found, None),
        InputError,
        r"metric 'vqascore' needs images, and the example '1' has none; name",
    )
