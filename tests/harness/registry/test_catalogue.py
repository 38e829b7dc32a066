"""The registry: third parties' manifests, names with two owners, broken plugins,
lazy imports.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest

from harness.errors import HarnessError, MissingExtra, UnknownName
from harness.registry import in_use as registry
from harness.registry.catalogue import spelling
from harness.registry.component_kinds import KINDS

SHADOW = """
api: 1
provider: mine
readers: {words: {import: "mine_parts:Words"}}
adapters: {echo: {import: "mine_parts:Echo"}}
metrics:
  length: {import: "mine_parts:Length"}
  rouge: {import: "mine_parts:Length", summary: shadows a built-in}
"""


def test_a_third_partys_metric_is_found_without_importing_it(install, metric_code):
    install(
        "acme",
        "metrics: {one: {import: 'acme.parts:One', summary: always one}}",
        metric_code,
    )
    entry = registry.current().get("metrics", "one")
    assert (entry.full_name, entry.summary) == ("acme/one", "always one")
    assert "acme" not in sys.modules
    assert registry.current().create("metrics", "acme/one", {"value": 2.0}).value == 2.0


def test_the_list_form_with_targets_is_read_too(install, metric_code):
    text = "api: 1\nprovider: acme\nrequires_harness: '>=0.1,<1'\nmetrics:\n"
    text += "  - {name: one, target: 'acme.parts:One', level: item, aliases: [uno]}\n"
    install("acme", text, metric_code)
    assert registry.current().create("metrics", "uno").spec.name == "one"


def test_a_name_with_two_owners_is_an_error_that_names_both(install, metric_code):
    for name in ("acme", "bolt"):
        install(name, f"metrics: {{one: {{import: '{name}.parts:One'}}}}", metric_code)
    with pytest.raises(
        HarnessError,
        match=r"the metric name 'one' has 2 owners: 'acme/one' .* and 'bolt/one'",
    ):
        registry.current().get("metrics", "one")
    assert registry.current().create("metrics", "bolt/one").value == 1.0


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        (None, "holds no registry.yaml"),
        ("metrics: [", "not valid YAML"),
        ("metrcs: {}", "unknown key 'metrcs'; did you mean 'metrics'?"),
        ("metrics: {one: {import: 'acme.parts'}}", 'expected "package.module:Object"'),
        ("metrics: {one: {summary: x}}", "needs 'import"),
        ("api: 2", "api 2 is not known"),
        ("requires_harness: '>=9'", "asks for harness >=9"),
    ],
)
def test_a_broken_manifest_is_reported_and_survived(
    install, monkeypatch, manifest, reason, metric_code
):
    install("acme", manifest)
    install("good", "metrics: {one: {import: 'good.parts:One'}}", metric_code)
    (failure,) = registry.current().failures
    assert failure.provider == "acme"
    assert reason in failure.reason
    assert registry.current().create("metrics", "one").value == 1.0
    monkeypatch.setenv("HARNESS_STRICT_PLUGINS", "1")
    registry._load.cache_clear()
    with pytest.raises(HarnessError):
        registry.current()


def test_a_component_that_cannot_be_imported_says_why(install):
    install(
        "acme",
        "metrics: {one: {import: 'acme.parts:One'}, two: {import: 'acme.gone:X'}}",
        "1 / 0",
    )
    with pytest.raises(
        HarnessError,
        match=r"'acme/one' \(acme\.parts:One\) could not be imported: ZeroDivision",
    ):
        registry.current().create("metrics", "one")
    with pytest.raises(
        MissingExtra, match="needs the package 'acme', which is not installed"
    ):
        registry.current().create("metrics", "two")


def test_unknown_parameters_and_missing_ones_are_named(install, metric_code):
    install(
        "acme",
        "metrics: {one: {import: 'acme.parts:One'}}",
        metric_code.replace("value=1.0)", "value)"),
    )
    with pytest.raises(
        UnknownName, match="has no parameter 'valu'; did you mean 'value'"
    ):
        registry.current().create("metrics", "one", {"valu": 1})
    with pytest.raises(HarnessError, match="needs the parameter 'value'"):
        registry.current().create("metrics", "one")


def test_every_shipped_entry_has_a_summary_and_imports(root):
    for entry in registry.current().entries():
        if entry.provider == "harness":
            assert entry.summary, entry.full_name
            if entry.target:
                assert registry.current().load(entry.kind, entry.full_name) is not None
            else:
                assert entry.file.is_file(), entry.path


@pytest.fixture
def shadowed(project):
    """A project whose registry has a metric ``rouge``, a name of a built-in metric."""
    (project / "registry.yaml").write_text(SHADOW)
    registry._load.cache_clear()
    return project


def test_a_built_in_keeps_its_bare_name_and_the_full_name_reaches_the_plugins(shadowed):
    catalogue = registry.current()
    assert catalogue.get("metrics", "rouge").provider == "harness"
    entry = catalogue.get("metrics", "mine/rouge")
    assert (entry.provider, catalogue.bare_name(entry)) == ("mine", "mine/rouge")
    assert catalogue.bare_name(catalogue.get("metrics", "rouge")) == "rouge"
    assert catalogue.bare_name(catalogue.get("metrics", "length")) == "length"


def test_a_spec_reaches_both_metrics_of_one_name(shadowed):
    import harness

    run = harness.evaluate("spec.yaml", metrics=["rouge", "mine/rouge"])
    manifest: Any = run.manifest
    assert [item["name"] for item in manifest["metrics"]] == ["rouge", "mine/rouge"]
    providers = {item["name"]: item["provider"] for item in manifest["plugins"]}
    assert (providers["rouge"], providers["mine/rouge"]) == ("harness", "mine")


def test_shipped_tasks_run_in_a_folder_that_shadows_their_metrics(shadowed):
    from harness import api

    (shadowed / "registry.yaml").write_text(
        SHADOW + '  cider: {import: "mine_parts:Length"}\n'
    )
    registry._load.cache_clear()
    for plan in api.plans("coco"):
        metrics = {item.name: type(item.metric).__module__ for item in plan.metrics}
        assert metrics["cider"].startswith("harness_metrics")


def test_an_alias_of_a_built_in_keeps_its_meaning(shadowed):
    aliases = [
        (e.kind, alias, e)
        for e in registry.current().entries()
        for alias in e.aliases
        if e.provider == "harness"
    ]
    kind, alias, entry = aliases[0]
    (shadowed / "registry.yaml").write_text(
        f'provider: mine\n{kind}: {{{alias}: {{import: "mine_parts:Length"}}}}\n'
    )
    registry._load.cache_clear()
    assert registry.current().get(kind, alias) == entry
    assert registry.current().get(kind, f"mine/{alias}").provider == "mine"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("CIDEr", "cider"),
        ("BLEU-4", "bleu4"),
        ("Bleu_4", "bleu4"),
        ("ROUGE_L", "rouge"),
        ("rouge-l", "rouge"),
        ("METEOR", "meteor"),
        ("CIDEr-D", "ciderd"),
        ("harness/SPICE", "spice"),
        ("Self_BLEU", "self-bleu"),
    ],
)
def test_case_hyphens_and_underscores_are_ignored(name, expected):
    assert registry.current().get("metrics", name).name == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rougeL", "rougeL"),
        ("rouge", "rouge"),
        ("rouge-l", "rouge"),
        ("ROUGE_L", "rouge"),
    ],
)
def test_cocos_rouge_l_and_that_of_summaries_have_names_of_their_own(name, expected):
    assert registry.current().get("metrics", name).name == expected
    assert registry.current().get("metrics", "rougelsum").name == "rougeLsum"


@pytest.mark.parametrize("name", ["ROUGE-L", "rougel", "Rouge_L", "RougeL"])
def test_a_name_of_both_is_refused_with_both_written_out(name):
    message = (
        rf"^metric '{name}' may be 'rouge' \(ROUGE-L as in the COCO toolkit.*\) "
        r"or 'rougeL' \(ROUGE-L of rouge_score.*\): write one"
    )
    with pytest.raises(HarnessError, match=message):
        registry.current().get("metrics", name)


def test_spellings_reach_third_parties_and_an_exact_name_comes_first(
    install, metric_code
):
    install(
        "acme",
        "metrics: {my-One: {import: 'acme.parts:One', aliases: [uno-1]}}",
        metric_code,
    )
    install("bolt", "metrics: {MY_ONE: {import: 'bolt.parts:One'}}", metric_code)
    for name in ("my-One", "acme/myone", "Uno_1"):
        assert registry.current().get("metrics", name).full_name == "acme/my-One"
    assert registry.current().get("metrics", "MY_ONE").full_name == "bolt/MY_ONE"
    with pytest.raises(HarnessError, match="has 2 owners"):
        registry.current().get("metrics", "my_one")


@pytest.mark.parametrize("kind", ["metrics", "embeddings", "distances"])
def test_names_of_tables_find_their_component_or_the_message_names_it(kind):
    catalogue = registry.current()
    for entry in catalogue.entries(kind):
        if (
            entry.provider != "harness"
            or not entry.display
            or entry.display.startswith("{")
        ):
            continue
        shown = entry.display.partition(" [")[0]
        # cider and ciderd are the same number, CIDEr-D
        names = {entry.name, "ciderd" if entry.name == "cider" else entry.name}
        assert catalogue.get(kind, shown).name in names
        for label in (f"{shown} [of a model]", f"{shown} (METEOR)"):
            with pytest.raises(UnknownName, match="did you mean") as caught:
                catalogue.get(kind, label)
            assert any(f"did you mean '{name}'?" in str(caught.value) for name in names)


def test_no_two_built_in_names_are_spellings_of_one_another():
    for kind in KINDS:
        entries = [
            entry
            for entry in registry.current().entries(kind)
            if entry.provider == "harness"
        ]
        names = [
            spelling(text)
            for entry in entries
            for text in {spelling(t): t for t in (entry.name, *entry.aliases)}
        ]
        # The alias `rouge-l` of COCO's and `rougeL` of rouge_score are apart only as
        # they are written.
        assert {name for name in names if names.count(name) > 1} == (
            {"rougel"} if kind == "metrics" else set()
        )


def test_an_unknown_name_in_capitals_has_a_suggestion():
    with pytest.raises(
        UnknownName, match="unknown metric 'METOER'; did you mean 'meteor'"
    ):
        registry.current().get("metrics", "METOER")


def test_entries_may_have_several_roles():
    catalogue = registry.current()
    assert catalogue.with_role("metrics", "strata").name == "cider"
    assert "cider" in [
        entry.name for entry in catalogue.all_with_role("metrics", "default")
    ]
    assert catalogue.all_with_role("metrics", "no such role") == []
