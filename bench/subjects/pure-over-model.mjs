// The room of the "kept and pure" loop over Rondo's model: Rondo's codec and transport under `pure-by-hand.mjs`.

import { pureOver } from "./pure-by-hand.mjs";

/** An append-only history, up to its length when a model was called. */
class Grown {
  #messages;

  constructor(messages) {
    this.#messages = messages;
    this.length = messages.length;
  }

  at(index) {
    return index < this.length ? this.#messages[index] : undefined;
  }

  extends(other) {
    return other.length <= this.length && other.at(0) === this.at(0);
  }

  [Symbol.iterator]() {
    return this.#messages.slice(0, this.length).values();
  }
}

const asText = (text) => [{ type: "text", text }];

/** A question or result in Rondo's format. Answers already have it. */
function inRondosWords({ role, id, name, text, message }) {
  if (role === "user") return { role, content: asText(text) };
  return role === "tool" ? { role, callId: id, name, content: asText(text), isError: false } : message;
}

function asking(model, { system, tools }) {
  const said = [];
  return function ask({ messages, length }, hear, hearArgs, { signal, firstByteMs, idleMs }) {
    for (; said.length < length; ) said.push(inRondosWords(messages[said.length]));
    const emit = (event) => {
      if (event.type === "text_delta") hear(event.text);
      if (event.type === "tool_args_delta") hearArgs(event.delta);
    };
    const request = { system, messages: new Grown(said), tools, toolChoice: "auto", settings: {} };
    return model.call(request, { signal, emit, clocks: { firstByteMs, idleMs } }).then((message) => {
      const answer = { text: "", calls: [], message };
      for (const part of message.content)
        if (part.type === "text") answer.text += part.text;
        else answer.calls.push({ id: part.id, name: part.name, args: part.rawArgs });
      return answer;
    });
  };
}

export function pureOverModel(model, setup) {
  const tools = setup.tools.map(({ name, description, parameters }) => ({
    name,
    description,
    inputSchema: parameters,
  }));
  return pureOver(() => asking(model, { ...setup, tools }), setup);
}
