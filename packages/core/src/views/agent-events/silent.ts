// The view of silence: a run's live events for a reader who must not see silent replies.
//
// Text that may become a silent token is held back until it is clear whether it is one. Then it is emitted or dropped.
// Reasoning passes unchanged: it is another channel, and if it were held back it would no longer be live.

import type { RondoEvent } from "../../events.ts";
import { type AssistantMessage, type Part, textOf } from "../../message.ts";
import {
  isSilentAnswer,
  isSilentReply,
  SilentFilter,
  type SilentOptions,
  stripSilentToken,
} from "../../prompt/silent.ts";

/** The events without silent tokens: not in deltas, not in messages, not in the run's text. */
export async function* withoutSilentReplies(
  events: AsyncIterable<RondoEvent>,
  options: SilentOptions = {},
): AsyncGenerator<RondoEvent, void, undefined> {
  const texts = new HeldTexts(options);
  for await (const event of events) {
    switch (event.type) {
      case "request":
      case "retry":
      case "fallback":
        texts.forget();
        yield event;
        break;
      case "text_delta":
        yield* texts.push(event);
        break;
      case "message":
        yield* texts.end();
        yield { ...event, message: quieter(event.message, options) };
        break;
      case "run_end":
        yield* texts.end();
        yield { ...event, text: isSilentReply(event.text, options) ? "" : tidy(event.text, options) };
        break;
      default:
        yield event;
    }
  }
}

type TextDelta = RondoEvent & { type: "text_delta" };

/** The deltas of one answer passing a filter. Each piece stays with the part it came in. */
class HeldTexts {
  readonly #options: SilentOptions;
  #filter: SilentFilter;
  #waiting: TextDelta[] = [];

  constructor(options: SilentOptions) {
    this.#options = options;
    this.#filter = new SilentFilter(options);
  }

  push(delta: TextDelta): TextDelta[] {
    this.#waiting.push(delta);
    return this.#take(this.#filter.push(delta.text).length);
  }

  end(): TextDelta[] {
    const shown = this.#take(this.#filter.end().text.length);
    this.forget();
    return shown;
  }

  forget(): void {
    this.#filter = new SilentFilter(this.#options);
    this.#waiting = [];
  }

  #take(characters: number): TextDelta[] {
    const taken: TextDelta[] = [];
    let left = characters;
    while (left > 0) {
      const first = this.#waiting.shift();
      if (first === undefined) break;
      if (first.text.length > left) this.#waiting.unshift({ ...first, text: first.text.slice(left) });
      taken.push({ ...first, text: first.text.slice(0, left) });
      left -= first.text.length;
    }
    return taken;
  }
}

/** The message without its silent token: a silent one has no text at all. */
function quieter(message: AssistantMessage, options: SilentOptions): AssistantMessage {
  const { content } = message;
  if (isSilentAnswer(message, options))
    return { ...message, content: content.filter((part) => part.type !== "text") };
  // The texts of an answer are one text, as its deltas are: so a token at the end of one part is in the middle of the text.
  const whole = textOf(message);
  const text = tidy(whole, options);
  if (text === whole) return message;
  const from = whole.length - whole.trimStart().length;
  const to = from + text.length;
  let at = 0;
  return {
    ...message,
    content: content.flatMap((part): Part[] => {
      if (part.type !== "text") return [part];
      const kept = part.text.slice(Math.max(0, from - at), Math.max(0, to - at));
      at += part.text.length;
      return kept === "" && part.text !== "" ? [] : [{ ...part, text: kept }];
    }),
  };
}

/** Unchanged unless a token is removed from its end. */
function tidy(text: string, options: SilentOptions): string {
  const stripped = stripSilentToken(text, options);
  return stripped === text.trim() ? text : stripped;
}
