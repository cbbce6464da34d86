// Files on their way to a model: the same judgement of what it takes, and of what a text file holds, in every protocol.

import { type FilePart, type Message, type ModelRequest, type Part, userText } from "@rondo/core";
import { describe, expect, it } from "vitest";
import type { Codec, WireRequest } from "../src/codec.ts";
import { anthropicMessages } from "../src/codecs/anthropic-messages.ts";
import { bedrockConverse } from "../src/codecs/bedrock-converse.ts";
import { googleGenerativeAi } from "../src/codecs/google-generative-ai.ts";
import { knownType, typeOfFile } from "../src/codecs/media-types.ts";
import { ollamaChat } from "../src/codecs/ollama-chat.ts";
import { openaiChat } from "../src/codecs/openai-chat.ts";
import { openaiResponses } from "../src/codecs/openai-responses.ts";
import { targetOf } from "./anthropic/feeding.ts";

const pixel = "iVBORw0KGgo=";
const image = (mediaType = "image/png"): FilePart => ({ type: "file", mediaType, data: pixel });

const table = (mediaType = "text/csv"): FilePart => ({
  type: "file",
  mediaType,
  data: btoa("a,b"),
  name: "a.csv",
});

const protocols: [string, Codec][] = [
  ["Anthropic Messages", anthropicMessages],
  ["Bedrock Converse", bedrockConverse],
  ["Google", googleGenerativeAi],
  ["Chat Completions", openaiChat],
  ["Responses", openaiResponses],
  ["Ollama", ollamaChat],
];

const sent = (codec: Codec, file: FilePart, accepts?: readonly string[]): string =>
  encoded(codec, file, accepts).body as string;

function encoded(codec: Codec, file: FilePart, accepts?: readonly string[]): WireRequest {
  const request: ModelRequest = {
    messages: [{ role: "user", content: [{ type: "text", text: "what is it?" }, file] }],
    tools: [],
    toolChoice: "auto",
    settings: {},
  };
  const facts = accepts === undefined ? {} : { accepts };
  return codec.encoder(targetOf(codec.api, "p", "m", { facts })).encode(request);
}

describe.each(protocols)("a file over %s", (_name, codec) => {
  it.each([[undefined], [["*/*"]], [["image/*"]], [["image/png"]], [["IMAGE/PNG"]], [["image/x-png"]]])(
    "is sent if the model accepts %j",
    (accepts) => {
      expect(sent(codec, image(), accepts)).toContain(pixel);
    },
  );

  it.each([[[]], [["text/plain"]], [["image/jpeg"]], [["audio/*"]]])(
    "is named, and not sent, if the model accepts %j",
    (accepts) => {
      expect(sent(codec, image(), accepts)).not.toContain(pixel);
      expect(sent(codec, image(), accepts)).toContain("image/png");
    },
  );

  it.each([["IMAGE/PNG"], ["image/x-png"], ["image/png; charset=binary"], ["Image/PNG;q=1"]])(
    "is sent with the media type that providers know if it is written as %j",
    (written) => {
      expect(sent(codec, image(written), ["image/*"])).toBe(sent(codec, image(), ["image/*"]));
    },
  );

  it.each([
    ["holds nothing", { data: "" }],
    ["is no base64", { data: "%%%not base64%%%" }],
    ["is a file of this machine", { url: "file:///etc/passwd" }],
    ["is in the memory of a browser", { url: "blob:http://localhost:3000/8a1c" }],
  ])("is named, and not sent, if it %s: every later request would be refused, too", (_why, held) => {
    const bare: FilePart = { type: "file", mediaType: "image/png", ...held };
    const body = sent(codec, bare);
    expect(body).toContain("image/png");
    expect(body).not.toMatch(
      /base64,"|"(?:data|bytes|url)":""|%%%|"(?:url|uri|image_url|fileUri)":"(?:file|blob):/,
    );
  });

  it("is sent with its media type without parameters", () => {
    expect(sent(codec, table("text/csv; charset=utf-8"))).toBe(sent(codec, table()));
  });
});

it.each(protocols.filter(([name]) => name !== "Google"))(
  "a picture that an answer held is named where it stood, and told, over %s, which takes none back",
  (_name, codec) => {
    const stop = { kind: "end_turn", wire: "end_turn" } as const;
    const origin = { api: "google-generative-ai", provider: "google", model: "gemini-3-pro" };
    const answer = (content: Part[]): Message => ({ role: "assistant", content, origin, stop });
    const encoded = (content: Part[]): WireRequest =>
      codec.encoder(targetOf(codec.api, "p", "m")).encode({
        messages: [userText("draw"), answer(content), userText("and now?")],
        tools: [],
        toolChoice: "auto",
        settings: {},
      });
    const said = encoded([
      { type: "text", text: "Here it is." },
      { ...image(), name: "cat.png" },
    ]);
    expect(said.body).toMatch(/Here it is\..*cat\.png.*image\/png.*not shown.*and now\?/);
    expect(said.warnings.map(({ code }) => code)).toEqual(["unsupported_file"]);
    expect(encoded([image()]).body).toMatch(/draw.*not shown.*and now\?/);
  },
);

it.each(protocols)("a text file of any kind goes along over %s", (_name, codec) => {
  const data = btoa("print(1)");
  for (const mediaType of [
    "text/plain",
    "text/x-python",
    "text/xml",
    "image/svg+xml",
    "application/json",
    "application/ld+json",
    "application/x-yaml",
  ]) {
    const body = sent(codec, { type: "file", mediaType, data, name: "a" }, ["image/*"]);
    expect(body.includes(data) || body.includes("print(1)"), `${mediaType}: ${body}`).toBe(true);
    expect(body).not.toMatch(/image_url|"images?"|svg\+xml|ld\+json/);
  }
});

it.each(protocols)(
  "a file that nobody can read is told as such over %s, and not as one that the model does not take",
  (_name, codec) => {
    const file: FilePart = { type: "file", mediaType: "image/png", data: "%%%" };
    const told = (one: FilePart): string =>
      encoded(codec, one, [])
        .warnings.map(({ message }) => message)
        .join();
    expect(told(file)).toContain("cannot be read");
    expect(told(image())).not.toContain("cannot be read");
  },
);

it.each([
  ["image/png", pixel],
  ["application/pdf", "JVBERi0xLjQ="],
  ["application/json", btoa("{}")],
])("a result of Gemini 3 holds %s itself", (mediaType, data) => {
  expect(responded({ type: "file", mediaType, data })).toMatch(
    /"functionResponse":\{[^}]*\},"parts":\[\{"inlineData"/,
  );
});

it.each([
  ["audio/wav", "UklGRiQAAABXQVZF"],
  ["text/csv", btoa("a,b")],
  ["video/mp4", "AAAA"],
])("a result of Gemini 3 names %s, which stands in the message behind it", (mediaType, data) => {
  const body = responded({ type: "file", mediaType, data });
  expect(body).toMatch(
    /see the next user message\]"\}\}\}\]\},\{"role":"user","parts":\[\{"text":"[^"]*"\},\{"inlineData"/,
  );
});

/** A request whose last message is a result that holds the file. */
function responded(file: FilePart): string {
  const origin = { api: "google-generative-ai", provider: "p", model: "gemini-3-pro" };
  const call = { type: "tool_call", id: "c1", name: "shoot", args: {}, rawArgs: "{}" } as const;
  const messages: Message[] = [
    userText("shoot"),
    { role: "assistant", content: [call], origin, stop: { kind: "tool_use", wire: "tool_use" } },
    { role: "tool", callId: "c1", name: "shoot", content: [file], isError: false },
  ];
  const request: ModelRequest = { messages, tools: [], toolChoice: "auto", settings: {} };
  return googleGenerativeAi.encoder(targetOf("google-generative-ai", "p", "gemini-3-pro")).encode(request)
    .body as string;
}

describe.each(protocols.filter(([name]) => /Anthropic|Chat|Responses|Ollama/.test(name)))(
  "a text file over %s",
  (_name, codec) => {
    const text = (data: string): FilePart => ({ type: "file", mediaType: "text/plain", name: "a.txt", data });

    it("is text for every model, whatever else the model accepts", () => {
      expect(sent(codec, text(btoa("to the letter")), ["image/*"])).toContain("to the letter");
    });

    it("that is not base64 is its own text", () => {
      expect(sent(codec, text("as it stands: ü!"))).toContain("as it stands: ü!");
    });
  },
);

describe("the media type of a sound", () => {
  it.each([
    ["audio/mpeg", "UklGRiQAAABXQVZF", "audio/wav"],
    ["audio/wav", "T2dnUwAC", "audio/ogg"],
    ["audio/wav", "ZkxhQwAA", "audio/flac"],
    ["audio/wav", "SUQzBAAA", "audio/mpeg"],
    ["audio/wav", "//uQxAAA", "audio/mpeg"],
    ["audio/wav", "//FQgAAA", "audio/aac"],
    ["audio/wav", "AAAAHGZ0eXBpc29t", "audio/mp4"],
    ["audio/ogg", "GkXfo59C", "audio/webm"],
    ["application/octet-stream", "AAAAHGZ0eXBNNEEg", "audio/mp4"],
    ["application/octet-stream", "GkXfo59C", "application/octet-stream"],
    ["video/mp4", "UklGRiQAAABXQVZF", "video/mp4"],
    // What begins like an icon is samples without a header.
    ["audio/pcm;rate=16000", "AAABAAIAAwA=", "audio/pcm;rate=16000"],
    ["audio/wav", "AAABAAIAAwA=", "audio/wav"],
  ])("called %s with the bytes %s is %s", (mediaType, data, type) => {
    expect(typeOfFile({ mediaType, data })).toBe(type);
  });

  it.each([
    ["audio/x-wav", "audio/wav"],
    ["audio/ogg; codecs=opus", "audio/ogg"],
    ["audio/L16; codec=pcm; rate=24000", "audio/L16;codec=pcm;rate=24000"],
    ["audio/pcm;rate=16000", "audio/pcm;rate=16000"],
    ["audio/pcm", "audio/pcm"],
  ])("%s is told as %s: samples without a header need their rate", (told, known) => {
    expect(knownType(told)).toBe(known);
  });
});
