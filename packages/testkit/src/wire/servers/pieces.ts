// The room of cutting: a text in about three pieces, by code points, so that no delta holds half a character.

export function pieces(text: string): string[] {
  const characters = [...text];
  const size = Math.max(1, Math.ceil(characters.length / 3));
  const cut: string[] = [];
  for (let at = 0; at < characters.length; at += size) cut.push(characters.slice(at, at + size).join(""));
  return cut;
}
