import { catalogueDate, listModels } from "@rondo/models";
import { describe, expect, it } from "vitest";
import { place, rondo } from "./command.ts";

describe("rondo models", () => {
  it("lists window, output limit, prices and abilities, and says how old the data are", async () => {
    const out = await rondo(place(), ["models", "anthropic/", "sonnet-4-5"]);
    expect(out.code).toBe(0);
    expect(out.stdout).toMatch(/^MODEL +WINDOW +OUTPUT +\$ IN +\$ OUT +ABILITIES$/m);
    expect(out.stdout).toMatch(/^anthropic\/claude-sonnet-4-5 +200k +64k +3 +15 +tools vision reasoning$/m);
    expect(out.stderr).toContain(`data of ${catalogueDate}`);
  });

  it("prints one object a line with --json, and every model without a filter", async () => {
    const out = await rondo(place(), ["models", "--json"]);
    expect(out.code).toBe(0);
    const lines = out.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { name: string });
    expect(lines).toHaveLength(listModels().length);
    expect(lines.find(({ name }) => name === "anthropic/claude-sonnet-4-5")).toMatchObject({
      contextWindow: 200_000,
      maxOutputTokens: 64_000,
      price: { input: 3, output: 15 },
      vision: true,
    });
  });

  it("says that an unknown model may be used all the same", async () => {
    const out = await rondo(place(), ["models", "no-such-model"]);
    expect(out).toMatchObject({ code: 1, stdout: "" });
    expect(out.stderr).toContain("can be used as well");
  });
});
