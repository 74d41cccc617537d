// Animates the way from one frame of a board to the next, for any game.
import { drawPiece } from "./board.js";

const MS = 200;

/**
 * Animate the pieces of a drawn board; a drawing during the animation continues it.
 *
 * motion: {from, to: frames, parts: the move's cells in the order of the motion, started: performance.now() at its start}.
 * A piece whose first and last cell changed slides along the parts; others turn, grow or fade.
 */
export function animate(root, board, geo, { from, to, parts, started }) {
  const elapsed = performance.now() - started;
  if (elapsed >= MS || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const play = (element, ...keys) => {
    const animation = element.animate(keys, { duration: MS, easing: "ease-out" });
    animation.currentTime = elapsed;
    return animation;
  };
  const owner = (frame, cell) => board.pieces[frame.shown.get(cell)]?.[0];
  const path = board.corners ? [] : parts.map(name => board.cells.findIndex(c => c[0] === name)).filter(cell => cell >= 0);
  const [source, target] = [path[0], path.at(-1)];
  const slides =
    path.length > 1 &&
    source !== target &&
    from.shown.get(target) !== to.shown.get(target) &&
    owner(from, source) != null &&
    owner(from, source) === owner(to, target);
  for (const cell of new Set([...from.shown.keys(), ...to.shown.keys()])) {
    const [old, now] = [from.shown.get(cell), to.shown.get(cell)],
      piece = root.querySelector(`[data-at="${cell}"]`);
    if (old === now || (slides && cell === source)) continue;
    if (slides && cell === target) {
      const [x, y] = geo.spots[target];
      play(piece, ...path.map(at => ({ transform: `translate(${geo.spots[at][0] - x}px, ${geo.spots[at][1] - y}px)` })));
    } else if (now == null) {
      const ghost = drawPiece(root, ...geo.spots[cell], board.pieces[old], 0.4);
      play(ghost, { opacity: 1 }, { opacity: 0, transform: "scale(0.4)" }).onfinish = () => ghost.remove();
    } else if (old == null) play(piece, { transform: "scale(0)" }, { transform: "none" });
    else play(piece, { transform: "scaleX(0)" }, { transform: "none" });
  }
}
