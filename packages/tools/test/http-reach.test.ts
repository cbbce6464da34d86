// Where the HTTP tools go, and where they do not: addresses in all their forms, names, redirects, credentials.

import { describe, expect, test } from "vitest";
import { notPublic } from "../src/http/addresses.ts";
import { redirected } from "../src/http/follow.ts";
import { type HttpToolsOptions, httpTools } from "../src/index.ts";
import { call } from "./calling.ts";
import { serving } from "./serving.ts";

const refused = "an address that is not public";

describe("an address", () => {
  test.each([
    ["127.0.0.1", "loopback"],
    ["127.255.255.254", "loopback"],
    ["0.0.0.0", "unspecified"],
    ["0.1.2.3", "unspecified"],
    ["10.1.2.3", "private"],
    ["172.16.0.1", "private"],
    ["172.31.255.255", "private"],
    ["192.168.1.1", "private"],
    ["169.254.169.254", "link-local"],
    ["100.64.0.1", "shared (CGNAT)"],
    ["100.100.100.200", "shared (CGNAT)"],
    ["168.63.129.16", "cloud platform"],
    ["192.0.0.192", "reserved"],
    ["192.0.2.1", "documentation"],
    ["198.51.100.1", "documentation"],
    ["203.0.113.1", "documentation"],
    ["198.18.0.1", "reserved"],
    ["224.0.0.1", "multicast"],
    ["240.0.0.1", "reserved"],
    ["255.255.255.255", "reserved"],
    ["::", "unspecified"],
    ["::1", "loopback"],
    ["fd00:ec2::254", "private"],
    ["fc00::1", "private"],
    ["fe80::1", "link-local"],
    ["fe80::1%eth0", "link-local"],
    ["fec0::1", "private"],
    ["ff02::1", "multicast"],
    ["2001:db8::1", "documentation"],
    ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "reserved"],
    ["4000::1", "reserved"],
    ["64:ff9b:1::808:808", "reserved"],
    ["::ffff:127.0.0.1", "loopback"],
    ["::ffff:a9fe:a9fe", "link-local"],
    ["0:0:0:0:0:ffff:10.0.0.1", "private"],
    ["::127.0.0.1", "loopback"],
    ["::ffff:0:127.0.0.1", "loopback"],
    ["64:ff9b::127.0.0.1", "loopback"],
    ["64:ff9b::a00:1", "private"],
    ["2002:7f00:1::", "loopback"],
    ["2002:a9fe:a9fe::1", "link-local"],
    ["localhost", "unknown"],
  ])("%s is %s", (address, kind) => expect(notPublic(address)).toBe(kind));

  test.each([
    "8.8.8.8",
    "172.15.255.255",
    "172.32.0.1",
    "100.63.255.255",
    "100.128.0.1",
    "169.253.255.255",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2001:4860:4860::8888",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
  ])("%s is public", (address) => expect(notPublic(address)).toBeUndefined());
});

describe("a URL", () => {
  test.each([
    "http://127.0.0.1/",
    "http://localhost/",
    "http://localhost./",
    "http://LOCALHOST../",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://127.0.0.1./",
    "http://１２７.０.０.１/",
    "http://0/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[2002:7f00:1::]/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://169.254.169.254/latest/meta-data/",
    "https://10.0.0.1/",
  ])("%s is refused", async (url) => {
    for (const tool of ["fetch_url", "http_request"]) {
      const lookup = async () => ["127.0.0.1"];
      const { text, isError } = await call(httpTools({ lookup }), tool, { url, method: "GET" });
      expect(text).toContain(refused);
      expect(isError).toBe(true);
    }
  });

  test.each([
    ["ftp://example.com/", "only http: and https: URLs are supported, not ftp:"],
    ["file:///etc/passwd", "not file:"],
    ["https://me:secret@example.com/", "must not contain a user name or a password"],
    ["example.com", "not a valid URL: example.com (a URL begins with https://)"],
    ["example.com/a?b", "not a valid URL: example.com/a?b (a URL begins with https://)"],
    ["localhost:3000/a", "URLs are supported, not localhost: (a URL begins with https://)"],
    ["http://./", "names no host"],
    [`http://example.com/${"a".repeat(9000)}`, "the URL is longer than 8,192 characters"],
  ])("%s is told what is wrong with it", async (url, says) => {
    const { text, isError } = await call(httpTools(), "fetch_url", { url });
    expect(text).toContain(says);
    expect(isError).toBe(true);
  });

  test("whose name has a private address among its public ones is refused", async () => {
    const asked: string[] = [];
    const lookup = async (host: string) => {
      asked.push(host);
      return ["8.8.8.8", "::ffff:10.0.0.1"];
    };
    const { text } = await call(httpTools({ lookup }), "fetch_url", { url: "http://Example.COM./" });
    expect(text).toBe(
      "Error: example.com has an address that is not public (private); only public ones are allowed",
    );
    expect(asked).toEqual(["example.com"]);
  });

  test("whose name has no address is told so", async () => {
    const tools = httpTools({ lookup: async () => [] });
    expect((await call(tools, "fetch_url", { url: "http://example.com/" })).text).toContain("has no address");
  });
});

describe("hosts", () => {
  test("that are allowed are reached at the address that was looked up, which is asked for once", async () => {
    const server = await serving((response) => response.end("here"));
    let lookups = 0;
    const lookup = async () => {
      lookups += 1;
      // A second look would lead elsewhere.
      return [lookups === 1 ? "127.0.0.1" : "127.0.0.2"];
    };
    const tools = httpTools({ privateHosts: ["service.internal"], lookup });
    const { text } = await call(tools, "fetch_url", { url: `http://service.internal:${server.port}/` });
    expect(text).toContain("here");
    expect(lookups).toBe(1);
    expect(server.heard[0]?.headers.host).toBe(`service.internal:${server.port}`);
  });

  test("are allowed as they are named, with the port that is named", async () => {
    const server = await serving((response) => response.end("here"));
    const lookup = async () => ["127.0.0.1"];
    const said = async (privateHosts: string[], host: string) =>
      (
        await call(httpTools({ privateHosts, lookup }), "fetch_url", {
          url: `http://${host}:${server.port}/`,
        })
      ).text;
    expect(await said([server.host], "127.0.0.1")).toContain("here");
    expect(await said(["2130706433"], "127.1")).toContain("here");
    expect(await said(["localhost."], "LOCALHOST")).toContain("here");
    expect(await said(["::1"], "[::1]")).not.toContain(refused);
    expect(await said(["[0:0::1]"], "[::1]")).not.toContain(refused);
    expect(await said([server.host], "localhost")).toContain(refused);
    expect(await said(["127.0.0.1:1"], "127.0.0.1")).toContain(refused);
    expect(await said(["example.com"], "www.example.com")).toContain(refused);
    expect(await said(["127.0.0.1"], "[::ffff:127.0.0.1]")).toContain(refused);
  });

  test("that are denied are not asked, nor those beneath them, whatever is allowed", async () => {
    const said = async (denyHosts: string[], host: string, privateHosts: string[] = []) =>
      (
        await call(httpTools({ denyHosts, privateHosts, lookup: async () => ["127.0.0.1"] }), "fetch_url", {
          url: `http://${host}/`,
        })
      ).text;
    expect(await said(["example.com"], "www.example.com")).toContain("www.example.com is blocked");
    expect(await said(["example.com"], "example.com.", ["example.com"])).toContain("is blocked");
    expect(await said(["example.com"], "notexample.com")).toContain(refused);
    expect(await said(["127.0.0.1"], "name.example", ["name.example"])).toContain("is blocked");
    expect(await said(["8.8.8.8"], "[::ffff:8.8.8.8]")).toContain("is blocked");
    expect(await said(["example.com:8080"], "example.com")).toContain(refused);
  });
});

describe("hosts that alone may be asked", () => {
  const none = "is not one of the allowed hosts";
  const said = async (hosts: string[], host: string, more: HttpToolsOptions = {}) => {
    const asked: string[] = [];
    const lookup = async (name: string) => {
      asked.push(name);
      return ["127.0.0.1"];
    };
    const { text, isError } = await call(httpTools({ hosts, lookup, ...more }), "fetch_url", {
      url: `http://${host}/`,
    });
    return { text, isError, asked };
  };

  test("are reached as they are named: by that name, at that port, with all beneath where that is said", async () => {
    // What may be asked is looked up, and found to be private.
    for (const [hosts, host] of [
      [["example.com"], "example.com"],
      [["EXAMPLE.com."], "example.COM."],
      [["other.example", "example.com:8080"], "example.com:8080"],
      [["example.com"], "example.com:8080"],
      [["*.example.com"], "www.example.com"],
      [["*.example.com"], "a.b.example.com"],
      [["*.bücher.example"], "www.xn--bcher-kva.example"],
      [["127.0.0.1"], "2130706433"],
      [["::1"], "[0:0::1]"],
    ] as const)
      expect((await said([...hosts], host)).text, host).toContain(refused);
  });

  test("shut out all others, of which not even the name is looked up", async () => {
    for (const [hosts, host] of [
      [["example.com"], "www.example.com"],
      [["example.com"], "notexample.com"],
      [["example.com:8080"], "example.com"],
      [["*.example.com"], "example.com"],
      [["*.example.com"], "notexample.com"],
      [["*.example.com:8080"], "www.example.com"],
      [["example.com"], "93.184.216.34"],
      [["8.8.8.8"], "[::ffff:8.8.8.8]"],
      [[], "example.com"],
    ] as const) {
      const { text, isError, asked } = await said([...hosts], host);
      expect([text, isError, asked], host).toEqual([expect.stringContaining(none), true, []]);
    }
  });

  test("that are private need leave for that as well, and leave for that is none to be asked", async () => {
    const server = await serving((response) => response.end("here"));
    const asked = async (options: HttpToolsOptions) =>
      (await call(httpTools(options), "fetch_url", { url: server.origin })).text;
    expect(await asked({ hosts: [server.host], privateHosts: [server.host] })).toContain("here");
    expect(await asked({ hosts: [server.host] })).toContain(refused);
    expect(await asked({ hosts: ["example.com"], privateHosts: [server.host] })).toContain(none);
    expect(
      await asked({ hosts: [server.host], privateHosts: [server.host], denyHosts: ["127.0.0.1"] }),
    ).toContain("is blocked");
    expect(server.heard).toHaveLength(1);
  });

  test("are all that a redirect can lead to, whichever it is", async () => {
    const lookup = async () => ["127.0.0.1"];
    const server = await serving((response, { url, headers }) => {
      const next = url === "/" ? "b.example.com" : "other.example";
      if (url === "/end") response.end(`the end, at ${headers.host}`);
      else
        response
          .writeHead(302, { location: `http://${next}:${server.port}${url === "/" ? "/on" : "/end"}` })
          .end();
    });
    const reach = (hosts: string[]) =>
      call(
        httpTools({ hosts, privateHosts: ["a.example.com", "b.example.com", "other.example"], lookup }),
        "fetch_url",
        {
          url: `http://a.example.com:${server.port}/`,
        },
      );
    const all = await reach(["*.example.com", "other.example"]);
    expect(all.text).toContain(`the end, at other.example:${server.port}`);
    const { text, isError } = await reach(["*.example.com"]);
    expect(text).toContain(`other.example:${server.port} ${none}`);
    expect(isError).toBe(true);
    expect(server.heard.map(({ url }) => url)).toEqual(["/", "/on", "/end", "/", "/on"]);
  });

  test("are told to the model", () => {
    const told = (options: HttpToolsOptions) => httpTools(options).map((tool) => tool.definition.description);
    for (const description of told({ hosts: ["example.com", "*.example.org"] }))
      expect(description).toContain("Only these hosts can be reached: example.com, *.example.org.");
    for (const description of told({}))
      expect(description).toContain("Only public addresses can be reached.");
  });
});

describe("a redirect", () => {
  const leading = (status: number, to: (path: string) => string | undefined) =>
    serving((response, { url }) => {
      const location = to(url);
      if (location === undefined) response.end("the end");
      else response.writeHead(status, { location }).end("gone");
    });

  test.each([
    "http://169.254.169.254/latest/meta-data/",
    "http://[::ffff:127.0.0.1]/",
    "http://2130706433/",
    "http://localhost./",
    "//10.0.0.1/",
  ])("to %s is refused", async (location) => {
    const server = await leading(302, () => location);
    const tools = httpTools({ privateHosts: [server.host], lookup: async () => ["127.0.0.1"] });
    const { text, isError } = await call(tools, "fetch_url", { url: server.origin });
    expect(text).toContain(refused);
    expect(isError).toBe(true);
  });

  test.each([
    ["file:///etc/passwd", "not file:"],
    ["http://me:secret@example.com/", "must not contain"],
    ["http://exa mple/", "not a valid URL"],
  ])("to %s is refused as such a URL is", async (location, says) => {
    const server = await leading(302, () => location);
    const { text } = await call(httpTools({ privateHosts: [server.host] }), "fetch_url", {
      url: server.origin,
    });
    expect(text).toContain(says);
  });

  test("is followed, and the URL in the end is told", async () => {
    const server = await leading(302, (path) =>
      path === "/a/b" ? Buffer.from("../c?d=ü#e").toString("latin1") : undefined,
    );
    const { text } = await call(httpTools({ privateHosts: [server.host] }), "fetch_url", {
      url: `${server.origin}/a/b#part`,
    });
    expect(text).toContain(`url: ${server.origin}/c?d=%C3%BC\n`);
    expect(text).toContain("the end");
  });

  test.each([
    ["http://169.254.169.254/", "169.254.169.254 is an address that is not public (link-local)"],
    ["file:///etc/passwd", "only http: and https: URLs are supported, not file:"],
    ["http://[bad", "not a valid URL: http://[bad"],
    ["http://me:mine@example.com/", "a URL must not contain a user name or a password"],
  ])("that leads to %s is told as one: the URL that was given is not at fault", async (location, says) => {
    const server = await leading(302, () => location);
    const { text } = await call(httpTools({ privateHosts: [server.host] }), "fetch_url", {
      url: server.origin,
    });
    expect(text).toContain(`Error: after a redirect: ${says}`);
  });

  test("that leads in a circle ends", async () => {
    const server = await leading(302, () => "/again");
    const tools = httpTools({ privateHosts: [server.host], maxRedirects: 3 });
    const { text, isError } = await call(tools, "fetch_url", { url: server.origin });
    expect(text).toBe(`Error: more than 3 redirects; the last one leads to ${server.origin}/again`);
    expect(isError).toBe(true);
    expect(server.heard).toHaveLength(4);
  });

  test("to another origin drops credentials for good, and the host application's headers too", async () => {
    const home = await serving((response, { url }) => {
      if (url === "/") response.writeHead(302, { location: `${away.origin}/there` }).end();
      else response.end("back home");
    });
    const away = await serving((response) =>
      response.writeHead(302, { location: `${home.origin}/back` }).end(),
    );
    const tools = httpTools({
      privateHosts: [home.host, away.host],
      headers: { [home.origin]: { "X-Own": "the application's" }, [away.origin]: { "x-other": "secret" } },
    });
    const { text } = await call(tools, "http_request", {
      method: "GET",
      url: home.origin,
      headers: { Authorization: "Bearer 1", Cookie: "a=b", "X-Api-Key": "2", Accept: "text/plain" },
    });
    expect(text).toContain("back home");
    expect(home.heard[0]?.headers).toMatchObject({
      authorization: "Bearer 1",
      cookie: "a=b",
      "x-api-key": "2",
      "x-own": "the application's",
    });
    for (const { headers } of [away.heard[0]!, home.heard[1]!]) {
      expect(headers.accept).toBe("text/plain");
      for (const name of ["authorization", "cookie", "x-api-key", "x-own", "x-other"])
        expect(headers).not.toHaveProperty(name);
    }
  });

  test("within the origin keeps them", async () => {
    const server = await leading(307, (path) => (path === "/" ? "/next" : undefined));
    const tools = httpTools({ privateHosts: [server.host], headers: { [server.origin]: { "x-own": "1" } } });
    await call(tools, "http_request", {
      method: "PUT",
      url: server.origin,
      headers: { authorization: "Bearer 1" },
      body: "text",
    });
    expect(server.heard[1]).toMatchObject({
      method: "PUT",
      body: "text",
      headers: { authorization: "Bearer 1", "x-own": "1" },
    });
  });

  test.each([
    [301, "POST", "GET"],
    [302, "POST", "GET"],
    [303, "POST", "GET"],
    [303, "PUT", "GET"],
    [302, "PUT", "PUT"],
    [307, "POST", "POST"],
    [308, "POST", "POST"],
    [303, "HEAD", "HEAD"],
  ])("%i of a %s is followed by a %s", async (status, method, then) => {
    const server = await leading(status, (path) => (path === "/" ? "/next" : undefined));
    const hasBody = method !== "HEAD";
    await call(httpTools({ privateHosts: [server.host] }), "http_request", {
      method,
      url: server.origin,
      ...(hasBody ? { body: "text", headers: { "content-type": "text/plain" } } : {}),
    });
    expect(server.heard[1]).toMatchObject({ method: then, body: hasBody && then !== "GET" ? "text" : "" });
    if (then === "GET") expect(server.heard[1]?.headers).not.toHaveProperty("content-type");
  });

  test("that would send a body to another origin is refused", async () => {
    const away = await serving((response) => response.end());
    const home = await leading(307, () => `${away.origin}/there`);
    const tools = httpTools({ privateHosts: [home.host, away.host] });
    const { text } = await call(tools, "http_request", { method: "POST", url: home.origin, body: "private" });
    expect(text).toBe(
      `Error: a redirect leads to ${away.origin}/there; request that URL directly if that is meant`,
    );
    expect(away.heard).toEqual([]);
  });

  test("from https to http is refused, the other way it is another origin", () => {
    const from = (url: string) => ({
      method: "GET",
      url: new URL(url),
      headers: { cookie: "a=b", accept: "x" },
    });
    expect(() => redirected(from("https://a.example/"), 302, new URL("http://a.example/b"))).toThrow(
      "a redirect leads from https to http://a.example/b, which is not safe",
    );
    expect(redirected(from("http://a.example/"), 302, new URL("https://a.example/b"))).toEqual({
      method: "GET",
      url: new URL("https://a.example/b"),
      headers: { accept: "x" },
    });
  });

  test("to a name is checked by its addresses", async () => {
    const server = await leading(302, () => "http://other.example/");
    const asked: string[] = [];
    const lookup = async (host: string) => {
      asked.push(host);
      return ["127.0.0.1"];
    };
    const url = `http://allowed.example:${server.port}/`;
    const { text } = await call(httpTools({ privateHosts: ["allowed.example"], lookup }), "fetch_url", {
      url,
    });
    expect(text).toContain(`other.example has ${refused}`);
    expect(asked).toEqual(["allowed.example", "other.example"]);
  });
});
