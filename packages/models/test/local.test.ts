import { Agent } from "@rondo/core";
import { describe, expect, it, test } from "vitest";
import {
  chooseModel,
  findLocal,
  type LocalKind,
  localModel,
  localPlaces,
  modelFromName,
} from "../src/index.ts";
import { ask, hear } from "./prompted/model.ts";
import { errorFrom, type Handler, sse, withServer } from "./transport/loopback.ts";

/** A server that lists models as Ollama does, and answers a chat. */
const ollamaServer =
  (...models: object[]): Handler =>
  (request, response) => {
    if (request.url === "/api/tags") response.end(JSON.stringify({ models }));
    else if (request.url === "/api/chat")
      response.end(
        '{"message":{"role":"assistant","content":"from Ollama"},"done":true,"done_reason":"stop"}\n',
      );
    else response.writeHead(404).end();
  };

/** The same for llama.cpp and LM Studio. `refuses`: what it says to a request with tools. */
const openaiServer =
  (ids: string[], refuses?: { status: number; body: string }): Handler =>
  (request, response) => {
    if (request.url === "/v1/models")
      response.end(JSON.stringify({ object: "list", data: ids.map((id) => ({ id })) }));
    // llama.cpp also answers without the version; LM Studio and vLLM do not.
    else if (request.url !== "/v1/chat/completions") response.writeHead(404).end();
    else if (refuses !== undefined && request.body.includes('"tools"'))
      response.writeHead(refuses.status, { "content-type": "application/json" }).end(refuses.body);
    else {
      response.writeHead(200, sse);
      const content = refuses === undefined ? "from llama.cpp" : '{"tool_call":{"name":"list","input":{}}}';
      const chunk = (delta: object, reason: string | null): string =>
        `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
      response.end(`${chunk({ role: "assistant", content }, null)}${chunk({}, "stop")}data: [DONE]\n\n`);
    }
  };

const nowhere = { kind: "llamacpp", baseURL: "http://127.0.0.1:1" } as const;
const place = (kind: LocalKind, baseURL: string): { kind: LocalKind; baseURL: string } => ({ kind, baseURL });
const qwen = { name: "qwen3:8b", model: "qwen3:8b", details: { family: "qwen3" } };
const timeoutMs = 5_000;

describe("looking for a local model server", () => {
  it("finds Ollama and its models that can chat", async () => {
    const embedder = { name: "nomic", model: "nomic", details: { family: "nomic-bert" } };
    await withServer(ollamaServer(embedder, qwen, { name: "llama3:8b" }), async ({ url }) => {
      expect(await findLocal({ timeoutMs, places: [nowhere, place("ollama", url)] })).toEqual({
        server: { kind: "ollama", baseURL: url, models: ["qwen3:8b", "llama3:8b"] },
        why: `Ollama answers at ${url}`,
      });
    });
  });

  it("finds a llama.cpp server or LM Studio, with or without the version in its address", async () => {
    await withServer(openaiServer(["text-embedding-nomic", "qwen"]), async ({ url }) => {
      for (const kind of ["llamacpp", "lmstudio"] as const)
        expect((await findLocal({ timeoutMs, places: [place(kind, `${url}/v1`)] })).server?.models).toEqual([
          "qwen",
        ]);
    });
  });

  it("uses the first of the list that answers, not the fastest", async () => {
    await withServer(ollamaServer(qwen), async ({ url: second }) => {
      let answer: () => void = () => {};
      const slow: Handler = (request, response, message) => {
        answer = () => openaiServer(["slow"])(request, response, message);
      };
      await withServer(slow, async ({ url: first, seen }) => {
        const search = findLocal({ timeoutMs, places: [place("llamacpp", first), place("ollama", second)] });
        while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
        answer();
        expect((await search).server?.models).toEqual(["slow"]);
      });
    });
  });

  it("says for each why not: nothing there, no model, something else, an error, no answer in time", async () => {
    const page: Handler = (_, response) => response.end("<html>a printer</html>");
    const empty = ollamaServer();
    const broken: Handler = (_, response) => response.writeHead(500).end();
    const silent: Handler = () => {};
    await withServer(page, ({ url: a }) =>
      withServer(empty, ({ url: b }) =>
        withServer(broken, ({ url: c }) =>
          withServer(silent, async ({ url: d }) => {
            const places = [
              nowhere,
              place("lmstudio", a),
              place("ollama", b),
              place("vllm", c),
              place("ollama", d),
            ];
            const { server, why } = await findLocal({ timeoutMs: 300, places });
            expect(server).toBeUndefined();
            for (const words of [
              "no model server answers: a llama.cpp server at http://127.0.0.1:1, ",
              `LM Studio at ${a} (what answers there is no model server)`,
              `Ollama at ${b} (it has no model)`,
              `vLLM at ${c} (it answered 500)`,
              `Ollama at ${d} (no answer within 300 ms)`,
            ])
              expect(why).toContain(words);
          }),
        ),
      ),
    );
  });

  it("stops when it is aborted, and leaves no connection open", async () => {
    const controller = new AbortController();
    await withServer(
      () => controller.abort(),
      async ({ url, closed }) => {
        const search = findLocal({ timeoutMs, signal: controller.signal, places: [place("ollama", url)] });
        expect((await errorFrom(search)).kind).toBe("aborted");
        await closed(1);
      },
    );
  });

  it("uses no proxy, and neither do the models it returns", async () => {
    const before = process.env.HTTP_PROXY;
    process.env.HTTP_PROXY = "http://127.0.0.1:1";
    try {
      await withServer(ollamaServer(qwen), async ({ url }) => {
        expect((await findLocal({ timeoutMs, places: [place("ollama", url)] })).server?.models).toEqual([
          "qwen3:8b",
        ]);
        expect((await hear(localModel("ollama", "q", { baseURL: url }), ask)).text).toBe("from Ollama");
      });
      await withServer(openaiServer(["q"]), async ({ url }) => {
        expect((await hear(localModel("llamacpp", "q", { baseURL: url }), ask)).text).toBe("from llama.cpp");
      });
    } finally {
      if (before === undefined) delete process.env.HTTP_PROXY;
      else process.env.HTTP_PROXY = before;
    }
  });

  it("looks at loopback only, or where the user's variable says that Ollama is", () => {
    expect(localPlaces({}).map(({ baseURL }) => new URL(baseURL).host)).toEqual([
      "127.0.0.1:11434",
      "127.0.0.1:8080",
      "127.0.0.1:1234",
    ]);
    expect(localPlaces({ OLLAMA_HOST: "box" })[0]?.baseURL).toBe("http://box:11434");
  });
});

describe("the model if none is named", () => {
  const none = async (): Promise<{ why: string }> => ({ why: "no model server answers" });

  it("is the one in RONDO_MODEL, before any key", async () => {
    const { model, name, why } = await chooseModel(
      { RONDO_MODEL: "groq/llama", ANTHROPIC_API_KEY: "k" },
      { find: none },
    );
    expect([model.id, name, why]).toEqual(["groq/llama", "groq/llama", "RONDO_MODEL is set"]);
    expect((await chooseModel({ RONDO_MODEL: "offline" }, { find: none })).name).toBe("offline");
    expect((await errorFrom(chooseModel({ RONDO_MODEL: "nobody/m" }))).kind).toBe("invalid_request");
  });

  it("is that of a key, and nothing is searched for then", async () => {
    const find = (): never => {
      throw new Error("looked");
    };
    expect((await chooseModel({ ANTHROPIC_API_KEY: "k" }, { find })).name).toBe("anthropic/claude-sonnet-5");
    const other = await chooseModel({ OPENROUTER_API_KEY: "k" }, { find });
    expect([other.name, other.why]).toEqual([
      "offline",
      "OPENROUTER_API_KEY is set: choose a model, as openrouter/NAME",
    ]);
    const google = { GOOGLE_GENERATIVE_AI_API_KEY: "k" };
    expect((await chooseModel(google, { find })).name).toBe("google/gemini-flash-latest");
    const off = await chooseModel({ RONDO_LOCAL: "off" }, { find });
    expect([off.name, off.why]).toEqual([
      "offline",
      "no key is set, and RONDO_LOCAL switches local servers off",
    ]);
  });

  it("is not chosen by a key that belongs to no model, and the output says so", async () => {
    const { name, why } = await chooseModel({ GROQ_API_KEY: "k" }, { find: none });
    expect(name).toBe("offline");
    expect(why).toBe(
      "GROQ_API_KEY is set, which chooses no model (groq/NAME would), and no model server answers",
    );
    await withServer(ollamaServer(qwen), async ({ url }) => {
      const find = (): ReturnType<typeof findLocal> =>
        findLocal({ timeoutMs, places: [place("ollama", url)] });
      const local = await chooseModel({ HF_TOKEN: "k" }, { find });
      expect([local.name, local.why]).toEqual([
        "ollama/qwen3:8b",
        `HF_TOKEN is set, which chooses no model (huggingface/NAME would), and Ollama answers at ${url}`,
      ]);
    });
  });

  it("is a local server's first one, and the output says which and why; it works in a run", async () => {
    await withServer(ollamaServer(qwen, { name: "b" }), async ({ url }) => {
      const find = (): ReturnType<typeof findLocal> =>
        findLocal({ timeoutMs, places: [place("ollama", url)] });
      const { model, name, why } = await chooseModel({}, { find });
      expect([name, why]).toEqual([
        "ollama/qwen3:8b",
        `no key is set, and Ollama answers at ${url} (with 1 more model)`,
      ]);
      expect((await new Agent({ model }).run("hi")).text).toBe("from Ollama");
      // The name gives the same model again, in a later process.
      expect((await modelFromName(name, { OLLAMA_HOST: url })).id).toBe(model.id);
    });
    await withServer(openaiServer(["q"]), async ({ url }) => {
      const find = (): ReturnType<typeof findLocal> =>
        findLocal({ timeoutMs, places: [place("llamacpp", url)] });
      const { model, name } = await chooseModel({}, { find });
      expect([name, (await new Agent({ model }).run("hi")).text]).toEqual(["llamacpp/q", "from llama.cpp"]);
    });
  });

  it("is offline if nothing answers, and the output says what was tried", async () => {
    const { model, name, why } = await chooseModel(
      {},
      { find: () => findLocal({ timeoutMs, places: [nowhere] }) },
    );
    expect([model.id, name]).toEqual(["offline/planner", "offline"]);
    expect(why).toBe("no key is set, and no model server answers: a llama.cpp server at http://127.0.0.1:1");
  });
});

describe("a model on a local server", () => {
  it("is called under /v1, whether its address has that or not", async () => {
    await withServer(openaiServer(["q"]), async ({ url, seen }) => {
      for (const kind of ["llamacpp", "lmstudio", "vllm"] as const)
        for (const baseURL of [url, `${url}/`, `${url}/v1`])
          expect((await hear(localModel(kind, "q", { baseURL }), ask)).text).toBe("from llama.cpp");
      expect(new Set(seen.map((one) => one.url))).toEqual(new Set(["/v1/chat/completions"]));
      const below = localModel("vllm", "q", { baseURL: `${url}/behind` });
      expect((await errorFrom(hear(below, ask))).kind).toBe("invalid_request");
      expect(seen.at(-1)?.url).toBe("/behind/chat/completions");
    });
  });

  it("of an unknown kind is refused with the known ones", () => {
    const none = localModel as (kind?: unknown) => unknown;
    expect(() => none()).toThrow(
      "localModel: one of ollama, llamacpp, lmstudio, vllm is needed, not undefined; chooseModel() takes what is there",
    );
    expect(() => none({ url: "x" })).toThrow('not {"url":"x"}');
  });

  it.each([
    [500, "tools param requires --jinja flag"],
    [400, "Tool Call Parser Not Given!"],
    [400, "Function call is not supported for this model."],
  ])("that refuses tools gets them as text from then on: %d, %s", async (status, message) => {
    const body = JSON.stringify({ error: { code: status, message, type: "server_error" } });
    await withServer(openaiServer(["q"], { status, body }), async ({ url, seen }) => {
      const model = localModel("llamacpp", "q", { baseURL: url });
      const first = await hear(model, ask);
      const second = await hear(model, ask);
      expect([first.calls, first.warnings]).toEqual([[{ name: "list", args: {} }], ["text_protocol"]]);
      expect([second.calls, second.warnings]).toEqual([[{ name: "list", args: {} }], []]);
      expect(seen).toHaveLength(3);
    });
  });

  it("fails like any other with an error that is not about tools", async () => {
    const body = '{"error":{"code":500,"message":"out of memory","type":"server_error"}}';
    await withServer(openaiServer(["q"], { status: 500, body }), async ({ url, seen }) => {
      expect((await errorFrom(hear(localModel("llamacpp", "q", { baseURL: url }), ask))).kind).toBe(
        "server_error",
      );
      expect(seen).toHaveLength(1);
    });
  });

  it("may be a file, by its path", async () => {
    expect((await modelFromName("llama//models/qwen3.gguf", {})).id).toBe("llama/qwen3");
    expect((await errorFrom(modelFromName("llama/llama3.2", {}))).message).toContain("ollama/llama3.2");
  });

  test("A4.28 a provider's name is case-insensitive, and the error for an unknown one lists the known ones", async () => {
    expect((await modelFromName("OLLAMA/llama3.2", {})).id).toBe("ollama/llama3.2");
    const error = await errorFrom(modelFromName("nobody/llama3.2", {}));
    expect(error.message).toMatch(/^Unknown provider: nobody\. Supported providers: (?:\w+, )*ollama, /);
  });

  test.each([
    ["antropic/claude-sonnet-5", "anthropic/claude-sonnet-5"],
    ["anthropic:claude-sonnet-5", "anthropic/claude-sonnet-5"],
    ["Gemini:gemini-3-pro", "gemini/gemini-3-pro"],
    ["qwen3:8b", "alibaba/qwen3:8b"],
  ])("a similar name gets a suggestion: %s", async (name, meant) => {
    expect((await errorFrom(modelFromName(name, {}))).message).toContain(`Did you mean ${meant}?`);
  });

  it("a name that is neither a provider's nor a model's gets an explanation, and no guess", async () => {
    const { message } = await errorFrom(modelFromName("hal", {}));
    expect(message).toContain(`"hal" names no provider: write provider/model.`);
    expect(message).not.toContain("Did you mean");
  });

  test.each(["claude", "openai", "groq:", "Groq", "groq/"])(
    "a provider without a model gets an error about the missing model: %s",
    async (name) => {
      const { message } = await errorFrom(modelFromName(name, {}));
      expect(message).toMatch(
        /^"[^"]+" names a provider and no model of it: write (?:anthropic|openai|groq)\/MODEL$/,
      );
    },
  );
});
