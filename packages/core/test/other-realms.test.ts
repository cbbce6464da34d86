// Values of another realm: a test runner, an iframe and `node:vm` have classes of their own, which `instanceof` does not know.

import vm from "node:vm";
import { Agent, type FilePart, memoryBlobs, textOf, tool, toolResult } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { expect, test } from "vitest";

const there = <Value>(code: string): Value => vm.runInNewContext(code) as Value;

const returning = async (value: unknown): Promise<string> => {
  const get = tool({
    name: "get",
    description: "Gets",
    inputSchema: { type: "object" },
    execute: () => value,
  });
  const { messages } = await new Agent({ model: scripted([call("get"), say("done")]), tools: [get] }).run(
    "go",
  );
  return messages.filter(({ role }) => role === "tool").map(textOf)[0] ?? "";
};

test("bytes are bytes, in a message and in a result", async () => {
  const data = there<Uint8Array>("new Uint8Array([137, 80, 78, 71])");
  const file = { type: "file", mediaType: "image/png", data } as const;
  const model = scripted([call("draw"), say("done")]);
  const draw = tool({
    name: "draw",
    description: "Draws",
    inputSchema: { type: "object" },
    execute: () => [file],
  });
  const { messages } = await new Agent({ model, tools: [draw] }).run([{ type: "text", text: "a" }, file]);
  const files = messages.flatMap(({ content }) =>
    (content as FilePart[]).filter(({ type }) => type === "file"),
  );
  expect(files.map((one) => one.data)).toEqual(["iVBORw==", "iVBORw=="]);
});

test("what a tool returns is told as a value of this realm", async () => {
  expect(await returning(there("new Map([['a', new Date(0)], ['b', new Set([1])]])"))).toBe(
    '{"a":"1970-01-01T00:00:00.000Z","b":[1]}',
  );
  expect(await returning(there("[/x/g, new TypeError('no'), new Uint8Array(3)]"))).toBe(
    '["/x/g",{"name":"TypeError","message":"no"},"[binary, 3 bytes]"]',
  );
});

test("an error is told by its message alone", async () => {
  const fail = tool({
    name: "fail",
    description: "Fails",
    inputSchema: { type: "object" },
    execute: () => {
      throw there("new TypeError('no such file')");
    },
  });
  const { messages } = await new Agent({ model: scripted([call("fail"), say("done")]), tools: [fail] }).run(
    "go",
  );
  expect(messages.filter(({ role }) => role === "tool").map(textOf)).toEqual(["Error: no such file"]);
});

test("a store of full texts may return any thenable", async () => {
  const blobs = memoryBlobs();
  const lazy = {
    ...blobs,
    get: blobs.get.bind(blobs),
    put: (...given: Parameters<typeof blobs.put>) => ({
      // biome-ignore lint/suspicious/noThenProperty: this is what is tested
      then: (done: (put: unknown) => void) => done(blobs.put(...given)),
    }),
  };
  const long = tool({
    name: "long",
    description: "Long",
    inputSchema: { type: "object" },
    execute: () => toolResult("x".repeat(200_000)),
  });
  const options = { model: scripted([call("long"), say("done")]), tools: [long], blobs: lazy as never };
  const { messages } = await new Agent(options).run("go");
  expect(messages.filter(({ role }) => role === "tool").map(textOf)[0]).toMatch(/ref=\w+/);
});
