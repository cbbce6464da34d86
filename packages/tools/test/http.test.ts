// What the HTTP tools send, and what they tell of what comes.

import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { decoderFor } from "../src/http/charset.ts";
import { forReaders, isPage } from "../src/http/page.ts";
import { type HttpToolsOptions, httpTools } from "../src/index.ts";
import { call } from "./calling.ts";
import { serving } from "./serving.ts";

type Answering = Parameters<typeof serving>[0];

/** What `fetch_url` tells of an answer. */
async function fetched(answer: Answering, options: HttpToolsOptions = {}) {
  const server = await serving(answer);
  const answered = await call(httpTools({ privateHosts: [server.host], ...options }), "fetch_url", {
    url: `${server.origin}/page`,
  });
  return { ...answered, server, body: answered.text.slice(answered.text.indexOf("\n\n") + 2) };
}

describe("the tools", () => {
  test("are one that reads without asking, and one that asks", () => {
    const said = (options: HttpToolsOptions) =>
      httpTools(options).map(({ name, effect, permission }) => [name, effect, permission]);
    expect(said({})).toEqual([
      ["fetch_url", "read", "allow"],
      ["http_request", "write", "ask"],
    ]);
    expect(said({ permission: "ask", writePermission: "deny" })).toEqual([
      ["fetch_url", "read", "ask"],
      ["http_request", "write", "deny"],
    ]);
    expect(said({ readOnly: true })).toEqual([["fetch_url", "read", "allow"]]);
  });

  test.each([
    [
      { privateHosts: ["http://a/"] },
      "httpTools: option privateHosts[0]: a host, with or without a port, is needed",
    ],
    [{ privateHosts: ["*"] }, "option privateHosts[0]"],
    [{ denyHosts: ["a:99999"] }, "option denyHosts[0]"],
    [{ hosts: ["a", "*"] }, "option hosts[1]: a host, with or without a port, or *. and a host is needed"],
    [{ hosts: ["*.*.a"] }, "option hosts[0]"],
    [{ hosts: ["a*.b"] }, "option hosts[0]"],
    [{ hosts: ["*.127.0.0.1"] }, "option hosts[0]"],
    [{ hosts: ["*.[::1]"] }, "option hosts[0]"],
    [{ hosts: ["https://a"] }, "option hosts[0]"],
    [{ hosts: "example.com" }, "option hosts: a list is needed"],
    [{ headers: { "https://a/b": {} } }, "option headers.https://a/b: the name must be a host or an origin"],
    [{ headers: { a: { "x y": "1" } } }, "option headers.a.x y: no header can have this name"],
    [{ headers: { a: { x: "1\r\ny: 2" } } }, "option headers.a.x: no header"],
    [{ maxBytes: "1 MB" }, "option maxBytes: a whole number"],
    [{ timeoutMs: Number.POSITIVE_INFINITY }, "option timeoutMs: a finite number"],
    [{ maxRedirect: 1 }, "did you mean maxRedirects?"],
  ])("refuse %j", (options, says) => {
    expect(() => httpTools(options as never)).toThrow(says);
  });
});

describe("a request", () => {
  test("of fetch_url is a bare GET, whatever else the model says", async () => {
    const server = await serving((response) => response.end("page"));
    await call(httpTools({ privateHosts: [server.host] }), "fetch_url", {
      url: server.origin,
      method: "DELETE",
      headers: { "x-a": "1" },
      body: "text",
    });
    expect(server.heard).toMatchObject([{ method: "GET", body: "" }]);
    expect(server.heard[0]?.headers).not.toHaveProperty("x-a");
  });

  // https://github.com/HKUDS/nanobot/pull/3528
  test("goes to the URL that was meant, whatever is around it", async () => {
    const server = await serving((response) => response.end("page"));
    const tools = httpTools({ privateHosts: [server.host] });
    const url = `${server.origin}/a?b=(c)`;
    for (const given of [
      `\`${url}\``,
      ` "${url}" `,
      `'${url}'\n`,
      `<${url}>`,
      `[a page](${url})`,
      `\` ${url} \``,
    ]) {
      const { text } = await call(tools, "fetch_url", { url: given });
      expect(text).toContain(`url: ${url}\n`);
    }
  });

  test("is sent as the model says, with the host application's headers over it", async () => {
    const server = await serving((response) => response.writeHead(201).end("made"));
    const tools = httpTools({
      privateHosts: [server.host],
      headers: { [server.origin]: { Authorization: "Bearer own" }, "127.0.0.1": { "x-https": "1" } },
    });
    const { text, isError } = await call(tools, "http_request", {
      method: "POST",
      url: `${server.origin}/things?a=b`,
      headers: { "Content-Type": "application/json", authorization: "Bearer model" },
      body: '{"ü":1}',
    });
    expect(text).toBe(`HTTP 201 Created\nurl: ${server.origin}/things?a=b\n\nmade`);
    expect(isError).toBe(false);
    expect(server.heard[0]).toMatchObject({
      method: "POST",
      url: "/things?a=b",
      headers: { authorization: "Bearer own", "content-type": "application/json", "content-length": "8" },
      body: '{"ü":1}',
    });
    expect(server.heard[0]?.headers).not.toHaveProperty("x-https");
  });

  test.each([
    [{ headers: { host: "other.example" } }, "header host cannot be set"],
    [{ headers: { "Content-Length": "1" } }, "cannot be set"],
    [{ headers: { "transfer-encoding": "chunked" } }, "cannot be set"],
    [{ headers: { connection: "keep-alive" } }, "cannot be set"],
    [{ headers: { "proxy-authorization": "x" } }, "cannot be set"],
    [{ headers: { "x-a": "1\r\nx-b: 2" } }, "header x-a: no header can have this name or this value"],
    [{ headers: { "x-a\r\nx-b": "1" } }, "no header can have this name"],
    [{ headers: { "x-a": "€" } }, "no header can have"],
    [{ method: "GET", body: "x" }, "a GET request has no body"],
    [{ method: "CONNECT" }, "method"],
  ])("%j is refused", async (args, says) => {
    const server = await serving((response) => response.end());
    const { text, isError } = await call(httpTools({ privateHosts: [server.host] }), "http_request", {
      method: "POST",
      url: server.origin,
      ...args,
    });
    expect(text).toContain(says);
    expect(isError).toBe(true);
    expect(server.heard).toEqual([]);
  });
});

describe("a response", () => {
  test("is told with its status, the headers that help, and its text", async () => {
    const { text, isError } = await fetched((response) =>
      response
        .writeHead(404, { "content-type": "text/plain", "set-cookie": "a=b", "x-more": "1", etag: '"e"' })
        .end("nothing here"),
    );
    expect(text).toMatch(
      /^HTTP 404 Not Found\nurl: http:.*\/page\ncontent-type: text\/plain\netag: "e"\n\nnothing here$/,
    );
    expect(isError).toBe(true);
  });

  test("without a body says so", async () => {
    expect((await fetched((response) => response.writeHead(204).end())).body).toBe("(no body)");
    expect((await fetched((response) => response.end())).body).toBe("(no body)");
    const server = await serving((response) => response.writeHead(200, { "content-length": "12345" }).end());
    const tools = httpTools({ privateHosts: [server.host] });
    const { text } = await call(tools, "http_request", { method: "HEAD", url: server.origin });
    expect(text).toContain("content-length: 12345\n\n(no body)");
  });

  test.each([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
    ["identity", Buffer.from],
    ["gzip, br", (text: string) => brotliCompressSync(gzipSync(text))],
  ])("that is compressed as %s is read", async (encoding, compress) => {
    const { body } = await fetched((response) =>
      response.writeHead(200, { "content-encoding": encoding }).end(compress("the text")),
    );
    expect(body).toBe("the text");
  });

  test("that cannot be decompressed is told so", async () => {
    for (const encoding of ["gzip", "br", "zstd", "deflate"]) {
      const { text, isError } = await fetched((response) =>
        response.writeHead(200, { "content-encoding": encoding }).end("nothing of the kind"),
      );
      expect(text).toBe("Error: the body cannot be decompressed");
      expect(isError).toBe(true);
    }
    const { body } = await fetched((response) =>
      response.writeHead(200, { "content-encoding": "rot13" }).end("grkg"),
    );
    expect(body).toBe("[compressed as rot13, which cannot be read; not shown]");
  });

  // https://github.com/dondai44423/donsetch/issues/290
  test.each(["UTF-8", "iso-8859-1", "none", "binary", "aws-chunked", "aws-chunked, gzip"])(
    "whose encoding is none is read: %s",
    async (encoding) => {
      const { body } = await fetched((response) =>
        response
          .writeHead(200, { "content-encoding": encoding })
          .end(encoding.endsWith("gzip") ? gzipSync("the text") : "the text"),
      );
      expect(body).toBe("the text");
    },
  );

  // https://github.com/anthropics/claude-code/issues/20035, https://github.com/anthropics/claude-code/issues/47628
  test("that is a page is told without its scripts and style sheets, unless it is wanted whole", async () => {
    const css = `p { color: red }${" ".repeat(500)}`;
    const code = `if (a < b) x("</p><style>")${";".repeat(500)}`;
    const page =
      `<HEAD><STYLE media=all>${css}</Style><script src=a.js></script><script>small()</script>` +
      `<script type="application/ld+json">${JSON.stringify({ a: "d".repeat(400) })}</script></HEAD>` +
      `<!-- <script> --><p>Text \u0130 ${"z".repeat(200)} <scripted>${"y".repeat(300)}</scripted></p><script>${code}</SCRIPT ><p>End</p>`;
    const server = await serving((response) =>
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page),
    );
    const tools = httpTools({ privateHosts: [server.host] });
    const told = async (tool: string, args: object): Promise<string> => {
      const { text } = await call(tools, tool, { url: server.origin, method: "GET", ...args });
      return text.slice(text.indexOf("\n\n") + 2);
    };
    expect(await told("fetch_url", {})).toBe(
      `${page.replace(css, "").replace(code, "")}\n[2 scripts or style sheets left out, 1,043 bytes; raw: true gives the page as it is]`,
    );
    expect(await told("fetch_url", { raw: true })).toBe(page);
    expect(await told("http_request", {})).toBe(page);
  });

  test("that is a page and was cut in a script is told to be cut", async () => {
    const { body } = await fetched(
      (response) =>
        response.writeHead(200, { "content-type": "text/html" }).end(`<p>a</p><script>${"x".repeat(2_000)}`),
      { maxBytes: 1_000 },
    );
    expect(body).toBe(
      "<p>a</p><script>\n[1 script or style sheet left out, 984 bytes; raw: true gives the page as it is; hardly any text is left: the page is made by its scripts, in a browser]\n" +
        "[... cut after 1,000 bytes: the body is larger, and the rest was not read ...]",
    );
  });

  test("that is no page keeps what looks like a script, and a page that was cut may end in one", () => {
    const script = `<script>${"x".repeat(300)}`;
    expect(forReaders(`<p>a</p>${script}`)).toBe(
      "<p>a</p><script>\n[1 script or style sheet left out, 300 bytes; raw: true gives the page as it is; hardly any text is left: the page is made by its scripts, in a browser]",
    );
    for (const page of ["", "<", "<script", "<p>a</p>", `<!-- ${script}`, `<scripts>${"x".repeat(300)}`])
      expect(forReaders(page)).toBe(page);
    expect([isPage("text/html"), isPage("Text/HTML; charset=x"), isPage("text/plain"), isPage("")]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    const started = performance.now();
    for (const piece of [
      "<",
      "<script",
      "<script ",
      "<script>",
      "<style></style>",
      "<!--",
      "<!-- -->",
      "<script>a</script",
    ])
      forReaders(piece.repeat(1_000_000 / piece.length));
    expect(performance.now() - started).toBeLessThan(3_000);
  });

  test("larger than there is room for is cut, and the rest is not read", async () => {
    let closed: Promise<unknown> | undefined;
    const { body } = await fetched(
      (response) => {
        closed = once(response, "close");
        // Never ends: the reader has to.
        const more = (): void => {
          while (response.write("ü".repeat(50_000)));
          response.once("drain", more);
        };
        more();
      },
      { maxBytes: 20_001 },
    );
    expect(body).toBe(
      `${"ü".repeat(10_000)}\n[... cut after 19.5 KiB: the body is larger, and the rest was not read ...]`,
    );
    await closed;
  });

  test("of a told length says how long it is, where it is cut", async () => {
    const { body } = await fetched(
      (response) => response.writeHead(200, { "content-length": "5000" }).end("a".repeat(5000)),
      { maxBytes: 10 },
    );
    expect(body).toBe(
      "aaaaaaaaaa\n[... cut after 10 bytes, of 5,000 bytes: the body is larger, and the rest was not read ...]",
    );
  });

  test("that is a gzip bomb is cut by what it becomes", async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, "a"));
    const { body } = await fetched(
      (response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
      { maxBytes: 1000 },
    );
    expect(body).toBe(
      `${"a".repeat(1000)}\n[... cut after 1,000 bytes: the body is larger, and the rest was not read ...]`,
    );
  });

  test.each([
    ["text/plain; charset=ISO-8859-1", Buffer.from([0xfc]), "ü"],
    ['text/html; charset="utf-16le"', Buffer.from("ü", "utf16le"), "ü"],
    ["text/plain; charset=klingon", Buffer.from("ü"), "ü"],
    ["text/plain", Buffer.from("\ufeffü"), "ü"],
    ["text/plain; charset=iso-8859-1", Buffer.from("\ufeffü"), "ü"],
    ["text/plain", Buffer.from("\ufeffü", "utf16le"), "ü"],
    ["text/csv", Buffer.from("\ufeffü", "utf16le").swap16(), "ü"],
    ["", Buffer.from("\ufeffü", "utf16le"), "ü"],
    ["text/html", Buffer.from('<meta charset="iso-8859-1">ü', "latin1"), '<meta charset="iso-8859-1">ü'],
    ["text/html", Buffer.from("<META  CharSet = latin1 />ü", "latin1"), "<META  CharSet = latin1 />ü"],
    [
      "text/html",
      Buffer.from(`<meta http-equiv=Content-Type content='text/html; charset=latin1'>ü`, "latin1"),
      `<meta http-equiv=Content-Type content='text/html; charset=latin1'>ü`,
    ],
    [
      "text/html",
      Buffer.from('<meta name="a>b" content="charset=big5"><meta charset="latin1">ü', "latin1"),
      '<meta name="a>b" content="charset=big5"><meta charset="latin1">ü',
    ],
    [
      "text/html",
      Buffer.from("<meta charset=klingon><meta charset=latin1>ü", "latin1"),
      "<meta charset=klingon><meta charset=latin1>ü",
    ],
    ["text/html; charset=utf-8", Buffer.from("<meta charset=latin1>ü"), "<meta charset=latin1>ü"],
    ["text/html; charset=klingon", Buffer.from("<meta charset=latin1>ü", "latin1"), "<meta charset=latin1>ü"],
    ["text/html", Buffer.from("<!-- <meta charset=latin1> -->ü"), "<!-- <meta charset=latin1> -->ü"],
    ["text/html", Buffer.from("<!-- <meta charset=latin1>ü"), "<!-- <meta charset=latin1>ü"],
    ["text/html", Buffer.from(`<p title="<meta charset=latin1>">ü`), `<p title="<meta charset=latin1>">ü`],
    ["text/html", Buffer.from("<meta charset=utf-16>ü"), "<meta charset=utf-16>ü"],
    ["text/html", Buffer.from("\ufeff<meta charset=latin1>ü"), "<meta charset=latin1>ü"],
    ["text/plain", Buffer.from("<meta charset=latin1>ü"), "<meta charset=latin1>ü"],
    [
      "application/xml",
      Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>ü</a>', "latin1"),
      '<?xml version="1.0" encoding="iso-8859-1"?><a>ü</a>',
    ],
    ["application/problem+json", Buffer.from("{}"), "{}"],
    ["application/x-unheard-of", Buffer.from("text"), "text"],
    ["image/svg+xml", Buffer.from("<svg/>"), "<svg/>"],
    ["image/png", Buffer.from("any"), "[image/png, 3 bytes, not shown]"],
    ["application/octet-stream", Buffer.alloc(9), "[application/octet-stream, 9 bytes, not shown]"],
    ["text/plain", Buffer.from("%PDF-1.7\0"), "[PDF document, 9 bytes, not shown]"],
  ])("of type %s with %j is shown as %j", async (type, bytes, shows) => {
    const { body } = await fetched((response) =>
      response.writeHead(200, { "content-type": type }).end(bytes),
    );
    expect(body).toBe(shows);
  });

  test("names its charset in its first 1,024 bytes, or not at all, and in no time", async () => {
    const page = (before: string): Promise<{ body: string }> =>
      fetched((response) =>
        response
          .writeHead(200, { "content-type": "text/html" })
          .end(Buffer.concat([Buffer.from(`${before}<meta charset=latin1>`), Buffer.from([0xfc])])),
      );
    expect((await page(" ".repeat(1000))).body.at(-1)).toBe("ü");
    expect((await page(" ".repeat(1010))).body.at(-1)).toBe("\ufffd");
    for (const odd of ["<".repeat(1000), "<a ".repeat(330), `<a "${"'".repeat(990)}`, "<!--".repeat(250)])
      expect((await page(odd)).body).toContain("charset");
  });

  test("is looked through for its charset in no time, whatever stands there", () => {
    for (const odd of ["<a", "<a ", '<a "', "<a/", "<!--<a"])
      for (let page = 0; page < 200; page++)
        expect(decoderFor("text/html", Buffer.from(odd.repeat(512))).encoding).toBe("utf-8");
  });

  test("that is cut is decoded by what its beginning says", async () => {
    const { body } = await fetched(
      (response) =>
        response
          .writeHead(200, { "content-type": "text/html" })
          .end(Buffer.from(`<meta charset=latin1>${"ü".repeat(2000)}`, "latin1")),
      { maxBytes: 1000 },
    );
    expect(body).toContain(`${"ü".repeat(979)}\n[... cut after`);
  });

  test("whose lines end with a carriage return alone is told line by line: a history has those for lines that were written over", async () => {
    const { body } = await fetched((response) =>
      response.writeHead(200, { "content-type": "text/csv" }).end("a,b\r1,2\r\n3,4\r"),
    );
    expect(body).toBe("a,b\n1,2\r\n3,4\n");
  });

  test("that echoes the host application's credentials is told without them", async () => {
    const server = await serving((response, { headers }) => response.end(JSON.stringify(headers)));
    const tools = httpTools({
      privateHosts: [server.host],
      headers: { [server.origin]: { authorization: "Bearer abcdef0123456789", "x-key": "0123456789abcdef" } },
    });
    const { text } = await call(tools, "fetch_url", { url: server.origin });
    expect(server.heard[0]?.headers["x-key"]).toBe("0123456789abcdef");
    expect(text).toContain('"x-key":"***REDACTED***"');
    expect(text).not.toContain("abcdef0123456789");
  });

  test("that breaks off is an error", async () => {
    const { text, isError } = await fetched((response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half", () => response.destroy());
    });
    expect(text).toBe("Error: no answer: the connection was closed before all of it had come");
    expect(isError).toBe(true);
  });

  test.each(["GET", "HEAD", "POST", "DELETE"])(
    "that breaks off, or is late, leaves in doubt whether a %s had an effect, unless it changes nothing",
    async (method) => {
      const server = await serving((response, { url }) => {
        if (url === "/lost") response.destroy();
      });
      const tools = httpTools({ privateHosts: [server.host], timeoutMs: 50 });
      const told = ["/lost", "/late"].map((path) =>
        call(tools, "http_request", { method, url: server.origin + path }),
      );
      for (const { text } of await Promise.all(told))
        expect(text.endsWith("; whether the request had an effect is unknown")).toBe(
          method === "POST" || method === "DELETE",
        );
    },
  );

  test("in another protocol than was asked for is an error, and the call ends", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () =>
        socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n"),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const answer = await call(httpTools({ privateHosts: [host] }), "fetch_url", { url: `http://${host}/` });
    expect(answer.isError).toBe(true);
    expect(answer.text).toBe("Error: no answer: the server switched to another protocol");
  });

  test("to a GET with an empty body is that to one without", async () => {
    const server = await serving((response) => response.end("here"));
    const tools = httpTools({ privateHosts: [server.host] });
    const answer = await call(tools, "http_request", { method: "GET", url: server.origin, body: "" });
    expect(answer.text).toContain("here");
  });

  test("that never comes is an error", async () => {
    const { text, isError } = await fetched(() => {}, { timeoutMs: 50 });
    expect(text).toBe("Error: no complete answer within 50 ms");
    expect(isError).toBe(true);
  });

  test("of a server that does not speak TLS says so, in words without OpenSSL's", async () => {
    const server = await serving((response) => response.end("plain"));
    const { text } = await call(httpTools({ privateHosts: [server.host] }), "fetch_url", {
      url: `https://${server.host}/`,
    });
    expect(text).toBe(
      "Error: no answer: no TLS connection could be made: the server may speak plain http at this port, or no TLS that is known here",
    );
  });

  test("of a port where nobody listens is an error", async () => {
    const gone = createServer();
    await new Promise<void>((resolve) => gone.listen(0, "127.0.0.1", resolve));
    const { port } = gone.address() as { port: number };
    await new Promise((resolve) => gone.close(resolve));
    const { text, isError } = await call(httpTools({ privateHosts: ["127.0.0.1"] }), "fetch_url", {
      url: `http://127.0.0.1:${port}/`,
    });
    expect(text).toContain("Error: no answer: connect ECONNREFUSED");
    expect(isError).toBe(true);
  });
});

describe("an abort", () => {
  test("in the midst of the body ends the call and the connection", async () => {
    const abort = new AbortController();
    let closed: Promise<unknown> | undefined;
    const server = await serving((response) => {
      closed = once(response, "close");
      response.write("half", () => abort.abort(new Error("enough")));
    });
    const tools = httpTools({ privateHosts: [server.host] });
    const calling = call(tools, "fetch_url", { url: server.origin }, { signal: abort.signal });
    await expect(calling).rejects.toThrow("enough");
    await closed;
  });

  test("while a name is looked up ends the call", async () => {
    const abort = new AbortController();
    const lookup = (): Promise<string[]> => {
      abort.abort(new Error("enough"));
      return new Promise(() => {});
    };
    const calling = call(
      httpTools({ lookup }),
      "fetch_url",
      { url: "http://a.example/" },
      { signal: abort.signal },
    );
    await expect(calling).rejects.toThrow("enough");
  });
});
