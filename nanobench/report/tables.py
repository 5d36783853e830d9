"""The figures as tables of words, for the forms that are text: what stands in which row and column. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from nanobench.report.differences import MOST_PAIRS, Left, Pair
from nanobench.report.dimensions import Dimension
from nanobench.report.efficiency import MEASURES, taken
from nanobench.report.figures import Part, Square
from nanobench.report.rows import Arm
from nanobench.report.tally import Tally, too_few
from nanobench.report.words import (
    NONE,
    arm_names,
    count,
    counts_words,
    few_words,
    interval_words,
    mean_words,
    rate_words,
    spread_words,
)
from nanobench.scoring.arms import AXES, words
from nanobench.scoring.causes import Denominator
from nanobench.scoring.comparison import Tested
from nanobench.scoring.efficiency import REPEATS
from nanobench.scoring.statistics.power import ALPHA, FLOOR
from nanobench.scoring.statistics.quantities import Rate, p_value


@frozen(kw_only=True)
class Table:
    """A title, what is to be said with it, the columns' heads, and rows of as many texts; the first ``heads``
    columns name the row, the others are figures."""

    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    heads: int = 1


def title_of(part: Part) -> str:
    """What a part is about: tasks, arms, cells; the found cells beside the planned ones."""
    whole = part.whole
    return (
        f"{count(len(part.facts), f'{part.kind} task')}, {count(len(part.arms), 'arm')}: "
        f"{count(whole.planned, 'cell')} planned, {whole.found} found, {whole.valid} count"
    )


def overview(part: Part) -> Iterator[Table]:
    """Scores and what does not count, which arms differ, failure labels, the navigation delta, what runs took."""
    yield scores(part)
    yield differences(part)
    yield taxonomy(part)
    yield navigation(part)
    yield spreads(part)


def baseline(part: Part) -> Iterator[Table]:
    """The overview, and the same by every dimension."""
    yield from overview(part)
    for found in part.dimensions:
        yield by_dimension(found, part)
    yield by_task(part)


def scores(part: Part) -> Table:
    """Every arm's score, and how many of its planned cells each class took out."""
    shared, names = arm_names(part.arms)
    return Table(
        title="Scores",
        note=_sentences(
            f"All: {shared}" if shared else "",
            "Solved: of the cells that count, with the 95 % Wilson interval",
            "Mean score: one mean a task, with the bootstrap interval",
            "The cells that count and those that do not add up to the planned ones",
            "Whether two arms differ, nanobench compare says" if len(part.arms) > 1 and not part.differences else "",
            few_words(part.whole),
            *part.warnings,
        ),
        columns=("arm", "tasks", "planned", "found", "count", "solved", "mean score", "do not count"),
        rows=tuple(_score_row(names[arm], tally, str(part.means.get(arm, NONE))) for arm, tally in best_first(part)),
    )


def best_first(part: Part) -> list[tuple[Arm, Tally]]:
    """The arms, those first that solved most of the cells that count; as they were planned where two solved alike."""
    return sorted(part.arms.items(), key=lambda item: -share_of(item[1].solved))


def share_of(rate: Rate) -> float:
    """What a rate is sorted by; what was not measured is less than nothing."""
    return rate.passed / rate.n if rate.n else -1


def differences(part: Part) -> Table:
    """Which arms differ, in the words of the rules."""
    pairs = [found for found in part.differences if isinstance(found, Pair)]
    arms = [side.arm for pair in pairs for side in pair.sides]
    varying = [axis for axis in AXES if len({arm[axis] for arm in arms}) > 1]
    runs = len({arm.run for arm in part.arms}) > 1
    return Table(
        title="Differences",
        note=_sentences(
            "Each arm and the best of those that differ from it in one thing alone, over tasks that may be compared",
            "The verdict is on the second, beside the first: they differ when the intervals of solved are apart and"
            f" p, corrected for all pairs, is at most {ALPHA}",
            "All pairs, and two runs: nanobench compare",
        ),
        columns=("arms", "verdict", "solved: first", "solved: second", "difference"),
        rows=tuple(_difference_row(found, varying, runs=runs) for found in part.differences),
        heads=2,
    )


def _difference_row(found: Pair | Left, varying: list[str], *, runs: bool) -> tuple[str, ...]:
    run = f"run {found.run}" if runs else ""
    if isinstance(found, Left):
        left = f"more than {MOST_PAIRS} pairs: nanobench compare BUNDLE --by {found.axis}"
        return ", ".join(filter(None, (f"{found.axis}: {found.pairs} pairs", run))), left, NONE, NONE, NONE
    differing, _ = found.contrast.words()
    alike = [axis for axis in varying if axis not in found.contrast.differing()]
    both = ", ".join(filter(None, (words(found.contrast.before.arm, alike), run)))
    rates = (rate_words(side.rate) for side in (found.found.before, found.found.after))
    said = verdict_words(found.tested) if found.tested else "nothing may be compared"
    more = str(found.tested.difference) if found.tested else NONE
    return f"{differing} ({both})" if both else differing, said, *rates, more


def verdict_words(tested: Tested) -> str:
    """``solves more (p 0.0313)``; p is the corrected one, and claims nothing of too few tasks."""
    why = f"p {p_value(tested.corrected)}" if tested.test.n >= FLOOR else f"fewer than {FLOOR} tasks"
    return f"{tested.verdict.word} ({why})"


def _score_row(name: str, tally: Tally, mean: str) -> tuple[str, ...]:
    counts = (tally.tasks, tally.planned, tally.found, tally.valid)
    return name, *map(str, counts), rate_words(tally.solved), mean, _joined(out_words(tally), with_stopped(tally))


def with_stopped(tally: Tally) -> str:
    """The rate with the runs that were stopped by a rate limit or the user's budget; empty where there are none."""
    return f"with those stopped, solved {rate_words(tally.solved_all)}" if tally.stopped else ""


def out_words(tally: Tally) -> str:
    """How many cells do not count, by class; a dash when all do."""
    out = {name: count for name, count in tally.classes.items() if name != Denominator.VALID}
    return counts_words({name.replace("_", " "): count for name, count in out.items()})


def taxonomy(part: Part) -> Table:
    """Each failure label's share of the cells that count, by arm."""
    _, names = arm_names(part.arms)
    labels = tuple(part.whole.labels)
    return Table(
        title="Why runs failed",
        note="A label's share of the cells that count. What each asks for is in docs/why-it-failed.md of NanoBench.",
        columns=("arm", *labels),
        rows=tuple(
            (names[arm], *(rate_words(share(tally, label)) for label in labels)) for arm, tally in part.arms.items()
        )
        if labels
        else (),
    )


def share(tally: Tally, label: str) -> Rate:
    """A label's share of the cells that count."""
    return Rate(tally.labels.get(label, 0), tally.valid)


def navigation(part: Part) -> Table:
    """What finding the files costs, by arm."""
    _, names = arm_names(part.arms)
    return Table(
        title="Navigation delta",
        note="Hinted less navigation, of the share of runs that solve a task; over the tasks that count in both.",
        columns=("arm", "hinted", "navigation", "delta"),
        rows=tuple(
            (
                names[found.hinted],
                *(rate_words(part.arms[arm].solved) for arm in (found.hinted, found.navigation)),
                str(found.delta),
            )
            for found in part.navigation
        ),
    )


def spreads(part: Part) -> Table:
    """What runs took, by arm."""
    _, names = arm_names(part.arms)
    took = {arm: taken(part.rows(arm)) for arm in names}
    return Table(
        title="What runs took",
        note="Median and quartiles over the cells that count and tell it.",
        columns=("arm", *(measure.title for measure in MEASURES)),
        rows=tuple((names[arm], *(spread_words(took[arm][m.figure]) for m in MEASURES)) for arm in names),
    )


def by_task(part: Part) -> Table:
    """What each task took, by arm."""
    _, names = arm_names(part.arms)
    squares = ((task, names[arm], square) for arm, tasks in part.matrix.items() for task, square in tasks.items())
    rows = []
    for task, name, square in sorted(squares, key=lambda found: found[:2]):
        took = taken(square.rows)
        few = " *" if square.tally.valid < REPEATS else ""
        rows.append((task + few, name, *(spread_words(took[m.figure]) for m in MEASURES)))
    return Table(
        title="What each task took",
        note=f"* fewer than {REPEATS} runs that count: too few for a figure of efficiency.",
        columns=("task", "arm", *(measure.title for measure in MEASURES)),
        rows=tuple(rows),
        heads=2,
    )


def by_dimension(found: Dimension, part: Part) -> Table:
    """The solved rate of every group and the labels of its failures; what is no part of an arm, by arm."""
    _, names = arm_names(part.arms)
    split = not found.of_arms
    rows = (
        (group.value, name, tally)
        for group in found.groups
        for name, tally in ([(names[arm], t) for arm, t in group.arms.items()] if split else [("all", group.tally)])
    )
    few = any(too_few(group.tally) for group in found.groups)
    return Table(
        title=f"By {found.name}",
        note=_sentences(
            "A task in several languages stands in several rows" if found.overlaps else "",
            f"* fewer than {FLOOR} tasks: too few to claim anything" if few else "",
        ),
        columns=(found.name, "arm", "tasks", "count", "solved", "failure labels"),
        rows=tuple(
            (
                value,
                name,
                str(tally.tasks) + (" *" if too_few(tally) else ""),
                str(tally.valid),
                rate_words(tally.solved),
                counts_words(tally.labels),
            )
            for value, name, tally in rows
        ),
        heads=2,
    )


def grid(part: Part) -> Table:
    """Tasks by arms: how many of the runs that count solved it, and the interval."""
    _, names = arm_names(part.arms)
    return Table(
        title="Solved",
        note="Of the runs that count, with the 95 % Wilson interval.",
        columns=("task", *names.values()),
        rows=tuple((task, *(square_words(part.matrix[arm].get(task)) for arm in names)) for task in part.facts),
    )


def square_words(square: Square | None) -> str:
    """``3/5 (23–88 %)``; a dash where no run counts."""
    solved = square.tally.solved if square else None
    return f"{solved.passed}/{solved.n} ({interval_words(solved)})" if solved and solved.n else NONE


def matrix(part: Part) -> Table:
    """Provider, model, what else varies, task, score, failure label."""
    _, names = arm_names(part.arms)
    arms = sorted(part.arms, key=lambda arm: (arm.provider, arm.model, names[arm]))
    squares = ((arm, task, square) for arm in arms for task, square in part.matrix[arm].items())
    heads = ("provider", "model", "arm", "task")
    return Table(
        title="Provider matrix",
        note="",
        columns=(*heads, "solved", "first run", "mean score", "failure labels", "do not count"),
        rows=tuple(_square_row(arm, names[arm], task, square) for arm, task, square in squares),
        heads=len(heads),
    )


def _square_row(arm: Arm, name: str, task: str, square: Square) -> tuple[str, ...]:
    tally = square.tally
    return (
        arm.provider,
        arm.model,
        name,
        task,
        rate_words(tally.solved),
        {True: "solved", False: "not solved", None: NONE}[square.first],
        mean_words(tally),
        counts_words(tally.labels),
        out_words(tally),
    )


def _sentences(*texts: str) -> str:
    return " ".join(f"{text}." for text in texts if text)


def _joined(*texts: str) -> str:
    return "; ".join(text for text in texts if text)
