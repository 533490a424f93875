"""Reports: one self-contained HTML page for a run, and its figures as files.

A report is plain data (`Report`, `Section`, figures) made from `Evidence`, which `gather` collects after a
run. The page needs nothing but the core; figure files need matplotlib.
"""

from osp_core.report.document import Report, Section
from osp_core.report.drawings import Example, draw_output
from osp_core.report.evidence import Evidence, gather
from osp_core.report.files import save_figures, write_report
from osp_core.report.run_report import Subject, demo_report, run_report, write_run_report
from osp_core.report.sections import Outcome

__all__ = [
    "Evidence",
    "Example",
    "Outcome",
    "Report",
    "Section",
    "Subject",
    "demo_report",
    "draw_output",
    "gather",
    "run_report",
    "save_figures",
    "write_report",
    "write_run_report",
]
