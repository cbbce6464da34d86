// The failure cases of own.jsonl.

import { playCases } from "./cases/playing.ts";

playCases("own.jsonl");
