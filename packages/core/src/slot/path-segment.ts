import { createHash } from "node:crypto";

const plain = /^[a-z0-9_-]$/;
const allPlain = /^[a-z0-9_-]{0,150}$/;
/** Names that Windows refuses with any extension. */
const reserved = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/;
const longest = 150;

/**
 * Returns a file-name segment for an id: readable, and distinct for distinct ids even where the file system folds case or
 * normalises Unicode.
 *
 * - Lower-case ASCII letters, digits, `_` and `-` stay; every other byte of the UTF-8 form becomes `%xx`, so `.`, `/` and
 *   upper case never appear.
 * - Long names are cut and end in `~` and a hash (`~` appears nowhere else).
 */
export function pathSegment(id: string): string {
  if (allPlain.test(id) && !reserved.test(id)) return id;
  let text = "";
  for (const byte of Buffer.from(id, "utf8")) {
    const character = String.fromCharCode(byte);
    text += plain.test(character) ? character : `%${byte.toString(16).padStart(2, "0")}`;
  }
  if (reserved.test(text)) text = `%${text.charCodeAt(0).toString(16)}${text.slice(1)}`;
  if (text.length <= longest) return text;
  return `${text.slice(0, 80)}~${createHash("sha256").update(id, "utf8").digest("hex")}`;
}
