// The "kept and pure" loop over Rondo's model, speaking Chat Completions.

import { openaiCompatible } from "@rondo/models";
import { pureOverModel } from "./pure-over-model.mjs";

export const prepare = (setup) =>
  pureOverModel(openaiCompatible({ model: "bench", baseURL: setup.base, apiKey: "bench" }), setup);
