// The room of the tags that families of models write around what they think, where a server leaves it in the text.
//
// Only those that nobody writes who was not taught to: `<thinking>` and its like people also ask for, and look for in the text.

/** What opens a thought, and what closes it, as the family writes them. */
export type ThinkingTag = readonly [open: string, close: string];

/** Most models', Magistral's, Command's, Seed's, Hunyuan's, MiniMax's, Gemma's, Kimi's. */
export const thinkingTags: readonly ThinkingTag[] = [
  ["<think>", "</think>"],
  ["[THINK]", "[/THINK]"],
  ["<|START_THINKING|>", "<|END_THINKING|>"],
  ["<seed:think>", "</seed:think>"],
  ["<think:opensource>", "</think:opensource>"],
  ["<mm:think>", "</mm:think>"],
  ["<|channel>thought", "<channel|>"],
  ["◁think▷", "◁/think▷"],
];
