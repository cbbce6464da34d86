import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { probe } from "../src/command/sandbox.ts";
import { type RunCommandOptions, runCommand } from "../src/index.ts";
import { type Answer, call, folder } from "./calling.ts";

const sandbox = await probe();
const without = "missing" in sandbox ? sandbox.missing : undefined;
const noSandbox = without === undefined ? undefined : `no sandbox here: ${without}`;

const modes: { mode: "off" | "require"; reason: string | undefined }[] = [
  { mode: "off", reason: undefined },
  { mode: "require", reason: noSandbox },
];

function skippedFor(reason: string | undefined): void {
  beforeEach(({ skip }) => {
    if (reason !== undefined) skip(reason);
  });
}

/** Processes whose command line holds a mark, found without the package's own eyes. */
function alive(mark: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
    try {
      return (
        readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(mark) &&
        !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
      );
    } catch {
      return false;
    }
  });
}

let serial = 0;
/** A number of seconds to sleep that no other test sleeps. */
const uniqueSleep = (): string => `${3000 + ++serial}.${process.pid}`;

for (const { mode, reason } of modes)
  describe(`run_command, ${mode === "off" ? "without a sandbox" : "in the sandbox"}`, () => {
    skippedFor(reason);
    const run = (
      root: string,
      command: string,
      options: Partial<RunCommandOptions> = {},
      args: Record<string, string | number> = {},
    ): Promise<Answer> =>
      call(runCommand({ root, sandbox: mode, ...options }), "run_command", { command, ...args });

    test("gives stdout, stderr, exit code, time, and whether it was confined", async () => {
      const root = folder({ "a.txt": "hello\n" });
      const answer = await run(root, "cat a.txt; echo oops >&2; exit 3");
      expect(answer.isError).toBe(false);
      expect(answer.text).toMatch(
        mode === "off"
          ? /^\[stdout\]\nhello\n\[stderr\]\noops\n\[exit code: 3; \d+\.\d\d s; not sandboxed: switched off\]$/
          : /^\[stdout\]\nhello\n\[stderr\]\noops\n\[exit code: 3; \d+\.\d\d s; sandboxed by bubblewrap, without network\]$/,
      );
      expect((await run(root, "true")).text).toMatch(/^\[no output\]\n\[exit code: 0; /);
      expect((await run(root, "no-such-program-at-all")).text).toMatch(/not found\n\[exit code: 127; /);
    });

    test("lets programs open its outputs by their names", async () => {
      const answer = await run(
        folder(),
        "echo one > /dev/stdout; echo two > /dev/stderr; echo three | tee /dev/stderr; echo four > /dev/fd/1",
      );
      expect(answer.text).toMatch(/^\[stdout\]\none\nthree\nfour\n\[stderr\]\ntwo\nthree\n\[exit code: 0; /);
    });

    test("runs in a folder under the root, and can write there", async () => {
      const root = folder({ "sub/x": "" });
      const answer = await run(root, "pwd; echo made > y", {}, { cwd: "sub" });
      expect(answer.text).toContain(join(root, "sub"));
      expect(readFileSync(join(root, "sub", "y"), "utf8")).toBe("made\n");
      expect((await run(root, "pwd", {}, { cwd: "none" })).text).toBe("Error: Directory not found: none");
      expect((await run(root, "pwd", {}, { cwd: "../" })).text).toContain("outside the root");
    });

    test("has no input and no terminal: what waits for a human ends at once (F209)", async () => {
      const root = folder();
      const answer = await run(
        root,
        `read line; echo "read gave $?"; (: < /dev/tty) 2>/dev/null || echo "no tty"; echo "$GIT_EDITOR $CI $PAGER $TERM"`,
      );
      expect(answer.text).toContain("read gave 1\nno tty\ntrue 1 cat dumb\n");
    });

    test("an interactive rebase ends by itself (F209)", async () => {
      const root = folder({ "a.txt": "1\n" });
      const answer = await run(
        root,
        `export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
         git init -q . && git add . && git commit -qm 1 && git commit -q --allow-empty -m 2 && git commit -q --allow-empty -m 3 &&
         git rebase -q -i HEAD~2 && git log --format=%s`,
      );
      expect(answer.text).toContain("[stdout]\n3\n2\n1\n");
    });

    test("ends when the shell ends, though a background child holds its output open (F208)", async () => {
      const root = folder();
      const seconds = uniqueSleep();
      const answer = await run(root, `sleep ${seconds} & (sleep ${seconds} &) ; echo done`);
      expect(answer.text).toContain("[stdout]\ndone\n[exit code: 0;");
      expect(alive(seconds)).toEqual([]);
    });

    test("ends everything it started when its time is up, also what left its group (F206, F207)", async () => {
      const root = folder();
      const seconds = uniqueSleep();
      const answer = await run(
        root,
        `sleep ${seconds} & setsid sleep ${seconds} & (setsid sh -c 'sleep ${seconds} & sleep ${seconds}' &) ; nohup sleep ${seconds} >/dev/null 2>&1 &
         trap '' TERM; echo started; while :; do sleep ${seconds}; done`,
        { graceMs: 200 },
        { timeoutMs: 700 },
      );
      expect(answer.isError).toBe(true);
      expect(answer.text).toContain("[stdout]\nstarted\n");
      expect(answer.text).toContain("timed out after 0.7 s, and everything it started was ended");
      expect(answer.text).not.toContain("could not be ended");
      expect(alive(seconds)).toEqual([]);
    });

    test("ends everything it started when it is aborted, and has no result (F206)", async () => {
      const root = folder();
      const seconds = uniqueSleep();
      const stop = new AbortController();
      const pending = call(
        runCommand({ root, sandbox: mode }),
        "run_command",
        { command: `setsid sleep ${seconds} & sleep ${seconds} & echo started; wait` },
        { signal: stop.signal, update: () => stop.abort(new Error("enough")) },
      );
      await expect(pending).rejects.toThrow("enough");
      expect(alive(seconds)).toEqual([]);
    });

    test("lets a command that hears TERM tidy up", async () => {
      const root = folder();
      const answer = await run(
        root,
        `trap 'echo tidy > tidied; exit 0' TERM; echo ready; while :; do sleep 0.05; done`,
        { graceMs: 5000 },
        { timeoutMs: 600 },
      );
      expect(answer.text).toContain("timed out");
      expect(readFileSync(join(root, "tidied"), "utf8")).toBe("tidy\n");
    });

    test("keeps the beginning and the end of an endless output, in bounded memory (F245)", async () => {
      const root = folder();
      const before = process.memoryUsage().rss;
      const answer = await run(
        root,
        "echo first; yes 'é line'",
        { maxOutputBytes: 3000 },
        { timeoutMs: 1500 },
      );
      expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
      expect(answer.text).toMatch(/^\[stdout\]\nfirst\né line\n/);
      expect(answer.text).toMatch(/\né line\n\[\.\.\. [\d,]+ bytes left out \.\.\.\]\né line\n/);
      expect(answer.text).not.toContain("\ufffd");
      expect(answer.text.length).toBeLessThan(3500);
    });

    test("tells binary output by its size", async () => {
      const root = folder();
      const answer = await run(root, "head -c 200000 /dev/urandom");
      expect(answer.text).toContain("[stdout]\n[binary output, 200,000 bytes, not shown]\n");
    });

    test("parts names that NUL characters part", async () => {
      const { text } = await run(folder(), "printf 'src/first.ts\\0src/second.ts\\0'");
      expect(text).toContain("[stdout]\nsrc/first.ts\u2400src/second.ts\u2400\n");
    });

    test("strips what was meant for a terminal (F246)", async () => {
      const root = folder();
      const answer = await run(
        root,
        String.raw`printf '\033]0;pwn\007\033[1;31mred\033[0m\n10%%\r50%%\r100%%\nok\n'`,
      );
      expect(answer.text).toMatch(/^\[stdout\]\nred\n100%\nok\n\[exit/);
    });

    test("hands no secret on, except one given on purpose", async () => {
      vi.stubEnv("MY_API_KEY", "s3cret-1");
      vi.stubEnv("GITHUB_TOKEN", "s3cret-2");
      vi.stubEnv("DB_PASSWORD", "s3cret-3");
      vi.stubEnv("DATABASE_URL", "postgres://me:s3cret-4@host/db");
      vi.stubEnv("PLAIN_SETTING", "visible");
      const root = folder();
      // /proc is asked too: an environment can be read from a parent.
      const answer = await run(
        root,
        "env; cat /proc/$PPID/environ | tr '\\0' '\\n' | grep -a s3cret || true",
        {
          env: { DEPLOY_TOKEN: "given" },
        },
      );
      if (mode === "require") expect(answer.text).not.toContain("s3cret");
      else expect(answer.text.split("\nSSH_ASKPASS")[0]).not.toContain("MY_API_KEY=");
      expect(answer.text).toContain("PLAIN_SETTING=visible");
      expect(answer.text).toContain("DEPLOY_TOKEN=given");
      vi.unstubAllEnvs();
    });

    test("hands no secret on that is told by the form of its value, or by a short name", async () => {
      const secrets = {
        DB_PASS: "s3cret-1",
        GH_PAT: "s3cret-2",
        STORAGE_CONNECTION_STRING: "s3cret-3",
        APP_SETTING: "AccountName=me;AccountKey=s3cret-4",
        UPSTREAM: `https://ghp_${"s3cret".repeat(6)}@example.com/x`,
        PLAIN_PASSES: "visible",
        COMPAT: "visible",
      };
      for (const [name, value] of Object.entries(secrets)) vi.stubEnv(name, value);
      const { text } = await run(folder(), "env");
      expect(text).not.toContain("s3cret");
      expect(text).toContain("PLAIN_PASSES=visible");
      expect(text).toContain("COMPAT=visible");
      vi.unstubAllEnvs();
    });

    test("hands on nothing of the git hook or the debugger that started this process", async () => {
      vi.stubEnv("GIT_DIR", "/elsewhere/.git");
      vi.stubEnv("GIT_INDEX_FILE", "/elsewhere/.git/index");
      vi.stubEnv("NODE_OPTIONS", "--max-old-space-size=512 --require /elsewhere/boot.js");
      const root = folder();
      execFileSync("git", ["init", "--quiet"], { cwd: root, env: { PATH: process.env.PATH } });
      const { text } = await run(root, "git rev-parse --git-dir; echo $GIT_INDEX_FILE; node -p 6*7");
      expect(text).toContain("[stdout]\n.git\n\n42\n");
      vi.stubEnv("NODE_OPTIONS", "--max-old-space-size=512");
      expect((await run(root, "echo $NODE_OPTIONS")).text).toContain("--max-old-space-size=512");
      vi.unstubAllEnvs();
    });

    test("tells how far it is while it runs", async () => {
      const root = folder();
      const heard: string[] = [];
      await call(
        runCommand({ root, sandbox: mode }),
        "run_command",
        { command: "echo one; sleep 0.6; echo two; sleep 0.6" },
        { update: (line) => heard.push(line) },
      );
      expect(heard).toEqual(["one", "two"]);
    });

    test("tells how far it is in whole characters", async () => {
      const heard: string[] = [];
      const command = `echo ${"x".repeat(199)}\u{1f600}; sleep 0.6`;
      await call(
        runCommand({ root: folder(), sandbox: mode }),
        "run_command",
        { command },
        {
          update: (line) => heard.push(line),
        },
      );
      expect(heard).toEqual(["x".repeat(199)]);
    });

    test("refuses a command it cannot hand over", async () => {
      const root = folder();
      expect((await run(root, " \n")).text).toContain("the command is blank; say what to run");
      expect((await run(root, "echo a\0b")).text).toContain("NUL");
      expect((await run(root, `: ${"x".repeat(100_000)}`)).text).toContain("longer than 100,000 bytes");
      expect((await run(root, "")).isError).toBe(true);
      expect((await run(root, "true", {}, { timeoutMs: 99_999_999 })).isError).toBe(true);
    });

    test("says by which signal a command died", async () => {
      const answer = await run(folder(), "kill -9 $$");
      // bwrap turns a signal into the exit code a shell would give.
      expect(answer.text).toMatch(mode === "off" ? /\[ended by SIGKILL after/ : /\[exit code: 137;/);
    });

    test("leaves no listener on the signal (F213)", async () => {
      const { signal } = new AbortController();
      const added = vi.spyOn(signal, "addEventListener");
      const removed = vi.spyOn(signal, "removeEventListener");
      for (let n = 0; n < 5; n++)
        await call(
          runCommand({ root: folder(), sandbox: mode }),
          "run_command",
          { command: ":" },
          { signal },
        );
      expect(added.mock.calls.length).toBeGreaterThan(0);
      expect(removed.mock.calls.length).toBe(added.mock.calls.length);
    });
  });

describe("the sandbox", () => {
  skippedFor(noSandbox);
  const run = (root: string, command: string, options: Partial<RunCommandOptions> = {}): Promise<Answer> =>
    call(runCommand({ root, sandbox: "require", ...options }), "run_command", { command });

  test("shows nothing but the root and the system, and writes nowhere else", async () => {
    const base = folder({ "app/in.txt": "in\n", "out/secret.txt": "SECRET\n" });
    const root = join(base, "app");
    symlinkSync("../out/secret.txt", join(root, "link"));
    const answer = await run(
      root,
      `cat in.txt; cat link ../out/secret.txt; ls -A ..; touch /usr/x ../y /etc/z; ls -A ~ /root /home; cat /etc/shadow; id -u; echo t > /tmp/t && cat /tmp/t`,
    );
    expect(answer.text).toContain("[stdout]\nin\napp\n");
    expect(answer.text).not.toContain("SECRET");
    expect(answer.text).not.toMatch(/^root:/m);
    expect(answer.text).toContain("Read-only file system");
    expect(answer.text).toContain("\nt\n");
    expect(existsSync(join(base, "y"))).toBe(false);
    if (process.getuid?.() === 0) expect(answer.text).toContain("\n1000\n");
  });

  test("says of what is written elsewhere that it cannot be, and does not lose it in silence", async () => {
    for (const root of [folder({ "app/in.txt": "" }), realpathSync("/tmp")]) {
      const answer = await run(root, "for to in /etc/z /var/z /z; do touch $to; echo $?; done");
      expect(answer.text).toContain("[stdout]\n1\n1\n1\n");
      const scratch =
        "cd; for to in ~/z /tmp/z /var/tmp/z /dev/shm/z /dev/null; do touch $to; echo $?; done; rm -f /tmp/z";
      expect((await run(root, scratch)).text).toContain("[stdout]\n0\n0\n0\n0\n0\n");
    }
  });

  test("sees no private keys of the machine, which its user may be allowed to read", async ({ skip }) => {
    if (!existsSync("/etc/ssl/private")) skip("this system has no such folder");
    const answer = await run(
      folder(),
      "ls -A /etc/ssl/private; grep -o ' /etc/ssl/private ro' /proc/self/mountinfo; ls /etc/ssl",
    );
    expect(answer.text).toContain("[stdout]\n /etc/ssl/private ro\ncerts\n");
  });

  test("has no network unless it is allowed", async () => {
    const server = createServer((socket) => socket.end("reached"));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as { port: number };
    const command = `node -e 'require("node:net").connect(${port}, "127.0.0.1").on("error", (e) => console.log(e.code)).pipe(process.stdout)'`;
    try {
      expect((await run(folder(), command)).text).toContain("ECONNREFUSED");
      const allowed = await run(folder(), command, { network: true });
      expect(allowed.text).toContain("reached");
      expect(allowed.text).toContain("sandboxed by bubblewrap, with network");
    } finally {
      server.close();
    }
  });

  test("sees no processes but its own, and cannot make name spaces of its own", async () => {
    const answer = await run(
      folder(),
      `ls /proc | grep -c '^[0-9]'; unshare -U true; grep CapEff /proc/self/status`,
    );
    expect(Number(/\[stdout\]\n(\d+)/.exec(answer.text)?.[1])).toBeLessThan(8);
    expect(answer.text).toContain("unshare failed");
    expect(answer.text).toContain("CapEff:\t0000000000000000");
  });

  test("keeps hooks and settings of git as they are, which act outside of it", async () => {
    const root = folder({ ".git/config": "[core]\n" });
    mkdirSync(join(root, ".git", "hooks"));
    const command = "echo x > .git/hooks/pre-commit; echo y >> .git/config; echo z > .git/free";
    await run(root, command);
    expect(readdirSync(join(root, ".git", "hooks"))).toEqual([]);
    expect(readFileSync(join(root, ".git", "config"), "utf8")).toBe("[core]\n");
    expect(existsSync(join(root, ".git", "free"))).toBe(true);
    await run(root, command, { protectGit: false });
    expect(readdirSync(join(root, ".git", "hooks"))).toEqual(["pre-commit"]);
  });

  test("keeps hooks and settings of git where they are: nobody puts others in their place", async () => {
    const root = folder({
      ".git/config": "[core]\n",
      ".git/HEAD": "ref: refs/heads/main\n",
      ".git/hooks/free": "",
    });
    await run(
      root,
      "mv .git away; mkdir .git; mkdir -p .git/hooks; echo evil > .git/config; echo evil > .git/hooks/pre-commit",
    );
    expect(readFileSync(join(root, ".git", "config"), "utf8")).toBe("[core]\n");
    expect(readdirSync(join(root, ".git", "hooks"))).toEqual(["free"]);
    expect(existsSync(join(root, "away"))).toBe(false);
    const linked = folder({ ".git": "gitdir: /elsewhere\n" });
    await run(linked, "rm -f .git; mv .git away; echo gitdir: evil > .git");
    expect(readFileSync(join(linked, ".git"), "utf8")).toBe("gitdir: /elsewhere\n");
  });

  test("takes away what leads git to other hooks and settings, and says so", async () => {
    const root = folder({
      ".git/config": "[core]\n",
      ".git/HEAD": "ref: refs/heads/main\n",
      "evil/config": "",
    });
    const { text } = await run(
      root,
      "echo ../evil > .git/commondir; mkdir .git/hooks; echo evil > .git/hooks/pre-commit",
    );
    expect(readdirSync(join(root, ".git")).sort()).toEqual(["HEAD", "config"]);
    expect(text).toContain(
      "[removed, because git would act on it outside the sandbox: .git/hooks, .git/commondir]",
    );
    const parent = folder({
      ".git/config": "",
      ".git/HEAD": "",
      ".git/modules/libs/one/HEAD": "",
      ".git/modules/libs/one/config": "[core]\n",
    });
    await run(parent, "echo evil >> .git/modules/libs/one/config");
    expect(readFileSync(join(parent, ".git/modules/libs/one/config"), "utf8")).toBe("[core]\n");
  });

  test("keeps a submodule's repository where it is, and takes nothing away that lies elsewhere", async () => {
    const files = {
      ".git/config": "",
      ".git/HEAD": "",
      ".git/modules/libs/one/HEAD": "",
      ".git/modules/libs/one/config": "[core]\n",
      ".git/modules/libs/one/hooks/free": "",
    };
    const root = folder(files);
    const one = join(root, ".git/modules/libs/one");
    for (const moved of ["modules", "modules/libs", "modules/libs/one"]) {
      await run(
        root,
        `mv .git/${moved} .git/away; mkdir -p .git/modules/libs/one/hooks; echo evil > .git/modules/libs/one/hooks/pre-commit; echo evil > .git/modules/libs/one/config`,
      );
      expect(readdirSync(join(one, "hooks"))).toEqual(["free"]);
      expect(readFileSync(join(one, "config"), "utf8")).toBe("[core]\n");
    }
    const outside = folder({ "commondir/precious": "" });
    await run(
      root,
      `mv .git/modules .git/away; mkdir -p .git/modules/libs; ln -s ${outside} .git/modules/libs/one`,
    );
    expect(existsSync(join(outside, "commondir/precious"))).toBe(true);
  });

  test("keeps what a linked worktree takes its settings from", async () => {
    const root = folder({
      ".git/config": "",
      ".git/HEAD": "",
      ".git/worktrees/one/HEAD": "",
      ".git/worktrees/one/commondir": "../..\n",
    });
    const one = join(root, ".git/worktrees/one");
    const { text } = await run(
      root,
      "mv .git/worktrees .git/away; mkdir -p .git/worktrees/one; echo evil > .git/worktrees/one/commondir; echo evil > .git/worktrees/one/config.worktree",
    );
    expect(readFileSync(join(one, "commondir"), "utf8")).toBe("../..\n");
    expect(readdirSync(one).sort()).toEqual(["HEAD", "commondir"]);
    expect(text).toContain("outside the sandbox: .git/worktrees/one/config.worktree]");
    const git = "git -c user.name=a -c user.email=a@b";
    const real = folder({ "a.txt": "one\n" });
    execFileSync("git", ["init", "--quiet"], { cwd: real });
    const made = await run(
      real,
      `${git} add . && ${git} commit --quiet -m first && ${git} worktree add --quiet side && cd side && git log --format=%s`,
    );
    expect(made.text).toContain("[stdout]\nfirst\n");
    const later = await run(
      real,
      `echo two > side/b.txt; cd side && ${git} add . && ${git} commit --quiet -m second && git log --format=%s`,
    );
    expect(later.text).toContain("[stdout]\nsecond\nfirst\n");
  });

  test("takes away what was made read-only as well, with all that leads there", () => {
    const program = fileURLToPath(new URL("programs/read-only-hooks.ts", import.meta.url));
    const said = execFileSync(process.execPath, ["--conditions=rondo-source", program], { encoding: "utf8" });
    expect(JSON.parse(said)).toEqual({
      taken: [".git/hooks", ".git/modules/one/hooks"],
      left: [],
      there: [false, false],
    });
  });

  test("lets git work in the repository all the same", async () => {
    const root = folder({ "a.txt": "one\n" });
    execFileSync("git", ["init", "--quiet"], { cwd: root });
    const git = "git -c user.name=a -c user.email=a@b";
    const { text } = await run(
      root,
      `${git} add . && ${git} commit --quiet -m first && ${git} checkout --quiet -b other && git log --format=%s`,
    );
    expect(text).toContain("[stdout]\nfirst\n");
  });

  test("has a home that is empty, also where the root is what holds the usual one", async () => {
    for (const root of [folder(), realpathSync("/tmp")])
      expect((await run(root, "cd && ls -A && echo here")).text).toContain("[stdout]\nhere\n");
  });

  test("has the running Node's npm, wherever that is installed", async () => {
    const prefix = folder({
      "lib/node_modules/npm/bin/npm-cli": "#!/bin/sh\necho from npm\n",
      "secret.txt": "",
    });
    mkdirSync(join(prefix, "bin"));
    chmodSync(join(prefix, "lib/node_modules/npm/bin/npm-cli"), 0o755);
    symlinkSync("../lib/node_modules/npm/bin/npm-cli", join(prefix, "bin", "own-npm"));
    const { execPath } = process;
    process.execPath = join(prefix, "bin", "node");
    try {
      const { text } = await run(folder(), `own-npm; ls ${prefix}`);
      expect(text).toContain("[stdout]\nfrom npm\nbin\nlib\n");
    } finally {
      process.execPath = execPath;
    }
  });

  test("lets more paths be read when they are named", async () => {
    const base = folder({ "app/x": "", "data/d.txt": "data\n" });
    const root = join(base, "app");
    const command = `cat ${join(base, "data", "d.txt")}; echo x > ${join(base, "data", "new")}`;
    expect((await run(root, command)).text).not.toContain("data\n[");
    const readable = await run(root, command, { readable: [join(base, "data")] });
    expect(readable.text).toContain("[stdout]\ndata\n");
    expect(existsSync(join(base, "data", "new"))).toBe(false);
  });
});

describe("where there is no bubblewrap", () => {
  const path = "/nowhere";
  afterEach(() => vi.unstubAllEnvs());

  test("a command runs and its result says that it was not confined", async () => {
    const answer = await call(runCommand({ root: folder(), env: { PATH: path } }), "run_command", {
      command: "echo hi",
    });
    expect(answer.text).toMatch(
      /^\[stdout\]\nhi\n\[exit code: 0; .* s; not sandboxed: bubblewrap not found\]$/,
    );
  });

  test("a command is refused when a sandbox is required", async () => {
    const root = folder();
    const answer = await call(runCommand({ root, sandbox: "require", env: { PATH: path } }), "run_command", {
      command: "touch ran",
    });
    expect(answer).toMatchObject({
      isError: true,
      text: "Error: the command was not run: a sandbox is required and there is none (bubblewrap not found)",
    });
    expect(readdirSync(root)).toEqual([]);
  });

  test("a root that is the whole file system is no sandbox, and is not called one", async () => {
    const run = (sandbox: "auto" | "require"): Promise<Answer> =>
      call(runCommand({ root: "/", sandbox }), "run_command", { command: "true" });
    expect((await run("auto")).text).toContain("not sandboxed: the root is the whole file system]");
    expect((await run("require")).isError).toBe(true);
  });

  test("without a PATH it is looked for where the system's programs are", async ({ skip }) => {
    if (!existsSync("/usr/bin/bwrap") || noSandbox !== undefined) skip("there is none there that works");
    vi.stubEnv("PATH", undefined);
    expect(await probe()).toMatchObject({ program: "/usr/bin/bwrap" });
  });

  test("a bubblewrap that does not work counts as none, with its own words", async () => {
    const bin = folder();
    const { chmodSync, writeFileSync } = await import("node:fs");
    writeFileSync(
      join(bin, "bwrap"),
      "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n",
    );
    chmodSync(join(bin, "bwrap"), 0o755);
    expect(await probe(bin)).toEqual({
      missing: "bubblewrap does not work here: bwrap: No permissions to create new namespace",
    });
  });
});

test("a command asks first, and touches everything", () => {
  const tool = runCommand({ root: folder() });
  expect([tool.permission, tool.effect, tool.keys]).toEqual(["ask", "write", undefined]);
  expect(tool.shellArgs).toEqual(["command"]);
  expect(runCommand({ root: folder(), permission: "allow" }).permission).toBe("allow");
});

test("without a sandbox, what a command left running is named", async () => {
  const seconds = uniqueSleep();
  const answer = await call(runCommand({ root: folder(), sandbox: "off" }), "run_command", {
    // Only once it is itself: until then it still bears the shell's name.
    command: `setsid sleep ${seconds} & until grep -qs sleep /proc/$!/comm; do :; done; echo done`,
  });
  expect(answer.text).toMatch(
    /\[it had left 1 process running, now ended: sleep \(\d+\); a server has to be started and used in one command\]$/,
  );
  expect(() => execFileSync("sh", ["-c", `ps -ef | grep -F 'sleep ${seconds}' | grep -v grep`])).toThrow();
});

describe("a process that ends before its command does", () => {
  const ways = modes.flatMap((one) => ["leaves", "breaks"].map((way) => ({ ...one, way })));
  test.for(ways)("leaves nothing of it behind ($mode, $way)", async ({ mode, reason, way }, { skip }) => {
    if (reason !== undefined) skip(reason);
    if (process.platform !== "linux") skip("there is no /proc");
    const program = fileURLToPath(new URL("programs/ends-within.ts", import.meta.url));
    const seconds = uniqueSleep();
    const args = ["--conditions=rondo-source", program, folder(), mode, seconds, way];
    const { stdout, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect([stdout, status]).toEqual(["it runs\n", way === "leaves" ? 3 : 1]);
    await expect.poll(() => alive(seconds), { timeout: 10_000 }).toEqual([]);
  });
});

describe("what whoever started this process left open", () => {
  test.for(modes)("is not handed on to a command ($mode)", ({ mode, reason }, { skip }) => {
    if (reason !== undefined) skip(reason);
    if (process.platform !== "linux") skip("there is no /proc");
    const left = folder({ "secret.txt": "secret" });
    const program = fileURLToPath(new URL("programs/left-open.ts", import.meta.url));
    const node = [process.execPath, "--conditions=rondo-source", program, folder(), mode];
    const open = [openSync(left, "r"), openSync(join(left, "secret.txt"), "r+")];
    const numbers = Array.from({ length: 40 }, (_, at) => (at < 38 ? "ignore" : (open[at - 38] ?? "ignore")));
    const stdio = ["ignore", "pipe", "inherit", ...numbers] as const;
    const { stdout } = spawnSync(node[0] ?? "", node.slice(1), { encoding: "utf8", stdio: [...stdio] });
    for (const file of open) closeSync(file);
    expect(stdout).toContain("exit code: ");
    expect(stdout).toContain("/dev/null");
    expect(stdout).not.toContain(left);
  });
});

describe("where /proc does not tell of the processes that there are", () => {
  skippedFor(noSandbox);

  test.for([
    { why: "because there is none", proc: ["--tmpfs", "/proc"] },
    { why: "because it is another name space's", proc: ["--unshare-pid", "--bind", "/proc", "/proc"] },
  ])("files are made and commands are ended all the same, $why", ({ proc }) => {
    const root = folder();
    const seconds = uniqueSleep();
    const program = fileURLToPath(new URL("programs/odd-proc.ts", import.meta.url));
    const node = [process.execPath, "--conditions=rondo-source", program, root, seconds];
    const walls = ["--unshare-user", "--bind", "/", "/", "--dev", "/dev", ...proc, "--"];
    const said = execFileSync("bwrap", [...walls, ...node], { encoding: "utf8", timeout: 60_000 });
    expect(JSON.parse(said)).toEqual([
      "Created new/one.txt (1 line, 4 bytes; made 1 folder)",
      "one\n[1 line, 4 bytes, the whole file]",
      expect.stringMatching(/^\[stdout\]\nbegun\n\[timed out after 0\.3 s/),
      expect.stringMatching(/^\[stdout\]\ndone\n\[exit code: 0;/),
    ]);
    expect(alive(seconds)).toEqual([]);
  });
});

describe("where no more files can be opened", () => {
  /** What came of a command in a process of its own: with any number of files, with none, with two, with many again. */
  function outcomes(sandbox: "off" | "auto"): string[] {
    const program = fileURLToPath(new URL("programs/few-files.ts", import.meta.url));
    const node = [process.execPath, "--conditions=rondo-source", program, folder(), sandbox];
    const said = execFileSync("sh", ["-c", 'ulimit -n 128; exec "$@"', "sh", ...node], { encoding: "utf8" });
    return JSON.parse(said) as string[];
  }

  test("a command is refused with the reason, and the process stays", () => {
    expect(outcomes("off")).toEqual([
      expect.stringContaining("hi\n"),
      "Error: Too many files are open: .",
      "Error: the command could not be started (EMFILE)",
      expect.stringContaining("hi\n"),
    ]);
  });

  test("a sandbox that cannot be tried is not taken for none", ({ skip }) => {
    if (noSandbox !== undefined) skip(noSandbox);
    expect(outcomes("auto")).toEqual([
      expect.stringContaining("sandboxed by bubblewrap"),
      "Error: Too many files are open: .",
      "Error: the command was not run: whether bubblewrap works could not be found out (EMFILE); try again",
      expect.stringContaining("sandboxed by bubblewrap"),
    ]);
  });
});

test("a command may be given more time than a timer of Node's knows, and the least of output kept", async () => {
  const root = folder();
  const month = 2 ** 32;
  const tool = runCommand({ root, sandbox: "off", timeoutMs: month, maxTimeoutMs: month, maxOutputBytes: 1 });
  const answer = await call(tool, "run_command", { command: "echo hi" });
  expect(answer.text).toMatch(/\[exit code: 0;/);
});
