// Takes the lease of session `s`, and is killed.

import { namedJournal } from "../named-journal.ts";

namedJournal(process.argv[2] ?? "").lease("s", { owner: "worker", ttlMs: 600_000 });
process.kill(process.pid, "SIGKILL");
