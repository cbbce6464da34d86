import { realpathSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { outlineOf, unquoted } from "../src/command/shell-outline.ts";
import { classicTools, runCommand } from "../src/index.ts";
import { call, folder } from "./calling.ts";

const told = async (command: string, files: Record<string, string> = {}): Promise<string> => {
  const root = folder({ "sub/a.txt": "one\n", ...files });
  return (await call(runCommand({ root, sandbox: "off" }), "run_command", { command })).text;
};

describe("the outline of a command", () => {
  test.each([
    ["npm test", "npm", false],
    ["npm test 2>&1 | tail -5", "tail", true],
    ["A=1 /usr/bin/make -j2 | tee out.txt ", "tee", true],
    ["a | b && c", "c", false],
    ["a || b", "b", false],
    ["a; b | c;", "c", true],
    ["a | b\n# a comment | with a pipe\n", "b", true],
    ["echo 'a | b'", "echo", false],
    ['echo "a \\" | b" | wc -l', "wc", true],
    ["echo `a | b`", "echo", false],
    ["echo $(a | b)", "echo", false],
    ["(a | b)", undefined, false],
    ["a | \\\n  sort -u", "sort", true],
    ["a >| out.txt", "a", false],
    ["a |& b", "b", false],
    ["a | ! grep x", "grep", true],
    ["for f in *; do a | b; done", "done", false],
    ["while :; do a; done | sort", "sort", true],
    ["cd 'a b'", "cd", false],
    ["a | 'b'", undefined, true],
  ])("%j", (command, last, isPiped) => {
    expect(outlineOf(command)).toMatchObject({ last, isPiped });
  });

  test.each(["cat <<EOF | x\na | b\nEOF", "", "  # nothing", "sleep 9 &", "x".repeat(30_000)])(
    "%#: none",
    (command) => {
      expect(outlineOf(command)).toBeUndefined();
    },
  );

  test.each([
    ["mkdir -p a/{b,c}", ["{a,b}"]],
    ["touch f{1..9}", ["{a,b}"]],
    ["make &> log; cat log", ["&>"]],
    ["printf $'a\\n'", ["$'…'"]],
    ["echo -e 'a\\n' > f; if x; then echo -ne y; fi", ["echo -e"]],
    [
      "awk '{print $1,$2}' f; find . -exec ls {} +; echo \x24{x%,}; f() { a; b; }; echo a 2>&1; git show HEAD@{1}",
      [],
    ],
    ["bash -c 'ls {a,b} &> x'", []],
    ['grep -e x,y; echo -n x; echo "{a,b}"', []],
  ])("what only bash reads so: %j", (command, misread) => {
    expect(outlineOf(command)?.misread).toEqual(misread);
  });

  test("is seen in no time", () => {
    const started = performance.now();
    for (const char of ["|", "(", "{", "'", '"', "\\", "`", "# ", "a=", "{a", "! ", "echo -", "<<<", " "])
      outlineOf(char.repeat(19_000 / char.length));
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

// https://github.com/langchain-ai/deepagents/issues/5955
test("an exit code is said to be that of the last command in a pipe", async () => {
  expect(await told("false | cat")).toMatch(/\[exit code: 0 \(that of cat, the last in the pipe\); \d/);
  expect(await told("echo a | grep b")).toMatch(/\[exit code: 1 \(that of grep, the last in the pipe\); \d/);
  expect(await told("false || true")).toMatch(/\[exit code: 0; \d/);
});

// https://github.com/kirodotdev/Kiro/issues/6273
test("a command that changes its shell alone is told that the shell is gone", async () => {
  const note =
    "[each command has a shell of its own: folder and variables set here are gone; give cwd, or write both in one command]";
  for (const command of ["cd sub", "true && export A=1", ". ./env.sh"])
    expect(await told(command, { "env.sh": "A=1\n" })).toContain(note);
  for (const command of ["cd sub && ls", "cd nowhere", "(cd sub)"])
    expect(await told(command)).not.toContain(note);
});

const shell = realpathSync("/bin/sh");

// https://github.com/SWE-agent/mini-swe-agent/issues/829, https://github.com/ahwurm/localharness/issues/79
describe.skipIf(!/dash$/.test(shell))("bash's syntax under another shell", () => {
  test.each([
    "diff <(echo a) <(echo b)",
    "[[ -f a ]]",
    "set -o pipefail; true",
    "x=abc; echo \x24{x//b/c}",
    "source a.sh",
  ])("that fails: %s", async (command) => {
    expect(await told(command)).toContain(
      "[the shell is /bin/sh: if this is meant for bash, run it with bash -c]",
    );
  });

  test("that means something else", async () => {
    expect(await told("mkdir -p x/{a,b}; echo hi &> out.txt")).toContain(
      "[/bin/sh does not read {a,b}, &> as bash does: if that was meant, use bash -c]",
    );
    for (const command of ["bash -c 'echo {a,b}'", "sh -c 'exit 2'", "echo 'Syntax error: x' >&2"])
      expect(await told(command)).not.toContain("bash -c]");
  });
});

// https://github.com/cline/cline/issues/11266, https://github.com/cline/cline/issues/2477
test("a command in a code fence or escaped as HTML is not run", async () => {
  const fence =
    "Error: the command is in a code fence, which a shell would run; it was not run. Give it without the ```";
  expect(await told("```bash\nls\n```")).toBe(fence);
  for (const [command, entity] of [
    ["ls &amp;&amp; ls", "&amp;"],
    ["ls 2&gt;/dev/null", "&gt;"],
    ["echo &quot;a&quot;", "&quot;"],
  ] as const)
    expect(await told(command)).toBe(
      `Error: the command is escaped as HTML (${entity}), which a shell reads otherwise; it was not run. Give the characters themselves`,
    );
  for (const command of [
    "echo 'a &amp; b'",
    'echo "&lt;p&gt;"',
    "cat <<EOF\n&lt;p&gt;\nEOF",
    "echo a # &amp;",
    "echo \\&amp\\;",
    "true & amp=1",
  ])
    expect(await told(command)).toContain("exit code: 0");
  const classic = await call(classicTools(folder()), "execute_command", { command: "ls &amp;&amp; ls" });
  expect(classic.text).toContain("escaped as HTML");
  const started = performance.now();
  for (const piece of ["&", "'", '"', "\\", "# ", "`", "<"])
    outlineOf(piece) ?? unquoted(piece.repeat(90_000));
  expect(performance.now() - started).toBeLessThan(1_000);
});

// https://github.com/Kilo-Org/cloud/issues/685
test("a command whose time is up is told how a server is used", async () => {
  const root = folder();
  const { text } = await call(runCommand({ root, sandbox: "off" }), "run_command", {
    command: "sleep 30",
    timeoutMs: 100,
  });
  expect(text).toMatch(
    /^\[no output\]\n\[timed out after 0\.1 s, .*\]\n\[if it was at work, give it more time with timeoutMs; a server .*\]$/,
  );
});

test("a server that was left running is told how one is used", async () => {
  expect(await told("sleep 30 & echo started")).toContain(
    "; a server has to be started and used in one command]",
  );
});

// https://github.com/cooneycw/claude-power-pack/issues/864
test("a command that kills its own shell by a pattern is told so", async () => {
  const name = `no-such-${process.pid}`;
  const killed = await told(`pkill -f ${name}`);
  expect(killed).toContain("ended by SIGTERM");
  expect(killed).toContain(
    "[its pattern may have matched the shell that ran it: [n]ame matches name, but not itself]",
  );
  expect(await told(`pkill -f '[n]o-such-${process.pid}'; true`)).toContain("exit code: 0");
});

// https://github.com/Kilo-Org/kilocode/pull/14009
test("output in an older encoding is told from binary output", async () => {
  const said = await told(
    "printf '\\326\\320\\316\\304\\262\\342\\312\\324'; printf '\\0\\1\\377\\376\\375\\374\\373' >&2",
  );
  expect(said).toContain(
    "[stdout]\n[output in another encoding than UTF-8, 8 bytes, not shown: a filter such as iconv -f GBK -t UTF-8 converts it]\n",
  );
  expect(said).toContain("[stderr]\n[binary output, 7 bytes, not shown]");
});
