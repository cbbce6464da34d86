// The room of Google's calls: parts with a functionCall, one after another, become the calls of an answer.
//
// A streamed call is whole at an empty functionCall, at the next named call, or at the finish.

import type { Json, Opaque } from "@rondo/core";
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
  /** True once there were pieces: a call without any has its arguments whole, or none. */
  pieces: boolean;
}

export class GoogleCalls {
  readonly #answer: Answer;
  readonly #newKey: () => number;
  /** The call that is still open. */
  #streamed: StreamedCall | undefined;
  /** Calls that came without arguments. */
  readonly #bare = new Set<number>();
  /** Arguments came for no call that could be told. */
  strayArgs = false;

  /** @param newKey a block's key in the answer */
  constructor(answer: Answer, newKey: () => number) {
    this.#answer = answer;
    this.#newKey = newKey;
  }

  take(call: GoogleFunctionCall, signature: Opaque | undefined): void {
    const open = this.#streamed;
    const [id, name] = [wordOf(call.id), ownName(bareName(wordOf(call.name)))];
    const goesOn = open !== undefined && (name === "" || (id !== "" && id === open.id));
    if (!goesOn) this.close();
    if (!goesOn && name === "") {
      // A closing part whose call is shut already, or a call without a name: there is nothing to run.
      if (!isEmpty(call.args) || call.partialArgs !== undefined) this.#nameless(call);
      return;
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
    if (call.willContinue !== true) this.close(state);
  }

  /** Some say the name first, and the arguments in a part without it: they are those of the one call that has none. */
  #nameless({ args }: GoogleFunctionCall): void {
    const [key, another] = this.#bare;
    if (key === undefined || another !== undefined || !isObject(args)) {
      this.strayArgs = true;
      return;
    }
    this.#bare.delete(key);
    this.#answer.argsWhole(key, args);
  }

  /** The call is whole: the open one, where none is named. */
  close(state: StreamedCall | undefined = this.#streamed): void {
    if (state === undefined) return;
    if (state.pieces) {
      this.#answer.args(state.key, state.args.end());
      // A list of pieces is no object: what could not be put together never runs, and its words are kept.
      const { broken, pieces, value } = state.args;
      this.#answer.argsWhole(state.key, broken ? (pieces as unknown as Json) : value);
    }
    this.#answer.callEnd(state.key);
    if (state === this.#streamed) this.#streamed = undefined;
  }

  /** The answer reached its limit: the open call stays open, with what has come of it. */
  cut(): void {
    if (this.#streamed?.pieces) this.#answer.argsWhole(this.#streamed.key, this.#streamed.args.value);
  }
}
