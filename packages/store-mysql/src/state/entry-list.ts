/*
 * Lists of JSON objects in one column, which a statement can change without reading them first: every entry is a line feed,
 * which JSON has none of, and an object that begins with its id.
 */

/** Line feed in a statement, as bytes whatever the character set of the connection. */
export const LF = "X'0A'";

/** Encodes an entry whose id is in `field`. */
export function encodeEntry(field: string, entry: { readonly [name: string]: unknown }): Buffer {
  return Buffer.from(`\n${JSON.stringify({ [field]: entry[field], ...entry })}`, "utf8");
}

/** Returns how the entry of an id begins, in hexadecimal: servers differ in how they read binary values here. */
export function entryStart(field: string, id: string): string {
  return Buffer.from(`\n{${JSON.stringify(field)}:${JSON.stringify(id)}`, "utf8").toString("hex");
}

/** Returns the entries of a list, each as its JSON. */
export function entryTexts(list: Buffer): string[] {
  return list.toString("utf8").split("\n").slice(1);
}

/** Expression for the number of entries in a column that is not NULL. */
export function entryCount(column: string): string {
  return `LENGTH(${column}) - LENGTH(REPLACE(${column}, ${LF}, X''))`;
}

/** Expression for a list without one entry, if it is there; takes {@link entryStart} as three values. */
export function withoutEntry(column: string): string {
  const start = `LOCATE(UNHEX(?), ${column})`;
  const end = `LOCATE(${LF}, CONCAT(${column}, ${LF}), ${start} + 1)`;
  // A start of 0, of an entry that is not there, leaves the list as it is.
  return `INSERT(${column}, ${start}, ${end} - ${start}, X'')`;
}
