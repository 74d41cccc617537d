// Engine analysis of the shown position, line by line, by one engine or by two side by side.
import { fill, follow, h, many, number, percent, post, remove, say, t, word } from "./page.js";

const RESTART = 250; // ms after the last step

/** One engine: it can be chosen, started and stopped. */
class EnginePanel {
  constructor(owner, players, player, id) {
    Object.assign(this, { owner, player, analysis: null, rows: [] });
    this.button = h("button", { type: "button", id, onclick: () => this.toggle() });
    this.choice = h(
      "select",
      { id: id + "-player", "aria-label": t("analysis_by"), onchange: () => this.choose(this.choice.value) },
      players.map(name => h("option", { value: name, selected: name === player }, word(name))),
    );
    this.error = h("p", { class: "bad", hidden: true });
    this.list = h("div", { class: "engine-lines" });
    this.element = h("div", {}, h("p", { class: "actions" }, this.choice, this.button), this.error, this.list);
    this.show();
  }

  choose(player) {
    this.player = player;
    if (this.analysis) this.begin();
  }

  toggle() {
    if (this.analysis) this.stop();
    else this.begin();
  }

  begin() {
    this.analysis = { lines: [] };
    this.start();
    this.show();
  }

  /** The shown position has changed. */
  moved() {
    clearTimeout(this.timer);
    if (this.analysis) this.timer = setTimeout(() => this.start(), RESTART);
  }

  async start() {
    await this.end();
    if (!this.analysis) return;
    const source = this.owner.from(),
      mine = (this.analysis = { lines: [], source });
    this.show();
    this.owner.draw(); // without the lines of the last position
    if (this.owner.paused()) return;
    let started;
    try {
      started = await post("analyses", {
        from: source,
        player: this.player,
        options: {},
        seconds: null,
        nodes: null,
        lines: 3,
      });
    } catch (error) {
      if (this.analysis !== mine) return;
      this.stop();
      say(error.message, true);
      return;
    }
    if (this.analysis !== mine) {
      await remove("analyses/" + started.id).catch(() => {});
      return;
    }
    this.id = started.id;
    const add = l => {
      mine.lines = [...mine.lines.filter(o => o.rank !== l.rank), l].sort((a, b) => a.rank - b.rank);
    };
    const shown = () => {
      if (this.analysis !== mine) return;
      this.show();
      this.owner.draw();
    };
    this.unfollow = follow("analysis/" + this.id, {
      state: event => {
        for (const l of event.analysis.lines) add(l);
        shown();
      },
      line: event => {
        add(event.line);
        shown();
      },
      end: event => {
        mine.error = event.error;
        if (!mine.lines.length && event.best) add({ rank: 1, line: [event.best.move], parts: [event.best.parts] });
        shown();
      },
      gone: () => this.moved(), // a new server does not know it
    });
  }

  async end() {
    const id = this.id;
    this.id = null;
    if (this.unfollow) this.unfollow();
    this.unfollow = null;
    if (id) await remove("analyses/" + id).catch(() => {});
  }

  /** End the analysis. */
  close() {
    clearTimeout(this.timer);
    this.analysis = null;
    this.end();
  }

  stop() {
    this.close();
    this.show();
    this.owner.draw();
  }

  show() {
    const { analysis } = this;
    this.button.textContent = t(analysis ? "engine_off" : "engine_on");
    this.button.setAttribute("aria-pressed", String(!!analysis));
    this.error.textContent = analysis?.error || "";
    this.error.hidden = !analysis?.error;
    const lines = analysis?.lines || [];
    const byShare = lines.every(l => l.share != null); // of four players, an engine may know only the best line's
    lines.forEach((l, i) => this.showLine((this.rows[i] ??= this.row()), l, byShare, analysis.source));
    for (const row of this.rows.splice(lines.length)) row.element.remove();
  }

  row() {
    const row = { tag: h("span", { class: "rank-tag" }), value: h("b"), facts: h("span", { class: "dim" }), line: h("span") };
    row.element = h("p", { class: "engine-line" }, row.tag, " ", row.value, " ", row.facts, " ", row.line);
    this.list.append(row.element);
    return row;
  }

  /** Update a row in place: a click or the focus on a move must not get lost. */
  showLine(row, l, byShare, source) {
    row.tag.textContent = l.rank;
    row.value.textContent = byShare ? percent(l.share) : number(l.score);
    row.facts.textContent = [
      l.depth ? t("depth", { depth: l.depth }) : "",
      l.visits ? t("visits", { n: many(l.visits) }) : "",
      l.nodes ? t("nodes", { n: many(l.nodes) }) : "",
      l.nps ? t("speed", { speed: many(l.nps) }) : "",
    ]
      .filter(Boolean)
      .join(", ");
    const key = JSON.stringify([source, l.line]);
    if (row.key === key || (row.source === source && row.line.matches(":hover, :focus-within"))) return;
    Object.assign(row, { key, source });
    fill(row.line, this.owner.lines.buttons(source, l.line || [], l.parts));
  }
}

/** Analysis by one engine, or by two. */
export class Analysis {
  /** `from()` returns the position, `paused()` is true while no analysis may show, `draw()` draws the board, `lines`
      makes the buttons of moves. */
  constructor(players, owner) {
    const [first] = players;
    this.panels = [new EnginePanel(owner, players, first, "engine")];
    this.second = h("input", { type: "checkbox", id: "two-engines", onchange: () => this.pair() });
    this.make = () => new EnginePanel(owner, players, players[1] ?? first, "engine2");
    this.columns = h("div", { class: "engines" }, this.panels[0].element);
    const pair = h("label", { class: "check" }, this.second, " ", t("two_engines"));
    this.element = h("section", { class: "card", id: "analysis" }, h("h2", {}, t("analysis")), pair, this.columns);
  }

  pair() {
    if (this.second.checked) {
      const made = this.make();
      this.panels.push(made);
      this.columns.append(made.element);
      if (this.panels[0].analysis) made.begin();
    } else {
      const gone = this.panels.pop();
      gone.stop();
      gone.element.remove();
    }
  }

  /** The best line of the first engine that has one; null while none runs. */
  get best() {
    return this.panels.map(panel => panel.analysis?.lines[0]).find(Boolean) ?? null;
  }

  get running() {
    return this.panels.some(panel => panel.analysis);
  }

  /** Arrows for the lines: those of the first engine are dotted, the best one of the second is dashed. */
  arrows() {
    const [first, second] = this.panels.map(panel => panel.analysis?.lines || []);
    return [
      ...(second || []).slice(0, 1).map(l => ({ parts: l.parts[0] || [], kind: "best", width: 0.8 })),
      ...[...first]
        .reverse()
        .map(l => ({ parts: l.parts[0] || [], kind: "hint", width: 1.2 - 0.25 * l.rank, rank: l.rank })),
    ];
  }

  toggle() {
    const on = !this.panels[0].analysis;
    for (const panel of this.panels) if (!!panel.analysis !== on) panel.toggle();
  }
  moved() {
    for (const panel of this.panels) panel.moved();
  }
  stop() {
    for (const panel of this.panels) panel.stop();
  }
  close() {
    for (const panel of this.panels) panel.close();
  }
}
