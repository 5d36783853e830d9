"""What several runs of one task say: pass@1, pass@k, pass^k. Aggregates are means of these over tasks."""

from __future__ import annotations

from math import comb


def pass_at_k(passed: int, n: int, k: int) -> float:
    """How likely is it that at least one of ``k`` runs passes? Unbiased, from ``passed`` of ``n``.

    M. Chen et al., Evaluating large language models trained on code (2021), equation 1.

    Raises:
        ValueError: fewer than ``k`` runs, or more passed than were run.
    """
    _check(passed, n, k)
    return 1 - comb(n - passed, k) / comb(n, k)


def pass_hat_k(passed: int, n: int, k: int) -> float:
    """How likely is it that all of ``k`` runs pass (pass^k)? Unbiased, from ``passed`` of ``n``.

    S. Yao et al., τ-bench (2024), section 3.

    Raises:
        ValueError: fewer than ``k`` runs, or more passed than were run.
    """
    _check(passed, n, k)
    return comb(passed, k) / comb(n, k)


def _check(passed: int, n: int, k: int) -> None:
    if not (0 <= passed <= n and 1 <= k <= n):
        raise ValueError(f"{k} of {n} runs, of which {passed} passed")
