// Opens a thousand journals, each in a folder of a folder that is missing too, while others do the same next to them.

import { join } from "node:path";
import { jsonlJournal } from "@rondo/journal";

const [place = "", me = ""] = process.argv.slice(2);
console.log("ready");
process.stdin.once("data", () => {
  for (let at = 0; at < 1000; at += 1) jsonlJournal(join(place, `${at}`, me)).close();
  process.exit(0);
});
