// The room of the "kept" floor: the loop by hand, plus the least code that keeps what Rondo promises.
//
// Five records per step with time and randomness, written before what they announce; a digest of each request; a request
// with an abort and two timeouts; live events to a function that may throw; arguments checked against their schema; results
// measured, cleaned and compared with earlier ones; limits. No user rules, hooks, retries, other protocols, resume, or
// helpful errors: whatever is missing here costs more.

import { byHandProtocols, splitter } from "./by-hand.mjs";

const highPrime = 2654435761 | 0;
const lowPrime = 1597334677;

/** A 53-bit hash of a text, continuing an earlier hash. */
export function nameOf(text, from) {
  let high = (from / 2 ** 32) ^ text.length;
  let low = from | 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, highPrime);
    low = Math.imul(low ^ unit, lowPrime);
  }
  return (high & 0x1fffff) * 2 ** 32 + (low >>> 0);
}

/** What is wrong with a value, in a few words; undefined: nothing. */
export function wrongWith(schema, value) {
  const { type, properties, required, additionalProperties, enum: words, items } = schema;
  if (type === "object") {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return "no object";
    for (const key of required ?? []) if (!(key in value)) return `${key} is missing`;
    for (const key in value) {
      const own = properties?.[key];
      if (own === undefined) {
        if (additionalProperties === false) return `${key} is unknown`;
        continue;
      }
      const wrong = wrongWith(own, value[key]);
      if (wrong !== undefined) return `${key}: ${wrong}`;
    }
    return undefined;
  }
  if (type === "array") {
    if (!Array.isArray(value)) return "no array";
    for (const item of value) {
      const wrong = wrongWith(items ?? {}, item);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }
  if (type !== undefined && typeof value !== type) return `no ${type}`;
  return words === undefined || words.includes(value) ? undefined : "none of the values";
}

export const canonical = (args) => JSON.stringify(args, Object.keys(args).sort());
export const control = /\p{Cc}(?<![\t\n\r])/u;
export const mostBytes = 50 * 1024;

/** Live events to a function; if it throws, the run ends with that error. */
export class Events {
  #hear;
  failed;

  constructor(hear) {
    this.#hear = hear;
  }

  push(event) {
    try {
      this.#hear(event);
    } catch (thrown) {
      this.failed ??= thrown;
    }
  }
}

/** A subject for a transport: `send(body, onText, watch)` resolves when the answer is complete. */
export function keptByHand(name, sender) {
  const protocol = byHandProtocols[name];
  return function prepare({ base, system, tools, maxSteps }) {
    const send = sender(base + protocol.path, { "content-type": "application/json", ...protocol.headers });
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    const declared = protocol.tools(tools);
    const journal = new Map();
    let sessions = 0;

    async function drive(records, events, prompt) {
      const seen = new Map();
      const messages = protocol.start(system, prompt);
      let named = nameOf(JSON.stringify(messages), 0);
      let spent = 0;
      let now = 0;
      const keep = (fact) => {
        now = Math.max(now, Date.now());
        const record = { ...fact, seq: records.length, at: now, rand: Math.random() };
        records.push(record);
        return record;
      };
      keep({ type: "run_started", input: prompt });
      events.push({ type: "run_start", input: prompt });
      for (let step = 1; ; step += 1) {
        if (step > maxSteps) throw new Error("max_steps");
        keep({ type: "model_started", step, digest: named });
        events.push({ type: "step_start", step });
        events.push({ type: "request", step, digest: named });
        const { answer, take } = protocol.answer(
          (text) => events.push({ type: "text_delta", step, index: 0, text }),
          (delta) => events.push({ type: "tool_args_delta", step, index: 1, delta }),
        );
        const controller = new AbortController();
        await send(protocol.body(system, messages, declared), splitter(take), {
          signal: controller.signal,
          firstByteMs: 120_000,
          idleMs: 60_000,
        });
        spent += answer.text.length;
        const checks = answer.calls.map(({ name, args }) => {
          try {
            const value = JSON.parse(args);
            return { value, wrong: wrongWith(byName.get(name).parameters, value) };
          } catch (thrown) {
            return { value: undefined, wrong: String(thrown) };
          }
        });
        keep({ type: "model_finished", message: answer, checks, spent });
        events.push({ type: "message", step, message: answer });
        const verdicts = checks.map(({ wrong }) => (wrong === undefined ? "run" : "fail"));
        keep({ type: "turn_judged", rule: "by_content", verdicts });
        if (answer.calls.length === 0) {
          keep({ type: "run_ended", reason: "completed", text: answer.text });
          events.push({ type: "step_end", step });
          events.push({ type: "run_end", reason: "completed" });
          return { text: answer.text };
        }
        const results = await Promise.all(
          answer.calls.map(async ({ id, name }, at) => {
            const { value, wrong } = checks[at];
            const call = { key: `${records.length}/${at}`, id, name, args: value };
            keep({ type: "tool_started", call: call.key });
            events.push({ type: "tool_start", call });
            let result = wrong === undefined ? await byName.get(name).execute(value) : wrong;
            if (control.test(result)) result = result.replaceAll(/\p{Cc}(?<![\t\n\r])/gu, "");
            if (Buffer.byteLength(result) > mostBytes) result = result.slice(0, mostBytes);
            const same = `${name} ${canonical(value)}`;
            const outcome = nameOf(result, 0);
            const before = seen.get(same);
            seen.set(same, { outcome, count: before?.outcome === outcome ? before.count + 1 : 1 });
            if (before !== undefined && before.count >= 5) throw new Error("no_progress");
            keep({ type: "tool_finished", call: call.key, result });
            events.push({ type: "tool_end", call, content: result });
            return result;
          }),
        );
        events.push({ type: "step_end", step });
        const said = protocol.said(answer, results);
        for (const message of said) named = nameOf(JSON.stringify(message), named);
        messages.push(...said);
      }
    }

    return async (prompt) => {
      const records = [];
      sessions += 1;
      journal.set(`session ${sessions}`, records);
      let heard = 0;
      const events = new Events((event) => {
        if (event.type === "text_delta") heard += event.text.length;
      });
      const { text } = await drive(records, events, prompt);
      if (events.failed !== undefined) throw events.failed;
      return { text, heard };
    };
  };
}
