/** Shortest piece of a streamed reply; it goes on to the next space. */
const PIECE_CHARS = 16;

/** A text in small pieces, cut behind spaces, which put together are the text. */
export function* pieces(text: string): Generator<string> {
  const words = text.match(/\s*\S+|\s+$/g) ?? [];
  let piece = "";
  for (const word of words) {
    piece += word;
    if (piece.length < PIECE_CHARS) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}
