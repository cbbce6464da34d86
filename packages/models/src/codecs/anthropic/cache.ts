// The room of cache marks: where a request tells the provider that its prefix may be cached.
//
// At most four. The caller's own marks count first; of what is left, the newest message matters most (the next request
// reads up to it), then the system prompt, the tools, and the newest user message before the last (what the previous
// request wrote). Marks are the only bytes of a prefix that change. A mark for an hour may not follow one for a shorter
// time: if the caller's would, ours is left out.

import type { Warn } from "../warn.ts";

/** A message whose blocks can be marked, by block index. */
export interface Marked {
  role: "user" | "assistant";
  blocks: readonly { json: string; mark?: string; thinking?: boolean; unmarked?: true }[];
  marks: Map<number, string>;
}

type Markable = { json: string; mark?: string };

/** A request's sections, in the order of the prefix. */
interface Sections {
  tools: Markable[];
  system: Markable[];
  messages: readonly Marked[];
}

/** The most marks that a request may have. */
const mostMarks = 4;

/** Places the marks: the caller's, and `ours`, if given, as many as are left. */
export function placeMarks(ours: string | undefined, sections: Sections, warn: Warn): void {
  const { kept, dropped } = keepCallers(sections);
  if (dropped > 0)
    warn("cache_marks_dropped", `${dropped} cache marks were left out: a request may hold four`);
  if (ours !== undefined) new OurMarks(ours, sections, kept).place();
}

/** Limits the caller's marks to the allowed number: those in messages are dropped first, the oldest of them first of all. */
function keepCallers({ tools, system, messages }: Sections): { kept: number; dropped: number } {
  let kept = 0;
  let dropped = 0;
  for (const block of [...tools, ...system]) {
    if (block.mark === undefined) continue;
    if (kept < mostMarks) kept++;
    else {
      delete block.mark;
      dropped++;
    }
  }
  for (let nth = messages.length - 1; nth >= 0; nth--) {
    const { blocks, marks } = messages[nth] as Marked;
    for (let at = blocks.length - 1; at >= 0; at--) {
      const mark = blocks[at]?.mark;
      if (mark === undefined) continue;
      if (kept < mostMarks) {
        marks.set(at, mark);
        kept++;
      } else dropped++;
    }
  }
  return { kept, dropped };
}

/** The marks that the caller did not ask for, as many as are left. */
class OurMarks {
  readonly #mark: string;
  readonly #sections: Sections;
  /** The caller's marks by section; undefined if there are none. */
  readonly #callers: readonly (readonly string[])[] | undefined;
  #left: number;

  constructor(mark: string, sections: Sections, kept: number) {
    this.#mark = mark;
    this.#sections = sections;
    this.#callers = kept === 0 ? undefined : callersOf(sections);
    this.#left = mostMarks - kept;
  }

  place(): void {
    const { tools, system, messages } = this.#sections;
    const last = messages.findLastIndex(isUsers);
    this.#onMessage(last);
    this.#onBlocks(system, 1);
    this.#onBlocks(tools, 0);
    this.#onMessage(messages.findLastIndex((message, at) => at < last && isUsers(message)));
  }

  #onMessage(nth: number): void {
    const message = this.#sections.messages[nth];
    const at = message?.blocks.findLastIndex(({ unmarked }) => unmarked !== true) ?? -1;
    if (message === undefined || at < 0 || message.marks.has(at) || !this.#fits(2 + nth)) return;
    message.marks.set(at, this.#mark);
    this.#left--;
  }

  #onBlocks(blocks: Markable[], section: number): void {
    const last = blocks.at(-1);
    if (last === undefined || last.mark !== undefined || !this.#fits(section)) return;
    // A copy: blocks may be cached between requests, but marks belong to this one.
    blocks[blocks.length - 1] = { ...last, mark: this.#mark };
    this.#left--;
  }

  #fits(section: number): boolean {
    if (this.#left === 0) return false;
    if (this.#callers === undefined) return true;
    return isLong(this.#mark)
      ? this.#callers.slice(0, section + 1).every((marks) => marks.every(isLong))
      : !this.#callers.slice(section + 1).some((marks) => marks.some(isLong));
  }
}

const isUsers = ({ role }: Marked): boolean => role === "user";

const callersOf = ({ tools, system, messages }: Sections): string[][] => [
  marksOf(tools),
  marksOf(system),
  ...messages.map(({ marks }) => [...marks.values()]),
];

const marksOf = (blocks: readonly Markable[]): string[] =>
  blocks.flatMap(({ mark }) => (mark === undefined ? [] : [mark]));

const isLong = (mark: string): boolean => /"ttl":"1h"/.test(mark);
