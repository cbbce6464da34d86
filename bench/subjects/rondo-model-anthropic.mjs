// The "kept and pure" loop over Rondo's model, speaking Anthropic's protocol.

import { anthropic } from "@rondo/models";
import { pureOverModel } from "./pure-over-model.mjs";

export const prepare = (setup) =>
  pureOverModel(anthropic("bench", { baseURL: setup.base, apiKey: "bench" }), setup);
