import { readFileSync } from "node:fs";

/** A text written for these tests or taken from recorded tool results; none of them was used to set the estimator's prices. */
function corpus(name: string): string {
  return readFileSync(new URL(`corpus/${name}`, import.meta.url), "utf8");
}

const records: unknown = JSON.parse(corpus("records.json"));

/** What agents mostly read and write. */
export const commonTexts: Readonly<Record<string, string>> = {
  "English prose": corpus("english.txt"),
  TypeScript: corpus("typescript.txt"),
  Python: corpus("python.txt"),
  "compact JSON": JSON.stringify(records),
  "pretty JSON": JSON.stringify(records, null, 2),
  "tab-indented JSON": JSON.stringify(records, null, "\t"),
  Chinese: corpus("chinese.txt"),
};

/** Everything else that has a corpus. */
export const otherTexts: Readonly<Record<string, string>> = {
  German: corpus("german.txt"),
  French: corpus("french.txt"),
  Russian: corpus("russian.txt"),
  Japanese: corpus("japanese.txt"),
  Korean: corpus("korean.txt"),
  "chat with emoji": corpus("emoji-chat.txt"),
};
