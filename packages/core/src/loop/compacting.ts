// The room of compaction: which summary is asked for next, and what becomes of the history in the end.
//
// One summary is one model call, so that a crash loses no more than one. Everything here is a function of the state:
// the plan is made again whenever it is asked for, and the history does not change while it is carried out.

import { assemble, type CompactionPlan, planCompaction, summaryRequest } from "../context/compact/compact.ts";
import type { Log } from "./log.ts";
import type { Message } from "../message.ts";
import type { Rules } from "../rules/rule.ts";
import { type Action, record } from "./action.ts";
import type { Fact } from "./records.ts";
import { type Compacting, runOf, type State } from "./state.ts";
import { sizeOf, windowOf } from "./window.ts";

const plans = new WeakMap<Log<Message>, { plan: CompactionPlan | undefined }>();

