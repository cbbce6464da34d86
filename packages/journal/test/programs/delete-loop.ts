// Deletes one session after the other, and says which is next, until it is killed or none is left.

import { namedJournal } from "../named-journal.ts";

const journal = namedJournal(process.argv[2] ?? "");
for (const { id } of journal.list()) {
  if (!/^s\d+$/.test(id)) continue;
  console.log(id);
  journal.delete(id);
}
