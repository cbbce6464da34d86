// The room of note_progress: the model's own account of its progress, kept as data.
//
// A summary may lose a decision; the ledger does not. What is left and what comes next are states: a new list replaces
// the old one, and an empty list says that nothing is left.

import { type LedgerEntry, type Permission, type Tool, tool, toolResult } from "@rondo/core";
import { checkGiven, membersOf } from "@rondo/core/checks";
import { permissionOption } from "./options.ts";
import { counted } from "./reasons.ts";

export interface NoteProgressOptions {
  /** Default: `allow`. */
  permission?: Permission;
}

const maxItems = 20;
const maxItemLength = 500;

const lists = [
  { name: "decisions", kind: "decision", isState: false, one: "decision", many: "decisions" },
  { name: "done", kind: "done", isState: false, one: "item done", many: "items done" },
  { name: "left", kind: "left", isState: true, one: "item left", many: "items left" },
  { name: "next", kind: "next", isState: true, one: "next step", many: "next steps" },
] as const;

const optionChecks = membersOf<NoteProgressOptions>({
  permission: permissionOption,
});

/** The tool `note_progress`: decisions, what is done, what is left and what comes next, kept through every compaction. */
export function noteProgress(options: NoteProgressOptions = {}): Tool {
  checkGiven(optionChecks, options, "noteProgress");
  const list = (description: string) =>
    ({
      type: "array",
      items: { type: "string", minLength: 1, maxLength: maxItemLength },
      maxItems,
      description,
    }) as const;
  return tool({
    name: "note_progress",
    description:
      "Records the progress of the work. Notes are kept even when the conversation grows too long to keep in full. " +
      "Give only what is new; new lists for left and next replace the earlier ones.",
    inputSchema: {
      type: "object",
      properties: {
        decisions: list("Decisions made, each with its reason."),
        done: list("What is finished."),
        left: list("Everything still to be done. Empty: nothing."),
        next: list("The next steps. Empty: none."),
      },
    },
    effect: "idempotent",
    permission: options.permission ?? "allow",
    execute: (args) => {
      const ledger: LedgerEntry[] = [];
      const told: string[] = [];
      for (const { name, kind, isState, one, many } of lists) {
        const items = args[name];
        if (items === undefined || (items.length === 0 && !isState)) continue;
        // An empty list is stored as one empty entry: nothing is left.
        for (const text of items.length > 0 ? items : [""]) ledger.push({ kind, text });
        told.push(counted(items.length, one, many));
      }
      if (told.length === 0)
        return toolResult("Error: there is nothing to note: give decisions, done, left or next", {
          isError: true,
        });
      return toolResult(`Noted: ${told.join(", ")}`, { ledger });
    },
  });
}
