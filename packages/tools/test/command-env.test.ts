import { expect, test } from "vitest";
import { commandEnv } from "../src/command/env.ts";

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
    REMOTE: "ssh://git@example.com/a",
  };
  const env = commandEnv({ ...secret, ...plain }, "mark", {});
  expect(JSON.stringify(env)).not.toContain("s3cret");
  expect(env).toMatchObject(plain);
});
