// The room of what may be approved: a call whose tool has not begun. One whose tool has begun, and asks a question, is answered.

import { invalidRequest } from "../errors.ts";
import type { CallView } from "../events.ts";

/** The call, if it waits for an approval. @throws RondoError `invalid_request` if it waits for an answer */
export function approvable(view: CallView): CallView {
  const { id, name, question } = view;
  if (question === undefined) return view;
  throw invalidRequest(
    `the call ${id} waits for no approval: its tool ${name} has begun, and asks ${JSON.stringify(question.asked)}. answer() it; answered with an Error, the call fails`,
  );
}
