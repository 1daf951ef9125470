import { expect } from "vitest";
import { CTRL_D, PseudoTerminal } from "./pseudo-terminal.js";
import type { TestProject } from "./test-project.js";

/** Opens a chat of Ada's that prints line by line, and waits for its prompt. */
export async function chatIn(
  { path, store }: TestProject,
  ...flags: string[]
): Promise<PseudoTerminal> {
  const args = ["chat", "--plain", "--store", store, "--user", "ada", ...flags];
  const terminal = new PseudoTerminal(args, { cwd: path });
  await terminal.shows("of ada, agent");
  await terminal.shows("›");
  return terminal;
}

/** Answers the question that comes next. */
export async function answer(
  terminal: PseudoTerminal,
  question: string,
  line: string,
): Promise<void> {
  await terminal.shows(`${question} ›`);
  terminal.enter(line);
}

/** Quits at the next prompt. */
export async function leave(terminal: PseudoTerminal): Promise<void> {
  await terminal.shows("›");
  terminal.type(CTRL_D);
  expect(await terminal.exited).toBe(0);
}
