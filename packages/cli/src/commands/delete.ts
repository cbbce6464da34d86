// The room of `rondo delete`: permanently deletes a run.
//
// Nothing brings a run back, so it must be given by its full id, not by the beginning of it or `last`.

import { Failure, UsageError } from "../console/failure.ts";
import { jsonLine, plainText } from "../console/plain-text.ts";
import { exitCodes } from "../exit-codes.ts";
import { type Command, journalOption } from "../line/command.ts";
import { rondo } from "../line/command-name.ts";
import { counted } from "../render/usage.ts";
import { withJournal } from "../runs/find-run.ts";

export const deleteRun: Command = {
  name: "delete",
  words: "RUN",
  does: "Permanently delete a run, given by its full id: its records, its kept texts, the runs of its sub-agents; not its forks",
  maxWords: 1,
  options: {
    json: { type: "boolean", does: "Print the ids of what was deleted as one JSON object" },
    ...journalOption,
  },
  async act(args, console) {
    const [id] = args.words;
    if (id === undefined || id.trim() === "")
      throw new UsageError(`which run? Give its whole id; \`${rondo} runs\` lists them`);
    return withJournal(args, console, "to write", async ({ journal, flag, find }) => {
      const deleted = await journal.delete(id);
      if (deleted.length === 0) {
        const found = await find(id);
        throw new Failure(
          `nothing was deleted: give the whole id, ${rondo} delete ${plainText(found.id)}${flag}`,
        );
      }
      const below = deleted.filter((one) => one !== id).length;
      const also = below === 0 ? "" : `, and ${counted(below, "run")} of its sub-agents`;
      console.line(
        args.has("json") ? jsonLine({ deleted }) : `deleted: ${plainText(id)}${also}; nothing brings it back`,
      );
      return exitCodes.completed;
    });
  },
};
