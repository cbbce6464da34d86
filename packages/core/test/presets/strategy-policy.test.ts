// The prompt policy: six blocks, their defaults, their overrides, their tags.

import { Agent, defaultPolicy, policyKeys, promptPolicy } from "@rondo/core";
import { agentStrategy } from "@rondo/core/presets";
import { say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";

const blocksOf = (text: string): string[] => text.split("\n\n");
const tags = ["persistence", "context_gathering", "uncertainty_and_ambiguity", "tool_preamble"];

describe("the prompt policy", () => {
  test("E3.13 has its six blocks in order, a blank line between them, blank ones left out", () => {
    const all = promptPolicy({
      instruction: "  Be a clerk.\n",
      overrides: Object.fromEntries([...policyKeys].reverse().map((key) => [key, `own ${key}`])),
    });
    expect(blocksOf(all)).toEqual([
      "Be a clerk.",
      "<persistence>\nown persistence_policy\n</persistence>",
      "<context_gathering>\nown context_gathering_policy\n</context_gathering>",
      "<uncertainty_and_ambiguity>\nown uncertainty_policy\n</uncertainty_and_ambiguity>",
      "<tool_preamble>\nown tool_preamble_policy\n</tool_preamble>",
      "own extra_policy",
    ]);
    expect(blocksOf(promptPolicy())).toHaveLength(5);
  });

  test.each([[undefined], [""], [" \n\t"], [null]])(
    "E3.13 takes the default instruction for %j",
    (instruction) => {
      const given = instruction === undefined ? {} : { instruction };
      expect(blocksOf(promptPolicy(given))[0]).toBe("You are a helpful GPT-5 agent.");
      expect(agentStrategy({ model: scripted([]), ...given }).system).toBe(promptPolicy());
    },
  );

  test.each([[undefined], [null], [""], ["  \n "], ["{}"], [{}]])(
    "E3.14 takes no override from %j",
    (overrides) => {
      expect(promptPolicy(overrides === undefined ? {} : { overrides })).toBe(promptPolicy());
    },
  );

  test.each(["Answer in rhyme.", "[1, 2]", "5", '"text"', "null", "true", '{"persistence_policy":'])(
    "E3.14 uses %j, which is no JSON object, as the extra policy at the end",
    (overrides) => {
      expect(promptPolicy({ overrides })).toBe(`${promptPolicy()}\n\n${overrides}`);
      expect(promptPolicy({ overrides: ` ${overrides}\n` })).toBe(`${promptPolicy()}\n\n${overrides}`);
    },
  );

  test("E3.14 uses only the five keys of an object, keeps defaults for null and blank, and converts other values to text", () => {
    const overrides = JSON.stringify({
      persistence_policy: null,
      context_gathering_policy: "  ",
      uncertainty_policy: 5,
      tool_preamble_policy: { a: 1 },
      extra_policy: false,
      instruction: "obey",
      __proto__policy: "x",
    });
    const text = promptPolicy({ overrides });
    expect(text).toContain(defaultPolicy.persistence_policy);
    expect(text).toContain(defaultPolicy.context_gathering_policy);
    expect(text).toContain("<uncertainty_and_ambiguity>\n5\n</uncertainty_and_ambiguity>");
    expect(text).toContain('<tool_preamble>\n{"a":1}\n</tool_preamble>');
    expect(text.endsWith("\n\nfalse")).toBe(true);
    expect(text).not.toContain("obey");
    expect(promptPolicy({ overrides: JSON.parse(overrides) })).toBe(text);
  });

  test("E3.15 wraps the first four blocks in tags unless they have them already, and never the extra policy", () => {
    const whole = "<persistence>stay</persistence>";
    expect(promptPolicy({ overrides: { persistence_policy: whole } })).toContain(`\n\n${whole}\n\n`);
    const half = "<persistence>stay";
    expect(promptPolicy({ overrides: { persistence_policy: half } })).toContain(
      `<persistence>\n${half}\n</persistence>`,
    );
    const other = "<tool_preamble>x</tool_preamble>";
    expect(promptPolicy({ overrides: { uncertainty_policy: other } })).toContain(
      `<uncertainty_and_ambiguity>\n${other}\n</uncertainty_and_ambiguity>`,
    );
    expect(promptPolicy({ overrides: { extra_policy: "bare" } }).endsWith("\n\nbare")).toBe(true);
  });

  test("E3.16 says by default what each block is for", () => {
    const blocks = blocksOf(promptPolicy()).slice(1);
    blocks.forEach((block, at) => {
      expect(block.startsWith(`<${tags[at]}>\n`) && block.endsWith(`\n</${tags[at]}>`)).toBe(true);
    });
    expect(blocks[0]).toMatch(/in full[\s\S]*early[\s\S]*assum/);
    expect(blocks[1]).toMatch(/broad[\s\S]*narrow[\s\S]*stop/);
    expect(blocks[2]).toMatch(/ask[\s\S]*assumption[\s\S]*Never invent/);
    expect(blocks[3]).toMatch(/<think>\.\.\.<\/think>[\s\S]*Japanese/);
  });

  test("E3.17 does not contain the context of a run, which is data", async () => {
    const model = scripted([say("done")]);
    const strategy = {
      model,
      promptPolicyOverrides: { context_gathering_policy: "Read twice." },
      context: [{ content: "SECRET KNOWLEDGE" }],
    };
    await new Agent(agentStrategy(strategy)).run("go");
    expect(model.lastRequest.system).toContain("<context_gathering>\nRead twice.\n</context_gathering>");
    expect(JSON.stringify(model.lastRequest)).not.toContain("SECRET KNOWLEDGE");
  });
});
