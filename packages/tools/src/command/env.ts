// The room of a command's environment: ours without secrets, and set up for unattended use.

import { textRedaction } from "@rondo/core";
import { markName } from "./processes.ts";

const secret =
  /key|token|secret|pass(?:w|phrase|code|$)|pwd$|credential|auth|cookie|session|private|signature|webhook|dsn|bearer|conn(?:ection)?_?str|(?:^|_)(?:pass|pat|pw|otp|creds?|jwt)(?:_|$)|^(ld|dyld)_/i;
/** Harmless names that the pattern above matches by chance. */
const harmless: ReadonlySet<string> = new Set([
  "PWD",
  "OLDPWD",
  "LD_LIBRARY_PATH",
  "GOPRIVATE",
  "TOKENIZERS_PARALLELISM",
]);
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

/** Settings of git from the environment, in `GIT_CONFIG_COUNT` numbered pairs. If one is missing, git refuses everything. */
const ofGitSettings = /^GIT_CONFIG_(?:COUNT|KEY_\d+|VALUE_\d+)$/;
/** Settings whose values are, or hold, secrets. */
const secretSetting = /extraheader|credential|password|token|cookie|\.sslkey/i;
const maxSettings = 1000;

/** The settings of git for one command: ours without secrets, and names of files as they are (by default git writes `\346\226\207`). */
function gitSettings(ours: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const pairs: [key: string, value: string][] = [];
  const count = Math.min(Number(ours.GIT_CONFIG_COUNT ?? 0) || 0, maxSettings);
  for (let at = 0; at < count; at++) {
    const [key, value] = [ours[`GIT_CONFIG_KEY_${at}`], ours[`GIT_CONFIG_VALUE_${at}`]];
    if (key === undefined || value === undefined || !key.includes(".") || secretSetting.test(key)) continue;
    if ([key, value].every((one) => !secretValue.test(one) && !inKnownForm(one))) pairs.push([key, value]);
  }
  pairs.push(["core.quotePath", "false"]);
  const named = pairs.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(pairs.length), ...Object.fromEntries(named) };
}

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
    if (
      ofGitSettings.test(name) ||
      ofGitHooks.test(name) ||
      (name === "NODE_OPTIONS" && ofThisNode.test(value))
    )
      continue;
    env[name] = value;
  }
  return { ...env, ...gitSettings(ours), ...unattended, ...own, [markName]: mark };
}
