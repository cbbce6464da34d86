// The room of the model's conformance suite: what any model must do.
//
// The suite says what must be answered, as turns of the scripted model; the subject makes its model answer that, with a
// server, a stub, or whatever is behind it. Every check opens a model of its own.

import { able, callable, finite, having, listOf, oneOf, text } from "@rondo/core/checks";
import type { Turn } from "../scripted/turns.ts";
import {
  type Check,
  checkGave,
  checksOf,
  type RegisterTest,
  saysMore,
  subjectCheck,
  thenLetGo,
} from "./check.ts";
import { answering } from "./models/answering.ts";
import type { ModelLack, OpenModel } from "./models/asking.ts";
import { breaking } from "./models/breaking.ts";
import { sending } from "./models/sending.ts";

export interface ModelUnderTest {
  /** Prefix of every check's name. */
  name: string;
  /** Opens a model that will answer these turns, one per call, in this order. */
  open(script: readonly Turn[]): OpenModel | Promise<OpenModel>;
  /** What the provider does not support: checks that need it are left out. Default: none. */
  lacks?: readonly ModelLack[];
  /** How long an abort may take to have effect, in milliseconds. Default: 5,000. */
  abortWithinMs?: number;
}

const checkSubject = subjectCheck<ModelUnderTest>(
  "testModel",
  {
    name: text,
    open: callable,
    lacks: listOf(oneOf("tools", "several_calls", "raw_args", "reasoning", "usage", "deltas")),
    abortWithinMs: finite,
  },
  ["name", "open"],
);

const opened = having("{ model, sent?, close? } with a model that can be called", {
  model: able("a model", "call"),
});

/**
 * What a model must do, check by check: stream what it answers, whole calls, typed errors, one attempt, an abort that is
 * heard, requests that hold everything and only grow.
 *
 *     testModel({ name: "mine", open: async (script) => {
 *       const wire = await rondoWire({ script });
 *       return { model: mine({ baseURL: wire.url }), sent: () => wire.requests.map(({ text }) => text), close: () => wire.close() };
 *     } }, test);
 *
 * @param test the runner's `test` function: also registers the checks
 * @throws RondoError `invalid_request` for an invalid subject
 */
export function testModel(subject: ModelUnderTest, test?: RegisterTest): Check[] {
  checkSubject(subject);
  const lacks = new Set(subject.lacks ?? []);
  const wanted = [...answering, ...breaking, ...sending].filter(
    ({ needs = [] }) => !needs.some((one) => lacks.has(one)),
  );
  const checks = wanted.map(({ name, needs = [], script, body }): [string, () => Promise<void>] => [
    name,
    async () => {
      const open = await subject.open(script);
      checkGave("testModel", "open", opened, open);
      const trying = async (): Promise<void> => {
        try {
          await body({ open, model: open.model, lacks, abortWithinMs: subject.abortWithinMs ?? 5_000 });
        } catch (thrown) {
          // A model may have no form for what is asked here, and nothing but this says so.
          if (needs.length > 0)
            saysMore(thrown, `(Left out where it has no form for this: lacks: ${JSON.stringify(needs)})`);
          throw thrown;
        }
      };
      await thenLetGo(trying, "close()", () => open.close?.());
    },
  ]);
  return checksOf(subject.name, checks, test);
}
