import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { UsageError } from "../src/console/failure.ts";
import { chooseModel } from "../src/runs/models.ts";

/** No server on the machine of the test may have a say. */
const alone = { RONDO_LOCAL: "off" };

describe("the model of a run", () => {
  it("is the offline one without a key, and says why", async () => {
    expect(await chooseModel(undefined, alone)).toMatchObject({
      name: "offline",
      model: { id: "offline/planner" },
      why: "no key is set, and RONDO_LOCAL switches local servers off; another with --model",
    });
  });

  it("is what --model says, else RONDO_MODEL, else what a key chooses", async () => {
    const env = { RONDO_MODEL: "openai/some-model", ANTHROPIC_API_KEY: "a-key" };
    expect((await chooseModel("offline", env)).name).toBe("offline");
    expect(await chooseModel(undefined, env)).toMatchObject({
      name: "openai/some-model",
      model: { origin: { provider: "openai", model: "some-model" } },
      why: "RONDO_MODEL is set",
    });
    const byKey = await chooseModel(undefined, { ANTHROPIC_API_KEY: "a-key" });
    expect(byKey.model.origin.provider).toBe("anthropic");
    expect(byKey.why).toContain("ANTHROPIC_API_KEY is set");
    for (const [variable, provider] of [
      ["OPENAI_API_KEY", "openai"],
      ["GEMINI_API_KEY", "google"],
      ["GOOGLE_API_KEY", "google"],
    ] as const)
      expect((await chooseModel(undefined, { [variable]: "a-key" })).model.origin.provider).toBe(provider);
  });

  it("stays the offline one when a key is there whose model somebody must choose", async () => {
    const chosen = await chooseModel(undefined, { OPENROUTER_API_KEY: "a-key" });
    expect(chosen.name).toBe("offline");
    expect(chosen.why).toContain("OPENROUTER_API_KEY is set: choose a model, as openrouter/NAME");
  });

  it("does not take a blank key for a key", async () => {
    expect((await chooseModel(undefined, { ...alone, ANTHROPIC_API_KEY: " " })).name).toBe("offline");
  });

  it("may be a module's, a model or a function that gives one", async () => {
    const folder = mkdtempSync(join(tmpdir(), "rondo-model-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const model = `{ id: "mine", origin: { api: "a", provider: "b", model: "c" }, call: async () => { throw 1; } }`;
    writeFileSync(join(folder, "plain.mjs"), `export default ${model};`);
    writeFileSync(join(folder, "made.mjs"), `export default async () => (${model});`);
    for (const name of ["plain.mjs", "made.mjs"]) {
      const file = join(folder, name);
      expect(await chooseModel(file, {})).toMatchObject({ name: file, model: { id: "mine" } });
    }
  });

  it("of a module that cannot be loaded is refused, and says how to see where it fails", async () => {
    const folder = mkdtempSync(join(tmpdir(), "rondo-model-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "broken.mjs");
    writeFileSync(file, 'throw new Error("no GPU");');
    await expect(chooseModel(file, {})).rejects.toThrow(
      `the model of ${file} cannot be used: no GPU; \`node ${file}\` shows where`,
    );
    const other = join(folder, "number.mjs");
    writeFileSync(other, "export default 5;");
    await expect(chooseModel(other, {})).rejects.toThrow(/neither a Model nor a function that gives one$/);
  });

  it("is refused when nobody knows its provider", async () => {
    await expect(chooseModel("nobody/model", {})).rejects.toThrow(UsageError);
    await expect(chooseModel("nobody/model", {})).rejects.toThrow(
      "Unknown provider: nobody. Supported providers: ",
    );
    await expect(chooseModel("", {})).rejects.toThrow(UsageError);
  });

  it("is refused in the name of whoever named it", async () => {
    await expect(chooseModel("gpt-5", {})).rejects.toThrow(/^--model gpt-5 cannot be used: /);
    await expect(chooseModel(undefined, { RONDO_MODEL: "opneai/gpt-5" })).rejects.toThrow(
      /^RONDO_MODEL opneai\/gpt-5 cannot be used: .* Did you mean openai\/gpt-5\? Also: offline, /,
    );
  });
});
