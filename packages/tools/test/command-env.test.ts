import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { commandEnv } from "../src/command/env.ts";
import { folder, put } from "./calling.ts";

/** What git answers in an environment that a command gets. */
const git = (given: Record<string, string>, cwd: string, ...args: string[]): string =>
  execFileSync("git", args, {
    cwd,
    encoding: "utf8",
    env: commandEnv({ PATH: process.env.PATH, GIT_CONFIG_GLOBAL: "/dev/null", ...given }, "mark", {}),
  });

// https://github.com/pre-commit/pre-commit/issues/3245: git refuses everything if one of its settings is missing.
test("git's settings in the environment are handed on whole, but for the secret ones", () => {
  const given = {
    GIT_CONFIG_COUNT: "4",
    GIT_CONFIG_KEY_0: "http.https://git.example/.extraheader",
    GIT_CONFIG_VALUE_0: "AUTHORIZATION: basic s3cret",
    GIT_CONFIG_KEY_1: "safe.directory",
    GIT_CONFIG_VALUE_1: "*",
    GIT_CONFIG_KEY_2: "url.https://user:s3cret@git.example/.insteadOf",
    GIT_CONFIG_VALUE_2: "https://git.example/",
    GIT_CONFIG_KEY_3: "user.name",
    GIT_CONFIG_VALUE_3: "",
  };
  const told = git(given, folder(), "config", "--list");
  expect(told).toContain("safe.directory=*\nuser.name=\n");
  expect(told).not.toContain("s3cret");
  // What is broken already stays out, or nothing works.
  for (const count of ["3", "x", "-1", "99999999"])
    expect(git({ ...given, GIT_CONFIG_COUNT: count, GIT_CONFIG_KEY_1: "" }, folder(), "--version")).toContain(
      "git",
    );
});

// https://github.com/Hmbown/Codewhale/issues/1936
test("git names files as they are called, and not in octal", () => {
  const root = folder();
  git({}, root, "init", "--quiet");
  put(`${root}/\u6587\u6863.txt`, "");
  expect(git({}, root, "status", "--short")).toBe("?? \u6587\u6863.txt\n");
});

test("a value of any length is looked through for secrets in linear time", () => {
  const blob = "a1".repeat(1_000_000);
  expect(commandEnv({ BLOB: blob }, "mark", {})).toHaveProperty("BLOB", blob);
});

test("a password in an address is seen whatever stands before its scheme, and an address without one is handed on", () => {
  const given = {
    MAIN: "postgres://user:s3cret@host/db",
    URLS: "see 1git+ssh://:s3cret@host",
    HOME_PAGE: "https://example.com/a:b@c",
    PROXY: "http://user@host:8080",
  };
  const env = commandEnv(given, "mark", {});
  expect(JSON.stringify(env)).not.toContain("s3cret");
  expect(env).toMatchObject({ HOME_PAGE: given.HOME_PAGE, PROXY: given.PROXY });
});

test("more of what people call their secrets, and a token in the place of an address's user, is not handed on", () => {
  const secret = {
    DBPASS: "s3cret",
    SMTP_PW: "s3cret",
    TF_VAR_pw: "s3cret",
    LOGIN_PASSCODE: "s3cret",
    OTP: "s3cret",
    NEXUS_CREDS: "s3cret",
    INDEX: "https://s3cret0123456789abcdef@example.com/simple",
  };
  const plain = {
    COMPASSION: "1",
    PASSES: "1",
    PWD: "/here",
    PROMPT: "1",
    GOPRIVATE: "git.example/*",
    REMOTE: "ssh://git@example.com/a",
  };
  const env = commandEnv({ ...secret, ...plain }, "mark", {});
  expect(JSON.stringify(env)).not.toContain("s3cret");
  expect(env).toMatchObject(plain);
});
