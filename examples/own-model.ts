// A model of your own: anything that takes a request and returns an answer. Here one that only counts.
// npx node --conditions=rondo-source examples/own-model.ts

import { Agent, type Model, tool } from "@rondo/core";

const origin = { api: "example", provider: "example", model: "counter" };

const counter: Model = {
  id: "example/counter",
  origin,
  async call(request, io) {
    const results = [...request.messages].filter((message) => message.role === "tool").length;
    if (results < 3) {
      const args = { n: results + 1 };
      const part = {
        type: "tool_call" as const,
        id: "",
        name: "double",
        args,
        rawArgs: JSON.stringify(args),
      };
      return { role: "assistant", content: [part], origin, stop: { kind: "tool_use", wire: "tool_use" } };
    }
    const text = "Doubled one, two and three.";
    io.emit({ type: "text_delta", index: 0, text });
    return {
      role: "assistant",
      content: [{ type: "text", text }],
      origin,
      stop: { kind: "end_turn", wire: "end_turn" },
    };
  },
};

const double = tool({
  name: "double",
  description: "Doubles a number",
  inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  effect: "read",
  execute: ({ n }) => String(n * 2),
});

const { text, messages } = await new Agent({ model: counter, tools: [double] }).run("double some numbers");
console.log(text, messages.length);
