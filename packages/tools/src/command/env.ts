// The room of a command's environment: ours, without what is secret, set up for nobody sitting there.

import { textRedaction } from "@rondo/core";
import { markName } from "./processes.ts";

const secret =
  /key|token|secret|pass(?:w|phrase|code|$)|pwd$|credential|auth|cookie|session|private|signature|webhook|dsn|bearer|conn(?:ection)?_?str|(?:^|_)(?:pass|pat|pw|otp|creds?|jwt)(?:_|$)|^(ld|dyld)_/i;
/** Names that the pattern above meets by chance. */
const harmless: ReadonlySet<string> = new Set(["PWD", "OLDPWD", "LD_LIBRARY_PATH"]);
/**
 * A password in an address (`postgres://user:password@host`), a user too long for a name (`https://token@host`), or among the words of a connection (`AccountKey=…;`). Of the
 * scheme only its end is looked at: to look for its beginning at each place of a long value would take the square of its length.
 */
const secretValue =
  /[a-z0-9+.-]:\/\/(?:[^/\s:@]*:[^/\s@]+|[^/\s:@]{20,})@|(?:^|;)\s*(?:account ?key|shared ?access ?(?:key|signature)|password|pwd)=[^;\s]/i;
/** Whatever it is called, a value in a form that providers give their secrets. */
const inKnownForm = (value: string): boolean => textRedaction({ names: [] })(value) !== value;

/** A git hook that started us would have every git command work in its repository, whatever folder it is run in. */
const ofGitHooks =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX|GRAFT_FILE|SHALLOW_FILE|CONFIG_PARAMETERS|INTERNAL_SUPER_PREFIX)$/;
/** Files and ports that this process of Node's was started with, a debugger's say: not there, or taken, for another one. */
const ofThisNode = /(?:^|\s)(?:-r|--(?:require|import|loader|experimental-loader|inspect[a-z-]*))(?:[\s=]|$)/;

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
    if (value === undefined || secretValue.test(value) || inKnownForm(value)) continue;
    if (secret.test(name) && !harmless.has(name)) continue;
    if (ofGitHooks.test(name) || (name === "NODE_OPTIONS" && ofThisNode.test(value))) continue;
    env[name] = value;
  }
  return { ...env, ...unattended, ...own, [markName]: mark };
}
