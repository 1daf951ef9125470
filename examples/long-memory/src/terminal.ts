const colourful = process.stdout.isTTY === true && process.env["NO_COLOR"] === undefined;

function styled(code: number, text: string): string {
  return colourful ? `\u001b[${code}m${text}\u001b[0m` : text;
}

/** Starts a part of the output. */
export function heading(title: string): void {
  console.log(`\n${styled(1, title)}`);
}

/** A line of the output. */
export function line(text: string): void {
  console.log(`  ${text}`);
}

/** A line in the background. */
export function aside(text: string): void {
  line(styled(2, text));
}
