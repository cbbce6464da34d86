// What a client of Restate refuses before it asks anybody.

import { restateClient } from "@rondo/restate";
import { expect, test } from "vitest";

const circle: { self?: unknown } = {};
circle.self = circle;

test.each([
  ["a bigint", { n: 1n }, "args.n is a bigint, and JSON has no such value"],
  ["a circle", circle, "args.self is a circle, and JSON has no such value"],
  ["a list", [], "not []"],
  ["nothing", undefined, "not undefined"],
])("a call is not edited to %s, in the words of every session", async (_what, args, why) => {
  const client = restateClient({ agent: "a", ingress: "http://127.0.0.1:9" });
  await expect(client.session("s").edit("1.0", args as never)).rejects.toMatchObject({
    kind: "invalid_request",
    message: `edit: the arguments must be an object of plain JSON: ${why}`,
  });
});
