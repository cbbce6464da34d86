// The room of the history as text: what was said and done so far, in the form that the model is asked to use (A27).
//
// A call is a JSON text by the assistant, its result one by the user. Neighbours of one role become one message: many chat
// templates refuse two in a row. Each group is built once and stays the same object, so that codecs that cache by identity
// still can.

import {
  type AssistantMessage,
  type ContentPart,
  callsOf,
  type Json,
  type Message,
  type TextPart,
  type ToolCallPart,
  type ToolMessage,
  textOf,
} from "@rondo/core";
import { answeredNote } from "../codecs/openai/files.ts";
import { parseDigits } from "../exact-json.ts";
import { isObject, parseJson } from "../json-values.ts";
import { neutralisedMessage } from "./control-tokens.ts";

export interface HistoryOptions {
  /** A27 to the letter: one call per message, no `is_error`, each result in a message of its own. */
  strict: boolean;
  neutralise: boolean;
}

interface Group {
  members: readonly Message[];
  message: Message;
}

export class TextHistory {
  readonly #options: HistoryOptions;
  readonly #groups = new WeakMap<Message, Group>();

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** The messages as texts. `note` is added after all of them, as the user's. */
  render(messages: Iterable<Message>, note?: string): Message[] {
    const out: Message[] = [];
    let open: Message[] = [];
    let last: Message[] = [];
    const close = (): void => {
      if (open.length > 0) out.push(this.#group(open));
      last = open;
      open = [];
    };
    for (const message of messages) {
      const joins = !this.#options.strict && open.length > 0 && roleOf(open[0]) === roleOf(message);
      if (!joins) close();
      open.push(message);
    }
    close();
    if (note === undefined) return out;
    const words: TextPart = { type: "text", text: note };
    // Made again each time and never kept: the group before it stays unchanged.
    const end = out.at(-1);
    if (end?.role === "user" && last.length > 0 && !this.#options.strict)
      out[out.length - 1] = {
        role: "user",
        content: joined([...end.content, { type: "text", text: "\n\n" }, words]),
      };
    else out.push({ role: "user", content: [words] });
    return out;
  }

  #group(members: readonly Message[]): Message {
    const first = members[0] as Message;
    const known = this.#groups.get(first);
    if (
      known !== undefined &&
      known.members.length === members.length &&
      known.members.every((one, at) => one === members[at])
    )
      return known.message;
    const message = this.#build(members);
    this.#groups.set(first, { members: [...members], message });
    return message;
  }

  #build(members: readonly Message[]): Message {
    const first = members[0] as Message;
    if (first.role === "system") return first;
    const parts: ContentPart[] = [];
    for (const member of members) {
      if (parts.length > 0) parts.push({ type: "text", text: "\n" });
      parts.push(...this.#partsOf(member));
    }
    const content = joined(parts);
    const message: Message =
      first.role === "assistant"
        ? { role: "assistant", content, origin: first.origin, stop: { kind: "end_turn", wire: "end_turn" } }
        : { role: "user", content };
    return this.#options.neutralise ? neutralisedMessage(message) : message;
  }

  #partsOf(message: Message): ContentPart[] {
    switch (message.role) {
      case "tool":
        return this.#result(message);
      case "assistant":
        return [{ type: "text", text: this.#assistant(message) }];
      default:
        return [...message.content];
    }
  }

  #assistant(message: Extract<Message, { role: "assistant" }>): string {
    const calls = callsOf(message);
    const said = saidIn(message, this.#options.strict);
    const [call, ...others] = calls;
    if (call === undefined) {
      const refused = message.content.map((part) => (part.type === "refusal" ? part.text : "")).join("");
      return JSON.stringify({ thought: "", response: said === "" ? refused : said });
    }
    const first = JSON.stringify({ thought: said, tool_call: { name: call.name, input: inputOf(call) } });
    if (this.#options.strict) return first;
    return [
      first,
      ...others.map((one) => JSON.stringify({ tool_call: { name: one.name, input: inputOf(one) } })),
    ].join("\n");
  }

  #result(message: ToolMessage): ContentPart[] {
    const result = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
    const told: { [key: string]: Json } = { name: message.name, result };
    if (message.isError && !this.#options.strict) told.is_error = true;
    const files = message.content.filter((part) => part.type === "file");
    return [{ type: "text", text: JSON.stringify({ tool_result: told }) }, ...files];
  }
}

/**
 * The text of an answer. Its files are mentioned by name, as in every protocol that cannot take them back; in strict mode
 * there is text only.
 */
function saidIn(message: AssistantMessage, strict: boolean): string {
  const notes = message.content.flatMap((part) =>
    part.type === "file" && !strict ? answeredNote(part).note : [],
  );
  return [textOf(message), ...notes].filter((text) => text !== "").join("\n");
}

/** The arguments with all their digits, which only their text has (F093). */
function inputOf({ args, rawArgs, argsError }: ToolCallPart): Json {
  if (argsError !== undefined || !/\d{16}/.test(rawArgs)) return args;
  const exact = parseJson(rawArgs, parseDigits);
  return isObject(exact) ? exact : args;
}

/** Tool results are written as the user's. */
function roleOf(message: Message | undefined): string | undefined {
  return message?.role === "tool" ? "user" : message?.role;
}

/** Adjacent texts become one text. */
function joined(parts: readonly ContentPart[]): ContentPart[] {
  const out: ContentPart[] = [];
  for (const part of parts) {
    const last = out.at(-1);
    if (part.type === "text" && last?.type === "text")
      out[out.length - 1] = { type: "text", text: last.text + part.text };
    else out.push(part);
  }
  return out.filter((part) => part.type !== "text" || part.text !== "");
}
