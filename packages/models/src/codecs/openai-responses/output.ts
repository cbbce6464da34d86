// The room of a response's output items as they arrive: deltas, final values, and the gaps between them.
//
// A final value replaces what was assembled from deltas; a snapshot of what is already there changes nothing. An item of
// unknown type is kept whole and sent back as it came. Which item an event is about: `places.ts`.

import type { Json, JsonObject } from "@rondo/core";
import { isCommentary } from "../../answer/blocks.ts";
import { isEmptyArgs } from "../../answer/call-args.ts";
import type { Answer } from "../../answer.ts";
import type { Target } from "../../codec.ts";
import { countIn, listIn, objectIn, textIn, writtenIn } from "../../json-values.ts";
import { type NameTable, nameTable } from "../openai/names.ts";
import { contentOf, isAmong, renamedAmong, saidIn, taken } from "./duplicate-items.ts";
import { callOpaque, type Item, membersIn, partKey } from "./item.ts";
import { innerCalls, isCall, plainItem } from "./odd-items.ts";
import { partOf } from "./pictures.ts";
import { ItemPlaces } from "./places.ts";

export class ResponseItems {
  readonly #answer: Answer;
  readonly #names: NameTable;
  readonly #alive: () => void;
  readonly #places = new ItemPlaces();
  /** The id of the last reasoning item: what follows is tied to it. */
  #reasoned: string | undefined;

  constructor(answer: Answer, target: Target, alive: () => void) {
    this.#answer = answer;
    this.#names = nameTable(target.origin);
    this.#alive = alive;
  }

  /** Whether there is any. */
  get any(): boolean {
    return this.#places.items.size > 0;
  }

  event(type: string, event: JsonObject): void {
    const index = this.#places.of(event, type === "response.output_item.added");
    const item = plainItem(event.item);
    const delta = writtenIn(event.delta) ?? "";
    switch (type) {
      case "response.output_item.added":
        if (item !== undefined) {
          this.#again(index);
          Object.assign(this.#open(index, item), { added: true, firstArgs: item.arguments });
        }
        return;
      case "response.output_item.done":
        if (item !== undefined) this.#done(index, item).ended = true;
        for (const call of innerCalls(item)) this.#done(this.#places.free, call).ended = true;
        return;
      case "response.output_text.delta":
        this.#answer.text(this.#part(index, event, "message"), delta);
        return;
      case "response.output_text.done":
        this.#whole(index, event, "text", writtenIn(event.text) ?? "");
        return;
      case "response.content_part.done":
        this.#partDone(index, event);
        return;
      case "response.output_text.annotation.added":
        this.#cite(index, countIn(event.content_index) ?? 0, event.annotation);
        return;
      case "response.refusal.delta":
        this.#answer.refusal(this.#part(index, event, "message"), delta);
        return;
      case "response.refusal.done":
        this.#whole(index, event, "refusal", textIn(event.refusal) ?? "");
        return;
      // The other words are those of an older API, and of servers that kept them.
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_summary.delta":
        this.#reason(index, `summary ${countIn(event.summary_index) ?? 0}`, delta);
        return;
      case "response.reasoning_text.delta":
      case "response.reasoning.delta":
      case "response.reasoning_content.delta":
        this.#reason(index, `content ${countIn(event.content_index) ?? 0}`, delta);
        return;
      case "response.function_call_arguments.delta":
        // Some servers send the value instead of its JSON text (F087). Ignored, the call would run with empty arguments.
        if (objectIn(event.delta) === undefined) this.#answer.args(this.#call(index, event), delta);
        else this.#answer.argsWhole(this.#call(index, event), event.delta as Json);
        this.#places.item(index, "function_call").hasArgs ||= !isEmptyArgs(event.delta);
        return;
      case "response.function_call_arguments.done": {
        const key = this.#call(index, event);
        this.#answer.call(key, { name: this.#names.own(textIn(event.name) ?? "") });
        const called = this.#places.item(index, "function_call");
        called.ended = true;
        this.#wholeArgs(called, event.arguments);
        return;
      }
      default:
        // Searching, running code, drawing, or something newer than this code: a sign of life.
        if (type === "response.custom_tool_call_input.delta")
          this.#places.item(index, "custom_tool_call").input += delta;
        this.#alive();
    }
  }

  /** Adds what the final event's list has and the stream did not send. */
  fill(output: readonly Json[]): void {
    // The list's own items are distinguished by their places: calls of one answer may share an id (F052).
    const streamed = new Map(this.#places.items);
    const renamed = renamedAmong(streamed, output);
    const ids = new Set([...streamed.values()].flatMap((item) => [...item.ids]));
    for (const [index, given] of output.entries()) {
      const item = plainItem(given);
      const known = streamed.get(index);
      // An item that was whole may still be marked as incomplete (F029).
      if (item?.type === "function_call" && known?.type === item.type && isAmong(known.ids, item)) {
        // Some servers have its arguments only here.
        if (known.done && !known.hasArgs) this.#wholeArgs(known, item.arguments);
        this.#settleCall(known, item);
      }
      if (item === undefined || known?.done === true) continue;
      if (known !== undefined && known.type === textIn(item.type)) this.#done(index, item);
      // The list may leave out items, which moves the others up: if the type differs, it is another item.
      else if (isAmong(ids, item)) this.#moved(item);
      else if (!taken(renamed, saidIn(item)))
        this.#done(this.#openMessage(item) ?? this.#places.unused(index), item);
    }
    const all = [...this.#places.items.values()];
    const ended = new Set(
      all.flatMap(({ ended, callId }) => (ended && callId !== undefined ? [callId] : [])),
    );
    for (const item of all) {
      if (item.type === "function_call" && !item.hasArgs) this.#wholeArgs(item, item.firstArgs);
      if (item.ended) continue;
      // Announced under one id of an item, and ended under another (Copilot).
      if (!item.hasArgs && ended.has(item.callId ?? "")) this.#answer.drop(item.key);
      else this.#answer.callOpen(item.key);
    }
  }

  /** An item at another place in the list, under its own id, which has not ended: its arguments may only be in the list. */
  #moved(given: JsonObject): void {
    for (const [place, item] of this.#places.items)
      if (!item.done && item.type === given.type && isAmong(item.ids, given))
        return void this.#done(place, given);
  }

  /** The place of a streamed message that has not ended, for one that is in the list at another place and under another id. */
  #openMessage(given: JsonObject): number | undefined {
    if (given.type !== "message") return undefined;
    for (const [place, item] of this.#places.items) if (item.type === "message" && !item.done) return place;
    return undefined;
  }

  #part(index: number, event: JsonObject, type: string): string {
    const item = this.#places.item(index, type);
    const id = textIn(event.item_id);
    if (id !== undefined && item.ids.size === 0) this.#places.seen(index, item, id);
    return partKey(item, countIn(event.content_index) ?? 0);
  }

  /**
   * A message that ended and begins again is continued: gateways join several that the model wrote. One that has not ended,
   * and reasoning, is sent again from the start by a proxy that lost its connection.
   */
  #again(index: number): void {
    const item = this.#places.items.get(index);
    if (item?.done === true && item.type === "message")
      Object.assign(item, { done: false, before: item.texts, texts: new Map() });
    else if (item?.added === true && !item.done) {
      for (const key of [item.key, ...item.parts.values()]) this.#answer.again(key);
      Object.assign(item, { texts: new Map(), cited: new Map(), reasoning: undefined });
    }
  }

  /** The final text of a part, appended to its text from before it began again, unless it includes that. */
  #whole(index: number, place: JsonObject, type: "text" | "refusal", text: string): void {
    const key = this.#part(index, place, "message");
    const { before, texts } = this.#places.item(index, "message");
    const position = countIn(place.content_index) ?? 0;
    const earlier = before.get(position) ?? "";
    const whole = text === "" || text.startsWith(earlier) ? text : earlier + text;
    if (whole !== "") texts.set(position, whole);
    this.#answer.textWhole(key, type, whole);
  }

  #call(index: number, event: JsonObject): string {
    const item = this.#places.item(index, "function_call");
    const id = textIn(event.item_id);
    if (id !== undefined) this.#places.seen(index, item, id);
    return item.key;
  }

  /** Parts of a summary, and summary and content, are separated by an empty line. */
  #reason(index: number, part: string, text: string): void {
    const item = this.#places.item(index, "reasoning");
    if (item.reasoning !== undefined && item.reasoning !== part && text !== "")
      this.#answer.reasoning(item.key, "\n\n");
    if (text !== "") item.reasoning = part;
    this.#answer.reasoning(item.key, text);
  }

  #open(index: number, given: JsonObject): Item {
    const type = textIn(given.type) ?? "unknown";
    const item = this.#places.item(index, type);
    item.callId = textIn(given.call_id) || item.callId;
    for (const id of [textIn(given.id), textIn(given.call_id)]) if (id) this.#places.seen(index, item, id);
    switch (type) {
      case "reasoning":
        this.#answer.reasoning(item.key, "");
        this.#reasoned = textIn(given.id) ?? this.#reasoned;
        break;
      case "custom_tool_call":
      case "function_call":
        // xAI reports its own searches as custom tool calls: only calls of offered tools are ours to run (F031).
        if (type === "function_call" || this.#names.offers(given.name)) this.#callOpened(item, given);
        else this.#native(item, type, given);
        break;
      default:
        if (type !== "message") this.#native(item, type, given);
    }
    return item;
  }

  #native(item: Item, type: string, given: JsonObject): void {
    this.#answer.part(item.key, partOf(type, given, this.#led()));
  }

  /** Marks an item as following reasoning, so that it loses its id if the reasoning is dropped. */
  #led(): JsonObject {
    return this.#reasoned === undefined ? {} : { after: this.#reasoned };
  }

  #done(index: number, given: JsonObject): Item {
    const item = this.#open(index, given);
    Object.assign(item, { done: true, said: saidIn(given) });
    switch (item.type) {
      case "message":
        this.#messageDone(item, index, given);
        break;
      case "reasoning":
        if (item.reasoning === undefined) {
          const texts = [given.summary, given.content]
            .flatMap((parts) => (typeof parts === "string" ? [parts] : listIn(parts)))
            .map((part) => textIn(part) ?? writtenIn(objectIn(part)?.text) ?? "");
          this.#answer.textWhole(item.key, "reasoning", texts.filter((text) => text !== "").join("\n\n"));
        }
        this.#answer.attach(item.key, { opaque: { item: given } });
        break;
      case "function_call":
        this.#wholeArgs(item, given.arguments);
        this.#answer.attach(item.key, { opaque: callOpaque(given, this.#led()) });
        this.#settleCall(item, given);
        break;
      case "custom_tool_call":
        if (!this.#names.offers(given.name)) break;
        this.#customInput(item, given);
        this.#settleCall(item, given);
    }
    return item;
  }

  /** A custom tool takes free text: it becomes one member of the arguments. Models write a function's there, too. It may come in deltas alone. */
  #customInput(item: Item, given: JsonObject): void {
    const input = textIn(given.input) || item.input;
    const custom = this.#names.isCustom(given.name);
    this.#answer.argsWhole(item.key, custom ? { input } : input);
    this.#answer.attach(item.key, { opaque: callOpaque(given, { custom, ...this.#led() }) });
  }

  /** The whole arguments. Servers put an empty object there although the arguments came before: those must not be lost. */
  #wholeArgs(item: Item, told: Json | undefined): void {
    const isEmpty = isEmptyArgs(told);
    if (told === undefined || told === null || (item.hasArgs && isEmpty)) return;
    item.hasArgs ||= !isEmpty;
    this.#answer.argsWhole(item.key, told);
  }

  #callOpened(item: Item, given: JsonObject): void {
    this.#answer.call(item.key, {
      id: textIn(given.call_id) ?? textIn(given.id),
      name: this.#names.own(textIn(given.name) ?? ""),
    });
  }

  #settleCall(item: Item, given: JsonObject): void {
    const status = textIn(given.status);
    if (status === undefined || status === "completed") this.#answer.callEnd(item.key);
    else if (status === "incomplete")
      this.#answer.callFault(item.key, "the arguments were cut off: the provider marked the call incomplete");
  }

  #messageDone(item: Item, index: number, given: JsonObject): void {
    for (const [position, one] of contentOf(given).entries()) {
      const part = objectIn(one);
      if (part === undefined) continue;
      const key = partKey(item, position);
      const place = { content_index: position };
      if (part.type === "refusal") this.#whole(index, place, "refusal", textIn(part.refusal) ?? "");
      else if (writtenIn(part.text) !== undefined || part.type === "output_text") {
        this.#whole(index, place, "text", writtenIn(part.text) ?? "");
        const annotations = listIn(part.annotations);
        for (const annotation of annotations.slice(item.cited.get(position) ?? 0))
          this.#cite(index, position, annotation);
      } else if (!isCall(part)) this.#answer.native(key, textIn(part.type) ?? "unknown", { part });
      const led = given.id === undefined || given.id === null ? {} : this.#led();
      const opaque = membersIn(given, ["id", "phase"], led);
      if (part.type !== "refusal" && Object.keys(opaque).length > 0)
        this.#answer.attach(key, { opaque, commentary: isCommentary(opaque) });
    }
  }

  /** The final value of a part, if nothing else brought its text. */
  #partDone(index: number, event: JsonObject): void {
    const part = objectIn(event.part);
    const type = part?.type;
    if (type !== "output_text" && type !== "text" && type !== "refusal") return;
    const text = writtenIn(type === "refusal" ? part?.refusal : part?.text) ?? "";
    this.#whole(index, event, type === "refusal" ? "refusal" : "text", text);
  }

  #cite(index: number, position: number, annotation: Json | undefined): void {
    if (annotation === undefined || annotation === null) return;
    const item = this.#places.item(index, "message");
    const key = partKey(item, position);
    this.#answer.text(key, "");
    this.#answer.attach(key, { citation: annotation });
    item.cited.set(position, (item.cited.get(position) ?? 0) + 1);
  }
}
