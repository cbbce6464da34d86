// Follows session `s` of a journal until it has so many records; says how many there are when they become more, a line each.

import { namedJournal } from "../named-journal.ts";

const [file = "", enough = "1"] = process.argv.slice(2);
const journal = namedJournal(file);
let read = -1;
const stop = journal.watch("s", look);
function look(): void {
  const now = journal.read("s").length;
  if (now === read) return;
  read = now;
  console.log(`read ${read}`);
  if (read < Number(enough)) return;
  stop();
  journal.close();
}
look();
