// Logs that are dropped on the page, or chosen: sent, checked and listed.
import { fill, h, many, query, send, settings, t } from "./page.js";

/** Files that were dropped: what is in folders, too, 500 at most. */
export async function droppedFiles(entries) {
  const found = [];
  const walk = async entry => {
    if (found.length >= 500) return;
    if (entry instanceof File) found.push(entry);
    else if (entry.isFile) found.push(await new Promise((done, failed) => entry.file(done, failed)));
    else {
      const reader = entry.createReader();
      for (;;) {
        const some = await new Promise((done, failed) => reader.readEntries(done, failed));
        if (!some.length) return;
        for (const one of some) await walk(one);
      }
    }
  };
  for (const entry of entries) await walk(entry);
  return found;
}

let waiting = [];
/** Files for the next look at #/review. */
export function takeFiles(files) {
  waiting = files;
}

export async function openLogs(main, { games }) {
  const list = h("ul", { class: "plain", id: "logs" }),
    recent = settings.get("logs", []);
  const line = ({ id, name, about, complaint }) =>
    h(
      "li",
      {},
      id ? h("a", { href: "#/review?log=" + id }, name) : h("span", {}, name),
      " ",
      h("span", { class: complaint ? "bad" : "dim" }, complaint || about),
    );
  async function open(files) {
    if (!files.length) return;
    fill(list);
    let only = null;
    for (const file of files) {
      const row = h("li", { class: "dim" }, `${file.name} …`);
      list.append(row);
      try {
        if (file.size > games.limits.log_bytes) throw new Error(t("too_large", { n: many(games.limits.log_bytes) }));
        const made = await send("logs?" + query({ name: file.name }), file),
          view = made.view;
        const entry = {
          id: made.id,
          name: file.name,
          about: `${view.title}: ${view.players.filter(p => p != null).join(", ")}`,
        };
        only = made.id;
        settings.set("logs", [entry, ...settings.get("logs", []).filter(l => l.id !== made.id)].slice(0, 20));
        row.replaceWith(line(entry));
      } catch (error) {
        row.replaceWith(line({ name: file.name, complaint: error.message }));
      }
    }
    if (files.length === 1 && only) location.hash = "#/review?log=" + only;
  }
  const pick = (folder, key) => {
    const field = h("input", {
      type: "file",
      multiple: true,
      class: "hidden-text",
      id: folder ? "pick-folder" : "pick",
      "aria-label": t(key),
      onchange: event => open([...event.target.files]),
    });
    if (folder) field.webkitdirectory = true;
    return h("label", { class: "button" }, t(key), field);
  };
  main.append(
    h(
      "section",
      { class: "card drop", id: "drop" },
      h("h1", {}, t("review")),
      h("p", {}, t("drop_here")),
      h("p", { class: "actions" }, pick(false, "pick_files"), pick(true, "pick_folder")),
      h("p", { class: "dim" }, t("drop_note")),
    ),
    h("section", { class: "card" }, h("h2", {}, t("logs")), list),
  );
  if (recent.length) list.append(...recent.map(line));
  else list.append(h("li", { class: "dim" }, t("none_now")));
  const files = waiting;
  waiting = [];
  await open(files);
}
