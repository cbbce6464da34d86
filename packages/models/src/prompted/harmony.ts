// The room of Harmony: the channels in which gpt-oss thinks, calls and answers, if a server leaves them in the text.
//
// For that family only (F236): elsewhere such tokens are leaks. `analysis` is reasoning, `final` is the answer, and a
// message to a function is a call. It is rewritten in the protocol's own form, and parsed like any other.

import { withChannelTokens } from "./bare-channels.ts";

const segment =
  /<\|channel\|>([^<]*)(?:<\|constrain\|>[^<]*)?<\|message\|>([\s\S]*?)(?=<\|(?:end|call|return|start|channel)\|>|$)/g;

export interface HarmonyText {
  reasoning: string;
  body: string;
}

/** Whether a model of this name uses channels. */
export function speaksHarmony(model: string): boolean {
  return /gpt-?oss/i.test(model);
}

/** The text with its channels separated; undefined if it has none. */
export function fromHarmony(given: string): HarmonyText | undefined {
  const text = withChannelTokens(given);
  if (!/^\s*(?:<\|start\|>assistant)?[^<]{0,200}<\|channel\|>/.test(text)) return undefined;
  const reasoning: string[] = [];
  const calls: string[] = [];
  const answer: string[] = [];
  for (const [, channel = "", message = ""] of text.matchAll(segment)) {
    const to = /\bto=([^\s<]+)/.exec(channel)?.[1];
    if (to !== undefined) calls.push(callText(to, message.trim()));
    else if (channel.trim().startsWith("analysis")) reasoning.push(message.trim());
    else answer.push(message.trim());
  }
  return { reasoning: reasoning.join("\n"), body: calls.length > 0 ? calls.join("\n") : answer.join("\n") };
}

/** The arguments stay text: whether they are JSON is judged where all arguments are. */
function callText(to: string, args: string): string {
  const name = to.startsWith("functions.") ? to.slice("functions.".length) : to;
  return JSON.stringify({ tool_call: { name, input: args === "" ? {} : args } });
}
