// The room of cache marks: where a request tells the provider that its prefix may be kept.
//
// At most four. The caller's own count first; of what is left, the newest message matters most (the next request reads
// up to it), then the system prompt, the tools, and the newest user message before the last (what the request before
// wrote). Marks are the only bytes of a prefix that move. One that keeps for an hour may not follow one that keeps for less:
// where the caller's would, ours is left out.

/** A message whose blocks can be marked, by block index. */
export interface Marked {
  role: "user" | "assistant";
  blocks: readonly { json: string; mark?: string; thinking?: boolean }[];
  marks: Map<number, string>;
}

type Markable = { json: string; mark?: string };

/** The most marks in one request. */
export const mostMarks = 4;

/** Places the marks; returns how many of the caller's own had to be left out, oldest of the messages first. */
export function placeMarks(
  automatic: string | undefined,
  tools: Markable[],
  system: Markable[],
  messages: readonly Marked[],
): number {
  let left = mostMarks;
  let dropped = 0;
  for (const block of [...tools, ...system]) {
    if (block.mark === undefined) continue;
    if (left > 0) left--;
    else {
      delete block.mark;
      dropped++;
    }
  }
  for (const message of [...messages].reverse())
    for (let at = message.blocks.length - 1; at >= 0; at--) {
      const mark = message.blocks[at]?.mark;
      if (mark === undefined) continue;
      if (left > 0) {
        message.marks.set(at, mark);
        left--;
      } else dropped++;
    }
  if (automatic === undefined) return dropped;

  const own = [marksOf(tools), marksOf(system), ...messages.map(({ marks }) => [...marks.values()])];
  const fits = (section: number): boolean =>
    isLong(automatic)
      ? own.slice(0, section + 1).every((marks) => marks.every(isLong))
      : !own.slice(section + 1).some((marks) => marks.some(isLong));
  const users = messages.filter((message) => message.role === "user");
  const markMessage = (message: Marked | undefined): void => {
    const at = (message?.blocks.length ?? 0) - 1;
    if (message === undefined || at < 0 || left === 0 || message.marks.has(at)) return;
    if (!fits(2 + messages.indexOf(message))) return;
    message.marks.set(at, automatic);
    left--;
  };
  const markLast = (blocks: Markable[], section: number): void => {
    const last = blocks.at(-1);
    if (last === undefined || left === 0 || last.mark !== undefined || !fits(section)) return;
    blocks[blocks.length - 1] = { ...last, mark: automatic };
    left--;
  };
  markMessage(users.at(-1));
  markLast(system, 1);
  markLast(tools, 0);
  markMessage(users.at(-2));
  return dropped;
}

const marksOf = (blocks: readonly Markable[]): string[] =>
  blocks.flatMap(({ mark }) => (mark === undefined ? [] : [mark]));

const isLong = (mark: string): boolean => /"ttl":"1h"/.test(mark);
