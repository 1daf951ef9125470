/** Kind of file that models can look at. */
interface Media {
  readonly mediaType: string;
  readonly extensions: readonly string[];
  /** Recognises the kind by its first bytes. */
  matches(bytes: Uint8Array): boolean;
}

const media: readonly Media[] = [
  {
    mediaType: "image/png",
    extensions: ["png"],
    matches: begins([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  },
  { mediaType: "image/jpeg", extensions: ["jpg", "jpeg"], matches: begins([0xff, 0xd8, 0xff]) },
  { mediaType: "image/gif", extensions: ["gif"], matches: begins(ascii("GIF8")) },
  {
    mediaType: "image/webp",
    extensions: ["webp"],
    matches: (bytes) => begins(ascii("RIFF"))(bytes) && begins(ascii("WEBP"), 8)(bytes),
  },
  { mediaType: "application/pdf", extensions: ["pdf"], matches: begins(ascii("%PDF-")) },
  {
    mediaType: "audio/wav",
    extensions: ["wav"],
    matches: (bytes) => begins(ascii("RIFF"))(bytes) && begins(ascii("WAVE"), 8)(bytes),
  },
  {
    mediaType: "audio/mpeg",
    extensions: ["mp3"],
    matches: (bytes) =>
      begins(ascii("ID3"))(bytes) || (bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0),
  },
  { mediaType: "audio/ogg", extensions: ["ogg"], matches: begins(ascii("OggS")) },
  { mediaType: "video/mp4", extensions: ["mp4"], matches: begins(ascii("ftyp"), 4) },
];

/** Extensions of further types, for files that are only stored. */
const moreExtensions: Readonly<Record<string, string>> = {
  "application/gzip": "gz",
  "application/json": "json",
  "application/xml": "xml",
  "application/zip": "zip",
  "image/svg+xml": "svg",
  "text/css": "css",
  "text/csv": "csv",
  "text/html": "html",
  "text/markdown": "md",
  "text/plain": "txt",
};

/**
 * Returns the media type of a file that a model can look at, by name and by content; null for any other file.
 *
 * Both must agree: a provider refuses a request with an invalid image, and would refuse a context that contains one at
 * every later call.
 */
export function mediaTypeOf(path: string, bytes: Uint8Array): string | null {
  const extension = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  const named = media.find(({ extensions }) => extensions.includes(extension));
  return named?.matches(bytes) ? named.mediaType : null;
}

/** Returns the extension for files of a media type; `bin` for an unknown type. */
export function extensionOf(mediaType: string): string {
  const plain = mediaType.split(";")[0]?.trim().toLowerCase() ?? "";
  const known = media.find((each) => each.mediaType === plain)?.extensions[0];
  return known ?? (Object.hasOwn(moreExtensions, plain) ? (moreExtensions[plain] ?? "bin") : "bin");
}

function begins(signature: readonly number[], at = 0): (bytes: Uint8Array) => boolean {
  return (bytes) => signature.every((byte, index) => bytes[at + index] === byte);
}

function ascii(text: string): number[] {
  return [...text].map((character) => character.charCodeAt(0));
}
