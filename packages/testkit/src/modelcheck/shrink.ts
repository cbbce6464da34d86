// The room of the shortest story: a path to something broken, with nothing in it that could be left out.
//
// The path that an exploration came by is long, because it went deep. It is walked again without parts of it, large parts
// first, as long as the same thing breaks; what cannot happen any more on the shorter way is passed over.

import {
  brokenByRefold,
  emptyReport,
  type Finding,
  movesOf,
  type Node,
  type Subject,
  startOf,
  stepsOf,
} from "./explore.ts";

/** Walks so many steps at most, over all attempts. */
const patience = 200_000;

/** The finding, its path made as short as it gets by leaving things out. */
export function shrunk(subject: Subject, finding: Finding): Finding {
  let best = finding.path.slice(1);
  let walked = 0;
  for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    let again = true;
    while (again && walked < patience) {
      again = false;
      for (let from = 0; from < best.length && walked < patience; ) {
        const shorter = walk(subject, [...best.slice(0, from), ...best.slice(from + size)], finding.broken);
        walked += best.length;
        if (shorter !== undefined && shorter.length < best.length) {
          best = shorter;
          again = size === 1;
        } else from += size;
      }
    }
  }
  return { ...finding, path: ["start", ...best] };
}

/** The steps to where it breaks; nothing when it does not. */
function walk(subject: Subject, steps: readonly string[], broken: string): string[] | undefined {
  const report = emptyReport();
  let node: Node = startOf(subject, report);
  const found = (): string[] | undefined => {
    const { path } = report.findings.find((one) => one.broken === broken) ?? {};
    return path?.slice(1);
  };
  for (const step of steps) {
    const moves = movesOf(node, subject, report);
    if (found() !== undefined) return found();
    const move =
      moves.find((one) => one.step === step) ?? moves.find((one) => nameless(one.step) === nameless(step));
    const next = move?.take();
    if (found() !== undefined) return found();
    if (move !== undefined && next === undefined) return undefined;
    node = next ?? node;
  }
  // What breaks with the decision after the last step is seen there.
  movesOf(node, subject, report);
  if (found() !== undefined) return found();
  const refolded = subject.asksAgain === true && brokenByRefold(node, subject).includes(broken);
  return refolded ? stepsOf(node.path).slice(1) : undefined;
}

/** Calls have other keys on another way. */
const nameless = (step: string): string => step.replaceAll(/\d+/g, "");
