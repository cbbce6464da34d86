// The room of a direct call: calls a tool by itself, without a model or a run.

import { messageOf, type Tool, type ToolContext } from "@rondo/core";

/** The result's text, or why there is none. */
export async function called(
  tool: Tool,
  args: Record<string, string>,
): Promise<{ isError: boolean; text: string }> {
  const check = await tool.check(args);
  if (!check.ok) return { isError: true, text: check.error };
  try {
    const context: ToolContext = {
      signal: new AbortController().signal,
      idempotencyKey: "row",
      callId: "row",
      session: "case",
      update: () => {},
      messages: () => [],
      now: () => 0,
      deps: {},
      resolve: async (key) => key.create(),
    };
    const result = (await tool.execute(check.value as never, context)) as { isError?: boolean };
    return {
      isError: result?.isError === true,
      text: typeof result === "string" ? result : JSON.stringify(result),
    };
  } catch (thrown) {
    return { isError: true, text: messageOf(thrown) };
  }
}
