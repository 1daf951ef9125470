const hasColors = process.stdout.isTTY === true && process.env["NO_COLOR"] === undefined;

function styled(code: number, text: string): string {
  return hasColors ? `\u001b[${code}m${text}\u001b[0m` : text;
}

/** Prints a heading. */
export function heading(title: string): void {
  console.log(`\n${styled(1, title)}`);
}

/** Prints a line with the name of the speaker in front. */
export function line(who: string, text: string): void {
  console.log(`  ${styled(36, who.padEnd(13))} ${text}`);
}

/** Prints a dimmed line. */
export function detail(text: string): void {
  console.log(styled(2, `  ${text}`));
}
