/**
 * Beginnings of the prompts with which front ends ask for a title, tags or follow-up questions: Open WebUI marks its own with
 * `### Task:`, LibreChat and others ask for a title in a fixed sentence.
 */
const patterns: readonly RegExp[] = [
  /^### Task:/m,
  /\b(generate|provide|write|create) a (very )?(concise|short|brief)\b.{0,60}\btitle\b/is,
  /\btitle for (the|this) conversation\b/i,
  /\b(suggest|generate) .{0,40}\bfollow-?up (questions|prompts)\b/is,
];

/**
 * Tells whether a front end asks for something of its own, such as a title, which is not part of the conversation. Known prompts
 * are recognised; others are not, so that front ends should be given another model for such tasks.
 */
export function isSideRequest(prompt: string): boolean {
  return patterns.some((pattern) => pattern.test(prompt));
}
