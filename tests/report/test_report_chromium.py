"""Reports in a real browser: they render, log nothing, and fit a desk and a phone, by day and by night."""

import html
import json
import re
import subprocess

import pytest

from osp_core.cli import demo
from osp_core.report import Subject, demo_report, write_run_report
from osp_core.runs import RunConfig, execute

# Measures the page it stands in; the page itself has no script.
PROBE = """<script>
const boxes = [...document.querySelectorAll("svg.figure")].map(svg => {
  const words = [...svg.querySelectorAll("text")].map(text => text.getBoundingClientRect());
  let overlaps = 0;
  words.forEach((a, i) => words.slice(i + 1).forEach(b => {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 1.5 && high > 4) overlaps += 1;
  }));
  const frame = svg.getBoundingClientRect();
  const outside = words.filter(a => a.left < frame.left - 2 || a.right > frame.right + 2).length;
  const small = Math.min(...words.map(a => a.height));
  return {width: frame.width, height: frame.height, overlaps, outside, small, title: svg.textContent};
});
const links = [...document.querySelectorAll('a[href^="#"]')];
const result = {
  width: innerWidth,
  scroll: document.documentElement.scrollWidth,
  boxes,
  links: links.length,
  dead: links.filter(a => !document.getElementById(a.getAttribute("href").slice(1))).length,
  background: getComputedStyle(document.body).backgroundColor,
  ink: getComputedStyle(document.body).color,
  line: getComputedStyle(document.querySelector(".s-blue")).stroke,
};
parent.document.getElementById("result").textContent = JSON.stringify(result);
</script>"""


def browse(tmp_path, page, width=1280, height=900, *, dark=False):
    """Show a page in a frame of this width; return what the probe saw and what the browser logged."""
    probed = html.escape(page.replace("</body>", PROBE + "</body>"))
    frame = f'<iframe width="{width}" height="{height}" style="border:0" srcdoc="{probed}"></iframe>'
    path = tmp_path / "frame.html"
    path.write_text(f'<!DOCTYPE html><meta charset="utf-8"><pre id="result"></pre>{frame}', encoding="utf-8")
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000", "--dump-dom"]
    command += [f"--blink-settings=preferredColorScheme={0 if dark else 1}", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'<pre id="result">(.+?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stdout[:500]
    logged = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(html.unescape(found.group(1))), logged


def assert_good(seen, logged, figures):
    assert logged == []
    assert seen["dead"] == 0
    assert seen["links"] > 0
    assert seen["scroll"] <= seen["width"]  # nothing sticks out on the right
    assert len(seen["boxes"]) == figures
    for box in seen["boxes"]:
        assert box["width"] > 150, box
        assert box["height"] > 40, box
        assert box["overlaps"] == 0, box
        assert box["outside"] == 0, box
        assert box["small"] > 8, box


@pytest.fixture
def run_page(tmp_path):
    config = RunConfig(
        space="simplex",
        params={"classes": ["<script>x</script>", "b", "c"]},
        stream="linear_teacher",
        rounds=60,
    )
    (path,) = write_run_report(tmp_path, execute(config, tmp_path / "out"))
    return path.read_text(encoding="utf-8")


def test_a_run_report_renders_on_a_phone_in_the_dark(tmp_path, run_page):
    seen, logged = browse(tmp_path, run_page, 390, dark=True)
    assert seen["width"] == 390
    assert_good(seen, logged, figures=10)
    assert seen["background"] == "rgb(22, 27, 34)"
    assert seen["line"] == "rgb(109, 179, 242)"


def test_the_probe_sees_what_is_wrong(tmp_path, run_page):
    broken = run_page.replace('href="#curves"', 'href="#nowhere"').replace(
        "</main>", '<div style="width:3000px">wide</div><script>nonsense()</script></main>'
    )
    seen, logged = browse(tmp_path, broken)
    assert seen["dead"] == 1
    assert seen["scroll"] > seen["width"]
    assert any("nonsense" in line for line in logged)


@pytest.mark.soak
@pytest.mark.parametrize("width", [390, 820, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_the_demo_report_renders_everywhere(tmp_path, width, dark):
    from osp_core.cli.demo_spaces import demo_spaces

    subjects = [
        Subject(title, note, tuple(demo.play(title, space, 60, seed, lambda *news: None) for seed in (0, 1)))
        for title, note, space in demo_spaces()
    ]
    seen, logged = browse(tmp_path, demo_report(subjects).html(), width, dark=dark)
    assert_good(seen, logged, figures=7 * 10)
    assert seen["background"] == ("rgb(22, 27, 34)" if dark else "rgb(255, 255, 255)")
