/** A kind of file that models can look at, and how its bytes begin. */
interface Media {
  readonly mediaType: string;
  readonly extensions: readonly string[];
  isHere(bytes: Uint8Array): boolean;
}

const media: readonly Media[] = [
  {
    mediaType: "image/png",
    extensions: ["png"],
    isHere: begins([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  },
  { mediaType: "image/jpeg", extensions: ["jpg", "jpeg"], isHere: begins([0xff, 0xd8, 0xff]) },
  { mediaType: "image/gif", extensions: ["gif"], isHere: begins(ascii("GIF8")) },
  {
    mediaType: "image/webp",
    extensions: ["webp"],
    isHere: (bytes) => begins(ascii("RIFF"))(bytes) && begins(ascii("WEBP"), 8)(bytes),
  },
  { mediaType: "application/pdf", extensions: ["pdf"], isHere: begins(ascii("%PDF-")) },
  {
    mediaType: "audio/wav",
    extensions: ["wav"],
    isHere: (bytes) => begins(ascii("RIFF"))(bytes) && begins(ascii("WAVE"), 8)(bytes),
  },
  {
    mediaType: "audio/mpeg",
    extensions: ["mp3"],
    isHere: (bytes) =>
      begins(ascii("ID3"))(bytes) || (bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0),
  },
  { mediaType: "audio/ogg", extensions: ["ogg"], isHere: begins(ascii("OggS")) },
  { mediaType: "video/mp4", extensions: ["mp4"], isHere: begins(ascii("ftyp"), 4) },
];

/** Extensions of further types, for files that are only kept. */
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
 * The media type of a file that a model can look at, by name and by content, or null.
 *
 * Both must agree: a provider refuses a request with an image that is none, and a context that holds one would be
 * refused for ever.
 */
export function mediaTypeOf(path: string, bytes: Uint8Array): string | null {
  const extension = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  const named = media.find(({ extensions }) => extensions.includes(extension));
  return named?.isHere(bytes) ? named.mediaType : null;
}

/** The extension for files of a media type; `bin` when it is not known. */
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
