// The room of plots: one SVG per scenario, one bar per subject.

export interface Bar {
  label: string;
  value: number;
  /** Printed after the bar. */
  text: string;
  kind: "floor" | "rondo" | "peer";
}

const colours = { floor: "#8a8f98", rondo: "#2563eb", peer: "#d1d5db" };
const escaped = (text: string): string =>
  text.replace(
    /[&<>"]/g,
    (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[char] ?? char,
  );

/**
 * Bars from the shortest to the longest. A bar longer than `most` is cut there, drawn with a gap and its figure, so that
 * it does not flatten the others.
 */
export function plot(title: string, unit: string, bars: readonly Bar[], most: number): string {
  const [row, top, left, width, right] = [24, 54, 240, 420, 170];
  const sorted = bars.toSorted((one, other) => one.value - other.value);
  const scale = width / Math.min(most, Math.max(...sorted.map(({ value }) => value)));
  const height = top + sorted.length * row + 12;
  const lines = sorted.map(({ label, value, text, kind }, at) => {
    const y = top + at * row;
    const length = Math.max(1, Math.min(value, most) * scale);
    const gap =
      value > most
        ? `<path d="M${left + length - 16} ${y + 20}l6 -18" stroke="white" stroke-width="4"/>`
        : "";
    return `<text x="${left - 8}" y="${y + 15}" text-anchor="end">${escaped(label)}</text><rect x="${left}" y="${y + 3}" width="${length.toFixed(1)}" height="16" fill="${colours[kind]}"/>${gap}<text x="${(left + length + 6).toFixed(1)}" y="${y + 15}">${escaped(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + width + right}" height="${height}" viewBox="0 0 ${left + width + right} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="#111827">
<rect width="100%" height="100%" fill="white"/>
<text x="12" y="20" font-size="15" font-weight="600">${escaped(title)}</text>
<text x="12" y="38" fill="#6b7280">${escaped(unit)}</text>
${lines.join("\n")}
</svg>
`;
}
