// The room of calculate: arithmetic a model should not do in its head.

import { type Permission, type Tool, tool, toolResult } from "@rondo/core";
import { checkGiven, membersOf } from "@rondo/core/checks";
import { permissionOption } from "./options.ts";
import { clip } from "./text/text-file.ts";

const maxLength = 2000;

export interface CalculateOptions {
  /** Default: `allow`. */
  permission?: Permission;
}

const optionChecks = membersOf<CalculateOptions>({
  permission: permissionOption,
});

/** The tool `calculate`. */
export function calculate(options: CalculateOptions = {}): Tool {
  checkGiven(optionChecks, options, "calculate");
  return tool({
    name: "calculate",
    description:
      "Calculates an arithmetic expression, exactly where it can: + - * / % (remainder, with the sign of the left side) ^, parentheses, " +
      "sqrt, cbrt, abs, min, max, round(x, places), floor, ceil, trunc, sign, log(x, base; 10 by default), log2, log10, ln, exp, " +
      "sin, cos, tan, asin, acos, atan (radians), pi, e, tau. Multiplication is always written with *.",
    inputSchema: {
      type: "object",
      properties: {
        expression: {
          type: "string",
          minLength: 1,
          maxLength,
          description: 'For example "(3 + 4) * 2^10 / 7".',
        },
      },
      required: ["expression"],
    },
    effect: "read",
    permission: options.permission ?? "allow",
    execute: async ({ expression }, { signal }) => {
      signal.throwIfAborted();
      const { ExpressionError, evaluate } = await import("./calculate/expression.ts");
      const { say } = await import("./calculate/arithmetic.ts");
      try {
        return toolResult(say(evaluate(expression)));
      } catch (thrown) {
        if (!(thrown instanceof ExpressionError)) throw thrown;
        const from = Math.max(0, thrown.at - 11);
        const near = clip(expression, thrown.at + 9 - from, from);
        return toolResult(
          `Error: ${thrown.message} (at character ${thrown.at}, near ${JSON.stringify(near)})`,
          {
            isError: true,
          },
        );
      }
    },
  });
}
