import { basename } from "node:path";

/** Longest name that npm takes. */
const MAX_LENGTH = 214;

/** Returns what is wrong with the name of a package, as the end of a sentence; null when nothing is. */
export function nameProblem(name: string): string | null {
  if (name === "") return "is empty";
  if (name.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`;
  if (name !== name.toLowerCase()) return "has capital letters";
  if (/^(?:@[^/]*\/)?[._]/u.test(name)) return "begins with a dot or an underscore";
  if (name === "node_modules" || name === "favicon.ico") return "is reserved";
  if (!/^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/u.test(name))
    return "may have letters, digits and -._~ only, and a scope before a slash";
  return null;
}

/** Makes the name of a package out of that of its directory. */
export function nameOfDirectory(directory: string): string {
  const name = basename(directory)
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(/[^a-z0-9._~-]+/gu, "-")
    .replaceAll(/^[-._]+|-+$/gu, "")
    .slice(0, MAX_LENGTH);
  return nameProblem(name) === null ? name : "holdfast-agent";
}
