// The room of thinking tags: what model families write around their reasoning, if a server leaves it in the text.
//
// Only tags that a model writes because it was trained on them: users ask for `<thinking>` and the like, and look for it in the text.

/** The opening and the closing tag. */
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
  ["<|open|>think<|sep|>", "<|close|>think<|sep|>"],
];
