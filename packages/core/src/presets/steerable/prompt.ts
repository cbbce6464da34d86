// The room of the steerable prompt: optional lines of a system prompt that influence a model.
//
// They are only text: the loop never reads a prompt. Whether a run continues is decided by calls alone.

import { silentTokens } from "../../prompt/silent.ts";

/** Lines of a system prompt, by their subject. */
export const steerableLines = {
  narration: [
    "Default: do not narrate routine, low-risk tool calls (just call the tool).",
    "Narrate only when it helps: work of many steps, a hard problem, something that cannot be undone, or when the user asks for it.",
  ],
  skills: [
    "Before you reply, look through the skills below. If one clearly fits the task: read its SKILL.md, then follow it.",
    "If several could fit, take the closest one. If none does, read none of them.",
  ],
  memory: [
    "Before answering anything about earlier work, decisions, dates, people, preferences or open tasks: run memory_search, and go by what it finds.",
    "If you still are not sure after that, say that you looked.",
  ],
  /** @param token the word that means silence */
  silence: (token: string): readonly string[] => [
    `When you have nothing to say, answer with only: ${token}`,
    "It must be the whole answer: never add it to a real one, and never put anything around it.",
  ],
} as const;

export interface SteerablePrompt {
  /** The first lines, in your own words. */
  instruction?: string;
  /** Asks for little text around tool calls. */
  narration?: boolean;
  /** Skills to choose from: each a folder with a SKILL.md. */
  skills?: readonly { name: string; description: string; location: string }[];
  /** Asks the model to search its memory before it answers; for agents with a tool named `memory_search`. */
  memory?: boolean;
  /** Teaches the model a word for silence; `true` means `__SILENT__`. See `isSilentReply`. */
  silence?: boolean | string;
}

/** A system prompt made of the chosen lines, in a fixed order; empty if none is chosen. */
export function steerablePrompt(prompt: SteerablePrompt): string {
  const { instruction = "", narration, skills = [], memory, silence } = prompt;
  const token = silence === true ? silentTokens[0] : silence;
  const blocks: (readonly string[])[] = [
    instruction.trim() === "" ? [] : [instruction.trim()],
    narration ? steerableLines.narration : [],
    skills.length === 0
      ? []
      : [
          ...steerableLines.skills,
          ...skills.map(({ name, description, location }) => `- ${name}: ${description} (${location})`),
        ],
    memory ? steerableLines.memory : [],
    token ? steerableLines.silence(token) : [],
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}
