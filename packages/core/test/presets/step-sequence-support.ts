// What the tests of the step sequence share: a sequence over a script, and its steps in short.

import { Agent, type AgentOptions, type RunResult, type StepEvent, textOf } from "@rondo/core";
import { type StepSequenceOptions, stepSequence } from "@rondo/core/presets";
import { type Script, type ScriptedModel, scripted } from "@rondo/testkit";

/** A sequence over a script. */
export function sequence<Output = unknown>(
  script: Script,
  options: Partial<StepSequenceOptions<Output>> = {},
  more: Partial<AgentOptions<Output>> = {},
): { agent: Agent<Output>; model: ScriptedModel } {
  const model = scripted(script);
  return { agent: new Agent<Output>({ ...stepSequence<Output>({ model, ...options }), ...more }), model };
}

/** A step in short. */
export function inShort(step: StepEvent): string {
  switch (step.type) {
    case "thinking":
      return `thinking ${textOf(step.message)}`.trim();
    case "tool_call":
      return `call ${step.call.name}`;
    case "tool_result":
      return `result ${step.call.name}: ${step.content.map((part) => ("text" in part ? part.text : "")).join("")}`;
    case "interrupted":
      return `interrupted ${textOf(step.message)}`;
    case "final_response":
      return `final ${step.output === undefined ? step.text : JSON.stringify(step.output)}`;
  }
}

/** All steps in short, what was thrown while they were pulled, and the result where there is one. */
export async function pulled<Output>(
  agent: Agent<Output>,
): Promise<{ steps: string[]; thrown?: unknown; result?: RunResult<Output> }> {
  const steps: string[] = [];
  const stream = agent.steps("go");
  try {
    for await (const step of stream) steps.push(inShort(step));
  } catch (thrown) {
    return { steps, thrown };
  }
  return { steps, result: await stream.result };
}
