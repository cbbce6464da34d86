// A file that a provider refuses stands in the history: left out, the session goes on (F117, F118).

import { Agent, type FilePart, type Message, repairOfFile, tool, userText } from "@rondo/core";
import { call, say } from "@rondo/testkit";
import { type RondoWire, raw, type WireTurn } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { anthropicMessages } from "../../src/codecs/anthropic-messages.ts";
import { bedrockConverse } from "../../src/codecs/bedrock-converse.ts";
import { googleGenerativeAi } from "../../src/codecs/google-generative-ai.ts";
import { ollamaChat } from "../../src/codecs/ollama-chat.ts";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { openaiResponses } from "../../src/codecs/openai-responses.ts";
import type { Codec } from "../../src/index.ts";
import { fewerFiles } from "../../src/refusals/file-count.ts";
import { misnamedFile, refusedFile } from "../../src/refusals/request-path.ts";
import { expectValid, rows, serve, weather } from "../end-to-end/stack.ts";

const origin = { api: "scripted", provider: "scripted", model: "scripted" };
const stop = { kind: "end_turn", wire: "end_turn" } as const;

const repairOf = (codec: Codec, message: string, status: number = 400): string | undefined =>
  codec.errorOf({
    status,
    header: () => null,
    body: JSON.stringify({ error: { message, type: "invalid_request_error" } }),
  }).repair;

describe("a refusal about a file in the history is recognised", () => {
  it.each([
    ...["invalid_image", "invalid_image_format", "invalid_base64_image", "invalid_image_mode"],
    ...["image_too_large", "image_too_small", "image_file_too_large", "image_file_not_found"],
    ...["image_parse_error", "unsupported_image_media_type", "empty_image_file", "failed_to_download_image"],
    "unsupported_format",
  ])("by OpenAI's code %s, in an error and in a failed response", async (code) => {
    const error = { code, message: "Try another one." };
    const told = openaiResponses.errorOf({
      status: 400,
      header: () => null,
      body: JSON.stringify({ error }),
    });
    expect(told.repair).toBe("files");
    const decoder = openaiResponses.decoder({ origin, facts: {} }, () => {});
    const response = { id: "resp_1", object: "response", status: "failed", error, output: [] };
    const data = JSON.stringify({ type: "response.failed", response });
    expect(() => {
      decoder.push({ event: "response.failed", data });
      decoder.end();
    }).toThrow(expect.objectContaining({ kind: "invalid_request", repair: "files" }));
  });

  it.each([
    [
      anthropicMessages,
      "messages.8.content.0.image.source.base64: image exceeds 5 MB maximum: 5923816 bytes > 5242880 bytes",
    ],
    [anthropicMessages, "Could not process image"],
    [anthropicMessages, "media exceeds size limit: max 10485760 bytes (2013)"],
    [openaiChat, "failed to read request body"],
    [openaiChat, "Param Incorrect: `text` is not set"],
    [
      anthropicMessages,
      'request.messages[3].content[0].content[0].type: Invalid literal value, expected "text"',
    ],
    [anthropicMessages, "input new_sensitive, messages[4] content[1] image is sensitive (1026)"],
    [openaiChat, "Image input is not enabled for this model"],
    [openaiChat, "Input should be a valid string, field: 'messages[0].content.str', value: [...]"],
    [openaiChat, "messages[0].content: Invalid input: expected string, received array"],
    [openaiChat, "The model expects a single `text` element per message."],
    [openaiChat, 'can only concatenate str (not "list") to str'],
    [anthropicMessages, "messages.2.content.0.content.1.type: Invalid discriminator value. Expected 'text'"],
    [anthropicMessages, "messages.0.content.1: image cannot be empty"],
    [openaiChat, "This model only supports text input"],
    [openaiChat, "<400> InternalError.Algo.InvalidParameter: Unexpected item type in content."],
    [openaiChat, "Only 'text' content type is supported."],
    [openaiChat, "此模型不支持图像输入。请尝试其他模型"],
    [openaiChat, "content type 'image_url' is not allowed for this model, only 'text'"],
    [openaiChat, "m is not a vision model"],
    [openaiChat, "The model is not a VLM (Vision Language Model). Please use text-only prompts."],
    [openaiChat, 'unknown content part type: "image_url"'],
    // About sound and videos: OpenAI, llama.cpp, vLLM, SGLang, Mistral, OpenRouter, Alibaba, Gemini.
    [openaiChat, "The audio file could not be decoded or its format is not supported."],
    [openaiChat, "unsupported content[].type"],
    [openaiChat, "Unknown part type: video"],
    [openaiChat, "At most 0 audio(s) may be provided in one request."],
    [openaiChat, "Error opening <_io.BytesIO object at 0x7f1>: Format not recognised."],
    [openaiChat, "This model does not support audio"],
    [openaiChat, "Input tag 'file' found using 'type' does not match any of the expected tags: 'text'"],
    [openaiChat, "No endpoints found that support input audio"],
    [openaiChat, "<400> InternalError.Algo.InvalidParameter: The audio is too short"],
    [
      openaiChat,
      "The video modality input does not meet the requirements because: the range of sequence images should be (4, 512).",
    ],
    [googleGenerativeAi, "Unable to process input audio."],
    [
      googleGenerativeAi,
      "* GenerateContentRequest.contents[0].parts[1].inline_data.mime_type: MIME type must be image/png or image/jpeg.",
    ],
    [googleGenerativeAi, "The video is corrupted or has 0 frames."],
    [openaiChat, "messages[1]: content should be a string or a list"],
    // Bedrock of a sixth document, and of bytes that are not what they are called; its gateway for OpenAI's protocols.
    [bedrockConverse, "You can't include more than 5 documents in a request."],
    [
      bedrockConverse,
      "The model returned the following errors: messages.0.content.1.source.bytes: The document source bytes could not be parsed as the specified format.",
    ],
    [openaiChat, "Only inline image data URLs and S3 URLs are supported."],
    // Cloudflare and SambaNova, of a list of parts.
    [
      openaiChat,
      "AiError: Bad input: Error: oneOf at '/' not met, 0 matches: required properties at '/' are 'prompt', Type mismatch of '/messages/0/content', 'array' not in 'string'",
    ],
    [
      openaiChat,
      "Unable to tokenize message with status code 400 for model m: Invalid 'content' type. Expected one of: ['str'], got list.",
    ],
    [
      anthropicMessages,
      "messages.4.content.1.document.source.base64.media_type: Input should be 'application/pdf'",
    ],
    [
      anthropicMessages,
      "messages.0.content.1.document.source.base64.data: The PDF specified is password protected.",
    ],
    [anthropicMessages, "Unable to download the file. Please verify the URL and try again."],
    [anthropicMessages, "This URL is disallowed by the website's robots.txt file."],
    [openaiResponses, "Timeout while downloading https://x.example/a.png."],
    [
      openaiChat,
      "<400> InternalError.Algo.InvalidParameter: The image length and width do not meet the model restrictions.",
    ],
    [openaiChat, "<400> InternalError.Algo.InvalidParameter: Download multimodal file timed out"],
    [openaiChat, "The provided URL does not appear to be valid. Ensure it is correctly formatted."],
    [openaiChat, "图片输入格式/解析错误"],
    [openaiResponses, "Error while downloading https://x.example/a.png. Upstream status code: 404."],
    [
      openaiResponses,
      "The image data you provided does not represent a valid image. Please check your input and try again.",
    ],
    [anthropicMessages, "messages.0.content.0.document: The PDF specified was not valid."],
    [
      anthropicMessages,
      "messages.2.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
    ],
    [bedrockConverse, "too many images and documents: 52 > 50"],
    [googleGenerativeAi, "Unable to process input image. Please retry or report in troubleshooting"],
    [googleGenerativeAi, "Unsupported MIME type: application/x-tar"],
    [
      googleGenerativeAi,
      "Unable to submit request because it has a mimeType parameter with value application/zip, which is not supported. Update the mimeType and try again.",
    ],
    [googleGenerativeAi, "Image input modality is not enabled for models/gemma-3-1b-it"],
    [googleGenerativeAi, "The document has no pages."],
    [googleGenerativeAi, "Unsupported file uri: https://example.com/a"],
    [
      googleGenerativeAi,
      "Cannot fetch content from the provided URL. Please ensure the URL is valid and accessible by Vertex AI.",
    ],
    [openaiResponses, "Invalid image data in input[3].content[1].image_url."],
    [
      openaiChat,
      "Invalid 'messages[234]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.",
    ],
    [openaiChat, "Failed to deserialize the JSON body: unknown variant `image_url`, expected `text`"],
    [openaiChat, "No endpoints found that support image input"],
    [openaiChat, "Model does not support images. Please use a model that does."],
    [openaiChat, "meta-llama/Llama-3.1-8B-Instruct is not a multimodal model"],
    [openaiChat, "At most 1 image(s) may be provided in one request."],
    [openaiChat, "Invalid PNG image"],
    [openaiChat, "base64 string of provided image cannot be decoded"],
    [openaiChat, "cannot identify image file <_io.BytesIO object at 0x7f3a>"],
    [openaiChat, "image file is truncated (3 bytes not processed)"],
    [openaiChat, "Image URL is not accessible"],
    [openaiChat, "The provided URL is not an image"],
    [openaiChat, "height:5 or width:5 must be larger than factor:28"],
    [openaiChat, "absolute aspect ratio must be smaller than 200, got 300.0"],
    [openaiChat, "image must be at least 28x28 pixels"],
    [openaiChat, "invalid_image_format"],
    [openaiChat, "图片格式不支持"],
    [
      anthropicMessages,
      "messages.0.content.1.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
    ],
    [
      googleGenerativeAi,
      "Invalid value at 'contents[0].parts[1].inline_data.data' (TYPE_BYTES), Base64 decoding failed for \"xyz\"",
    ],
    [googleGenerativeAi, "Failed to extract 1 image(s)."],
    [openaiChat, "'messages.1' : for 'role:user' [('messages.1.content' : value must be a string)]"],
  ] as const)("%#: %s", (codec, message) => {
    expect(repairOf(codec, message)).toBe("files");
  });

  it.each([
    "messages: text content blocks must be non-empty",
    "Invalid 'tools[3].function.name': string too long.",
    "tools.12.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
    "The model is not configured to generate images. Image generation is not enabled",
    "Unsupported response mime type: text/csv",
    "Hosted tool 'image_generation' is not supported with m.",
    "Unknown parameter: 'image_config'.",
    "Invalid schema for function 'generate_image': None is not of type 'object'",
    "Json document validation error: tools[0].function.parameters: at '/properties/a/type': value must be one of 'array', 'boolean'",
    "Type mismatch of '/messages/1/content', 'string' not in 'array'",
  ])("and is distinguished from other complaints: %s", (message) => {
    expect(repairOf(openaiChat, message)).not.toBe("files");
  });

  it("and only with a status that means the request", () => {
    expect(repairOf(anthropicMessages, "Could not process image", 500)).toBeUndefined();
    expect(repairOf(openaiChat, "image input is not supported - hint: provide the mmproj", 500)).toBe(
      "files",
    );
    expect(repairOf(ollamaChat, "failed to process image: image: unknown format", 500)).toBe("files");
    expect(repairOf(openaiChat, "cannot identify image file <_io.BytesIO object>", 500)).toBe("files");
    expect(repairOf(ollamaChat, "illegal base64 data at input byte 4")).toBe("files");
  });
});

describe.each(rows)("an image that $name refuses", (row) => {
  const refused = raw(JSON.stringify({ error: { message: "Could not process image" } }), {
    status: 400,
    headers: { "content-type": "application/json" },
  });
  const history: Message[] = [
    {
      role: "user",
      content: [
        { type: "text", text: "look" },
        { type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" },
      ],
    },
  ];

  it("is replaced by a note, and the run continues", async () => {
    const wire = await serve([refused, say("done")]);
    const { end, text } = await new Agent({ model: row.model(wire) }).run(history);
    expect([end?.reason, text]).toEqual(["completed", "done"]);
    const sent = wire.requests.map(({ body }) => JSON.stringify(body));
    expect(sent.map((body) => body.includes("iVBORw0KGgo"))).toEqual([true, false]);
    expect(sent[1]).toContain("[image/png left out]");
    expectValid(wire);
  });

  it("that is refused again ends the run", async () => {
    const wire = await serve([refused, refused, say("never")]);
    const { end } = await new Agent({ model: row.model(wire) }).run(history);
    expect(end?.error?.kind).toBe("invalid_request");
    expect(wire.requests).toHaveLength(2);
  });
});

describe.each(rows)("one of several images that $name refuses by its position", (row) => {
  const cat = { type: "file", mediaType: "image/png", data: "Y2F0Y2F0", name: "cat" } as const;
  const dog = { type: "file", mediaType: "image/png", data: "ZG9nZG9n", name: "dog" } as const;
  const owl = { type: "file", mediaType: "image/png", data: "b3dsb3ds", name: "owl" } as const;
  const history: Message[] = [
    userText("hi"),
    { role: "assistant", content: [{ type: "text", text: "hello" }], origin, stop },
    { role: "user", content: [{ type: "text", text: "look" }, cat, dog] },
    { role: "assistant", content: [{ type: "text", text: "nice" }], origin, stop },
    { role: "user", content: [{ type: "text", text: "and" }, owl] },
  ];
  /** As each protocol's servers name the image that stands second after the text in the third message. */
  const place: { readonly [name in typeof row.name]: string } = {
    anthropic: "messages.2.content.2.image.source.base64: image exceeds 5 MB maximum: 7 bytes > 5 bytes",
    openai:
      "Invalid 'input[2].content[2].image_url'. Expected a base64-encoded data URL with an image MIME type.",
    "openai-chat":
      "Invalid image URL: 'messages[2].content[2].image_url.url'. Expected a base64-encoded data URL.",
    google:
      "Invalid value at 'contents[2].parts[2].inline_data.data' (TYPE_BYTES), image could not be decoded: failed to parse",
    bedrock:
      "The model returned the following errors: messages.2.content.2.image.source.bytes: image exceeds 5 MB maximum",
  };
  const refusing = (message: string): WireTurn =>
    raw(JSON.stringify({ error: { message }, message }), {
      status: 400,
      headers: { "content-type": "application/json" },
    });
  const there = (wire: RondoWire): boolean[][] =>
    wire.requests.map(({ body }) => [cat, dog, owl].map(({ data }) => JSON.stringify(body).includes(data)));

  it("is left out alone, for the rest of the run", async () => {
    const wire = await serve([refusing(place[row.name]), call("weather", { city: "Oslo" }), say("done")]);
    const { end } = await new Agent({ model: row.model(wire), tools: [weather] }).run(history);
    expect(end?.reason).toBe("completed");
    expect(there(wire)).toEqual([
      [true, true, true],
      [true, false, true],
      [true, false, true],
    ]);
    expect(JSON.stringify(wire.requests[1]?.body)).toContain("[dog left out]");
    expectValid(wire);
  });

  it("is left out, then another, then all images, if they are refused without a position", async () => {
    const other = place[row.name].replace(/([.[])2([.\]][a-z.]+[.[])2/, "$12$21");
    expect(other).not.toBe(place[row.name]);
    const wire = await serve([
      refusing(place[row.name]),
      refusing(other),
      refusing("Could not process image"),
      say("done"),
    ]);
    const { end } = await new Agent({ model: row.model(wire) }).run(history);
    expect(end?.reason).toBe("completed");
    expect(there(wire)).toEqual([
      [true, true, true],
      [true, false, true],
      [false, false, true],
      [false, false, false],
    ]);
  });

  it("that is refused again at that position ends the run", async () => {
    const wire = await serve([refusing(place[row.name]), refusing(place[row.name]), say("never")]);
    const { end } = await new Agent({ model: row.model(wire) }).run(history);
    expect(end?.error?.kind).toBe("invalid_request");
    expect(there(wire)).toEqual([
      [true, true, true],
      [true, false, true],
    ]);
  });

  it("in a message with several images means all of them", async () => {
    const word = place[row.name].replace(/([.[])2([.\]]).*$/, "$12] image could not be processed");
    const wire = await serve([refusing(`unable to process image at ${word}`), say("done")]);
    await new Agent({ model: row.model(wire) }).run(history);
    expect(there(wire)).toEqual([
      [true, true, true],
      [false, false, false],
    ]);
  });
});

describe("a refusal about the number of files", () => {
  const image = { type: "file", mediaType: "image/png", data: "QQ==" } as const;
  const history = (count: number): Message[] => [
    { role: "user", content: [{ type: "text", text: "look" }, ...Array<typeof image>(count).fill(image)] },
  ];

  it.each([
    ["too many images and documents: 52 > 50", 52, "files.last.50"],
    ["too many images and documents: 120 + 0 > 100", 120, "files.last.100"],
    ["Too much media: 0 document pages + 107 images > 100", 107, "files.last.100"],
    ["request contains 52 images, exceeding the maximum of 50 allowed per request", 52, "files.last.50"],
    ["Too many images in request. Max is 10.", 12, "files.last.10"],
    ["At most 4 image(s) may be provided in one request.", 6, "files.last.4"],
    ["Image count 5 exceeds limit 4 per request.", 5, "files.last.4"],
    ["Too many images provided. This model supports up to 5 images", 9, "files.last.5"],
    ["The number of images exceeds the 16 that are allowed", 20, "files.last.16"],
    ['{"error":{"message":"too many images","code":400}}', 9, "files.last.4"],
    ["At most 20 image(s) may be provided in one request.", 6, "files"],
    ["At most 1 image(s) may be provided in one request.", 1, "files"],
    ["image exceeds 5 MB maximum: 5923816 bytes > 5242880 bytes", 9, undefined],
    [
      "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
      9,
      undefined,
    ],
    [
      "messages.8.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
      31,
      "files.last.20",
    ],
    ["You can't include more than 5 documents in a request.", 6, "files.last.5"],
    ["At most 0 image(s) may be provided in one prompt.", 4, undefined],
    ["A maximum of 100 PDF pages may be provided.", 2, undefined],
    ["Could not process image", 2, undefined],
  ])("%s, of %d: %s", (words, count, repair) => {
    expect(fewerFiles(words, history(count))).toBe(repair);
  });
});

describe.each(rows)("more images than $name accepts", (row) => {
  const picture = (data: string): Message => ({
    role: "user",
    content: [{ type: "file", mediaType: "image/png", data }],
  });
  const names = ["Y2F0Y2F0", "ZG9nZG9n", "b3dsb3ds", "YmVlYmVl"];
  const history = names.slice(0, 3).map(picture);
  const refused = raw(JSON.stringify({ error: { message: "too many images and documents: 3 > 2" } }), {
    status: 400,
    headers: { "content-type": "application/json" },
  });
  const look = tool({
    name: "look",
    description: "Looks.",
    inputSchema: { type: "object" },
    execute: () => [{ type: "file", mediaType: "image/png", data: names[3] as string }],
  });

  it("are left out from the oldest on, also if more come", async () => {
    const wire = await serve([refused, call("look"), say("done")]);
    const { end } = await new Agent({ model: row.model(wire), tools: [look] }).run(history);
    expect(end?.reason).toBe("completed");
    const there = wire.requests.map(({ body }) => names.map((data) => JSON.stringify(body).includes(data)));
    expect(there).toEqual([
      [true, true, true, false],
      [false, true, true, false],
      [false, false, true, true],
    ]);
    expectValid(wire);
  });
});

describe("a position that a refusal names", () => {
  const image = (data: string): object => ({ type: "file", mediaType: "image/png", data });
  const messages = [
    { role: "user", content: [image("QQ=="), image("Qg==")] },
    { role: "tool", callId: "c", name: "t", content: [image("Qw==")], isError: false },
    { role: "user", content: [{ type: "file", mediaType: "image/png", url: "https://x.invalid/a.png" }] },
  ] as unknown as Message[];
  const sent = JSON.stringify({
    messages: [
      {
        role: "user",
        content: [
          { image: { format: "png", source: { bytes: "QQ==" } } },
          { image: { format: "png", source: { bytes: "Qg==" } } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", content: [{ type: "text", text: "x" }, { source: { data: "Qw==" } }] },
        ],
      },
      { role: "user", content: [{ type: "image_url", image_url: { url: "https://x.invalid/a.png" } }] },
    ],
  });
  const named = (words: string): string | undefined => {
    const repair = refusedFile(words, sent, messages);
    const parts = messages.flatMap(({ content }) => content as FilePart[]);
    const part = parts.find((one) => repairOfFile(one) === repair);
    return part?.url ?? (part?.data as string | undefined);
  };

  it.each([
    ["messages.0.content.1.image.source.base64: image exceeds", "Qg=="],
    ["Value at 'messages.1.member.content.2.member.image.format' failed to satisfy constraint", "Qg=="],
    ["Value at 'messages.1.member.content.1.member.image.source.bytes' failed", "QQ=="],
    ["messages.1.content.0.tool_result.content.1.image.source.base64.data: too large", "Qw=="],
    ["Invalid 'messages[1]'. Image URLs are only allowed", "Qw=="],
    [
      '{"error":{"message":"bad image","param":"messages[2].content[0].image_url.url"}}',
      "https://x.invalid/a.png",
    ],
    ["messages.9.content.0.image: too large", undefined],
    ["contents[0].parts[0]: invalid image", undefined],
    ["messages.1.content.0.tool_result.content.0.text: image too large", undefined],
    ["messages.0: too many images", undefined],
    ["messages: at most 20 images", undefined],
  ])("%s", (words, file) => {
    expect(named(words)).toBe(file);
  });
});

describe("a refusal about sound or about videos", () => {
  const file = (mediaType: string, data: string): FilePart => ({ type: "file", mediaType, data });
  const [image, sound, other] = [
    file("image/png", "QQ=="),
    file("audio/wav", "Qg=="),
    file("audio/mpeg", "Qw=="),
  ];
  const history = (...content: FilePart[]): Message[] => [{ role: "user", content }];

  it.each([
    "The audio file could not be decoded or its format is not supported.",
    "At most 0 audio(s) may be provided in one request.",
    "Invalid value: 'input_audio'.",
  ])("means the only sound: %s", (words) => {
    expect(refusedFile(words, "{}", history(image, sound))).toBe(repairOfFile(sound));
  });

  it("means all files if there are several of the kind, or another kind is named as well; none if there is none", () => {
    const words = "The audio file could not be decoded or its format is not supported.";
    expect(refusedFile(words, "{}", history(image, sound, other))).toBe("files");
    expect(refusedFile(words, "{}", history(image))).toBeUndefined();
    expect(refusedFile(`${words} Nor could the image.`, "{}", history(image, sound))).toBe("files");
    expect(refusedFile("audio and video are not supported", "{}", history(image, sound))).toBe("files");
  });

  it.each([
    "Unsupported value: 'temperature' does not support 0.2 with gpt-4o-audio-preview.",
    "Audio output is not supported by this model.",
    "The requested combination of response modalities (AUDIO) is not supported by the model.",
  ])("is no refusal of what the model is to say or be called: %s", (words) => {
    expect(repairOf(openaiChat, words)).not.toBe("files");
  });
});

describe("a refusal that says nothing", () => {
  const file = (mediaType: string, data: string): FilePart => ({ type: "file", mediaType, data });
  const text = btoa("Test audio file content");

  it.each([
    ["audio/x-wav", text],
    ["audio/ogg", text],
    ["image/png", text],
    ["application/pdf", text],
  ])("means the first file that is not what it is called: %s", (mediaType, data) => {
    const good = file("image/png", "iVBORw0KGgo=");
    const misnamed = file(mediaType, data);
    expect(misnamedFile([{ role: "user", content: [good, misnamed, file("audio/flac", text)] }])).toBe(
      repairOfFile(misnamed),
    );
  });

  it.each([
    ["audio/wav", "UklGRiQAAABXQVZF"],
    ["audio/wav", "SUQzBAAA"],
    ["audio/wav", "//uQxAAA"],
    // These begin in ways that are not listed.
    ["audio/mpeg", text],
    ["audio/pcm", text],
    ["video/mp4", text],
    ["text/plain", text],
  ])("means no file that may be what it is called: %s", (mediaType, data) => {
    expect(misnamedFile([{ role: "user", content: [file(mediaType, data)] }])).toBeUndefined();
    const stored: FilePart = { type: "file", mediaType, url: "https://x.invalid/a" };
    expect(misnamedFile([{ role: "user", content: [stored] }])).toBeUndefined();
  });
});

describe("an address that a refusal contains", () => {
  const at = (url: string): FilePart => ({ type: "file", mediaType: "image/png", url });
  const [one, other, stored] = [
    at("https://x.invalid/1/image.png?sig=a"),
    at("https://x.invalid/2/image.png?sig=b"),
    at("https://generativelanguage.googleapis.com/v1beta/files/rmqf9ixp1r0v"),
  ];
  const messages: Message[] = [{ role: "user", content: [one, other, stored] }];

  it.each([
    ["Error while downloading https://x.invalid/1/image.png?sig=a. Upstream status code: 403.", one],
    ["You do not have permission to access the File rmqf9ixp1r0v or it may not exist.", stored],
  ])("means that file alone: %s", (words, file) => {
    expect(refusedFile(words, "{}", messages)).toBe(repairOfFile(file));
  });

  it.each(["Timeout while downloading image.png", "Error while downloading https://x.invalid/3"])(
    "that is no file's, or several files', means all of them: %s",
    (words) => {
      expect(refusedFile(words, "{}", messages)).toBe("files");
    },
  );

  it("is looked for in Google's 403, which is no matter of the account", () => {
    const message = "You do not have permission to access the File rmqf9ixp1r0v or it may not exist.";
    const error = { code: 403, message, status: "PERMISSION_DENIED" };
    const told = googleGenerativeAi.errorOf({
      status: 403,
      header: () => null,
      body: JSON.stringify({ error }),
    });
    expect(told).toMatchObject({ kind: "invalid_request", repair: "files", retryable: false });
    expect(told.message).not.toMatch(/account/);
  });
});
