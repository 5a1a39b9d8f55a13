"""Exact comparisons with a readable difference, and a count of them."""

import difflib
import json
import sys


class Checks:
    """Collects what was compared; a difference is printed at once and remembered."""

    def __init__(self, subject: str):
        self.subject = subject
        self.passed = 0
        self.failed = 0

    def equal(self, name: str, got, want) -> None:
        if got == want and pretty(got) == pretty(want):
            self.passed += 1
            return
        self.failed += 1
        print(f"not as expected: {self.subject}: {name}", file=sys.stderr)
        lines = difflib.unified_diff(pretty(want), pretty(got), "expected", "received", lineterm="")
        print("\n".join(f"  {line}" for line in lines), file=sys.stderr)

    def true(self, name: str, condition: bool) -> None:
        self.equal(name, condition, True)

    def finish(self) -> int:
        """Prints the count and returns the exit code."""
        print(f"{self.subject}: {self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0


def pretty(value) -> list[str]:
    # `True == 1` and `1 == 1.0` in Python, but not in JSON: the text is compared as well.
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False).splitlines()
