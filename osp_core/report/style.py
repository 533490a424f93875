"""The style sheet of a report: light and dark, desk and phone."""

from osp_core.report.figures import COLOURS
from osp_core.report.svg import style_rules


def _variables(theme: int) -> str:
    return "".join(f"--{role}:{colours[theme]};" for role, colours in COLOURS.items())


STYLE = f"""
:root{{color-scheme:light dark;{_variables(0)}--panel:#f5f7fa}}
{style_rules(0)}
@media (prefers-color-scheme:dark){{:root{{{_variables(1)}--panel:#1e2530}}{style_rules(1)}}}
*{{box-sizing:border-box}}
body{{margin:0 auto;padding:1rem clamp(.8rem,3vw,2rem) 4rem;max-width:76rem;background:var(--paper);
color:var(--ink);font:16px/1.5 system-ui,-apple-system,Roboto,"Noto Sans","DejaVu Sans",sans-serif}}
h1{{font-size:1.7rem;line-height:1.2;margin:.6rem 0}}
h2{{font-size:1.3rem;margin:2.4rem 0 .6rem;padding-top:1rem;border-top:1px solid var(--faint)}}
h3{{font-size:1.05rem;margin:1.6rem 0 .4rem}}
h4{{font-size:.95rem;margin:0 0 .4rem}}
p{{max-width:48rem}}
a{{color:var(--blue)}}
nav{{display:flex;flex-wrap:wrap;gap:.3rem 1rem}}
section{{scroll-margin-top:.5rem}}
.gallery{{display:grid;gap:1rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,21rem),1fr));
margin:1rem 0}}
.gallery.small{{grid-template-columns:repeat(auto-fill,minmax(min(100%,16rem),1fr))}}
figure{{margin:0;padding:.9rem;background:var(--panel);border-radius:.6rem;min-width:0}}
figcaption{{font-size:.85rem;color:var(--muted);margin-top:.5rem}}
svg.figure{{display:block;width:100%;height:auto;max-width:34rem;overflow:visible;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}}
.small svg.figure{{max-width:20rem;margin:0 auto}}
.wide{{overflow-x:auto;margin:1rem 0}}
table{{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-nums}}
th,td{{padding:.35rem .7rem;text-align:right;border-bottom:1px solid var(--faint);white-space:nowrap}}
thead th{{color:var(--muted);font-weight:600;vertical-align:bottom;white-space:normal}}
th:first-child{{text-align:left;padding-left:0}}
tbody th{{font-weight:600}}
dl{{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,15rem),1fr));
gap:.5rem 1.5rem;margin:1rem 0}}
dt{{font-size:.82rem;color:var(--muted)}}
dd{{margin:0;overflow-wrap:anywhere}}
pre{{overflow-x:auto;padding:.9rem;background:var(--panel);border-radius:.6rem;font-size:.85rem}}
summary{{cursor:pointer;padding:.25rem 0}}
ul{{margin:.3rem 0 .8rem;padding-left:1.3rem}}
li{{overflow-wrap:anywhere}}
@media (max-width:38rem){{body{{font-size:15px}}table,tbody{{display:block}}thead{{display:none}}
tr{{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:.4rem .8rem;padding:.7rem 0;
border-bottom:1px solid var(--faint)}}
th,td{{border:0;padding:0;text-align:left}}tbody th{{grid-column:1/-1}}
td::before{{content:attr(data-column);display:block;white-space:normal;font-size:.78rem;color:var(--muted)}}}}
@media print{{details>*{{display:block}}figure{{break-inside:avoid}}}}
"""
