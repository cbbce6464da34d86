// What a grant covers, how long it holds, which grants are refused, and what globs mean: asked directly.

import type { ArgsPattern, Grant, HeldGrant, JsonObject } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { matchesGlob, maxGlobLength } from "../../src/rules/glob.ts";
import { checkGrant, covers, grantFor, isLiveGrant } from "../../src/rules/grants.ts";

const held = (change: Partial<HeldGrant> = {}): HeldGrant => ({ id: "g", tool: "press", used: 0, ...change });
const asking = (args: JsonObject = {}, check: object = { ok: true }, name: string = "press") => ({
  name,
  args,
  check: check as { ok: boolean; raw?: unknown },
});

describe("a glob", () => {
  test.each([
    ["a", "a", true],
    ["a", "b", false],
    ["", "", true],
    ["ab", "a", false],
    ["a", "ab", false],
    ["*", "", true],
    ["*", "abc", true],
    ["*", "a/c", false],
    ["*", "a\\c", false],
    ["*", "a\nc", false],
    ["*", "a\u001fc", false],
    ["*", "a c", true],
    ["*", "a~c", true],
    ["*", "a\u007fc", false],
    ["*", "a\u0080c", true],
    ["**", "a/b\\c\n", true],
    ["**", "", true],
    ["?", "", false],
    ["?", "a", true],
    ["?", "/", false],
    ["?", "ab", false],
    ["a?", "a", false],
    ["a*c*e", "abcde", true],
    ["a*c*e", "abcd", false],
    ["a**z", "a/b/z", true],
    ["***", "a/b", true],
    ["x/../*", "x/../y", false],
    ["**", "x/..", false],
    ["**", "..\\x", false],
    ["**", "x..y", true],
    ["x/../y", "x/../y", true],
    ["\\*", "*", true],
    ["\\*", "a", false],
    ["\\*", "\\*", false],
    ["\\?", "?", true],
    ["\\?", "a", false],
    ["\\\\", "\\", true],
    ["\\\\", "\\\\", false],
    ["\\a", "\\a", true],
    ["\\a", "a", false],
    ["\\", "\\", true],
    ["\\*?", "*a", true],
    ["\\**", "*ab", true],
    ["\\\\*", "\\ab", true],
    ["*\\*", "ab*", true],
    ["*a", "aba", true],
    ["?*", "", false],
    ["😀?", "😀😀", true],
    // What a wildcard stands for ends no host: of an address, however it is written.
    ["http:**.a/", "http:x.a/", true],
    ["http:**.a/", "http:x?.a/", false],
    ["https:**.a/", "https:x#.a/", false],
    ["ws:**.a/", "ws:x?.a/", false],
    [" http:**.a/", " http:x?.a/", false],
    ["s3+x.y-z://**.a/", "s3+x.y-z://b@.a/", false],
    ["s3+x.y-z://**.a/", "s3+x.y-z://b.a/", true],
    ["see **", "see https://a?b", true],
  ] as const)("%j for %j: %j", (pattern, text, expected) => {
    expect(matchesGlob(pattern, text)).toBe(expected);
  });
});

describe("a glob for shell code", () => {
  test.each([
    ["npm test", "npm test", true],
    ["npm test *", "npm test --grep 'a b' -- x", true],
    ["npm test *", 'npm test --grep "a b"', true],
    ["npm test **", "npm test src/a.ts *.ts {a,b} ~/x !y a=b %^@", true],
    ["npm test **", "npm test a\\ b # rest", true],
    ["npm test **", "npm test é😀", true],
    ...[
      ";",
      "&",
      "|",
      "<",
      ">",
      "(",
      ")",
      "$",
      "`",
      "\n",
      "\r",
      "\t",
      "\0",
      "\u0085",
      "\u2028",
      "\u2029",
    ].flatMap((one) =>
      ["npm test **", "npm test *", "npm test ?", "**", "npm ** test"].map((pattern) => {
        const place = pattern === "npm ** test" ? `npm ${one} test` : `npm test ${one}`;
        return [pattern, place, false] as const;
      }),
    ),
    ["npm test **", "npm test 'a; b'", false],
    // What stands in the pattern itself is said.
    ["cd app && npm test *", "cd app && npm test a", true],
    ["npm test a; rm b", "npm test a; rm b", true],
    ["echo $HOME/*", "echo $HOME/a", true],
    // Where more of the pattern follows it stays what it is: outside of quotes, or inside of its own, and no comment.
    ["rm * --dry-run", "rm a b --dry-run", true],
    ["rm * --dry-run", "rm / # --dry-run", false],
    ["rm ** --dry-run **", "rm / ' --dry-run '", false],
    ["rm ** --dry-run **", 'rm / " --dry-run "', false],
    ["rm ** --dry-run", "rm / a\\ --dry-run", false],
    ["git commit -m 'a * ; b *'", "git commit -m 'a x' ; b ''", false],
    ["git commit -m 'a * ; b *'", "git commit -m 'a x ; b y'", true],
    ["echo *?", "echo '", true],
    ["* **", "echo '", true],
  ] as const)("%j for %j: %j", (pattern, text, expected) => {
    expect(matchesGlob(pattern, text, true)).toBe(expected);
  });
});

describe("a grant is valid", () => {
  test("as long as it is not revoked, its time has not passed, and uses remain", () => {
    expect(isLiveGrant(held(), 5)).toBe(true);
    expect(isLiveGrant(held({ revoked: true }), 5)).toBe(false);
    expect(isLiveGrant(held({ until: 6 }), 5)).toBe(true);
    expect(isLiveGrant(held({ until: 5 }), 5)).toBe(false);
    expect(isLiveGrant(held({ until: 4 }), 5)).toBe(false);
    expect(isLiveGrant(held({ uses: 2, used: 1 }), 5)).toBe(true);
    expect(isLiveGrant(held({ uses: 2, used: 2 }), 5)).toBe(false);
  });

  test("and the first valid one that covers the call is used", () => {
    const grants = [
      held({ id: "a", revoked: true }),
      held({ id: "b", tool: "pull" }),
      held({ id: "c" }),
      held(),
    ];
    expect(grantFor(grants, asking(), 5)?.id).toBe("c");
    expect(grantFor(grants.slice(0, 2), asking(), 5)).toBeUndefined();
  });
});

describe("a grant covers", () => {
  const does = (args: ArgsPattern | undefined, given: JsonObject, check?: object, name?: string): boolean =>
    covers({ id: "g", tool: "press", ...(args === undefined ? {} : { args }) }, asking(given, check, name));

  test("calls of its own tool with valid arguments, with any arguments if it names none", () => {
    expect(does(undefined, { n: 1 })).toBe(true);
    expect(does(undefined, {}, { ok: true }, "pull")).toBe(false);
    expect(does(undefined, {}, { ok: false })).toBe(false);
    expect(does(undefined, {}, { ok: true, raw: true })).toBe(true);
  });

  test("no call whose arguments could not be parsed", () => {
    expect(does({ like: {} }, {}, { ok: true, raw: true })).toBe(false);
    expect(does({ exact: {} }, {}, { ok: true, raw: true })).toBe(false);
    expect(does({ like: {} }, {}, { ok: true })).toBe(true);
  });

  test("exactly the arguments that it names", () => {
    expect(does({ exact: { a: 1, b: [2] } }, { b: [2], a: 1 })).toBe(true);
    expect(does({ exact: { a: "*" } }, { a: "x" })).toBe(false);
  });

  test.each([
    [{ a: "x*" }, { a: "xy" }, true],
    [{ a: "1" }, { a: 1 }, false],
    [{ a: "*" }, { a: 1 }, false],
    [{ a: "x" }, { a: "x", b: 1 }, false],
    [{ a: 1 }, { a: 1 }, true],
    [{ a: 1 }, { a: 2 }, false],
    [{ a: null }, { a: null }, true],
    [{ a: null }, { a: {} }, false],
    [{ a: {} }, { a: null }, false],
    [{ a: {} }, { a: [] }, false],
    [{ a: {} }, { a: "" }, false],
    [{ a: {} }, { a: {} }, true],
    [{ a: [] }, { a: {} }, false],
    [{ a: [] }, { a: "" }, false],
    [{ a: ["*", "y"] }, { a: ["x", "y"] }, true],
    [{ a: ["*", "y"] }, { a: ["x", "z"] }, false],
    [{ a: ["x"] }, { a: ["x", "y"] }, false],
    [{ a: { b: "*" } }, { a: { b: "x" } }, true],
    [{ a: { b: "*" } }, { a: { b: "x", c: 1 } }, false],
    [{ a: "x" }, { b: "x" }, false],
    [{ a: "x", b: "y" }, { a: "x", b: "z" }, false],
    [{ toString: "**" }, { other: "x" }, false],
  ])("%j like %j: %j", (like, given, expected) => {
    expect(does({ like: like as JsonObject }, given as JsonObject)).toBe(expected);
  });

  test("in an argument with shell code no other command, whoever declares it as such", () => {
    const program = { shellArgs: ["run"] };
    const grant = (args: ArgsPattern): Grant => ({ id: "g", tool: "press", args });
    const asks = (args: JsonObject, tool?: { shellArgs?: string[] }) => ({
      ...asking(args),
      ...(tool === undefined ? {} : { tool }),
    });
    const one = grant({ like: { run: "a *", text: "*" } });
    expect(covers(one, asks({ run: "a b", text: "x; y" }, program))).toBe(true);
    const more = { run: "a b; c", text: "x" };
    expect(covers(one, asks(more))).toBe(true);
    expect(covers(one, asks(more, {}), {})).toBe(true);
    expect(covers(one, asks(more, program))).toBe(false);
    expect(covers(one, asks(more), program)).toBe(false);
    expect(covers(one, asks(more, program), {})).toBe(false);
    expect(grantFor([{ ...one, used: 0 }], asks(more), 5, program)).toBeUndefined();
    // Wherever in it the text stands.
    for (const [like, run] of [
      [["a *"], ["a b; c"]],
      [{ deep: ["a *"] }, { deep: ["a b; c"] }],
    ] as const) {
      const deep = grant({ like: { run: like as never } });
      expect(covers(deep, asks({ run: run as never }))).toBe(true);
      expect(covers(deep, asks({ run: run as never }, program))).toBe(false);
    }
    // A key of that name further in is no argument.
    const inner = grant({ like: { text: { run: "a *" } } });
    expect(covers(inner, asks({ text: { run: "a b; c" } }, program))).toBe(true);
    // What is named whole is named.
    expect(covers(grant({ exact: more }), asks(more, program))).toBe(true);
    expect(covers(grant({ like: more }), asks(more, program))).toBe(true);
    expect(covers(grant({ like: { text: "x" }, others: "any" }), asks(more, program))).toBe(true);
    expect(covers({ id: "g", tool: "press" }, asks(more, program))).toBe(true);
  });

  test("keys that it does not name, if it says so, and only at the top level", () => {
    expect(does({ like: { a: "x" }, others: "any" }, { a: "x", b: 1 })).toBe(true);
    expect(does({ like: { a: "x" }, others: "any" }, { a: "y", b: 1 })).toBe(false);
    expect(does({ like: { a: {} }, others: "any" }, { a: { c: 1 }, b: 1 })).toBe(false);
  });
});

describe("a given grant", () => {
  const given = (change: object): Grant => checkGrant({ id: "g", tool: "press", ...change } as Grant, 0);

  test("is copied as plain data, without additions", () => {
    expect(given({})).toStrictEqual({ id: "g", tool: "press" });
    const args = { like: { a: ["x"], n: 1, no: null } };
    const all = { args, until: 5, uses: 1 };
    const grant = given({ ...all, used: 3 });
    expect(grant).toStrictEqual({ id: "g", tool: "press", ...all });
    args.like.a.push("y");
    expect(grant.args).toStrictEqual({ like: { a: ["x"], n: 1, no: null } });
    expect(given({ args: { exact: {} } }).args).toStrictEqual({ exact: {} });
    expect(given({ args: { like: {}, others: "any" } }).args).toStrictEqual({ like: {}, others: "any" });
  });

  test.each([
    [{ more: true }, /^allow: option more: there is no such option/],
    [{ tool: "" }, /^allow: option tool: a name is needed, not ""$/],
    [{ tool: 1 }, /option tool: a name is needed, not 1/],
    [{ tool: undefined }, /option tool: a name is needed, not undefined/],
    [{ id: undefined }, /option id: a name is needed, not undefined/],
    [{ id: "" }, /option id: a name/],
    [{ id: 1 }, /option id: a name/],
    [{ until: Number.NaN }, /option until: a time in milliseconds since 1970 is needed, not NaN/],
    [{ until: Number.POSITIVE_INFINITY }, /option until: .* not Infinity/],
    [{ uses: 0 }, /option uses: a whole number above 0 is needed, not 0/],
    [{ uses: -1 }, /option uses/],
    [{ uses: 1.5 }, /option uses/],
    [{ args: 5 }, /args must be an object, not 5/],
    [{ args: [] }, /args must be an object, not \[\]/],
    [{ args: {} }, /args must be/],
    [{ args: { exact: 1 } }, /args must be/],
    [{ args: { like: null } }, /args must be/],
    [{ args: { like: [] } }, /args must be/],
    [{ args: { like: {}, others: "some" } }, /args.others is "any" or left out, not "some"/],
    [{ args: { like: { a: "x".repeat(maxGlobLength + 1) } } }, /more than 1000 characters/],
    [{ args: { like: { a: "x", b: [{ c: "x".repeat(maxGlobLength + 1) }] } } }, /more than 1000/],
  ])("is refused by name: %j", (change, said) => {
    expect(() => given(change)).toThrow(expect.objectContaining({ kind: "invalid_request" }));
    expect(() => given(change)).toThrow(said);
  });

  test("is refused if it has expired, because it would let no call run", () => {
    const until = (at: number) => (): Grant =>
      checkGrant({ id: "g", tool: "press", until: at }, 1_800_000_000_000);
    expect(until(1_800_000_000_001)()).toMatchObject({ until: 1_800_000_000_001 });
    expect(until(1_800_000_000_000)).toThrow(
      "allow: until is 1800000000000, and that has passed: it is 1800000000000. Give milliseconds since 1970, e.g. Date.now() + 60_000",
    );
    expect(until(1_800_000_060)).toThrow("Give milliseconds since 1970");
  });

  test("may have a pattern with any number of texts", () => {
    const list = Array.from({ length: 300_000 }, () => "a");
    expect(checkGrant({ id: "g", tool: "t", args: { like: { list } } }, 0).args).toEqual({ like: { list } });
  });

  test("may have a pattern of 1,000 characters, and exact texts of any length", () => {
    expect(given({ args: { like: { a: "x".repeat(maxGlobLength), n: 5_000 } } }).args).toBeDefined();
    expect(given({ args: { exact: { a: "x".repeat(5_000) } } }).args).toBeDefined();
  });
});
