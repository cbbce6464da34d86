// What a runtime that is too old is told, before anything is begun in it.

import { Agent, RondoError } from "@rondo/core";
import { scripted } from "@rondo/testkit";
import { expect, test } from "vitest";

test("a runtime that is too old is reported when an agent is made, not in the middle of a run", () => {
  const model = scripted([]);
  const { withResolvers } = Promise;
  let thrown: unknown;
  Reflect.deleteProperty(Promise, "withResolvers");
  try {
    new Agent({ model });
  } catch (error) {
    thrown = error;
  } finally {
    Promise.withResolvers = withResolvers;
  }
  expect(thrown).toBeInstanceOf(RondoError);
  expect(thrown).toMatchObject({
    kind: "invalid_request",
    message: `Rondo needs Node 22.18 or newer, or another runtime of that age; this is Node ${process.versions.node}: Promise.withResolvers is missing`,
  });
});
