// The failure cases of own.jsonl. Single bytes are cut where they are read: those of the catalogue go through the network, too.

import { quickChunkings } from "../scripts/cases/wire.ts";
import { playCases } from "./cases/playing.ts";

playCases("own.jsonl", quickChunkings);
