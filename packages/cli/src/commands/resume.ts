// The room of `rondo resume`: continues a run that another process left.

import type { Command } from "../line/command.ts";
import { resumePermitted } from "../runs/drive-run.ts";
import { goOn, goOnOptions } from "../runs/reopen.ts";

export const resume: Command = {
  name: "resume",
  words: "RUN",
  does: "Continue a run that was interrupted, or that waits",
  maxWords: 1,
  options: goOnOptions,
  act: (args, console) =>
    goOn(args.words[0], args, console, (session, tools) => resumePermitted({ session, tools }, console)),
};
