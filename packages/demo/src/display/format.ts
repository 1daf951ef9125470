/** Formats a number with thousands separators. */
export function formatNumber(value: number): string {
  return Math.round(value).toLocaleString("en-GB");
}

/** Breaks a text at spaces into lines of at most `width` characters. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
