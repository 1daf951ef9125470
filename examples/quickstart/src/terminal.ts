const colourful = process.stdout.isTTY === true && process.env["NO_COLOR"] === undefined;

function styled(code: number, text: string): string {
  return colourful ? `\u001b[${code}m${text}\u001b[0m` : text;
}

/** Starts a chapter of the story. */
export function chapter(title: string): void {
  console.log(`\n${styled(1, title)}`);
}

/** One line of the story, with who speaks in front. */
export function line(who: string, text: string): void {
  console.log(`  ${styled(36, who.padEnd(13))} ${text}`);
}

/** A line in the background. */
export function aside(text: string): void {
  console.log(styled(2, `  ${text}`));
}
