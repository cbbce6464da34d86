// The room of checked results: what a tool returns, against the tool's own schema for it.
//
// The tool has run by the time it is checked. So the model is told that it ran: after the words of a mere failure it would
// call a write once more.

import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Json } from "../message.ts";
import type { ValueOf } from "../schema/inferred.ts";
import { checkerOf, type InferInput, type SchemaLike } from "../schema.ts";
import { type DoneSignal, type TaskComplete, ToolResult, type WaitForAnswer } from "./tool-result.ts";

/** What `execute` may return under a schema of its result: what the schema accepts, or a result in the tool's own words. */
export type Returned<Output> = [Output] extends [never]
  ? unknown
  : MaybeLater<Accepted<Output> | ToolResult | WaitForAnswer | DoneSignal | TaskComplete>;

type Accepted<Output> = Widened<Output extends StandardSchemaV1 ? InferInput<Output> : ValueOf<Output>>;

type MaybeLater<T> = T | PromiseLike<T>;

/**
 * Any text for one of certain texts, because in an async function the compiler takes `"clear"` for a `string`; anything at
 * all where the schema's type is not followed. The check at run time is exact.
 */
type Widened<T> = Json extends T
  ? unknown
  : T extends string
    ? string
    : T extends number
      ? number
      : T extends object
        ? { [K in keyof T]: Widened<T[K]> }
        : T;

/**
 * Checks what a tool returned. The result is what the schema gives: a library's schema may change the value.
 * @throws RondoError `invalid_request` for something that is not a schema
 */
export function checkedOutput(schema: SchemaLike, tool: string): (returned: unknown) => Promise<unknown> {
  const check = checkerOf(schema, `the output schema of tool ${JSON.stringify(tool)}`);
  return async (returned) => {
    // A tool that makes the result itself has chosen its words, and an error has no output.
    if (returned instanceof ToolResult) return returned;
    const checked = await check(returned);
    if (checked.ok) return checked.value;
    throw new Error(`${tool} ran, but what it returned does not fit its output schema: ${checked.error}`);
  };
}
