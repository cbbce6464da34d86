import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { compare } from "../../../scripts/recorded/compare.ts";
import { findRecordings } from "../../../scripts/recorded/corpus.ts";

const corpus = process.env.RONDO_CORPUS;
const there = corpus !== undefined && existsSync(corpus);

describe("recorded responses", () => {
  const found = there ? findRecordings(corpus) : [];

  it("exist for each of the five protocols", ({ skip }) => {
    if (!there) skip("RONDO_CORPUS names no folder of recorded responses");
    const protocols = new Set(found.map((one) => ("recording" in one ? one.recording.protocol : "")));
    for (const protocol of [
      "anthropic-messages",
      "openai-chat",
      "openai-responses",
      "google-generative-ai",
      "bedrock-converse",
    ])
      expect(protocols).toContain(protocol);
  });

  it.each(found)("$file reads as the provider's own client reads it, in any chunking", async (one) => {
    expect((await compare(one)).unexplained).toBeUndefined();
  });
});
