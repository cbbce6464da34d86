// The room of a command's environment: ours, without what is secret, set up for nobody sitting there.

import { markName } from "./processes.ts";

const secret =
  /key|token|secret|passw|passphrase|pwd$|credential|auth|cookie|session|private|signature|webhook|dsn|^(ld|dyld)_/i;
/** Names that the pattern above meets by chance. */
const harmless: ReadonlySet<string> = new Set(["PWD", "OLDPWD", "LD_LIBRARY_PATH"]);
/** A password in an address: `postgres://user:password@host`. */
const secretValue = /[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:[^/\s@]+@/i;

/** Nothing asks, nothing pages, nothing opens an editor. */
const unattended: Record<string, string> = {
  CI: "1",
  TERM: "dumb",
  PAGER: "cat",
  MANPAGER: "cat",
  GIT_PAGER: "cat",
  EDITOR: "true",
  VISUAL: "true",
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "true",
  SSH_ASKPASS: "true",
  DEBIAN_FRONTEND: "noninteractive",
  PYTHONUNBUFFERED: "1",
};

/** The environment of one command. `own` wins over everything but the mark. */
export function commandEnv(
  ours: Readonly<Record<string, string | undefined>>,
  mark: string,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(ours)) {
    if (value === undefined || secretValue.test(value)) continue;
    if (secret.test(name) && !harmless.has(name)) continue;
    env[name] = value;
  }
  return { ...env, ...unattended, ...own, [markName]: mark };
}
