// The room of what the rules of Anthropic's family read: any JSON, looked into carefully.

export type Shape = { [key: string]: unknown };

/** Tells of a breach: where it is, and in which words. */
export type Say = (path: string, message: string) => void;

export const isShape = (value: unknown): value is Shape =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The blocks of a message; a string is one of text. */
export function contentOf(message: Shape | undefined): Shape[] {
  if (message === undefined) return [];
  if (typeof message.content === "string") return [{ type: "text", text: message.content }];
  return Array.isArray(message.content) ? message.content.filter(isShape) : [];
}
