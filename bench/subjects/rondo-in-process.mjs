// Rondo with a model that is a function in the same process: the loop alone.

import { modelOf } from "./in-process-model.mjs";
import { agentOver } from "./rondo-agent.mjs";

const origin = { api: "bench", provider: "bench", model: "bench" };

export async function prepare(setup) {
  const turnsFor = await modelOf(setup.scenario);
  const model = {
    id: "bench",
    origin,
    async call({ messages }, { emit }) {
      const [{ text: prompt }] = messages.at(0).content;
      // Two messages per step after the user's tell which turn it is.
      const { texts, call } = turnsFor(prompt)[(messages.length - 1) / 2];
      let text = "";
      for (const piece of texts) {
        text += piece;
        emit({ type: "text_delta", index: 0, text: piece });
      }
      const content = [{ type: "text", text }];
      const kind = call === undefined ? "end_turn" : "tool_use";
      if (call !== undefined) {
        const rawArgs = call.args.join("");
        for (const delta of call.args)
          emit({ type: "tool_args_delta", index: 1, id: call.id, name: call.name, delta });
        content.push({ type: "tool_call", id: call.id, name: call.name, args: JSON.parse(rawArgs), rawArgs });
      }
      return { role: "assistant", content, origin, stop: { kind, wire: kind } };
    },
  };
  return agentOver(model, setup);
}
