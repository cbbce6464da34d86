// The room of Gemini's thoughts over Chat Completions: Google marks the deltas with them, and puts tags around them in the
// content.
//
// The closing tag comes in the first delta without the mark, or, in a whole answer, before the text. Only marked content is
// looked at: users ask for such tags themselves.

import type { JsonObject } from "@rondo/core";
import { objectIn } from "../../json-values.ts";

const [opening, closing] = ["<thought>", "</thought>"];

export class GoogleThoughts {
  /** Thoughts have begun, and their end has not come. */
  isOpen = false;

  /** The thoughts in a delta's content, and the text in it. */
  split(delta: JsonObject, content: string): readonly [thoughts: string, text: string] {
    const isMarked = objectIn(objectIn(delta.extra_content)?.google)?.thought === true;
    if (!isMarked) {
      const isClosed = this.isOpen && content.startsWith(closing);
      if (content !== "") this.isOpen = false;
      return ["", isClosed ? content.slice(closing.length) : content];
    }
    const inside = !this.isOpen && content.startsWith(opening) ? content.slice(opening.length) : content;
    const end = inside.indexOf(closing);
    this.isOpen = end === -1;
    return end === -1 ? [inside, ""] : [inside.slice(0, end), inside.slice(end + closing.length)];
  }
}
