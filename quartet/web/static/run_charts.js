// The charts of a run, drawn by uPlot.
import { get, h, number, t, word } from "./page.js";

let plotting = null;
/** Load uPlot once. */
function plotter() {
  plotting ??= new Promise((done, failed) => {
    document.head.append(
      h("link", { rel: "stylesheet", href: "static/vendor/uPlot.css" }),
      h("script", {
        src: "static/vendor/uPlot.js",
        onload: () => done(window.uPlot),
        onerror: () => {
          plotting = null; // the next call tries again
          failed(new Error("uPlot"));
        },
      }),
    );
  });
  return plotting;
}
/** The computed colour of a CSS variable. */
const colour = name => {
  const probe = h("span", {});
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
};

const unitText = unit => (unit === "Elo" ? t("elo") : word(unit));

/** Give charts the zoom of the earlier ones. */
export function keepZoom(earlier, charts) {
  earlier.forEach(({ data: [xs], scales: { x } }, i) => {
    const isZoomed = x.min > xs[0] || x.max < xs.at(-1);
    if (isZoomed) charts[i]?.setScale("x", { min: x.min, max: x.max });
  });
}

/** Fetch and draw the curves of a run: {element, charts}. The caller destroys the charts. */
export async function drawCharts(run, width) {
  const [series, uPlot] = await Promise.all([get(`runs/${encodeURIComponent(run)}/series`), plotter()]);
  const charts = [],
    box = h("div", { id: "charts" });
  if (!series.curves.some(c => c.games.length > 1)) return { element: h("p", { class: "dim" }, t("no_curves")), charts };
  series.curves.forEach((curve, i) => {
    const ink = colour("--ink"),
      grid = colour("--line"),
      own = colour(`--seat${(i + 2) % 4}`),
      dim = colour("--dim");
    const isShare = curve.unit === "share",
      scaled = values => (isShare ? values.map(x => (x == null ? null : 100 * x)) : values);
    const xs = curve.games,
      data = [xs, scaled(curve.values)],
      lines = [
        { label: t("games") },
        { label: word(curve.name), stroke: own, width: 2, points: { show: xs.length < 3 } },
      ],
      bands = [];
    if (curve.low && curve.high) {
      data.push(scaled(curve.high), scaled(curve.low));
      lines.push(
        { label: t("upper"), stroke: own, width: 0.5, dash: [4, 4], points: { show: false } },
        { label: t("lower"), stroke: own, width: 0.5, dash: [4, 4], points: { show: false } },
      );
      bands.push({ series: [2, 3], fill: own.replace("rgb(", "rgba(").replace(")", ", 0.15)") });
    }
    for (const [k, bound] of (curve.bounds || []).entries()) {
      data.push(xs.map(() => bound));
      lines.push({ label: t("accept", { h: `H${k}` }), stroke: dim, width: 1, dash: [8, 4], points: { show: false } });
    }
    const unit = isShare ? "%" : curve.unit === curve.name ? "" : unitText(curve.unit);
    const title = [word(curve.name), unit, curve.low ? t("interval95") : ""].filter(Boolean).join(", ");
    const last = scaled(curve.values).findLast(x => x != null);
    const holder = h("figure", { role: "img", "aria-label": `${title}: ${number(last)}` }, h("figcaption", {}, title));
    box.append(holder);
    for (const line of lines) line.value = (_, x) => number(x);
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, values: (_, marks) => marks.map(x => number(x, 3)) };
    charts.push(
      new uPlot(
        {
          width: Math.max(280, width - 4),
          height: 230,
          scales: { x: { time: false }, ...(isShare ? { y: { range: [0, 100] } } : {}) },
          series: lines,
          bands,
          axes: [
            { ...axis, label: t("games"), labelSize: 20 },
            { ...axis, size: 60 },
          ],
          cursor: { drag: { x: true, y: false } },
        },
        data,
        holder,
      ),
    );
  });
  return { element: box, charts };
}
