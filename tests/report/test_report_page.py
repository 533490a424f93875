"""The page of a report: whole, self-contained and harmless."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

import osp_core as osp
from osp_core.report import Subject, demo_report, figures, write_report, write_run_report
from osp_core.report.svg import standalone_svg
from osp_core.runs import RunConfig, execute


class Page(HTMLParser):
    """Tags, ids, links and text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.links, self.open, self.outside = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.append(tag)
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values["href"]] if "href" in values else []
        self.outside += [values[name] for name in ("src", "srcset", "data", "xlink:href") if name in values]
        self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_loads_nothing(evidence):
    report = demo_report([Subject("one", "note", (evidence(),)), Subject("two", "note", (evidence(seed=1),))])
    text = report.html()
    page = Page(text)
    assert page.open == []
    assert page.outside == []
    assert "script" not in page.tags
    assert re.findall(r"https?://", text) == []
    assert "url(" not in text
    assert "@import" not in text
    assert "prefers-color-scheme:dark" in text
    assert 'name="viewport"' in text


def test_links_lead_to_sections_and_ids_are_unique(evidence):
    report = demo_report([Subject("spanning trees!", "", (evidence(),)), Subject("2", "", (evidence(),))])
    page = Page(report.html())
    assert len(page.ids) == len(set(page.ids))
    inside = [link[1:] for link in page.links if link.startswith("#")]
    assert {"spanning-trees", "2", "summary", "timings"} <= set(inside)
    assert set(inside) <= set(page.ids)
    assert [link for link in page.links if not link.startswith("#")] == ["data:,"]


def test_labels_of_users_stay_text(evidence):
    evil = ["<script>alert(1)</script>", "</svg><img src=x onerror=alert(2)>", "a&b"]
    run = evidence(params={"classes": evil})
    text = demo_report([Subject("<i>title</i>", "<b>note</b>", (run,))]).html()
    page = Page(text)
    assert {"script", "img", "i", "b"}.isdisjoint(page.tags)
    assert "a&amp;b" in text


def test_premises_and_reasons_are_on_the_page(evidence):
    run = evidence()
    text = demo_report([Subject("one", "", (run,))]).html()
    assert "in every round" in text
    assert "OGD with step" in text
    refused = [statement for statement in run.statements if statement.bound is None]
    assert refused
    assert all(": no bound" in text for _ in refused)
    assert f"{run.predictor.certificate.a:.6g}" in text


def test_a_space_without_constants_says_why_there_is_no_bound():
    space = osp.space_from_lmo(lambda cost: (cost < 0).astype(float) * [1.0, 2.0], 2, zero_one=False)
    target = osp.AffineLoss(cost=lambda y: -y, constant=lambda y: float(y @ y))
    stream = [([0.5], space.lmo([1.0, -1.0]))] * 12
    predictor = osp.OnlinePredictor(space, 1, target=target, seed=0)
    from osp_core.report import gather

    run = gather(predictor, osp.run(predictor, stream), lambda: iter(stream))
    subject = Subject("custom", "", (run,))
    assert subject.outcome.bound is None
    assert not subject.outcome.violated
    text = demo_report([subject]).html()
    assert "There is no bound" in text or "without a certificate" in text
    assert "not known" in text


def test_a_report_replaces_the_old_one_whole(tmp_path, evidence):
    path = tmp_path / "new" / "report.html"
    report = demo_report([Subject("one", "", (evidence(),))])
    for _ in range(2):
        assert write_report(report, path) == path
    assert path.read_text(encoding="utf-8") == report.html()
    assert [file.name for file in path.parent.iterdir()] == ["report.html"]


def test_a_place_that_cannot_be_written_is_one_clear_error(tmp_path, evidence):
    (tmp_path / "file").write_text("in the way")
    report = demo_report([Subject("one", "", (evidence(rounds=5),))])
    with pytest.raises(osp.OspError, match="cannot be made: File exists"):
        write_report(report, tmp_path / "file" / "report.html")


@pytest.fixture
def flowers(tmp_path):
    path = tmp_path / "flowers.csv"
    rows = [f"{i % 7 / 7:.3f},{i % 5 / 5:.3f},{['<b>rose</b>', 'lily'][i % 7 > 3]}" for i in range(70)]
    path.write_text("\n".join(["a,b,kind", *rows]) + "\n")
    return path


def test_a_run_gets_its_report(tmp_path, flowers):
    config = RunConfig(space="simplex", data=str(flowers), label="kind")
    result = execute(config, tmp_path / "out")
    written = write_run_report(tmp_path / "out", result)
    assert written == [tmp_path / "out" / "report.html"]
    text = written[0].read_text(encoding="utf-8")
    page = Page(text)
    assert {"result", "curves", "predictions", "guarantees", "configuration", "timings"} <= set(page.ids)
    assert "b" not in page.tags
    assert text.count("<svg") == 6 + 4
    assert "partial report" not in text
    assert "label = &quot;kind&quot;" in text


def test_several_seeds_become_bands(tmp_path):
    results = [
        execute(
            RunConfig(space="simplex", params={"d": 3}, stream="linear_teacher", rounds=30, seed=seed),
            tmp_path / str(seed),
        )
        for seed in (0, 1)
    ]
    (path,) = write_run_report(tmp_path, *results)
    text = path.read_text(encoding="utf-8")
    assert "means over 2 seeds" in text
    assert "<polygon" in text


def test_an_interrupted_run_has_a_partial_report(tmp_path, flowers, monkeypatch):
    real = osp.OnlinePredictor.step
    seen = []

    def step(self, x, y, **options):
        seen.append(1)
        if len(seen) == 20:
            import signal

            signal.raise_signal(signal.SIGINT)
        return real(self, x, y, **options)

    monkeypatch.setattr(osp.OnlinePredictor, "step", step)
    result = execute(RunConfig(space="simplex", data=str(flowers), label="kind"), tmp_path / "out")
    (path,) = write_run_report(tmp_path / "out", result)
    text = path.read_text(encoding="utf-8")
    assert "partial report" in text
    assert f"{len(result.trace)} rounds" in text
    assert 0 < len(result.trace) < 70


STRANGE = ["a\x00b", "\x1b[31mred", "bell\x07", "c\x0bd", "\ufffe\uffff", "\x7f\x85", "]]>", "&nbsp;", "--"]


@pytest.mark.parametrize("space", ["simplex", "hypercube", "ordinal", "permutahedron", "birkhoff"])
def test_the_page_and_its_figures_are_xml_whatever_is_in_the_labels(evidence, space):
    parameter = {"simplex": "classes", "hypercube": "labels", "ordinal": "categories"}.get(space, "items")
    run = evidence(space, params={parameter: STRANGE}, rounds=12)
    report = demo_report([Subject("one \x01", "note \x02", (run,))])
    text = report.html()
    page = ElementTree.fromstring(text)
    assert page.tag == "html"
    assert "\ufffd[31mred" in "".join(page.itertext())
    for name, figure in report.figures():
        root = ElementTree.fromstring(standalone_svg(figure))
        assert root.tag == "{http://www.w3.org/2000/svg}svg", name


def test_half_a_character_is_shown_as_one_that_is_missing():
    assert figures.printable("a\ud800b\x00\n") == "a\ufffdb\ufffd\n"
    assert figures.printable("naïve ∑ 日本 😀") == "naïve ∑ 日本 😀"
