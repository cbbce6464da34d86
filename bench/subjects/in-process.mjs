// The loop by hand with a model that is a function in the same process: the cost without a wire.

import { modelOf } from "./in-process-model.mjs";

export async function prepare({ system, tools, scenario }) {
  const turnsFor = await modelOf(scenario);
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return async (prompt) => {
    const turns = turnsFor(prompt);
    const messages = [
      { role: "system", content: system },
      { role: "user", content: prompt },
    ];
    let heard = 0;
    for (let at = 0; ; at += 1) {
      await undefined;
      const { texts, call } = turns[at];
      let text = "";
      for (const piece of texts) {
        text += piece;
        heard += piece.length;
      }
      if (call === undefined) return { text, heard };
      const args = call.args.join("");
      const result = await byName.get(call.name).execute(JSON.parse(args));
      messages.push(
        { role: "assistant", content: text, calls: [{ id: call.id, name: call.name, args }] },
        { role: "tool", id: call.id, content: result },
      );
    }
  };
}
