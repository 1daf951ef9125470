/** A cause of a cause of a cause tells nothing new. */
const MAX_CAUSES = 5;

/** What to tell a person about an error; with `HOLDFAST_DEBUG` also what it was caused by. */
export function errorText(error: unknown, env: NodeJS.ProcessEnv): string {
  const message = error instanceof Error ? error.message : String(error);
  if (!env["HOLDFAST_DEBUG"]) return message;
  const causes: string[] = [];
  let cause = error instanceof Error ? error.cause : undefined;
  while (cause instanceof Error && causes.length < MAX_CAUSES) {
    causes.push(`\n  caused by ${cause.name}: ${cause.message}`);
    cause = cause.cause;
  }
  return message + causes.join("");
}
