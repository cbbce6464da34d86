// Rondo as used by somebody who wants to see the answer as it comes, with defaults otherwise: with a callback, like
// the loops by hand, or pulled.

import { Agent, tool } from "@rondo/core";

const agentOf = (model, { system, tools, maxSteps }, options = {}) =>
  new Agent({
    ...options,
    model,
    system,
    maxSteps,
    tools: tools.map(({ name, description, parameters, execute }) =>
      tool({
        name,
        description,
        inputSchema: parameters,
        effect: name.startsWith("look") ? "read" : "write",
        execute,
      }),
    ),
  });

function answerIn({ text, end }, heard) {
  if (end?.reason !== "completed") throw new Error(`the run ended: ${JSON.stringify(end)}`);
  return { text, heard };
}

/** Each event goes to a callback. */
export function agentOver(model, setup, options) {
  const agent = agentOf(model, setup, options);
  return async (prompt) => {
    let heard = 0;
    const onEvent = (event) => {
      if (event.type === "text_delta") heard += event.text.length;
    };
    return answerIn(await agent.run(prompt, { onEvent }), heard);
  };
}

/** Each event is awaited. */
export function pulledAgentOver(model, setup) {
  const agent = agentOf(model, setup);
  return async (prompt) => {
    let heard = 0;
    const stream = agent.stream(prompt);
    for await (const event of stream) if (event.type === "text_delta") heard += event.text.length;
    return answerIn(await stream.result, heard);
  };
}

/** Everything that can be turned off is: what is left is the loop. */
export const bareAgentOver = (model, setup) =>
  agentOver(model, setup, {
    retry: null,
    refusals: null,
    repairs: null,
    degenerateRetries: null,
    malformedRetries: null,
    pauseResumes: null,
    emptyNudges: null,
    maxTruncations: null,
    repeats: null,
    coerce: false,
    blobs: null,
    context: { cap: null, trim: null, guard: null, compaction: null },
  });
