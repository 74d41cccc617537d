// Draws a scene and the graph of a game as SVG, for any game. The page and the pages of reviews share it.
const NS = "http://www.w3.org/2000/svg";
const HALF = 0.47;
/** Least height of letters on a board, in pixels of the screen. */
const LEGIBLE = 10;

export function svg(parent, name, attributes, text) {
  const made = document.createElementNS(NS, name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.appendChild(made);
  return made;
}

export const seatClass = seat => "s" + (seat % 4);

/** A seat's mark: ring, cross, triangle or square. Colour alone must not distinguish seats. */
export function glyph(parent, seat, x, y, r) {
  const width = { class: "glyph " + seatClass(seat), "stroke-width": r * 0.45 };
  const path = d => svg(parent, "path", { d, ...width });
  switch (seat % 4) {
    case 0:
      return svg(parent, "circle", { cx: x, cy: y, r: r * 0.8, ...width });
    case 1:
      return path(`M${x - r * 0.7} ${y - r * 0.7}l${r * 1.4} ${r * 1.4}m0 ${-r * 1.4}l${-r * 1.4} ${r * 1.4}`);
    case 2:
      return path(`M${x} ${y - r * 0.9}l${r * 0.95} ${r * 1.6}h${-r * 1.9}z`);
    default:
      return path(`M${x - r * 0.7} ${y - r * 0.7}h${r * 1.4}v${r * 1.4}h${-r * 1.4}z`);
  }
}

/** The board after every turn: [{shown: Map(cell number -> piece number), changed: cells, hands}]. */
export function framesOf(board) {
  const frames = [];
  for (let i = 0; i < board.frames.length; i++) frames.push(nextFrame(frames[i - 1], board.frames[i], board.hands[i]));
  return frames;
}

export function nextFrame(before, changes, hands) {
  const shown = new Map(before ? before.shown : []),
    changed = [];
  for (let k = 0; k < changes.length; k += 2) {
    changed.push(changes[k]);
    if (changes[k + 1] < 0) shown.delete(changes[k]);
    else shown.set(changes[k], changes[k + 1]);
  }
  return { shown, changed: before ? changed : [], hands: hands || (before ? before.hands : []) };
}

const turned = (quarters, [x, y]) => {
  for (let i = 0; i < quarters % 4; i++) [x, y] = [-y, x];
  return [x, y];
};

/** Quarter turns that a board has unasked: one if its cells would be too small for a finger on this screen, and larger
    when it is turned. */
export function usualQuarters(board) {
  const size = k => Math.max(...board.cells.map(c => c[k])) - Math.min(...board.cells.map(c => c[k])) + 2;
  const room = Math.max(300, innerHeight - 391); // as in page.css
  const cell = (wide, high) => Math.min(innerWidth / wide, room / high);
  const flat = cell(size(1), size(2));
  return flat < 24 && cell(size(2), size(1)) > 1.1 * flat ? 1 : 0;
}

/** Layout of the board: places (name -> [x, y]), view box, labels, hands. */
function geometry(board, frame, look) {
  const quarters = look.quarters || 0,
    turn = point => turned(quarters, point);
  const spots = board.cells.map(([, x, y]) => turn([x, y]));
  const xs = spots.map(s => s[0]),
    ys = spots.map(s => s[1]);
  const flat = board.cells.map(c => c[1]),
    tall = board.cells.map(c => c[2]);
  const edge = [
    ...board.columns.map(([x, text]) => [...turn([x, Math.min(...tall) - 0.85]), text]),
    ...board.rows.map(([y, text]) => [...turn([Math.min(...flat) - 0.85, y]), text]),
  ];
  const reach = (own, k, way) => way * Math.max(...own.map(v => way * v + 0.55), ...edge.map(e => way * e[k] + 0.3));
  const left = reach(xs, 0, -1),
    right = reach(xs, 0, 1),
    top = reach(ys, 1, -1);
  let bottom = reach(ys, 1, 1);
  const places = new Map(board.cells.map((cell, i) => [cell[0], spots[i]]));
  const rows = frame.hands.map(([seat, pieces], i) => {
    const names = (look.held || []).find(h => h.seat === seat);
    bottom += 1.1;
    const spread = pieces.map((piece, k) => [left + 3.2 + k * 1.05, bottom - 0.5, piece]);
    if (names) names.cells.forEach((name, k) => spread[k] && places.set(name, spread[k].slice(0, 2)));
    return { seat, y: bottom - 0.5, spread, from: i };
  });
  if (look.pass) {
    bottom += 1.1;
    places.set("pass", [(left + right) / 2, bottom - 0.5]);
  }
  const square = board.cells.every(c => Number.isInteger(c[1]) && Number.isInteger(c[2]));
  return { spots, places, edge, rows, square, left, top, width: right - left, height: bottom - top };
}

export function drawPiece(parent, x, y, [owner, text, colour], r, kind = "") {
  const seat = colour == null ? owner : null,
    own = colour != null ? "tile t" + (colour % 4) : seat == null ? "none" : seatClass(seat);
  const group = svg(parent, "g", { class: `piece ${own} ${kind}` });
  svg(group, "circle", { cx: x, cy: y, r });
  if (/[\p{L}\p{N}]/u.test(text)) svg(group, "text", { x, y: y + 0.16 }, text);
  else if (seat != null) glyph(group, seat, x, y, r * 0.5);
  return group;
}

/**
 * Draw one frame into `root`, an <svg>.
 *
 * look, every field optional:
 *   quarters   quarter turns of the board
 *   labels     names of the seats, next to their hands
 *   held       [{seat, cells}]: names of the cells of hands
 *   pass       text of the field for a pass; null if there is none
 *   changed    a seat: outline the cells that the frame has changed in its colour
 *   moves      [{parts, seat | kind, rank, width}]: arrows; kind is "best", "hint", "played"
 *   starts, targets, taken   names of cells: possible first parts, next parts, chosen parts
 *   hover, cursor   names of cells: under the pointer, under the keyboard's cursor
 *   span       [from, to, can]: a rectangle, and whether it is a legal move
 *   lens       {values: [[cell, number]], regions: [{cells, value}], paths: [[cell]]}
 * Returns the layout.
 */
export function draw(root, board, frame, look = {}) {
  const geo = geometry(board, frame, look);
  root.replaceChildren();
  root.setAttribute("viewBox", `${geo.left} ${geo.top} ${geo.width} ${geo.height}`);
  const unit = (root.isConnected && root.getScreenCTM()?.a) || 640 / geo.width; // pixels of the screen per cell
  root.style.setProperty("--least", `${LEGIBLE / unit}px`);
  const shape = (x, y, kind, r = HALF) =>
    geo.square
      ? svg(root, "rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r, rx: 0.07, class: kind })
      : svg(root, "circle", { cx: x, cy: y, r, class: kind });
  const valued = new Set((look.lens?.values || []).map(v => v[0]));
  const named = new Set(board.cells.filter((_, i) => frame.shown.has(i)).map(c => c[0]));
  board.cells.forEach(([name, , , ground], i) => {
    const [x, y] = geo.spots[i],
      goal = /^goal(\d+)/.exec(ground);
    shape(x, y, ground === "wall" ? "cell wall" : "cell").dataset.cell = name;
    if (goal) {
      shape(x, y, `goal ${seatClass(+goal[1])}`);
      if (!frame.shown.has(i)) glyph(root, +goal[1], x, y, 0.1);
    }
    if (!board.columns.length && !board.rows.length && !frame.shown.has(i) && !valued.has(name)) {
      svg(root, "text", { x, y: y + 0.12, class: "name" }, name);
      named.add(name);
    }
  });
  for (const [x, y, text] of geo.edge) svg(root, "text", { x, y: y + 0.13, class: "edge" }, text);
  if (look.lens) drawHeat(root, geo, look.lens, shape);
  for (const [cell, piece] of frame.shown)
    drawPiece(root, ...geo.spots[cell], board.pieces[piece], 0.4).dataset.at = cell;
  for (const { seat, y, spread } of geo.rows) {
    glyph(root, seat, geo.left + 0.35, y, 0.16);
    svg(root, "text", { x: geo.left + 0.7, y: y + 0.13, class: "hand-name" }, (look.labels || [])[seat] ?? seat + 1);
    spread.forEach(([x, at, piece], k) => {
      const name = (look.held || []).find(h => h.seat === seat)?.cells[k],
        drawn = drawPiece(root, x, at, board.pieces[piece], 0.42);
      if (name) drawn.dataset.cell = name;
    });
  }
  if (look.pass) {
    const [x, y] = geo.places.get("pass"),
      field = svg(root, "g", { class: "pass", "data-cell": "pass" });
    svg(field, "rect", { x: x - 1.6, y: y - 0.42, width: 3.2, height: 0.84, rx: 0.15 });
    svg(field, "text", { x, y: y + 0.13 }, look.pass);
  }
  if (look.changed != null) {
    for (const cell of frame.changed) shape(...geo.spots[cell], `changed ${seatClass(look.changed)}`);
  }
  if (look.lens) drawLens(root, geo, look.lens);
  for (const move of look.moves || []) drawMove(root, board, frame, geo, look, move);
  const ring = (name, kind, r) => {
    const place = geo.places.get(name);
    if (!place) return;
    if (name === "pass")
      svg(root, "rect", { x: place[0] - 1.6, y: place[1] - 0.42, width: 3.2, height: 0.84, rx: 0.15, class: kind });
    else svg(root, "circle", { cx: place[0], cy: place[1], r, class: kind });
  };
  for (const name of look.starts || []) ring(name, "start", 0.44);
  for (const name of look.targets || []) {
    // a dot would hide the text of an occupied cell
    if (named.has(name)) ring(name, "target around", 0.42);
    else if (name !== "pass") ring(name, "target", name === look.hover ? 0.24 : 0.15);
  }
  if (look.span && board.corners) {
    const [from, to] = look.span.map(name => geo.places.get(name));
    if (from && to) span(root, from, to, look.span[2] ? "span can" : "span");
  }
  if (look.hover) ring(look.hover, "hover", 0.44);
  for (const name of look.taken || []) ring(name, "taken", 0.43);
  if (look.cursor) ring(look.cursor, "cursor", 0.47);
  if (look.span && board.corners) drawSum(root, board, frame, geo, ...look.span.map(name => geo.places.get(name)));
  root.dataset.cursor = look.cursor ?? "";
  return geo;
}

function drawMove(root, board, frame, geo, look, move) {
  const kind = "move " + (move.kind || "") + (move.seat == null ? "" : " " + seatClass(move.seat));
  const inHand = name => !board.cells.some(c => c[0] === name);
  const spots = move.parts
    .filter(name => !inHand(name))
    .map(name => geo.places.get(name))
    .filter(Boolean);
  if (!spots.length) return;
  const width = move.width || 1,
    last = spots[spots.length - 1],
    first = spots[0];
  if (board.corners && spots.length > 1) {
    span(root, first, last, "halo");
    span(root, first, last, kind);
  } else if (spots.length > 1 && (first[0] !== last[0] || first[1] !== last[1])) {
    const [dx, dy] = [last[0] - first[0], last[1] - first[1]],
      length = Math.hypot(dx, dy),
      [ux, uy] = [dx / length, dy / length];
    const w = 0.1 * width,
      head = 0.3 * width,
      end = [last[0] - ux * (head + 0.08), last[1] - uy * (head + 0.08)];
    svg(root, "circle", { cx: first[0], cy: first[1], r: 0.45, class: kind + " ring" });
    const shaft = { x1: first[0] + ux * 0.16, y1: first[1] + uy * 0.16, x2: end[0], y2: end[1] };
    const d = `M${last[0] - ux * 0.06} ${last[1] - uy * 0.06}L${end[0] - uy * head * 0.7} ${end[1] + ux * head * 0.7}L${end[0] + uy * head * 0.7} ${end[1] - ux * head * 0.7}z`;
    svg(root, "line", { ...shaft, class: "halo", "stroke-width": w + 0.08 });
    svg(root, "path", { d, class: "halo tip" });
    svg(root, "line", { ...shaft, class: kind, "stroke-width": w });
    svg(root, "path", { d, class: kind + " tip" });
  } else {
    const held = geo.rows
      .flatMap(row => row.spread)
      .find(([x, y]) =>
        move.parts.some(name => {
          const place = geo.places.get(name);
          return inHand(name) && place && place[0] === x && place[1] === y;
        }),
      );
    const empty = !frame.shown.has(board.cells.findIndex(c => geo.places.get(c[0]) === last));
    if (held && empty) svg(root, "circle", { cx: last[0], cy: last[1], r: 0.46, class: "cell" });
    if (held && empty) drawPiece(root, last[0], last[1], board.pieces[held[2]], 0.36, "ghost");
    svg(root, "circle", { cx: last[0], cy: last[1], r: 0.43, class: kind });
  }
  if (move.rank) {
    const at = [last[0] + 0.33, last[1] - 0.33];
    svg(root, "circle", { cx: at[0], cy: at[1], r: 0.2, class: "rank-back " + (move.kind || "") });
    svg(root, "text", { x: at[0], y: at[1] + 0.11, class: "rank" }, move.rank);
  }
}

const short = value => {
  const rounded = Math.abs(value) >= 10 ? Math.round(value) : Math.round(value * 10) / 10;
  return (rounded > 0 ? "+" : "") + rounded;
};

function drawHeat(root, geo, lens, shape) {
  const most = Math.max(1e-9, ...(lens.values || []).map(([, value]) => Math.abs(value)));
  for (const [name, value] of lens.values || []) {
    const place = geo.places.get(name);
    if (!place || !value) continue;
    shape(...place, `heat ${value > 0 ? "plus" : "minus"}`).setAttribute(
      "opacity",
      0.1 + (0.5 * Math.abs(value)) / most,
    );
  }
}

function drawLens(root, geo, lens) {
  for (const [name, value] of lens.values || []) {
    const place = geo.places.get(name);
    if (place) svg(root, "text", { x: place[0], y: place[1] + 0.11, class: "value" }, short(value));
  }
  for (const region of lens.regions || []) {
    const spots = region.cells.map(name => geo.places.get(name)).filter(Boolean);
    if (geo.square) outline(root, spots, "region");
    else bonds(root, spots, "region");
    if (region.value != null && spots.length)
      badge(
        root,
        spots.reduce((a, b) => ((b[1] - a[1] || b[0] - a[0]) < 0 ? b : a)),
        region.value,
      );
  }
  for (const cells of lens.paths || []) {
    const spots = cells.map(name => geo.places.get(name)).filter(Boolean),
      end = spots[spots.length - 1];
    if (!end) continue;
    svg(root, "polyline", { points: spots.map(s => s.join(",")).join(" "), class: "path" });
    svg(root, "circle", { cx: end[0], cy: end[1], r: 0.12, class: "path end" });
  }
}

/** The rectangle between two cells. */
function span(root, [x, y], [u, v], kind) {
  const place = { x: Math.min(x, u) - HALF, y: Math.min(y, v) - HALF };
  svg(root, "rect", { ...place, width: Math.abs(u - x) + 2 * HALF, height: Math.abs(v - y) + 2 * HALF, rx: 0.1, class: kind });
}

/** Write the sum of the numbers on the pieces in a rectangle on its upper edge. */
function drawSum(root, board, frame, geo, first, last) {
  if (!first || !last) return;
  const [[x, y], [u, v]] = [first, last];
  const inside = (a, b, c) => Math.min(a, b) - 0.1 < c && c < Math.max(a, b) + 0.1;
  const numbers = [...frame.shown]
    .filter(([cell]) => inside(x, u, geo.spots[cell][0]) && inside(y, v, geo.spots[cell][1]))
    .map(([, piece]) => board.pieces[piece][1])
    .filter(text => /^\d+$/.test(text));
  if (!numbers.length) return;
  const at = [(x + u) / 2, Math.min(y, v) - HALF];
  svg(root, "rect", { x: at[0] - 0.55, y: at[1] - 0.36, width: 1.1, height: 0.72, rx: 0.15, class: "badge" });
  const total = numbers.reduce((all, text) => all + +text, 0);
  svg(root, "text", { x: at[0], y: at[1] + 0.2, class: "badge-text sum" }, total);
}

/** A number at the corner of a cell. */
function badge(root, [x, y], value) {
  svg(root, "rect", { x: x - 0.56, y: y - 0.54, width: 0.64, height: 0.4, rx: 0.1, class: "badge" });
  svg(root, "text", { x: x - 0.24, y: y - 0.24, class: "badge-text" }, short(value));
}

/** The border of a set of squares. */
function outline(root, spots, kind) {
  const has = new Set(spots.map(([x, y]) => `${x},${y}`)),
    lines = [];
  for (const [x, y] of spots) {
    const r = 0.45;
    if (!has.has(`${x},${y - 1}`)) lines.push(`M${x - r} ${y - r}h${2 * r}`);
    if (!has.has(`${x},${y + 1}`)) lines.push(`M${x - r} ${y + r}h${2 * r}`);
    if (!has.has(`${x - 1},${y}`)) lines.push(`M${x - r} ${y - r}v${2 * r}`);
    if (!has.has(`${x + 1},${y}`)) lines.push(`M${x + r} ${y - r}v${2 * r}`);
  }
  svg(root, "path", { d: lines.join(""), class: kind });
}

/** Rings around cells that form no grid, and bars between neighbours. */
function bonds(root, spots, kind) {
  for (const [i, [x, y]] of spots.entries()) {
    svg(root, "circle", { cx: x, cy: y, r: 0.45, class: kind });
    for (const [u, v] of spots.slice(i + 1)) {
      if (Math.hypot(u - x, v - y) < 1.1) svg(root, "line", { x1: x, y1: y, x2: u, y2: v, class: kind });
    }
  }
}

const PAD = 42,
  FOOT = 22;

/**
 * Draw the graph of a game: a line per seat.
 *
 * data:
 *   curves   [{seat, points: [0..1 | null for every step]}]
 *   ticks    [[0..1, text]] on the left
 *   flaws    [{step, seat, value, sign}]: marks on a curve
 *   times    [{step, seat, share}]: bars; share of the longest time
 *   steps    number of steps; at: the step that is shown
 *   height   of the drawing; 210 by default
 */
export function drawGraph(root, data) {
  const width = Math.max(280, Math.min(640, root.clientWidth || 640)), // so that text has the same size on a phone
    height = data.height || 210;
  root.replaceChildren();
  root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const last = Math.max(1, data.steps),
    X = step => PAD + ((width - PAD - 10) * step) / last,
    Y = p => 8 + (height - FOOT - 12) * (1 - p);
  for (const [p, text] of data.ticks) {
    svg(root, "line", { x1: PAD, x2: width - 10, y1: Y(p), y2: Y(p), class: "axis" });
    svg(root, "text", { x: PAD - 5, y: Y(p) + 4, "text-anchor": "end" }, text);
  }
  const bar = (width - PAD - 10) / last;
  for (const time of data.times || []) {
    const tall = 40 * time.share;
    svg(root, "rect", {
      x: X(time.step) - bar * 0.4,
      y: Y(0) - tall,
      width: bar * 0.8,
      height: tall,
      class: `time ${seatClass(time.seat)}`,
    });
  }
  for (const { seat, points } of data.curves) {
    let d = "",
      pen = "M";
    points.forEach((p, i) => {
      if (p == null) pen = "M";
      else {
        d += `${pen}${X(i).toFixed(1)} ${Y(p).toFixed(1)}`;
        pen = "L";
      }
    });
    svg(root, "path", { d, class: `curve ${seatClass(seat)}` });
    const end = points.findLastIndex(p => p != null);
    if (end >= 0) glyph(root, seat, X(end) + 1, Y(points[end]), 5);
  }
  for (const flaw of data.flaws || []) {
    svg(root, "circle", { cx: X(flaw.step), cy: Y(flaw.value), r: 4, class: `flaw ${seatClass(flaw.seat)}` });
    svg(root, "text", { x: X(flaw.step), y: Y(flaw.value) - 7, class: "flaw-text" }, flaw.sign);
  }
  svg(root, "line", { x1: X(data.at), x2: X(data.at), y1: 6, y2: Y(0), class: "now" });
  svg(root, "text", { x: PAD, y: height - 4 }, "0");
  svg(root, "text", { x: width - 10, y: height - 4, "text-anchor": "end" }, String(data.steps));
}

/** The step under the pointer. */
export function stepAt(root, event, steps) {
  const box = root.getBoundingClientRect(),
    width = root.viewBox.baseVal.width;
  return Math.round(
    ((((event.clientX - box.left) / box.width) * width - PAD) / (width - PAD - 10)) * Math.max(1, steps),
  );
}
