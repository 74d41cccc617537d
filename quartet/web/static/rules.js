// How to play a game, with boards, and how its final score came about.
import { draw, framesOf } from "./board.js";
import { fill, get, guarded, h, number, seatTag, t, who, word } from "./page.js";

const NS = "http://www.w3.org/2000/svg";

/** A box that shows the rules of a game when it is opened. */
export function howToPlay(game) {
  const body = h("div", { class: "rules" });
  const box = h(
    "details",
    {
      class: "card",
      id: "rules",
      ontoggle: guarded(async () => {
        if (!box.open || body.firstChild) return;
        const { examples } = await get(`games/${game.name}/rules`);
        fill(
          body,
          h(
            "p",
            { class: "dim" },
            t(game.lower_wins ? "rules_lowest" : "rules_highest", { n: game.players, score: game.score_name }),
          ),
        );
        for (const example of examples) show(body, example, game);
      }),
    },
    h("summary", {}, t("how_to_play")),
    body,
  );
  return box;
}

/** Add a rule with its boards: before and after the move, if there is one. */
function show(body, { text, board, moves, lens }, { labels }) {
  const boards = h("div", { class: "boards" });
  body.append(h("section", {}, h("p", {}, word(text)), boards));
  if (!board) return;
  const passes = moves.some(move => move.parts[0] === "pass"),
    frames = passes ? framesOf(board).slice(0, 1) : framesOf(board); // a pass changes nothing
  frames.forEach((frame, i) => {
    const svg = document.createElementNS(NS, "svg");
    svg.setAttribute("class", "board");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", t(i ? "board_after" : moves.length ? "board_before" : "board_example"));
    if (i) boards.append(h("span", { class: "dim", "aria-hidden": "true" }, "→"));
    boards.append(svg);
    const before = { lens, moves: lens?.paths.length ? [] : moves, pass: passes ? t("pass") : null };
    draw(svg, board, frame, { labels, ...(i ? { changed: moves[0].seat } : before) });
  });
}

/** How each player's score came about, at the end of a game; null before it. */
export function counting(view) {
  const counted = view.result?.counted;
  if (!counted) return null;
  const term = ({ text, count, points }) =>
    `${word(text)}: ${points === 1 ? number(count) : `${number(count)} × ${number(points)} = ${number(count * points)}`}`;
  return h(
    "section",
    { class: "card", id: "counting" },
    h("h2", {}, t("counting")),
    h(
      "div",
      { class: "counted" },
      counted.map((parts, seat) =>
        parts.length
          ? h(
              "div",
              {},
              seatTag(seat, h("b", {}, `${who(view, seat)}: ${number(view.result.scores[seat])}`)),
              h("ul", {}, parts.map(part => h("li", {}, term(part)))),
            )
          : null,
      ),
    ),
  );
}
