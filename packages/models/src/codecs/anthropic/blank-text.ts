// The room of texts that show nothing: providers refuse a block of one.

/** Whether a text is absent or nothing but white space. */
export function isBlank(text: string | undefined): boolean {
  return text === undefined || text.trim() === "";
}
