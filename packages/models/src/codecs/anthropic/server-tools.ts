// The room of tools that the provider ran: which of their blocks may stand in a request.
//
// A call and its result stay together, over a pause too. A call may wait for its result where the answer was paused, and
// where it called tools of ours beside it: the provider runs it when it is given our results, and nothing but them. What
// the code that it runs has called names that code; where the code is gone, the call stands by itself.

import type { Warn } from "../warn.ts";
import type { Block } from "./blocks.ts";
import type { Turn } from "./turns.ts";

/** One turn, and the blocks it becomes. */
export interface Laid {
  turn: Turn;
  at: number;
  blocks: readonly Block[];
  /** It holds what reaches over any distance: a mark of the caller's, or half of a tool that the provider ran. */
  reaches: boolean;
}

/** What calls without a result may wait for. */
export interface Waiting {
  /** Tools of the provider's can run: what was called beside ours waits for our results. */
  runs: boolean;
  /** The request names a container: code that has called tools waits there, and nowhere else. */
  inContainer: boolean;
}

/**
 * One without the other is left out, with a warning, unless it may wait.
 * @param isPaused whether the answer was paused, and can be gone on with
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
  const lastSaid = laid.findLastIndex(({ turn, blocks }) => turn.kind === "user" && blocks.length > 0);
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

/** Whether the answer ended for its calls. One that was cut holds what was cut. */
const calls = ({ turn }: Laid): boolean => turn.kind === "assistant" && turn.message.stop.kind === "tool_use";

/** The blocks that stay; what named code that is gone, without that name. */
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
