"""Play the first step or jump that is found, towards the target if possible."""

import pathlib
import sys

lines = pathlib.Path("input.txt").read_text().splitlines()
board = {(c, r): cell for r, line in enumerate(lines[1:]) for c, cell in enumerate(line.split())}
moves = []
for (c, r), cell in board.items():
    for dc, dr in ((1, 0), (0, 1), (-1, 0), (0, -1)):
        near, far = (c + dc, r + dr), (c + 2 * dc, r + 2 * dr)
        if cell == "1" and board.get(near) == "0":
            moves.append((dc + dr, c, r, *near))
        elif cell == "1" and board.get(near, "0") != "0" and board.get(far) == "0":
            moves.append((2 * (dc + dr), c, r, *far))
_, *move = max(moves)
pathlib.Path("output.txt").write_text(" ".join(map(str, move)))
sys.exit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
