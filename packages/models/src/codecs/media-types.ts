// The room of media types that have several names: what one tool calls `image/jpg`, providers know as `image/jpeg`.

/** What others call a JPEG or a PNG: the providers know one name. */
const otherNames: { readonly [mediaType: string]: string } = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/x-png": "image/png",
};

/** The media type by the name that providers know. */
export function knownType(mediaType: string): string {
  const lower = mediaType.toLowerCase();
  return Object.hasOwn(otherNames, lower) ? (otherNames[lower] as string) : lower;
}
