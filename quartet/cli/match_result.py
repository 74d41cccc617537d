"""The result of one match, for the terminal and as JSON."""

from __future__ import annotations

from rich.console import Console

from quartet.cli.terminal import drawing
from quartet.judge.match import Match
from quartet.judge.turn import Result


def summary(match: Match, result: Result, *, attempts: int = 1) -> dict[str, object]:
    """Return a match for JSON: why it ended, and what every seat scored and used."""
    said = [
        (turn.ply, turn.seat, text) for turn in match.turns for text in turn.stderr.splitlines()
    ]
    said += [(turn.ply, seat, text) for turn in match.turns for seat, text in turn.said]
    said += [(result.plies, seat, text) for seat, text in result.said]
    seats = []
    for seat, name in enumerate(match.names):
        report = result.exits[seat] if result.exits else None
        seats.append(
            {
                "seat": seat,
                "player": name,
                "score": result.scores[seat],
                "place": result.places[seat],
                "share": result.shares[seat],
                "foul": result.code if seat == result.offender else None,
                "disqualified": seat in result.disqualified,
                "lost": [
                    {"ply": turn.ply, "verdict": turn.verdict.value, "reason": turn.reason}
                    for turn in match.turns
                    if turn.seat == seat and turn.verdict.lost
                ],
                "exit": report and report.exit,
                "cpu_seconds": report and round(report.seconds, 6),
                "megabytes": report and round(report.megabytes, 3),
                "left_behind": report and report.left_behind,
                "stderr": [{"ply": ply, "text": text} for ply, own, text in said if own == seat],
            }
        )
    return {
        "game": match.game.info.name,
        "seed": match.start.seed,
        "options": dict(match.start.options),
        "score": match.game.info.score_name,
        "plies": result.plies,
        "termination": result.termination.value,
        "reason": result.reason,
        "overloaded": result.overloaded,
        "games_played": attempts,
        "notes": list(result.notes),
        "seats": seats,
    }


def show(console: Console, match: Match, result: Result) -> None:
    """Print the result of a match."""
    console.print()
    words = f"{match.game.info.title}: {result.reason}, after {result.plies} plies"
    console.print(words, style="bold", soft_wrap=True, markup=False)
    console.print(drawing.result_table(match, result))
    if result.offender is None:
        for line in drawing.reasons(match):
            console.print(line, soft_wrap=True)
    for note in result.notes:
        console.print(note, style="red", soft_wrap=True, markup=False)
