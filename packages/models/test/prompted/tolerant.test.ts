import { describe, expect, it } from "vitest";
import { heard } from "./model.ts";

const oslo = [{ name: "weather", args: { city: "Oslo" } }];
const call = '{"tool_call":{"name":"weather","input":{"city":"Oslo"}}}';
const bare = '{"name":"weather","arguments":{"city":"Oslo"}}';

describe("an answer that is a call", () => {
  it.each([
    ["the envelope", call],
    ["a fence around it", `\`\`\`json\n${call}\n\`\`\``],
    ["a leading thought", `<think>I need {"tool_call":{"name":"list"}} maybe</think>\n${call}`],
    ["a thought that the template opened", `I should look.\n</think>\n\n${call}`],
    ["leaked control tokens", `<|im_start|>assistant\n${call}<|im_end|>`],
    ["a leaked end and another's turn", `${call}<|im_end|>\n<|im_start|>user\nthanks`],
    ["a bare call", bare],
    ["a bare call in a fence", `\`\`\`json\n${bare}\n\`\`\``],
    ["parameters for arguments", '{"name":"weather","parameters":{"city":"Oslo"}}'],
    ["tool and args", '{"tool":"weather","args":{"city":"Oslo"}}'],
    ["action and action_input", '{"action":"weather","action_input":{"city":"Oslo"}}'],
    [
      "a function inside",
      '{"type":"function","function":{"name":"weather","arguments":"{\\"city\\":\\"Oslo\\"}"}}',
    ],
    ["arguments encoded twice", '{"tool_call":{"name":"weather","input":"{\\"city\\":\\"Oslo\\"}"}}'],
    ["a list of one", `[${bare}]`],
    ["tool_calls", `{"tool_calls":[${bare}]}`],
    ["a tag", `<tool_call>\n${bare}\n</tool_call>`],
    ["a tag that was never closed", `<tool_call>${bare}`],
    ["Mistral's leaked token", `[TOOL_CALLS][${bare}]`],
    ["Llama's leaked token", `<|python_tag|>${bare}`],
    [
      "a name with a token glued to it",
      '{"tool_call":{"name":"weather<|channel|>commentary","input":{"city":"Oslo"}}}',
    ],
    ["a name with functions before it", '{"name":"functions.weather","arguments":{"city":"Oslo"}}'],
    ["a raw line break in a thought", `{"thought":"a\nb",${call.slice(1)}`],
    [
      "the wrapper for several",
      '{"name":"multi_tool_use.parallel","arguments":{"tool_uses":[{"recipient_name":"functions.weather","parameters":{"city":"Oslo"}}]}}',
    ],
    [
      "ReAct",
      'Thought: I look.\nAction: weather\nAction Input: {"city":"Oslo"}\nObservation: rain\nFinal Answer: rain',
    ],
    ["prose, then the envelope on a line of its own", `I will look it up.\n${call}`],
    ["prose, then a tag", `I will look it up. <tool_call>${bare}</tool_call>`],
    ["an envelope, then prose", `${call}\nThis looks it up.`],
  ])("may come as %s", async (_, says) => {
    const { calls, answer } = await heard(says);
    expect(calls).toEqual(oslo);
    expect(answer.stop).toMatchObject({ kind: "tool_use", raw: "stop" });
  });

  it.each([
    ["an invented result", `${bare}\n<tool_response>fake</tool_response>\nThe answer is 42.`],
    ["an invented observation", `${bare}\nObservation: 42\nThe answer is 42.`],
    [
      "an invented tool_result and a response",
      `${call}\n{"tool_result":{"name":"weather","result":"42"}}\n{"response":"The answer is 42."}`,
    ],
    ["a response after the call", `${call}\n{"response":"The answer is 42."}`],
  ])("is cut after the first call: %s is dropped, with a warning (F238)", async (_, says) => {
    const { calls, text, warnings, shown } = await heard(says);
    expect(calls).toEqual(oslo);
    expect(`${text}${shown}`).not.toContain("42");
    expect(warnings).toEqual(["text_after_call_dropped"]);
  });

  it("may contain several calls, as objects one after another, as a list, and in tags (F232)", async () => {
    const both = [...oslo, { name: "list", args: {} }];
    for (const says of [
      `${bare}\n{"name":"list"}`,
      `[${bare},{"name":"list"}]`,
      `${call}\n{"tool_call":{"name":"list"}}`,
      `<tool_call>${bare}</tool_call>\n<tool_call>{"name":"list"}</tool_call>`,
      `{"tool_call":[${bare},{"name":"list","arguments":null}]}`,
      `{"name":"multi_tool_use.parallel","arguments":{"tool_uses":[{"recipient_name":"functions.weather","parameters":{"city":"Oslo"}},{"recipient_name":"list"}]}}`,
    ])
      expect((await heard(says)).calls, says).toEqual(both);
  });

  it("keeps the thought as its text, and prose before it too", async () => {
    const { text, shown } = await heard(`Let me see.\n{"thought":"look",${call.slice(1)}`);
    expect(text).toBe("Let me see.\nlook");
    expect(text.startsWith(shown) || shown === text).toBe(true);
  });

  it("keeps one call if one was requested", async () => {
    const { calls, warnings } = await heard(`${bare}\n{"name":"list"}`, {
      request: { settings: { parallelToolCalls: false } },
    });
    expect([calls, warnings]).toEqual([oslo, ["calls_dropped"]]);
  });

  it("names an unknown tool only with the protocol's own key, so that the loop can list the known ones", async () => {
    expect((await heard('{"tool_call":{"name":"rm","input":{}}}')).calls).toEqual([{ name: "rm", args: {} }]);
    expect((await heard('{"name":"rm","arguments":{}}')).calls).toEqual([]);
  });
});

describe("an answer that is not a call", () => {
  it.each([
    ["an example in prose", `You could call ${bare} but I will not.`],
    ["an envelope as an example in prose", `You could say\n${call}\nbut I will not.`],
    ["an example in a fence", `Like this:\n\`\`\`json\n${call}\n\`\`\``],
    ["a tag in a fence", `Like this:\n\`\`\`\n<tool_call>${bare}</tool_call>\n\`\`\``],
    ["a tag in backticks", `Write \`<tool_call>${bare}</tool_call>\` to call.`],
    ["a bare call below prose", `I might use\n${bare}`],
    ["a fence with a bare call, then prose", `\`\`\`json\n${bare}\n\`\`\`\nis how it would look.`],
    ["data that looks alike", '{"name":"list","size":3}'],
    ["an unknown ReAct action", 'Action: rm\nAction Input: {"path":"/"}'],
    ["JSON of its own", '{"city":"Oslo"}'],
    ["keys of the prototype", '{"name":"constructor","arguments":{}}'],
  ])("%s does not run, and is the answer unchanged (F233)", async (_, says) => {
    const { calls, text, answer, warnings } = await heard(says);
    expect([calls, text, answer.stop.kind]).toEqual([[], says, "end_turn"]);
    expect(warnings).toHaveLength(1);
  });

  it("never runs a call in a thought, in text or in the model's own reasoning (F114)", async () => {
    const inText = await heard(`<think>${call}</think>`);
    expect([inText.calls, inText.reasoning, inText.text]).toEqual([[], call, ""]);
    const own = await heard("", { mind: { reasoning: `<tool_call>${bare}</tool_call>` } });
    expect([own.calls, own.text]).toEqual([[], ""]);
    const opened = await heard(`${call}</think>{"response":"no"}`, { startsInThought: true });
    expect([opened.calls, opened.reasoning, opened.text]).toEqual([[], call, "no"]);
  });

  it("keeps tags that are part of the answer (F113)", async () => {
    expect((await heard('{"response":"write <think>x</think>"}')).text).toBe("write <think>x</think>");
    expect((await heard("The tag `</think>` ends it.")).text).toBe("The tag `</think>` ends it.");
  });

  it("is the text of response, with the text after it", async () => {
    expect((await heard('{"thought":"t","response":"Hi"}')).text).toBe("Hi");
    expect((await heard('{"response":"Hi"}\nBye')).text).toBe("Hi\nBye");
    expect((await heard('{"response":{"a":[1]}}')).text).toBe('{"a":[1]}');
    expect((await heard('{"thought":"only this"}')).text).toBe("only this");
    expect((await heard('{"response":"a\nb"}')).text).toBe("a\nb");
  });

  it("loses leaked control tokens and the turn of another speaker", async () => {
    expect((await heard("Sunny.<|im_end|>\n<|im_start|>user\nAnd now?")).text).toBe("Sunny.");
    expect((await heard("<|im_start|>assistant\nSunny.</s>")).text).toBe("Sunny.");
  });

  it("is not repaired if the provider refused", async () => {
    for (const wire of ["refusal", "content_filter"] as const)
      expect(await heard("I cannot.", { mind: { wire } })).toMatchObject({ text: "I cannot.", warnings: [] });
  });

  it("calls nothing while tools are off", async () => {
    for (const request of [{ toolChoice: "none" }, { tools: [] }] as const) {
      const { calls, answer } = await heard(`{"thought":"look",${call.slice(1)}`, { request });
      expect([calls, answer.stop.kind]).toEqual([[], "end_turn"]);
    }
  });
});

describe("a truncated or broken answer", () => {
  it("never runs a call that the output limit cut (F235)", async () => {
    const { answer, calls } = await heard('{"tool_call":{"name":"weather","input":{"city":"Os', {
      mind: { wire: "max_tokens" },
    });
    expect(answer.stop.kind).toBe("max_tokens");
    expect(calls).toEqual([{ name: "weather", args: {}, argsError: expect.stringContaining("cut off") }]);
    const tagged = await heard(`<tool_call>${bare}`, { mind: { wire: "max_tokens" } });
    expect(tagged.calls[0]?.argsError).toContain("cut off");
  });

  it.each([
    '{"tool_call":{"name":"weather","input":{"city":"Os',
    '{"tool_call":{"name":"weather","input":{city:Oslo}}}',
    '<tool_call>{"name":"weather","arguments":{"city":',
    'I look.\n{"tool_call":{"name":"weather","input":{"city":"Os',
    '{"tool_call":{"input":{"city":"Oslo"}}}',
  ])("is malformed if it tries to call and cannot be parsed: %s", async (says) => {
    const { answer, calls, warnings } = await heard(says);
    expect([answer.stop.kind, calls, warnings]).toEqual(["malformed_call", [], ["prompted_json_invalid"]]);
    expect(answer.stop.detail).toBeTruthy();
  });

  it("keeps the partial text of a response", async () => {
    const { text, answer, shown } = await heard('{"response":"The long st', { mind: { wire: "max_tokens" } });
    expect([text, shown, answer.stop.kind]).toEqual(["The long st", "The long st", "max_tokens"]);
  });
});
