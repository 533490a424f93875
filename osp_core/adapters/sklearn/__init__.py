"""Estimators for scikit-learn: classifier, multilabel classifier, and any space."""

from osp_core.errors import MissingDependencyError

try:
    import sklearn  # noqa: F401
except ImportError as error:
    raise MissingDependencyError(
        "osp_core.adapters.sklearn needs scikit-learn: pip install 'online-structured-prediction[sklearn]'."
    ) from error

from osp_core.adapters.sklearn.classifier import OnlineClassifier
from osp_core.adapters.sklearn.multilabel import OnlineMultilabelClassifier
from osp_core.adapters.sklearn.structured import OnlineStructuredEstimator

__all__ = ["OnlineClassifier", "OnlineMultilabelClassifier", "OnlineStructuredEstimator"]
