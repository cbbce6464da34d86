// The room of the tool's conformance suite: what any tool must do, whoever makes it.
//
// The subject gives the tool and arguments; the tool runs for real, with them. What a check needs and the subject does not
// give is not checked: there is no check without its arguments.

import { RondoError } from "@rondo/core";
import { callable, count, finite, listOf, object, oneOf, text } from "@rondo/core/checks";
import { type Check, checksOf, madeTool, type RegisterTest, subjectCheck, thenLetGo } from "./check.ts";
import { declaring } from "./tools/declaring.ts";
import { running } from "./tools/running.ts";
import type { ToolUnderTest } from "./tools/trying.ts";

export type { ToolUnderTest } from "./tools/trying.ts";

const checkSubject = subjectCheck<ToolUnderTest>(
  "testTool",
  {
    name: text,
    tool: madeTool,
    examples: listOf(object),
    refuses: listOf(object),
    fails: listOf(object),
    slow: object,
    effect: oneOf("read", "idempotent", "write"),
    world: callable,
    before: callable,
    after: callable,
    dependencies: listOf(object),
    abortWithinMs: finite,
    resultBytes: count,
  },
  ["tool", "examples", "effect"],
);

/**
 * What a tool must do, check by check.
 *
 *     testTool({ tool: weather, effect: "read", examples: [{ city: "Oslo" }], slow: { city: "nowhere" } }, test);
 *
 * @param test the runner's `test` function: also registers the checks
 */
export function testTool(subject: ToolUnderTest, test?: RegisterTest): Check[] {
  checkSubject(subject);
  const { tool, examples, before, after } = subject;
  if (examples.length === 0)
    throw new RondoError("invalid_request", `tool ${tool.name}: an example of its arguments is needed`);
  const checks = [...declaring, ...running]
    .filter(({ needs }) => needs === undefined || needs(subject))
    .map(({ name, body }): [string, () => Promise<void>] => [
      name,
      async () => {
        await before?.();
        await thenLetGo(
          () => body(subject),
          "after()",
          () => after?.(),
        );
      },
    ]);
  return checksOf(subject.name ?? tool.name, checks, test);
}
