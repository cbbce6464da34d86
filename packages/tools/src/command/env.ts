// The room of a command's environment: ours without secrets, and set up for unattended use.

import { textRedaction } from "@rondo/core";
import { markName } from "./processes.ts";

const secret =
  /key|token|secret|pass(?:w|phrase|code|$)|pwd$|credential|auth|cookie|session|private|signature|webhook|dsn|bearer|conn(?:ection)?_?str|(?:^|_)(?:pass|pat|pw|otp|creds?|jwt)(?:_|$)|^(ld|dyld)_/i;
/** Harmless names that the pattern above matches by chance. */
const harmless: ReadonlySet<string> = new Set(["PWD", "OLDPWD", "LD_LIBRARY_PATH"]);
/**
 * A password in a URL (`postgres://user:password@host`), a token as a user name (`https://token@host`), or one in a connection string
 * (`AccountKey=…;`). Only the end of the scheme is matched: searching for its beginning at each place of a long value is quadratic.
 */
const secretValue =
  /[a-z0-9+.-]:\/\/(?:[^/\s:@]*:[^/\s@]+|[^/\s:@]{20,})@|(?:^|;)\s*(?:account ?key|shared ?access ?(?:key|signature)|password|pwd)=[^;\s]/i;
/** A value in a known secret format of a provider, whatever the variable's name. */
const inKnownForm = (value: string): boolean => textRedaction({ names: [] })(value) !== value;

/** Set when a git hook started us: every git command would work in the hook's repository, whatever its folder. */
const ofGitHooks =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX|GRAFT_FILE|SHALLOW_FILE|CONFIG_PARAMETERS|INTERNAL_SUPER_PREFIX)$/;
/** Options for this Node process alone: preloaded files or a debugger's port, which may be missing, or in use, for another one. */
const ofThisNode = /(?:^|\s)(?:-r|--(?:require|import|loader|experimental-loader|inspect[a-z-]*))(?:[\s=]|$)/;

/** No prompts, no pagers, no editors. */
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

/** The environment of one command. `own` overrides everything but the mark. */
export function commandEnv(
  ours: Readonly<Record<string, string | undefined>>,
  mark: string,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(ours)) {
    if (value === undefined || secretValue.test(value) || inKnownForm(value)) continue;
    if (secret.test(name) && !harmless.has(name)) continue;
    if (ofGitHooks.test(name) || (name === "NODE_OPTIONS" && ofThisNode.test(value))) continue;
    env[name] = value;
  }
  return { ...env, ...unattended, ...own, [markName]: mark };
}
