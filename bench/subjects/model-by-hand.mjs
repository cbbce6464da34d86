// A model for Rondo's loop with the hand-written codec and transport over `node:http`: it understands only what the
// contest's server sends, and handles no faults. It serializes the whole history for each request and parses every frame,
// which Rondo's own codecs do not: with long histories and answers those are faster.

import { byHandProtocols, splitter } from "./by-hand.mjs";
import { sendByNode } from "./send-node.mjs";

const origin = { api: "bench", provider: "bench", model: "bench" };

export function modelByHand(name, { base, system, tools }) {
  const protocol = byHandProtocols[name];
  const send = sendByNode(base + protocol.path, { "content-type": "application/json", ...protocol.headers });
  const declared = protocol.tools(tools);

  /** The history in the protocol's format: an answer and its result, again and again. */
  function written(messages) {
    const out = protocol.start(system, messages.at(0).content[0].text);
    for (let at = 1; at < messages.length; at += 2) {
      const [{ text }, ...calls] = messages.at(at).content;
      const said = calls.map(({ id, name, rawArgs }) => ({ id, name, args: rawArgs }));
      out.push(...protocol.said({ text, calls: said }, [messages.at(at + 1).content[0].text]));
    }
    return out;
  }

  return {
    id: "bench",
    origin,
    async call({ messages }, { emit }) {
      const { answer, take } = protocol.answer(
        (text) => emit({ type: "text_delta", index: 0, text }),
        (delta = "") => {
          const { id, name } = answer.calls[0];
          emit({ type: "tool_args_delta", index: 1, id, name, delta });
        },
      );
      await send(protocol.body(system, written(messages), declared), splitter(take));
      const calls = answer.calls.map(({ id, name, args }) => ({
        type: "tool_call",
        id,
        name,
        args: JSON.parse(args),
        rawArgs: args,
      }));
      const kind = calls.length === 0 ? "end_turn" : "tool_use";
      const content = [{ type: "text", text: answer.text }, ...calls];
      const usage = { inputTokens: 100, outputTokens: 20 };
      return { role: "assistant", content, origin, stop: { kind, wire: kind }, usage };
    },
  };
}
