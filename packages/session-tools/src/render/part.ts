/** A long string that the log keeps apart. */
export interface BlobPiece {
  readonly ref: string;
  /** It stands inside JSON, between quotes. */
  readonly isEscaped: boolean;
}

/** A stretch of a rendering: the text itself, or where to get it. */
export type Piece = string | BlobPiece;

/**
 * A part of a rendered message.
 *
 * `label` is what the rendering adds, or what nobody searches for; `text` stands as it was said; `json` is an input of a
 * tool or a quoted name.
 */
export interface Part {
  readonly kind: "label" | "text" | "json";
  /** Belongs to a call or a result of a session tool, which repeats what is said elsewhere. */
  readonly isEcho: boolean;
  readonly pieces: readonly Piece[];
}
