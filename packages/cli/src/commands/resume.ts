// The room of `rondo resume`: a run that a process left goes on in this one.

import type { Command } from "../line/command.ts";
import { goOn, goOnOptions } from "../runs/reopen.ts";

export const resume: Command = {
  name: "resume",
  words: "RUN",
  does: "Go on with a run that was interrupted, or that waits",
  maxWords: 1,
  options: goOnOptions,
  act: (args, console) => goOn(args.words[0], args, console, (session) => session.resume()),
};
