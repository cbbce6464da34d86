// Every expectation of every case is made false once; a case that passes all the same asserts nothing there.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { toothless } from "../scripts/cases/falsify.ts";
import type { Case } from "../scripts/cases/format.ts";
import { judge } from "../scripts/cases/judge.ts";
import { observe } from "../scripts/cases/perform.ts";
import { readCases } from "../scripts/cases/run-cases.ts";

const files = ["cases", "own"];
