// Says what comes of taking the lease of session `s`.

import { RondoError } from "@rondo/core";
import { namedJournal } from "../named-journal.ts";

try {
  const { token } = namedJournal(process.argv[2] ?? "").lease("s", { owner: "me", ttlMs: 600_000 });
  console.log(`held ${token}`);
} catch (thrown) {
  console.log(
    `refused ${thrown instanceof RondoError ? `${thrown.kind} ${thrown.message}` : String(thrown)}`,
  );
}
