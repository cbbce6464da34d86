// The minds of the command's tests: the environment names a script, and the command takes the model from this module
// as it would take a user's own.

import { type Model, textOf } from "@rondo/core";
import { call, fail, refuse, type Script, say, scripted, stall, think, usage } from "@rondo/testkit";

/** Runs a command, then says what came of it. */
const runs = (...commands: string[]): Script => {
  return (request) => {
    const last = request.messages.at(-1);
    if (last?.role === "tool") return say(`the tool said: ${JSON.stringify(last.content)}`);
    return [say("I will run it."), ...commands.map((command) => call("run_command", { command }))];
  };
};

const scripts: { readonly [name: string]: Script } = {
  answers: [
    [think("hm"), say("The answer is 42.", { chunk: 3 }), usage({ inputTokens: 1200, outputTokens: 34 })],
  ],
  uncounted: [say("nobody counted this")],
  reads: (request) =>
    request.messages.at(-1)?.role === "tool"
      ? say("I have read it.")
      : call("read_file", { path: "notes.txt" }),
  echoes: runs("echo from-the-tool"),
  says_much: runs("seq 20000"),
  touches: runs("touch touched.txt; pwd"),
  writes: (request) =>
    request.messages.at(-1)?.role === "tool"
      ? say("It stands there.")
      : call("write_file", { path: "written.txt", content: "a line\n" }),
  twice: runs("echo first", "echo second"),
  again: (request) => {
    const results = request.messages.filter((message) => message.role === "tool").length;
    return results < 3 ? call("run_command", { command: `echo number-${results}` }) : say("three of them");
  },
  /** Wants the same thing twice, then another. */
  insists: (request) => {
    const results = request.messages.filter((message) => message.role === "tool").length;
    return call("run_command", { command: results < 2 ? "touch one" : "touch two" });
  },
  sleeps: runs("touch asleep; sleep 100"),
  "twice-asleep": runs("sleep 100", "sleep 101"),
  crashes: (request) => {
    // In the process that is to die it never answers; another process's model does.
    const last = request.messages.at(-1);
    if (last?.role !== "tool") return call("read_file", { path: "notes.txt" });
    return process.env.HANG === "1" ? stall({ afterText: "half an ans" }) : say("finished after all");
  },
  tokens: (_request, number) => [
    call("list_files", { limit: number + 1 }),
    usage({ inputTokens: 60, outputTokens: 20 }),
  ],
  wanders: (_request, number) => call("list_files", { path: ".", limit: number + 1 }),
  refuses: [refuse("I will not do that.")],
  fails: [fail("auth", { message: "the key is wrong" })],
  speaks: [
    say("\x1b]0;evil title\x07red: \x1b[31mred\x1b[0m\rover\x1b]8;;http://evil\x1b\\link \u202etxt", {
      chunk: 1,
    }),
  ],
  /** Talks: says back the last message, works when asked to, and can be slow. */
  talks: (request) => {
    const last = request.messages.at(-1);
    const text = last?.role === "user" ? textOf(last) : "";
    if (last?.role === "tool") return say(`done: ${JSON.stringify(last.content)}`);
    if (text.startsWith("run ")) return call("run_command", { command: text.slice(4) });
    if (text === "list") return call("list_files", { path: "." });
    if (text === "hang") return stall({ afterText: "I am thinking" });
    return say(`you said: ${text}`);
  },
  /** Waits for a file in the folder, then looks at the conversation. */
  waits: (request) => {
    const last = request.messages.at(-1);
    if (last?.role === "user" && request.messages.length === 1)
      return call("run_command", {
        // It goes on for a second: a signal counts 20 ms after it came, and a quick tool would have ended the run by then.
        command: "touch begun; while ! test -e go; do sleep 0.05; done; sleep 1; echo gone",
      });
    return say(`heard: ${request.messages.map((message) => textOf(message)).join(" | ")}`);
  },
  deaf: [stall({ afterText: "I cannot hear", ignoreSignal: true })],
  babbles: [[say("word ".repeat(20_000), { chunk: 5 }), stall()]],
  system: (request) => say(`system: ${request.system}; task: ${JSON.stringify(request.messages.at(-1))}`),
};

export default function mind(): Model {
  const name = process.env.MIND ?? "";
  const script = scripts[name];
  if (script === undefined) throw new Error(`there is no mind ${JSON.stringify(name)}`);
  // Of a large result a small window keeps but a part, and the whole is kept beside it.
  const facts = name === "says_much" ? { facts: { contextWindow: 16_000 } } : {};
  return scripted(script, { id: `mind-${name}`, ...facts });
}
