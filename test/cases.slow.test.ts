// The failure cases of cases.jsonl.

import { playCases } from "./cases/playing.ts";

playCases("cases.jsonl");
