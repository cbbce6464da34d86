// A budget of no tokens for reasoning, in every protocol.

import type { Model, Settings } from "@rondo/core";
import { say } from "@rondo/testkit";
import type { RondoWire } from "@rondo/testkit/wire";
import { expect, it } from "vitest";
import { openaiCompatible } from "../src/index.ts";
import { rows, serve } from "./end-to-end/stack.ts";

const makes: [string, (wire: RondoWire) => Model][] = [
  ...rows.map(({ name, model }): [string, (wire: RondoWire) => Model] => [name, (wire) => model(wire)]),
  ...(["alibaba", "openrouter", "zai"] as const).map((server): [string, (wire: RondoWire) => Model] => [
    server,
    (wire) =>
      openaiCompatible({
        provider: server,
        server,
        model: "m",
        baseURL: wire.urlFor("openai-chat"),
        apiKey: "k",
      }),
  ]),
];

it.each(makes)("is no reasoning: %s", async (_name, make) => {
  const sent = async (reasoning: Settings["reasoning"]): Promise<unknown> => {
    const wire = await serve([say("hi")]);
    await make(wire).call(
      {
        messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
        tools: [],
        toolChoice: "auto",
        settings: { maxOutputTokens: 4000, ...(reasoning === undefined ? {} : { reasoning }) },
      },
      { signal: new AbortController().signal, emit: () => {} },
    );
    return wire.requests[0]?.body;
  };
  expect(await sent({ budgetTokens: 0 })).toEqual(await sent("off"));
});
