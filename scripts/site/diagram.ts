// The room of the loop's diagram: the table's phases and transitions, as one SVG.
//
// Positions are chosen by hand, edges come from the table: a phase without a position is an error. Colours are the
// page's. Transitions of a normal run are drawn bolder; pointing at a phase highlights where it leads.

import { type Phase, table } from "@rondo/core";

const width = 140;
const height = 44;
/** How far an edge bends to its right, so that edges in opposite directions do not overlap. */
const bend = 30;

const places: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ready: [320, 50],
  thinking: [640, 50],
  judging: [640, 220],
  acting: [320, 220],
  compacting: [480, 135],
  finishing: [480, 380],
  idle: [180, 380],
  cancelling: [90, 220],
};

/** Edges that would cross another phase bend more, or to the other side. */
const detours: Readonly<Record<string, number>> = {
  "judging ready": 120,
  "compacting idle": -120,
  "finishing ready": 40,
};

const mainWay: readonly (readonly [Phase, Phase])[] = [
  ["ready", "thinking"],
  ["thinking", "judging"],
  ["judging", "acting"],
  ["acting", "ready"],
  ["judging", "finishing"],
  ["finishing", "idle"],
];

/** The diagram on one line, because Markdown ends a block of HTML at an empty line. */
export function loopDiagram(): string {
  const phases = Object.keys(table) as Phase[];
  const groups = phases.map((from) => {
    const to = [...new Set(table[from].flatMap((row) => row.to))].filter((phase) => phase !== from);
    return `<g class="phase">${to.map((phase) => edge(from, phase)).join("")}${node(from)}</g>`;
  });
  for (const [from, to] of mainWay)
    if (!table[from].some((row) => row.to.includes(to)))
      throw new Error(`the diagram draws ${from} to ${to}, which the table does not have`);
  const about = "The phases of a run, and which may follow which";
  return `<div class="loop-diagram"><svg viewBox="0 0 730 430" role="img" aria-label="${about}">${groups.join("")}</svg><p>Point at a phase to see where it leads. Drawn strong: a run in which nothing goes wrong.</p></div>`;
}

function node(phase: Phase): string {
  const [x, y] = placeOf(phase);
  const box = `<rect x="${x - width / 2}" y="${y - height / 2}" width="${width}" height="${height}" rx="10"/>`;
  return `${box}<text x="${x}" y="${y + 5}">${phase}</text>`;
}

function edge(from: Phase, to: Phase): string {
  const [ax, ay] = placeOf(from);
  const [bx, by] = placeOf(to);
  const length = Math.hypot(bx - ax, by - ay);
  const aside = detours[`${from} ${to}`] ?? bend;
  const cx = (ax + bx) / 2 + (-(by - ay) / length) * aside;
  const cy = (ay + by) / 2 + ((bx - ax) / length) * aside;
  const [sx, sy] = border(ax, ay, cx, cy, 0);
  const [ex, ey] = border(bx, by, cx, cy, 9);
  const angle = (Math.atan2(ey - cy, ex - cx) * 180) / Math.PI;
  const main = mainWay.some(([one, other]) => one === from && other === to) ? "main" : "";
  const line = `<path class="${main}" d="M${round(sx)} ${round(sy)}Q${round(cx)} ${round(cy)} ${round(ex)} ${round(ey)}"/>`;
  const tip = `<path class="tip ${main}" d="M0 -5L10 0L0 5Z" transform="translate(${round(ex)} ${round(ey)}) rotate(${round(angle)})"/>`;
  return line + tip;
}

/** Where the line from a box's centre to a point leaves the box, plus `gap`. */
function border(x: number, y: number, toX: number, toY: number, gap: number): [number, number] {
  const dx = toX - x;
  const dy = toY - y;
  const share = Math.min(
    dx === 0 ? Number.POSITIVE_INFINITY : width / 2 / Math.abs(dx),
    dy === 0 ? Number.POSITIVE_INFINITY : height / 2 / Math.abs(dy),
  );
  const further = share + gap / Math.hypot(dx, dy);
  return [x + dx * further, y + dy * further];
}

function placeOf(phase: Phase): readonly [number, number] {
  const place = places[phase];
  if (place === undefined) throw new Error(`the diagram has no place for the phase ${phase}`);
  return place;
}

const round = (value: number): number => Math.round(value * 10) / 10;
