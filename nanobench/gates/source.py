"""source: the one-commit repository is what it says, and golden and test patch apply to it and make the solution."""

from __future__ import annotations

import os

from nanobench.formats.digest import sha256_hex
from nanobench.gates.interface import Case, Finding, judged
from nanobench.sources.patch import affected_paths


class SourceGate:
    """That the patches apply was seen when base and golden tree were made; here their traces are compared."""

    name = "source"

    def check(self, case: Case) -> Finding:
        """Commit, tree, patches and what they touch; the required files must be among the golden patch's, or those of
        the base when the task is a question."""
        golden = affected_paths(case.change.golden, where="golden patch")
        tests = affected_paths(case.change.test, where="test patch")
        required = case.task.required_files
        if case.change.golden:
            reasons = [f"required file {f} is not changed by the golden patch" for f in required if f not in golden]
        else:
            base = case.image.workspace
            reasons = [f"required file {f} is not in the base" for f in required if not os.path.lexists(base / f)]
        evidence = {
            "commit": case.image.repository.commit,
            "tree": case.image.repository.tree,
            "base_with_tests_tree": case.base.tree,
            "golden_with_tests_tree": case.golden.tree,
            "golden_patch": {"sha256": sha256_hex(case.change.golden), "files": list(golden)},
            "test_patch": {"sha256": sha256_hex(case.change.test), "files": list(tests)},
            "dropped": list(case.image.notes["dropped"]),
        }
        return judged(evidence, tuple(reasons), "name the right files under required_files or [paths] of the task")
