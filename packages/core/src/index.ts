// The face of @rondo/core.
export * from "./errors.ts";
export type * from "./events.ts";
export type * from "./journal.ts";
export * from "./loop/records.ts";
export { checkAppend, checkFrom, type MemoryJournal, memoryJournal } from "./memory-journal.ts";
export * from "./message.ts";
export * from "./model.ts";
export {
  type CompiledSchema,
  compileSchema,
  type InferInput,
  type InferOutput,
  type SchemaLike,
} from "./schema.ts";
export * from "./tool.ts";
