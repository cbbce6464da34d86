// The room of asking: a person at the terminal decides about a call.
//
// What is approved must be what was seen: arguments are shown in full, with invisible characters escaped. Only an
// explicit yes is a yes: an empty line asks again, the end of input leaves the call waiting.

import { createInterface, type Interface } from "node:readline/promises";
import { type CallView, type JsonObject, messageOf, parsedJson, type Tool } from "@rondo/core";
import type { Console } from "./console.ts";
import { visibleJson, visibleText } from "./plain-text.ts";

export type Answer =
  | { answer: "approve" }
  /** This call, and every later one of its tool in this run. */
  | { answer: "always" }
  | { answer: "deny"; reason?: string }
  | { answer: "edit"; args: JsonObject };

/**
 * Asks about one call. Undefined when nobody answers any more: the input has ended, or the signal fired.
 * @param onInterrupt called for Ctrl-C during the question
 */
export async function askAbout(
  call: CallView,
  tool: Tool | undefined,
  console: Console,
  io: { signal: AbortSignal; onInterrupt: () => void },
): Promise<Answer | undefined> {
  const { stdin, stderr } = console.streams;
  const reader = createInterface({ input: stdin, output: stderr, terminal: true });
  const closed = new AbortController();
  const close = (): void => closed.abort();
  reader.on("SIGINT", io.onInterrupt);
  reader.once("close", close);
  io.signal.addEventListener("abort", close, { once: true });
  if (io.signal.aborted) close();
  try {
    show(call, console);
    return await decide(reader, closed.signal, call, tool, console);
  } catch (thrown) {
    if (closed.signal.aborted) {
      console.errorLine("");
      return undefined;
    }
    throw thrown;
  } finally {
    io.signal.removeEventListener("abort", close);
    reader.off("close", close);
    reader.close();
  }
}

function show(call: CallView, console: Console): void {
  console.errorLine(console.paintError("bold", `${visibleText(call.name)} wants to run:`));
  const entries = Object.entries(call.args);
  if (entries.length === 0) console.errorLine("  (no arguments)");
  for (const [name, value] of entries) {
    const text = visibleText(typeof value === "string" ? value : JSON.stringify(value));
    const lines = text.split("\n");
    if (lines.length === 1) console.errorLine(`  ${visibleText(name)}: ${text}`);
    else console.errorLine(`  ${visibleText(name)}:\n${lines.map((line) => `    ${line}`).join("\n")}`);
  }
}

async function decide(
  reader: Interface,
  signal: AbortSignal,
  call: CallView,
  tool: Tool | undefined,
  console: Console,
): Promise<Answer> {
  const ask = async (question: string): Promise<string> =>
    (await reader.question(console.paintError("yellow", question), { signal })).trim();
  // "Always" covers the whole tool, any command of run_command for instance: so the question names its extent.
  const always = `[a]lways (any ${visibleText(call.name)} in this run)`;
  for (;;) {
    const said = (await ask(`[y]es, [n]o, [e]dit, ${always}? `)).toLowerCase();
    switch (said) {
      case "y":
      case "yes":
        return { answer: "approve" };
      case "a":
      case "always":
        return { answer: "always" };
      case "n":
      case "no": {
        const reason = await ask("why not? (the model reads it; may be empty) ");
        return { answer: "deny", ...(reason === "" ? {} : { reason }) };
      }
      case "e":
      case "edit": {
        const args = await edit(reader, signal, call, tool, console);
        if (args !== undefined) return { answer: "edit", args };
        break;
      }
      default:
        console.errorLine("answer y, n, e or a");
    }
  }
}

/** Reads new arguments, as JSON on one line; undefined when they are invalid, after printing why. */
async function edit(
  reader: Interface,
  signal: AbortSignal,
  call: CallView,
  tool: Tool | undefined,
  console: Console,
): Promise<JsonObject | undefined> {
  const answer = reader.question(console.paintError("yellow", "arguments as JSON: "), { signal });
  reader.write(visibleJson(call.args));
  try {
    const args = parseArgsJson(await answer);
    const check = await tool?.check(args);
    if (check?.ok === false) throw new TypeError(check.error);
    return args;
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    console.errorLine(`these arguments cannot be used: ${visibleText(messageOf(thrown))}`);
    return undefined;
  }
}

/** @throws TypeError when the text is not a JSON object */
export function parseArgsJson(text: string): JsonObject {
  const value: unknown = parsedJson(text);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TypeError('arguments are a JSON object, e.g. {"command":"ls"}');
  return value as JsonObject;
}
