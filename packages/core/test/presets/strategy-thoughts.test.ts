// Thoughts in texts: told apart, hidden, and shown.

import {
  shouldEmitResponseText,
  splitThoughts,
  stripThoughts,
  type ThoughtOptions,
  type ThoughtPiece,
  ThoughtSplitter,
  thoughtBlock,
  toolIntent,
} from "@rondo/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

/** Texts made of what matters: tags, pieces of tags, and words around them. */
const tagged = fc
  .array(
    fc.constantFrom(
      "<think>",
      "</think>",
      "<THINK>",
      "</Think>",
      "<thi",
      "nk>",
      "</th",
      "<",
      ">",
      "/",
      " ",
      "\n",
      "a",
      "考え",
    ),
    { maxLength: 30 },
  )
  .map((pieces) => pieces.join(""));

function inChunks(text: string, cuts: readonly number[], options: ThoughtOptions): ThoughtPiece[] {
  const splitter = new ThoughtSplitter(options);
  const pieces: ThoughtPiece[] = [];
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    const to = Math.max(from, cut % (text.length + 1));
    pieces.push(...splitter.push(text.slice(from, to)));
    from = to;
  }
  pieces.push(...splitter.push(text.slice(from)), ...splitter.end());
  return joined(pieces);
}

function joined(pieces: readonly ThoughtPiece[]): ThoughtPiece[] {
  const all: ThoughtPiece[] = [];
  for (const { type, text } of pieces) {
    const last = all.at(-1);
    if (last?.type === type) last.text += text;
    else all.push({ type, text });
  }
  return all;
}

/** The same reading, written with a regular expression over the whole text. */
function oracle(text: string): ThoughtPiece[] {
  const pieces: ThoughtPiece[] = [];
  let rest = text;
  while (rest !== "") {
    const at = rest.search(/<\/?think>/i);
    if (at < 0) {
      pieces.push({ type: "text", text: rest });
      break;
    }
    pieces.push({ type: "text", text: rest.slice(0, at) });
    const closes = rest[at + 1] === "/";
    rest = rest.slice(at + (closes ? 8 : 7));
    if (closes) continue;
    const end = rest.search(/<\/think>/i);
    pieces.push({ type: "reasoning", text: end < 0 ? rest : rest.slice(0, end) });
    rest = end < 0 ? "" : rest.slice(end + 8);
  }
  return joined(pieces.filter((piece) => piece.text !== ""));
}

describe("the splitter", () => {
  test("gives the same result in every chunking as for the whole text", () => {
    fc.assert(
      fc.property(
        tagged,
        fc.array(fc.nat(200), { maxLength: 8 }),
        fc.constantFrom<ThoughtOptions>(
          {},
          { blocks: "leading" },
          { startsInThought: true },
          {
            startsInThought: true,
            blocks: "leading",
          },
        ),
        (text, cuts, options) => {
          expect(inChunks(text, cuts, options)).toEqual(splitThoughts(text, options));
          expect(inChunks(text, [...Array(text.length).keys()], options)).toEqual(
            splitThoughts(text, options),
          );
        },
      ),
    );
  });

  test("gives the same result as a regular expression over the whole text", () => {
    fc.assert(fc.property(tagged, (text) => void expect(splitThoughts(text)).toEqual(oracle(text))));
  });

  test("F113 finds a tag that comes in pieces, and a thought that the template opened", () => {
    const splitter = new ThoughtSplitter({ startsInThought: true, blocks: "leading" });
    expect(splitter.push("I should…</th")).toEqual([{ type: "reasoning", text: "I should…" }]);
    expect(splitter.push("ink>Answer")).toEqual([{ type: "text", text: "Answer" }]);
    expect(splitter.push(" with <think>literal</think>")).toEqual([
      { type: "text", text: " with <think>literal</think>" },
    ]);
    expect(splitter.end()).toEqual([]);
  });

  test("F113 takes with `leading` only the blocks that open the answer", () => {
    expect(
      splitThoughts("<think></think>\n<think>hm</think>\na<think>b</think>", { blocks: "leading" }),
    ).toEqual([
      { type: "reasoning", text: "hm" },
      { type: "text", text: "\na<think>b</think>" },
    ]);
    expect(splitThoughts("\n<think>hm</think>a<think>b</think>", { blocks: "leading" })).toEqual([
      { type: "reasoning", text: "hm" },
      { type: "text", text: "a<think>b</think>" },
    ]);
    expect(splitThoughts(" a<think>b</think>", { blocks: "leading" })).toEqual([
      { type: "text", text: " a<think>b</think>" },
    ]);
  });

  test("holds back only what could become a tag, and releases what did not", () => {
    const splitter = new ThoughtSplitter();
    expect(splitter.push("a <thin")).toEqual([{ type: "text", text: "a " }]);
    expect(splitter.push("g")).toEqual([{ type: "text", text: "<thing" }]);
    expect(splitter.push("</")).toEqual([]);
    expect(splitter.end()).toEqual([{ type: "text", text: "</" }]);
  });

  test("F243 reads sixty thousand beginnings of a tag once each, in pieces and as a whole", () => {
    // A quadratic scan of these would look at 10^10 characters and run into the test's time limit.
    const text = "<thought".repeat(60_000);
    expect(splitThoughts(text)).toEqual([{ type: "text", text }]);
    expect(stripThoughts(text)).toBe(text);
    const opened = "<think>".repeat(60_000);
    expect(stripThoughts(opened)).toBe("");
    expect(splitThoughts(opened)[0]?.text).toHaveLength(opened.length - 7);
    const splitter = new ThoughtSplitter();
    let told = 0;
    for (const character of text) for (const piece of splitter.push(character)) told += piece.text.length;
    for (const piece of splitter.end()) told += piece.text.length;
    expect(told).toBe(text.length);
  });
});

describe("hiding thoughts", () => {
  test.each([
    ["a<think>b</think>c", "ac"],
    ["a<THINK>\nb\n</Think>c", "ac"],
    ["<think>a</think>b<think>c</think>d", "bd"],
    ["<think>a<think>b</think>c", "c"],
    ["a <think>never closed", "a "],
    ["a</think>b", "ab"],
    ["<think>a</think></think>b<think>c", "b"],
    ["<think>a</think> \n ", ""],
    ["  kept as it is \n", "  kept as it is \n"],
    ["<thi<think>x</think>nk>gone", ""],
    ["", ""],
  ])("E4.20 turns %j into %j", (text, visible) => {
    expect(stripThoughts(text)).toBe(visible);
  });

  test("E4.20 follows the three steps, for any text", () => {
    const steps = (text: string): string => {
      const blocks = text.replaceAll(/<think>[\s\S]*?<\/think>/gi, "");
      const visible = blocks.replace(/<think>[\s\S]*$/i, "").replaceAll(/<\/think>/gi, "");
      return visible.trim() === "" ? "" : visible;
    };
    fc.assert(fc.property(tagged, (text) => void expect(stripThoughts(text)).toBe(steps(text))));
  });
});

describe("showing thoughts", () => {
  test.each([
    [false, false, false, true],
    [false, true, false, true],
    [true, true, false, true],
    [true, false, false, false],
    [true, false, true, true],
  ])(
    "E4.18 with calls %s, thoughts %s, last iteration %s: the text is shown: %s",
    (hasCalls, emitThoughts, lastIteration, told) => {
      expect(shouldEmitResponseText({ hasCalls, emitThoughts, lastIteration })).toBe(told);
    },
  );

  test.each(["意図：", "意図:", "Intent:", "intent:", "Thinking:", "thinking:"])(
    "E4.22 removes the heading %s, once",
    (heading) => {
      expect(thoughtBlock(` ${heading} look it up \n`)).toBe("<think>\nlook it up\n</think>");
      expect(thoughtBlock(`${heading}${heading}x`)).toBe(`<think>\n${heading}x\n</think>`);
      expect(thoughtBlock(heading)).toBe("<think>\nまず、必要な情報を確認して進めます。\n</think>");
    },
  );

  test("E4.22 leaves a block as it is, and writes something if there is nothing", () => {
    expect(thoughtBlock(" <think>as it is</think> ")).toBe("<think>as it is</think>");
    expect(thoughtBlock(" \n")).toBe("<think>\nまず、必要な情報を確認して進めます。\n</think>");
    expect(thoughtBlock("plain")).toBe("<think>\nplain\n</think>");
  });

  test.each([
    [["search"], "まず、search ツールで必要な情報を確認します。"],
    [["a", "a"], "まず、a ツールで必要な情報を確認します。"],
    [["a", "b"], "必要な情報を得るため、次のツールを順に確認します: a, b"],
    [["a", "b", "a", "c"], "必要な情報を得るため、次のツールを順に確認します: a, b, c"],
    [["a", "b", "c", "d"], "必要な情報を得るため、次のツールを順に確認します: a, b, c..."],
    [[], "まず、必要な情報を確認して進めます。"],
  ])("E4.23 says what the tools %j are for", (tools, sentence) => {
    expect(toolIntent(tools)).toBe(`<think>\n${sentence}\n</think>`);
  });
});
