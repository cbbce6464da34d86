// The room of the rules for deferred tools at Anthropic: declared like others, but told of only where a block refers to them.

import type { JsonObject } from "@rondo/core";
import { objectIn, objectsIn } from "../../json.ts";
import { contentOf } from "./anthropic-content.ts";
import type { Say } from "./violation.ts";

export function checkDeferred(body: JsonObject, messages: readonly JsonObject[], say: Say): void {
  const tools = objectsIn(body.tools);
  if (tools.length > 0 && tools.every((tool) => tool.defer_loading === true))
    say("tools", "At least one tool must have defer_loading=false.");
  for (const [at, tool] of tools.entries())
    if (tool.defer_loading === true && tool.cache_control !== undefined)
      say(
        `tools.${at}`,
        `tools.${at}: Tools with defer_loading cannot have cache_control. Use it on tools without defer_loading.`,
      );
  const names = new Set(tools.map(({ name }) => name));
  const check = (name: unknown): void => {
    if (!names.has(name as string))
      say("tools", `Tool reference '${String(name)}' not found in available tools`);
  };
  for (const [at, message] of messages.entries())
    for (const [nth, block] of contentOf(message).entries()) {
      // Of a search that the provider ran.
      for (const { tool_name: name } of objectsIn(objectIn(block.content)?.tool_references)) check(name);
      if (block.type !== "tool_result") continue;
      const inner = objectsIn(block.content);
      const references = inner.filter(({ type }) => type === "tool_reference");
      for (const { tool_name: name } of references) check(name);
      if (references.length > 0 && references.length < inner.length)
        say(
          `messages.${at}.content.${nth}`,
          `messages.${at}.content.${nth}: \`tool_reference\` blocks cannot be mixed with other content`,
        );
    }
}
