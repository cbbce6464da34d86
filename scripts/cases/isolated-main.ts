// The room of an isolated case's program: the case comes on stdin, the observation goes to stdout.

import { text } from "node:stream/consumers";
import type { Case } from "./format.ts";
import { measure } from "./isolated.ts";
import type { Chunking } from "./wire.ts";

const { one, chunking } = JSON.parse(await text(process.stdin)) as { one: Case; chunking: Chunking };
const seen = await measure(one, chunking);
process.exitCode = (seen.process?.unhandledRejections ?? 0) > 0 ? 1 : 0;
process.stdout.write(JSON.stringify(seen));
