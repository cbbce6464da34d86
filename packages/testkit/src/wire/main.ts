// The command rondo-wire: serves a script file, for clients in any language.
//
// Its first line on standard output is one JSON object with the addresses; it serves until it is stopped.

import { appendFileSync, readFileSync } from "node:fs";
import { messageOf } from "@rondo/core";
import { readOptions } from "./command-line.ts";
import type { Chunks } from "./faults.ts";
import { recordedScript } from "./recorded-script.ts";
import { requestLine } from "./request-line.ts";
import { readScript } from "./script-json.ts";
import { rondoWire } from "./server.ts";

const usage = `rondo-wire --script FILE [options]
rondo-wire --cassette FILE [options]

Serves five protocols (Anthropic Messages, OpenAI Chat Completions and Responses, Google GenerateContent, Bedrock
Converse) from a script, for clients in any language.

  --script FILE      the script, as JSON; - reads it from standard input
  --cassette FILE    answers as a recorded run was answered: a JSONL journal, or one record a line
  --print            prints the script as JSON and ends: to record a cassette once and edit it, faults and all
  --port N           default 0: any that is free
  --chunks FORM      frame, byte or whole: how bodies are handed to the socket
  --lenient          take requests that break their provider's rules
  --repeat-last      play the last turn again when the script has run out
  --server NAME      speak Chat Completions as this compatible server does, e.g. mistral, groq, ollama
  --key KEY          the only key that is right
  --requests FILE    append every request to this file, one JSON object a line, without its credentials
  --help             this

A script is a list of turns, one a request: a text, a word or a list of words, e.g.

  ["It snows.", {"call": "weather", "args": {"city": "Oslo"}}, {"status": 429, "retryAfterMs": 2000},
   [{"say": "cut sho"}, {"cutAt": {"frames": 2}, "how": "close"}]]

Words: say, think, refuse, call, badArgs, native, empty, stop, usage, fail, status, cutAt, stallAfter, slow, delay,
chunks, garbage, duplicate, corrupt, contentType, raw, frames, plainJson, reset, stall. Their members: the README of
@rondo/testkit.

Each request is checked against its provider's rules: what breaks one is answered 400, as the provider would.

Prints {"url", "urls", "pid"} as one line of JSON, and serves on 127.0.0.1 until SIGINT or SIGTERM.`;

function fail(message: string, code: number): never {
  process.stderr.write(`rondo-wire: ${message}\n`);
  process.exit(code);
}

function options(): ReturnType<typeof readOptions> {
  try {
    return readOptions(process.argv.slice(2));
  } catch (thrown) {
    fail(messageOf(thrown), 2);
  }
}

/** What the file system says, with the option that named the file. */
function named<Result>(what: string, act: () => Result): Result {
  try {
    return act();
  } catch (thrown) {
    fail(`${what}: ${messageOf(thrown)}`, 1);
  }
}

const given = options();
if (given.help) {
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}
if ((given.script === undefined) === (given.cassette === undefined))
  fail(`one of --script and --cassette is needed\n\n${usage}`, 2);
const { port: portText = "0" } = given;
const port = Number(portText);
// What is empty would be 0 to JavaScript, and 1e3 a thousand.
if (!/^\d{1,5}$/.test(portText) || port > 65_535)
  fail(`--port ${given.port}: a number from 0 to 65535 is needed`, 2);
if (given.chunks !== undefined && !["frame", "byte", "whole"].includes(given.chunks))
  fail(`--chunks ${given.chunks}: frame, byte or whole is needed`, 2);

try {
  const { script, cassette, requests, server, chunks, key } = given;
  const text =
    cassette === undefined
      ? named(`--script ${script}: it cannot be read`, () =>
          readFileSync(script === "-" ? 0 : String(script), "utf8"),
        )
      : JSON.stringify({ turns: recordedScript(cassette) }, undefined, 2);
  const file = readScript(text);
  if (given.print) {
    process.stdout.write(`${text.trimEnd()}\n`);
    process.exit(0);
  }
  if (requests !== undefined)
    named(`--requests ${requests}: it cannot be written`, () => appendFileSync(requests, ""));
  const wire = await rondoWire({
    ...file,
    port,
    ...(given.lenient ? { strict: false } : {}),
    ...(server === undefined ? {} : { server }),
    ...(given["repeat-last"] ? { repeatLast: true } : {}),
    ...(chunks === undefined ? {} : { chunks: chunks as Chunks }),
    ...(key === undefined ? {} : { key }),
    ...(requests === undefined
      ? {}
      : { onRequest: (request) => appendFileSync(requests, requestLine(request)) }),
  });
  const urls = {
    anthropic: wire.urlFor("anthropic"),
    openai: wire.urlFor("openai"),
    google: wire.urlFor("google"),
    bedrock: wire.urlFor("bedrock"),
  };
  process.stdout.write(`${JSON.stringify({ url: wire.url, urls, pid: process.pid })}\n`);
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => {
      for (const problem of wire.problems) process.stderr.write(`rondo-wire: ${problem}\n`);
      void wire.close().then(() => process.exit(0));
    });
} catch (thrown) {
  fail(messageOf(thrown), 1);
}
