// The room of repair: makes a history from elsewhere acceptable to every provider.
//
// Repair knows no provider: what differs between them is in a policy. It removes nothing that a person or the model
// wrote, unless the policy says so. If nothing is wrong it returns its input, the same array with the same messages, so
// that whatever is cached by their identity stays cached.

import {
  type AssistantMessage,
  isSameOrigin,
  type Message,
  type Part,
  type TextPart,
  type UserMessage,
  userText,
} from "../message.ts";
import { mendMessage } from "./repair/mend.ts";
import { pairUp, sameItems } from "./repair/pairing.ts";
import { type RepairPolicy, type RepairTexts, repairTexts } from "./repair/policy.ts";

/** The history without faults that a provider would refuse; the same array if it has none. */
export function repairHistory(messages: readonly Message[], policy: RepairPolicy = {}): readonly Message[] {
  const texts = { ...repairTexts, ...policy.texts };
  const mended = messages.flatMap((message) => mendMessage(message, policy, texts) ?? []);
  const paired = pairUp(named(sameItems(mended, messages) ? messages : mended, policy, texts), {
    missing: texts.missing,
    unanswered: policy.unanswered ?? "answer",
    failed: policy.failed ?? "answered",
    id: policy.id ?? numbering(),
  });
  const whole = paired.filter((message) => message.role === "tool" || message.content.length > 0);
  const ordered = inOrder(whole, policy, texts);
  return sameItems(ordered, messages) ? messages : ordered;
}

/** Ids from elsewhere repeat, across turns and within one (F052, F054): each gets the next free number. A blank one gets a name. */
function numbering(): NonNullable<RepairPolicy["id"]> {
  const last = new Map<string, number>();
  return (id, taken) => {
    const base = id === "" ? "call" : id;
    let free = base;
    for (let n = last.get(base) ?? 2; taken.has(free); n += 1) {
      free = `${base}_${n}`;
      last.set(base, n);
    }
    return free;
  };
}

/** A call without a name takes its result's name; a call with neither name nor result is dropped (F066). */
function named(messages: readonly Message[], policy: RepairPolicy, texts: RepairTexts): readonly Message[] {
  const nameless = (part: Part): boolean => part.type === "tool_call" && part.name.trim() === "";
  const allowed = policy.toolNames === undefined ? undefined : new Set(policy.toolNames);
  const refused = (part: Part): boolean =>
    part.type === "tool_call" && allowed !== undefined && !allowed.has(part.name);
  if (!messages.some((one) => one.role === "assistant" && one.content.some((p) => nameless(p) || refused(p))))
    return messages;
  const names = new Map<string, string>();
  for (const message of messages)
    if (message.role === "tool") names.set(message.callId, message.name || texts.unknownTool);
  return messages.map((message) => {
    if (message.role !== "assistant") return message;
    const content = message.content.flatMap((part): Part[] => {
      if (part.type !== "tool_call") return [part];
      const name = nameless(part) ? names.get(part.id) : part.name;
      if (name === undefined) return [];
      const call = name === part.name ? part : { ...part, name };
      return refused(call) ? [] : [call];
    });
    return sameItems(content, message.content) ? message : { ...message, content };
  });
}

/** Ensures who speaks first, last, and after whom. */
function inOrder(messages: readonly Message[], policy: RepairPolicy, texts: RepairTexts): readonly Message[] {
  const out: Message[] = [];
  for (const message of messages) {
    const last = out.at(-1);
    if (
      policy.userFirst === true &&
      message.role === "assistant" &&
      !out.some((one) => one.role !== "system")
    )
      out.push(userText(texts.first));
    else if (last?.role === message.role && (message.role === "user" || message.role === "assistant")) {
      if (policy.neighbours === "merge") {
        out.push(joined(out.pop() as UserMessage | AssistantMessage, message));
        continue;
      }
      if (policy.neighbours === "bridge")
        out.push(message.role === "user" ? word(texts.noted, messages) : userText(texts.proceed));
    }
    out.push(message);
  }
  if (policy.assistantLast === "proceed" && out.at(-1)?.role === "assistant")
    out.push(userText(texts.proceed));
  return out;
}

/** Joins two messages of one role. Calls end an answer, so only an answer without calls has a neighbour. */
function joined(first: UserMessage | AssistantMessage, second: UserMessage | AssistantMessage): Message {
  const isForeign =
    first.role === "assistant" && second.role === "assistant" && !isSameOrigin(first.origin, second.origin);
  const content = isForeign ? first.content.flatMap(unsigned) : first.content;
  return { ...second, content: [...content, ...second.content] } as Message;
}

/** A part without what only its own provider understands: under another's name it would be sent there, and refused. */
function unsigned(part: Part): Part[] {
  if (part.type === "reasoning" || part.type === "native") return [];
  const { opaque: _, citations: __, ...rest } = part as Part & TextPart;
  return [rest as Part];
}

function word(text: string, messages: readonly Message[]): AssistantMessage {
  const model = messages.find((one): one is AssistantMessage => one.role === "assistant");
  return {
    role: "assistant",
    content: [{ type: "text", text }],
    origin: model?.origin ?? { api: "unknown", provider: "unknown", model: "unknown" },
    stop: { kind: "end_turn", wire: "end_turn" },
  };
}
