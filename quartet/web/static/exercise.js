// The exercise: the user finds better moves for the mistakes of a game.
import { fill, h, moveText, percent, say, seatTag, t, who } from "./page.js";
import { TO_FIND } from "./judged.js";

export class Exercise {
  /** `turnAt(i)` is the review of a turn, `threshold()` the loss of a good move, `judge(i, parts)` the server's answer to
      a try; `posed(i)` shows a turn, `ended()` returns to the game, `draw()` draws the board. */
  constructor(view, { turnAt, threshold, judge, posed, ended, draw }) {
    Object.assign(this, { view, turnAt, threshold, judge, posed, ended, draw, task: null });
    this.element = h("section", { class: "card", id: "exercise" });
  }

  /** The numbers of the mistakes of a seat, or of all seats. */
  mistakes(seat) {
    return this.view.turns
      .map((turn, i) => i)
      .filter(i => TO_FIND.includes(this.turnAt(i)?.label) && (seat === "" || this.view.turns[i].seat === +seat));
  }

  /** Continue the task of the same review in another language; a try that is being judged is forgotten. */
  resume(task) {
    if (task) this.task = { ...task, judging: false, said: task.judging ? null : task.said };
  }

  show() {
    if (this.task) this.showTask();
    else this.showStart();
  }

  showStart() {
    const all = this.mistakes("");
    this.element.hidden = !all.length;
    const choice = h(
      "select",
      { id: "exercise-seat", "aria-label": t("whose_mistakes") },
      h("option", { value: "" }, t("everybody")),
      this.view.players.map((p, s) => (p == null ? null : h("option", { value: s }, who(this.view, s)))),
    );
    fill(
      this.element,
      h("h2", {}, t("exercise")),
      h(
        "p",
        { class: "actions" },
        choice,
        h(
          "button",
          {
            type: "button",
            class: "main",
            id: "exercise-start",
            onclick: () => {
              const left = this.mistakes(choice.value);
              return left.length ? this.pose({ left, at: 0, solved: 0 }) : say(t("no_mistakes"));
            },
          },
          t("exercise_start", { n: all.length }),
        ),
      ),
    );
  }

  showTask() {
    const { number: i, at, left, said, done } = this.task,
      turn = this.view.turns[i];
    const button = (id, main, text, onclick) =>
      h("button", { type: "button", id: "exercise-" + id, class: main ? "main" : "", onclick }, t(text));
    fill(
      this.element,
      h("h2", {}, t("exercise_of", { at: at + 1, n: left.length })),
      h(
        "p",
        { id: "exercise-text", role: "status" },
        seatTag(turn.seat, h("b", {}, who(this.view, turn.seat))),
        " ",
        t("exercise_text", { move: moveText(turn), x: percent(this.turnAt(i)?.loss) }),
      ),
      said ? h("p", { class: done ? "good" : "bad", id: "exercise-said", role: "status" }, said()) : null,
      h(
        "p",
        { class: "actions" },
        done
          ? button("retry", false, "exercise_retry", () => this.retry())
          : button("show", false, "show_solution", () => this.solve()),
        button("next", done, "next", () => this.next()),
        button("stop", false, "stop", () => this.leave()),
      ),
    );
  }

  pose(task) {
    this.task = { ...task, number: task.left[task.at], said: null }; // `said` returns a text in the current language
    this.posed(this.task.number);
    this.show();
  }

  solve() {
    const best = this.turnAt(this.task.number)?.best;
    Object.assign(this.task, {
      done: true,
      shown: best?.parts || [],
      said: () => t("solution", { move: best ? moveText(best) : "–" }),
    });
    this.show();
    this.draw();
  }

  /** Pose the same task again; it counts once. */
  retry() {
    this.task = { ...this.task, done: false, judging: false, again: true, shown: null, said: null };
    this.posed(this.task.number);
    this.show();
  }

  next() {
    const { left, at, solved } = this.task;
    if (at + 1 < left.length) return this.pose({ left, at: at + 1, solved });
    say(t("exercise_done", { n: solved, of: left.length }));
    return this.leave();
  }

  async attempt(choice) {
    const mine = this.task,
      i = mine.number;
    if (mine.done || mine.judging) return;
    Object.assign(mine, { judging: true, said: () => t("looking") });
    this.show();
    let got;
    try {
      got = await this.judge(i, choice.parts);
    } catch (error) {
      if (!mine.done) mine.said = null;
      this.show();
      throw error;
    } finally {
      mine.judging = false;
    }
    if (this.task !== mine || mine.done) return; // the user has gone on, or has seen the solution
    const loss = got.loss ?? null,
      was = this.turnAt(i)?.loss ?? 0;
    const good = got.is_best || (loss != null && loss < this.threshold());
    const key = got.is_best
      ? "try_best"
      : good
        ? "try_good"
        : got.move === this.view.turns[i].move
          ? "try_same"
          : loss != null && loss < was
            ? "try_less"
            : "try_bad";
    mine.shown = choice.parts;
    mine.said = () => t(key, { move: moveText(got), x: percent(Math.max(0, loss ?? 0)) });
    if (good) Object.assign(mine, { done: true, solved: mine.solved + !mine.again });
    this.show();
    this.draw();
    const { top, bottom } = this.element.getBoundingClientRect();
    if (bottom < 0 || top > innerHeight) say(mine.said()); // on a phone, the board has all the room
  }

  /** End the exercise. */
  stop() {
    if (!this.task) return;
    this.task = null;
    this.show();
  }

  leave() {
    this.stop();
    this.ended();
  }
}
