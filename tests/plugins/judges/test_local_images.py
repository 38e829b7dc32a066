"""A local judge that sees images, with tiny models: answers beside passes of the model
itself, FLEUR beside its formula.
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

from harness_metrics.judges.fleur_metric import Fleur, RefFleur  # noqa: E402
from harness_metrics.judges.judge import Judge, resolve_judge  # noqa: E402
from harness_metrics.judges.local import LocalModel  # noqa: E402
from harness_metrics.judges.local_images import LocalImageModel  # noqa: E402
from harness_metrics.judges.replies import Reply  # noqa: E402
from tests.support import tiny_models  # noqa: E402

DIGITS = [str(digit) for digit in range(10)]
PROMPT = "grade : {candidate} says : {context}"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    base = tmp_path_factory.mktemp("models")
    torch.manual_seed(0)
    for name in ("llava", "qwen2_vl", "gpt2"):
        tiny_models.BUILDERS[name](base / name)
    tiny_models.llava(base / "plain", chat=False)
    tiny_models.pictures(base)
    save_grader(base / "grader")
    return base


def save_grader(folder):
    """Save a model that answers a zero, a point, two digits and the end. The digits
    depend on the image and the prompt; its tokens are written without blanks.
    """
    from tokenizers import decoders

    tiny_models.llava(folder)
    words = [*tiny_models.WORDS, *DIGITS, "."]
    tokenizer = tiny_models.tokenizer(None, "<image>", words=words)
    tokenizer.backend_tokenizer.decoder = decoders.Fuse()
    processor = transformers.LlavaProcessor.from_pretrained(folder)
    processor.tokenizer = tokenizer
    processor.save_pretrained(folder)

    model = transformers.LlavaForConditionalGeneration.from_pretrained(folder)
    model.resize_token_embeddings(len(words))
    network, head = model.model.language_model, model.lm_head
    place = {word: number for number, word in enumerate(words)}
    with torch.no_grad():
        # a token is a direction of its own, and the layers move it a little
        network.embed_tokens.weight.copy_(torch.eye(len(words), 32))
        for layer in network.layers:
            layer.self_attn.o_proj.weight.mul_(0.03)
            layer.mlp.down_proj.weight.mul_(0.03)
        head.weight.normal_(std=0.3)
        after = [(":", ["0"]), ("0", ["."]), (".", DIGITS)]
        after += [(digit, [*DIGITS, "</s>"]) for digit in DIGITS[1:]]
        for word, followers in after:
            for follower in followers:
                head.weight[place[follower], place[word]] += 1.5
    model.save_pretrained(folder)


def ask(model: LocalModel, *questions: tuple[str, str]) -> list[Reply]:
    """Return the replies to pairs of a text and the file of an image."""
    out: dict[int, Reply] = {}
    talks: Any = [
        ({"role": "user", "content": text, "image": image, "sha256": image},)
        for text, image in questions
    ]
    model.complete(talks, out.__setitem__)
    return [out[k] for k in range(len(questions))]


def step_log_probs(folder, text, image, answer):
    """Return the log-probabilities (L, V) of the next token after each beginning of an
    answer, by one pass of the model for each.
    """
    processor = transformers.AutoProcessor.from_pretrained(folder)
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder).eval()
    message = [{"type": "image"}, {"type": "text", "text": text}]
    prompt = processor.apply_chat_template(
        [{"role": "user", "content": message}],
        add_generation_prompt=True,
        tokenize=False,
    )
    rows = []
    for end in range(len(answer) + 1):
        words = " ".join([prompt, *answer[:end]])
        with Image.open(image) as opened, torch.inference_mode():
            inputs = processor(
                text=words, images=opened.convert("RGB"), return_tensors="pt"
            )
            rows.append(model(**inputs).logits[0, -1].double().log_softmax(-1))
    return torch.stack(rows).numpy(), processor.tokenizer


@pytest.mark.parametrize("name", ["llava", "qwen2_vl"])
def test_answers_are_those_of_greedy_passes_of_the_model(folders, name):
    questions = [
        ("the red ball on the mat", str(folders / "0.png")),
        ("a dog", str(folders / "1.png")),
        ("a dog", str(folders / "2.png")),
    ]
    model = LocalImageModel(path=str(folders / name), max_tokens=4, batch_size=2)
    model.top_log_probs = 1
    together = ask(model, *questions)
    for question, reply in zip(questions, together):
        assert ask(model, question)[0].text == reply.text
        # all tokens of the answer, special ones too
        answer = [next(iter(token)).strip() for token in reply.tokens]
        log_probs, tokenizer = step_log_probs(folders / name, *question, answer)
        best = tokenizer.convert_ids_to_tokens(log_probs.argmax(-1).tolist())
        assert best[: len(answer)] == answer
        assert reply.finish == ("stop" if best[len(answer)] == "</s>" else "length")
    assert len({reply.text for reply in together}) > 1, "the image does not matter"


def examples(folders):
    return [
        CaptionSet(
            str(number),
            ("a dog runs", "the cat sits on the mat"),
            ("a dog", "the red ball"),
            media=str(folders / f"{number}.png"),
        )
        for number in range(3)
    ]


@pytest.mark.parametrize("metric_class", [Fleur, RefFleur])
def test_fleur_is_the_expectation_of_the_digits(folders, metric_class, monkeypatch):
    settings = {"path": str(folders / "grader"), "max_tokens": 8, "cache": False}
    metric = metric_class(judge={**settings, "image": True}, prompt=PROMPT)
    asked: list[tuple[str, str]] = []
    complete = metric.judge.backend.complete

    def record(talks, store):
        asked.extend((talk[0]["content"], talk[0]["image"]) for talk in talks)
        complete(talks, store)

    monkeypatch.setattr(metric.judge.backend, "complete", record)
    features = FeatureCache()
    stats = metric.stats(features.batch(examples(folders)), features, None)
    grades = []
    for text, image in asked:
        answer = ["0", "."]
        log_probs, tokenizer = step_log_probs(folders / "grader", text, image, answer)
        digits = tokenizer.convert_tokens_to_ids(DIGITS)
        first = np.exp(log_probs[2][digits])
        answer.append(DIGITS[int(first.argmax())])
        log_probs, _ = step_log_probs(folders / "grader", text, image, answer)
        second = np.exp(log_probs[3][digits])
        grade = 0.1 * (first @ np.arange(10))
        if log_probs[3].argmax() in digits:
            grade += 0.01 * (second @ np.arange(10))
        grades.append(grade)

    expected = np.array(grades).reshape(3, 2).mean(axis=1)
    assert metric.per_example(stats) == pytest.approx(expected, abs=1e-5)
    assert len(set(np.round(grades, 4))) == 6
    assert metric.details(stats)["answers"]["valid"] == 6
    assert "top_logprobs:20" in metric.signature()


def test_judges_of_an_image_and_of_text(folders):
    path = str(folders / "llava")
    sees = resolve_judge({"path": path, "image": True}, "rubric")
    assert isinstance(sees.backend, LocalImageModel)
    assert sees.signature().endswith("|image]")
    text = resolve_judge({"path": str(folders / "gpt2")}, "rubric")
    assert type(text.backend) is LocalModel
    with pytest.raises(HarnessError, match="a LocalModel sees no image"):
        Judge(text.backend, image=True)


def test_a_text_with_the_token_of_an_image_is_rejected_alone(folders):
    image = str(folders / "0.png")
    model = LocalImageModel(path=str(folders / "llava"), max_tokens=2)
    questions = [("a <image> dog", image), ("a dog", image)]
    rejected, answered = ask(model, *questions)
    assert rejected == Reply("", "rejected")
    assert answered == ask(model, questions[1])[0]
    assert answered.finish != "rejected"


def test_models_that_cannot_see_are_one_line(folders):
    image = str(folders / "0.png")
    with pytest.raises(InputError, match="no chat template of images"):
        ask(LocalImageModel(path=str(folders / "plain")), ("a dog", image))
    with pytest.raises(InputError, match="models of type 'gpt2' read no images"):
        ask(LocalImageModel(path=str(folders / "gpt2")), ("a dog", image))
    broken = str(folders / "broken.png")
    with pytest.raises(InputError, match="the image does not decode"):
        ask(LocalImageModel(path=str(folders / "llava")), ("a dog", broken))


def test_an_image_that_the_processor_rejects_is_one_line(folders, tmp_path):
    # Qwen2-VL takes no image that is 200 times as wide as high
    Image.new("RGB", (1000, 4)).save(tmp_path / "line.png")
    model = LocalImageModel(path=str(folders / "qwen2_vl"))
    with pytest.raises(InputError, match=r"rejects .*line\.png: .*aspect ratio"):
        ask(model, ("a dog", str(tmp_path / "line.png")))
