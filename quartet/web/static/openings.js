// Which games have reached the shown position, and what was played in it.
import { fill, h, many, moment, moveText, number, post, settings, sourceQuery, t, table, word } from "./page.js";

const PAUSE = 150; // ms after the last step
const AGAIN = 1000; // ms between two looks while games are being read
const FEW = 10; // games in the list
const MOST = 1000;

export class Openings {
  /** `from()` returns the position, null if there is none to look up; `labels()` returns the names of the seats. A
      move leads to the address `link(move)`, or calls `enter(move)`. */
  constructor(owner) {
    Object.assign(this, { owner, limit: FEW, turn: 0 });
    this.box = h("input", { type: "checkbox", id: "look-up", checked: settings.get("openings", false) });
    this.box.addEventListener("change", () => {
      settings.set("openings", this.box.checked);
      this.moved();
    });
    this.note = h("p", { class: "dim", id: "openings-note", role: "status" });
    this.list = h("div", {});
    this.element = h(
      "section",
      { class: "card", id: "openings" },
      h("h2", {}, t("openings")),
      h("label", { class: "check" }, this.box, " ", t("look_up")),
      this.note,
      this.list,
    );
  }

  /** The shown position has changed. */
  moved() {
    this.limit = FEW;
    this.shown = null;
    this.wait(PAUSE);
  }

  wait(ms) {
    clearTimeout(this.timer);
    const turn = ++this.turn,
      source = this.box.checked ? this.owner.from() : null;
    this.note.hidden = !source;
    if (!source) fill(this.list);
    else this.timer = setTimeout(() => this.look(turn, source), ms);
  }

  async look(turn, from) {
    let found;
    try {
      found = await post("openings", { from, limit: this.limit });
    } catch (error) {
      found = { error: error.message };
    }
    if (turn !== this.turn) return;
    if (found.error) {
      this.shown = null;
      this.note.textContent = found.error;
      fill(this.list);
      return;
    }
    this.show(found);
    if (found.left) this.wait(AGAIN);
  }

  show(found) {
    const { read, left, moves, games } = found,
      all = found.all;
    this.note.textContent = [
      t("openings_found", { n: all.games, of: read }),
      all.games ? t("openings_mover", { who: this.owner.labels()[found.to_move] }) : "",
      left > 0 ? t("openings_left", { n: many(left) }) : left < 0 ? t("openings_listing") : "",
    ]
      .filter(Boolean)
      .join(" ");
    if (left && JSON.stringify(all) === this.shown) return;
    this.shown = JSON.stringify(all);
    const share = row => number(100 * row.share, 1, 1) + (row.error95 == null ? "" : ` ± ${number(100 * row.error95, 1, 1)}`);
    const columns = [
      { title: t("move"), value: row => (row.all ? t("openings_all") : this.move(row)) },
      { title: t("games"), kind: "n", value: row => row.games },
      { title: "%", kind: "n", value: row => number((100 * row.games) / all.games, 1) },
      { title: t("score95"), kind: "n", value: row => (row.share == null ? "–" : share(row)) },
    ];
    const more = () => {
      this.limit = Math.min(MOST, this.limit * 10);
      this.shown = null;
      this.wait(0);
    };
    fill(
      this.list,
      moves.length
        ? h(
            "div",
            { class: "scroll", tabindex: 0, "aria-label": t("openings") },
            table(columns, [...moves, { ...all, all: true }]),
          )
        : null,
      games.length ? h("h3", {}, t("openings_games")) : null,
      h("ul", { class: "plain", id: "openings-games" }, games.map(game => this.game(game))),
      games.length < Math.min(all.games, MOST) ? h("button", { type: "button", id: "openings-more", onclick: more }, t("more")) : null,
    );
  }

  move(row) {
    const text = word(moveText(row)),
      { link, enter } = this.owner;
    return link
      ? h("a", { href: link(row.move) }, text)
      : h("button", { type: "button", class: "line-move", onclick: () => enter(row.move) }, text);
  }

  /** A line of the list: the players with their win shares, the log, and when it was written. */
  game({ source, name, players, shares, time, step }) {
    const labels = this.owner.labels();
    const text = players.map((name, seat) => `${word(name || labels[seat])} ${number(shares[seat])}`).join(" – ");
    return h(
      "li",
      {},
      h("a", { href: "#/review?" + sourceQuery({ ...source, step }) }, text),
      " ",
      h("span", { class: "dim" }, name ? h("span", { translate: "no" }, name, ", ") : "", moment(time)),
    );
  }

  close() {
    clearTimeout(this.timer);
    this.turn += 1;
  }
}
