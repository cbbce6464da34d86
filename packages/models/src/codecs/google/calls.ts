// The room of Google's calls: functionCall parts, one after another, become the calls of an answer.
//
// A streamed call is whole at an empty functionCall, at the next named call, or at the finish reason; but at the latter two
// only if no text in its arguments was to continue.

import type { Json, Opaque } from "@rondo/core";
import { argsIn } from "../../answer/call-args.ts";
import type { Answer } from "../../answer.ts";
import { bareName } from "../bare-name.ts";
import { StreamedArgs } from "./args.ts";
import { ownName } from "./names.ts";
import { type GoogleFunctionCall, inCamel, isEmpty, isObject, listOf, wordOf } from "./wire.ts";

/** A call whose arguments arrive in pieces. */
interface StreamedCall {
  key: number;
  id: string;
  args: StreamedArgs;
  /** True once there were pieces: otherwise a call has all its arguments at once, or none. */
  pieces: boolean;
}

const openText =
  "a text in the arguments was to continue, and the rest of it did not come: make the call again, with all its arguments";

export class GoogleCalls {
  readonly #answer: Answer;
  readonly #newKey: () => number;
  /** The call that is still open. */
  #streamed: StreamedCall | undefined;
  /** Keys of calls that came without arguments. */
  readonly #bare = new Set<number>();
  /** Arguments arrived that fit no call. */
  strayArgs = false;

  /** @param newKey makes the key of a new block in the answer */
  constructor(answer: Answer, newKey: () => number) {
    this.#answer = answer;
    this.#newKey = newKey;
  }

  take(given: GoogleFunctionCall, signature: Opaque | undefined): void {
    const args = argsIn(given, "args");
    const call = args === undefined ? given : { ...given, args };
    const open = this.#streamed;
    const [id, name] = [wordOf(call.id), ownName(bareName(wordOf(call.name)))];
    const goesOn = open !== undefined && (name === "" || (id !== "" && id === open.id));
    if (!goesOn) this.close();
    if (!goesOn && name === "") {
      // A closing part whose call is already closed.
      if (isEmpty(call.args) && call.partialArgs === undefined) return;
      if (this.#bare.size > 0) {
        this.#nameless(call);
        return;
      }
    }
    const key = goesOn ? open.key : this.#newKey();
    this.#answer.call(key, { id, name });
    const opaque = { ...(id === "" ? {} : { id }), ...signature };
    if (Object.keys(opaque).length > 0) this.#answer.attach(key, { opaque });
    const state = goesOn ? open : { key, id, args: new StreamedArgs(), pieces: false };
    if (goesOn || call.willContinue === true || call.partialArgs !== undefined) this.#streamed = state;
    for (const piece of listOf(call.partialArgs).filter(isObject).map(inCamel)) {
      state.pieces = true;
      this.#answer.args(key, state.args.add(piece));
    }
    if (call.args !== undefined && call.args !== null && !(state.pieces && isEmpty(call.args))) {
      this.#answer.argsWhole(key, call.args);
      state.pieces = false;
    } else if (this.#streamed === undefined) this.#answer.argsWhole(key, {});
    if (!state.pieces && isEmpty(call.args)) this.#bare.add(key);
    else this.#bare.delete(key);
    if (call.willContinue !== true) this.close(state, true);
  }

  /** Some servers send the name first, and the arguments in a part without it: they belong to the only call without any. */
  #nameless({ args }: GoogleFunctionCall): void {
    const [key, another] = this.#bare;
    if (key === undefined || another !== undefined || !isObject(args)) {
      this.strayArgs = true;
      return;
    }
    this.#bare.delete(key);
    this.#answer.argsWhole(key, args);
  }

  /** The call is whole. Default: the open one, whose server has not said so. */
  close(state: StreamedCall | undefined = this.#streamed, isSaid: boolean = false): void {
    if (state === undefined) return;
    if (!isSaid && state.args.goesOn) this.#answer.callFault(state.key, openText);
    if (state.pieces) {
      this.#answer.args(state.key, state.args.end());
      // A list of pieces is not an object: arguments that could not be assembled never run, but their text is kept.
      const { broken, pieces, value } = state.args;
      this.#answer.argsWhole(state.key, broken ? (pieces as unknown as Json) : value);
    }
    this.#answer.callEnd(state.key);
    if (state === this.#streamed) this.#streamed = undefined;
  }

  /** The answer reached its limit: the open call stays open, with what arrived of it. */
  cut(): void {
    if (this.#streamed?.pieces) this.#answer.argsWhole(this.#streamed.key, this.#streamed.args.value);
  }
}
