// The room of the floors: the shortest agent loop that works and that a careful person would write.
//
// Send, split at blank lines, JSON.parse, call the listener, collect, run the tools, repeat. No errors, no limits, no
// timeouts, no events, no records.

/** Takes text as it comes and passes on each event's JSON once it is complete. */
export function splitter(take) {
  let rest = "";
  return (text) => {
    rest = rest === "" ? text : rest + text;
    let from = 0;
    for (;;) {
      const end = rest.indexOf("\n\n", from);
      if (end === -1) break;
      const data = rest.indexOf("data: ", from) + 6;
      if (!rest.startsWith("[DONE]", data)) take(JSON.parse(rest.slice(data, end)));
      from = end + 2;
    }
    rest = rest.slice(from);
  };
}

/** Builds a request's body, folds an answer's events, and extends the history. */
export const byHandProtocols = {
  "openai-chat": {
    path: "/chat/completions",
    headers: { authorization: "Bearer bench" },
    start: (system, prompt) => [
      { role: "system", content: system },
      { role: "user", content: prompt },
    ],
    tools: (tools) =>
      tools.map(({ name, description, parameters }) => ({
        type: "function",
        function: { name, description, parameters },
      })),
    body: (_system, messages, tools) =>
      JSON.stringify({
        model: "bench",
        stream: true,
        stream_options: { include_usage: true },
        messages,
        tools,
      }),
    answer(hear, hearArgs) {
      const answer = { text: "", calls: [] };
      const take = ({ choices: [choice] }) => {
        if (choice === undefined) return;
        const { content, tool_calls } = choice.delta;
        if (content) {
          answer.text += content;
          hear(content);
        }
        if (tool_calls !== undefined)
          for (const { index, id, function: piece } of tool_calls) {
            answer.calls[index] ??= { id, name: piece.name, args: "" };
            answer.calls[index].args += piece.arguments ?? "";
            hearArgs?.(piece.arguments);
          }
      };
      return { answer, take };
    },
    said: ({ text, calls }, results) => [
      {
        role: "assistant",
        content: text,
        tool_calls: calls.map(({ id, name, args }) => ({
          id,
          type: "function",
          function: { name, arguments: args },
        })),
      },
      ...calls.map(({ id }, at) => ({ role: "tool", tool_call_id: id, content: results[at] })),
    ],
  },
  "anthropic-messages": {
    path: "/v1/messages",
    headers: { "x-api-key": "bench", "anthropic-version": "2023-06-01" },
    start: (_system, prompt) => [{ role: "user", content: prompt }],
    tools: (tools) =>
      tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
    body: (system, messages, tools) =>
      JSON.stringify({ model: "bench", max_tokens: 4096, stream: true, system, messages, tools }),
    answer(hear, hearArgs) {
      const answer = { text: "", calls: [] };
      let call;
      const take = (event) => {
        if (event.type === "content_block_delta") {
          const { delta } = event;
          if (delta.type === "text_delta") {
            answer.text += delta.text;
            hear(delta.text);
          } else {
            call.args += delta.partial_json;
            hearArgs?.(delta.partial_json);
          }
        } else if (event.type === "content_block_start" && event.content_block.type === "tool_use") {
          call = { id: event.content_block.id, name: event.content_block.name, args: "" };
          answer.calls.push(call);
        }
      };
      return { answer, take };
    },
    said: ({ text, calls }, results) => [
      {
        role: "assistant",
        content: [
          { type: "text", text },
          ...calls.map(({ id, name, args }) => ({ type: "tool_use", id, name, input: JSON.parse(args) })),
        ],
      },
      {
        role: "user",
        content: calls.map(({ id }, at) => ({ type: "tool_result", tool_use_id: id, content: results[at] })),
      },
    ],
  },
};

/**
 * A subject for a transport: `send(path, headers, body, onText)` resolves when the answer is complete.
 */
export function byHand(name, sender) {
  const protocol = byHandProtocols[name];
  return function prepare({ base, system, tools }) {
    const send = sender(base + protocol.path, { "content-type": "application/json", ...protocol.headers });
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    const declared = protocol.tools(tools);
    return async (prompt) => {
      const messages = protocol.start(system, prompt);
      let heard = 0;
      const hear = (piece) => {
        heard += piece.length;
      };
      for (;;) {
        const { answer, take } = protocol.answer(hear);
        await send(protocol.body(system, messages, declared), splitter(take));
        if (answer.calls.length === 0) return { text: answer.text, heard };
        const results = await Promise.all(
          answer.calls.map(({ name, args }) => byName.get(name).execute(JSON.parse(args))),
        );
        messages.push(...protocol.said(answer, results));
      }
    };
  };
}
