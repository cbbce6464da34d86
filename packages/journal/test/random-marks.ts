// The room of marks: what tells a record that a process wrote by chance from all others.

import type { LogRecord } from "@rondo/core";

export const markOf = (record: LogRecord): string =>
  /"([a-z]+\d+\.\d+) /.exec(JSON.stringify(record))?.[1] ?? "none";
