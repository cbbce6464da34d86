// Takes the lease of session `s`, and holds it until it is killed.

import { namedJournal } from "../named-journal.ts";

const journal = namedJournal(process.argv[2] ?? "");
journal.lease("s", { owner: "worker", ttlMs: 600_000 });
console.log("held");
setInterval(() => {}, 1_000_000);
