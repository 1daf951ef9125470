import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Text that is found again in whatever form it was written. */
export const canary = "canary-7Qx2-Zebra-5521";

/** The ways in which a careless writer could have written it. */
function forms(text: string): Buffer[] {
  const shifted = [0, 1, 2].flatMap((shift) => {
    const padded = Buffer.from(" ".repeat(shift) + text).toString("base64");
    // Only the characters that depend on nothing but the text.
    const whole = padded.slice(shift === 0 ? 0 : 4, -4);
    return [whole, whole.replaceAll("+", "-").replaceAll("/", "_")];
  });
  const hex = Buffer.from(text).toString("hex");
  return [
    ...[text, text.toUpperCase(), hex, hex.toUpperCase(), encodeURIComponent(text), ...shifted].map(
      (form) => Buffer.from(form),
    ),
    Buffer.from(text, "utf16le"),
  ];
}

/** The files below a directory that hold the text, in whatever form. */
export function filesWith(directory: string, text: string = canary): string[] {
  const wanted = forms(text);
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => {
      const bytes = readFileSync(file);
      return wanted.some((form) => bytes.includes(form));
    });
}
