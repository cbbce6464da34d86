// The room of blank text: providers refuse a block of it.

/** Whether a text is absent or nothing but white space. */
export function isBlank(text: string | undefined): boolean {
  return text === undefined || text.trim() === "";
}
