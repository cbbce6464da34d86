// The room of ids that name the function: `functions.read_file:0`, counted through the conversation.
//
// Kimi's chat template shows only the id of a call, and of its result. With an id of another form, such as another model's
// or Rondo's own, the model does not see which tool it called, and ends its turn silently (F055).

import type { Message, ToolCallPart } from "@rondo/core";
import { wireName } from "../openai/names.ts";

/** The ids of one conversation, message by message. */
export class FunctionIds {
  readonly #ids = new Map<string, string>();
  #count = 0;

  /** The next message, with ids of this form on its calls or its result. */
  named(message: Message): Message {
    if (message.role === "tool") {
      const callId = this.#ids.get(message.callId) ?? message.callId;
      return { ...message, callId };
    }
    if (message.role !== "assistant") return message;
    if (!message.content.some(({ type }) => type === "tool_call")) return message;
    return {
      ...message,
      content: message.content.map((part) => (part.type === "tool_call" ? this.#call(part) : part)),
    };
  }

  #call(part: ToolCallPart): ToolCallPart {
    const id = `functions.${wireName(part.name)}:${this.#count++}`;
    this.#ids.set(part.id, id);
    return { ...part, id };
  }
}
