// The room of tools that the provider ran: which of their blocks a request may contain.
//
// A call and its result stay together, across a pause too. A call may lack its result if the answer was paused, or if it
// also called tools of ours: the provider runs its own once it gets our results and nothing else. A call made by the
// provider's code names the block of that code; if that block is left out, the call loses the reference.

import type { Warn } from "../warn.ts";
import type { Block } from "./blocks.ts";
import type { Turn } from "./turns.ts";

/** One turn and its blocks. */
export interface Laid {
  turn: Turn;
  at: number;
  blocks: readonly Block[];
  /** It has effects over any distance: a caller's cache mark, or half of a tool that the provider ran. */
  reaches: boolean;
}

/** What calls without a result may wait for. */
export interface Waiting {
  /** The request has tools that the provider runs: those called beside ours wait for our results. */
  runs: boolean;
  /** The request names a container: only there can code that has called tools wait. */
  inContainer: boolean;
}

/**
 * Leaves out calls without a result and results without a call, with a warning, unless the call may wait.
 * @param isPaused whether the answer was paused and can be continued
 */
export function pairServerTools(
  laid: Laid[],
  isPaused: (one: Laid) => boolean,
  waiting: Waiting,
  warn: Warn,
): void {
  const opened = new Map<string, { one: Laid; block: Block }>();
  const closed = new Set<string>();
  const callers = new Set<string>();
  const unpaired = new Set<Block>();
  for (const one of laid)
    for (const block of one.blocks) {
      const { opens, closes, calledBy } = block;
      if (calledBy !== undefined) callers.add(calledBy.id);
      if (opens !== undefined) {
        if (opened.has(opens)) unpaired.add(block);
        else opened.set(opens, { one, block });
      }
      if (closes === undefined) continue;
      if (!opened.has(closes) || closed.has(closes)) unpaired.add(block);
      else closed.add(closes);
    }
  const last = laid.at(-1);
  const lastSaid = laid.findLastIndex(({ turn, blocks }) =>
    turn.kind === "user" ? blocks.length > 0 : blocks.some(({ behind }) => behind),
  );
  for (const [id, { one, block }] of opened) {
    if (closed.has(id)) continue;
    const isAnswered =
      waiting.runs && last?.turn.kind === "results" && laid.indexOf(one) > lastSaid && calls(one);
    const waits = isAnswered || (one === last && isPaused(one));
    if (waits && (waiting.inContainer || !callers.has(id))) continue;
    unpaired.add(block);
    opened.delete(id);
  }
  if (unpaired.size > 0)
    warn(
      "server_tool_unpaired",
      "a tool that the provider ran lacks its call or its result: what is left of it was left out",
    );
  for (const one of laid) one.blocks = standing(one.blocks, unpaired, opened);
}

/** Whether the answer ended with its calls. If it was cut off, its calls were too. */
const calls = ({ turn }: Laid): boolean => turn.kind === "assistant" && turn.message.stop.kind === "tool_use";

/** The blocks that stay; references to code that was left out are removed. */
function standing(
  blocks: readonly Block[],
  unpaired: ReadonlySet<Block>,
  opened: ReadonlyMap<string, unknown>,
): readonly Block[] {
  const isOrphan = ({ calledBy }: Block): boolean => calledBy !== undefined && !opened.has(calledBy.id);
  if (!blocks.some((block) => unpaired.has(block) || isOrphan(block))) return blocks;
  return blocks
    .filter((block) => !unpaired.has(block))
    .map((block) => (isOrphan(block) ? { ...block, json: block.calledBy?.alone ?? block.json } : block));
}
