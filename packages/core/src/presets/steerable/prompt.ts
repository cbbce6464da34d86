// The room of the steerable prompt: lines that bias a model, each left out unless asked for.
//
// Words only: no line of a prompt is ever read by the loop. What goes on or stops is decided from calls alone.

import { silentTokens } from "../../prompt/silent.ts";

/** Lines of a system prompt, by what they are about. */
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
  /** @param token what to answer with */
  silence: (token: string): readonly string[] => [
    `When you have nothing to say, answer with only: ${token}`,
    "It must be the whole answer: never add it to a real one, and never put anything around it.",
  ],
} as const;

export interface SteerablePrompt {
  /** What comes first, in your own words. */
  instruction?: string;
  /** Ask for little talk around tool calls. */
  narration?: boolean;
  /** Skills to choose from: each a folder with a SKILL.md. */
  skills?: readonly { name: string; description: string; location: string }[];
  /** Ask for a search of the memory before an answer; for agents with a tool named `memory_search`. */
  memory?: boolean;
  /** Teach a word for silence: `true` is `__SILENT__`. See `isSilentReply`. */
  silence?: boolean | string;
}

/** A system prompt of the lines asked for, in a fixed order; empty when none is. */
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
