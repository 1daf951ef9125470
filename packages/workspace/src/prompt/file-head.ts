/** Of larger files only the beginning is looked at: a prompt holds less, and it is looked at again at every step. */
const LEAST_HEAD_BYTES = 1_048_576;
/** More bytes than a token stands for: a head of so many for every token never fits. */
const BYTES_PER_TOKEN = 64;

/** The text of a file, or as much of it as a prompt may hold. */
export interface FileHead {
  readonly text: string;
  /** How many bytes the file has, where that is more than was looked at. */
  readonly cutFrom?: number | undefined;
}

/** Decodes as much of a file as can matter to a prompt of `maxTokens`; nothing where there is no file. */
export function fileHead(bytes: Uint8Array | null, maxTokens: number): FileHead {
  if (bytes === null) return { text: "" };
  const most = Math.max(LEAST_HEAD_BYTES, (maxTokens + 1) * BYTES_PER_TOKEN);
  if (bytes.length <= most) return { text: new TextDecoder().decode(bytes) };
  // As of a stream: half a character at the end is left out, not replaced.
  const text = new TextDecoder().decode(bytes.subarray(0, most), { stream: true });
  return { text, cutFrom: bytes.length };
}
