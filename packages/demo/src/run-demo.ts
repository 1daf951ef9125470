import { basename, relative } from "node:path";
import { ConfigurationError } from "@holdfast/core";
import { createDemoFiles, type DemoFiles, demoSlot } from "./demo-files.js";
import type { DemoTerminal } from "./demo-terminal.js";
import { formatNumber, wrapped } from "./display/format.js";
import { type Glyphs, glyphsFor } from "./display/glyphs.js";
import { outcomeTable } from "./display/outcome-table.js";
import { sessionView } from "./display/session-view.js";
import { tokenPlot } from "./display/token-plot.js";
import { measureOutcome, type Outcome } from "./outcome/outcome.js";
import { runSession } from "./session/run-session.js";
import { sessionScript } from "./session/session-script.js";

/** Options of {@link runDemo}. */
export interface DemoOptions {
  /** Turns of the session, 60 to 5,000; shorter sessions get a smaller context window. @default 200 */
  readonly turns?: number | undefined;
  /** Leave the files of the session in the temporary directory. @default false */
  readonly keep?: boolean | undefined;
  readonly terminal: DemoTerminal;
  /** Ends the demo early: workers are killed and files removed. */
  readonly signal?: AbortSignal | undefined;
}

/** A shorter session has no room for everything that is shown. */
const MIN_TURNS = 60;
/** A longer session shows nothing more and takes minutes. */
const MAX_TURNS = 5_000;

/**
 * Runs a long coding session offline, with a kill -9 in the middle, prints it as it happens and returns what was
 * measured. A promise that was not kept is in the outcome's `problems`.
 *
 * @throws ConfigurationError for a number of turns that is out of range
 * @throws the reason of `signal`, once it is aborted
 */
export async function runDemo(options: DemoOptions): Promise<Outcome> {
  const { turns = 200, keep = false, terminal, signal = new AbortController().signal } = options;
  if (!Number.isInteger(turns) || turns < MIN_TURNS || turns > MAX_TURNS)
    throw new ConfigurationError(
      `turns is ${turns}; a whole number from ${MIN_TURNS} to ${MAX_TURNS} is needed`,
    );
  const began = performance.now();
  const glyphs = glyphsFor(terminal.env);
  const triggerTokens = triggerFor(turns);
  const contextWindow = Math.round((triggerTokens * 4) / 3);
  const files = await createDemoFiles(keep);
  try {
    const view = sessionView(terminal, turns, glyphs);
    if (!terminal.isJson) printIntroduction(terminal, turns, contextWindow, triggerTokens);
    const session = await runSession({
      ...{ files, triggerTokens, contextWindow, signal, observer: view },
      script: sessionScript(turns),
    }).finally(() => view.stop());
    const outcome = await measureOutcome(files, session);
    signal.throwIfAborted();
    const seconds = (performance.now() - began) / 1_000;
    if (terminal.isJson) terminal.json(report(outcome, seconds, keep ? files : undefined));
    else {
      printOutcome(terminal, outcome, glyphs);
      printNextSteps(terminal, seconds, keep ? files : undefined);
    }
    return outcome;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    await files.remove();
  }
}

/** Returns the size at which compaction begins: small enough for two compactions in a session of any length. */
function triggerFor(turns: number): number {
  return Math.min(24_000, Math.max(9_000, 120 * turns));
}

function printIntroduction(
  terminal: DemoTerminal,
  turns: number,
  window: number,
  trigger: number,
): void {
  const { line, colors } = terminal;
  const about = `Offline: the model is a script that decides by what it is shown, and uses real tools on real files. Its window has ${formatNumber(window)} tokens; compaction begins at ${formatNumber(trigger)}. Halfway through, its process is killed in the middle of a reply.`;
  line(colors.bold(`One coding session of ${turns} turns that never outgrows its window`));
  for (const text of wrapped(about, terminal.columns)) line(colors.dim(text));
  line();
}

function printOutcome(terminal: DemoTerminal, outcome: Outcome, glyphs: Glyphs): void {
  const { line, colors } = terminal;
  line();
  line(colors.bold("Tokens of the last request of each turn"));
  line(tokenPlot(outcome.perTurn, terminal, glyphs));
  line();
  line(colors.bold("Measured"));
  for (const text of outcomeTable(outcome)) line(text);
  if (outcome.quote === null) return;
  line();
  line(colors.bold("Said in turn 3, long compacted away, found in the log and quoted"));
  for (const text of wrapped(outcome.quote, terminal.columns - 2)) line(`  ${text}`);
}

function printNextSteps(
  terminal: DemoTerminal,
  seconds: number,
  kept: DemoFiles | undefined,
): void {
  const { line, colors } = terminal;
  const program = programCommand();
  line();
  line(colors.bold(`Done in ${seconds.toFixed(1)} s`));
  if (kept === undefined) {
    line("  The files were removed. To keep them and continue the session:");
    line(`    ${program} demo --keep`);
  } else {
    const { agentId, userId, sessionId } = demoSlot;
    const store = shellWord(`json:${kept.store}`);
    const owner = `--store ${store} --agent ${agentId} --user ${userId}`;
    const workspace = shellWord(kept.workspace);
    line(`  The files are in ${kept.directory}`);
    line("  To read the session, and to continue it:");
    line(`    ${program} sessions show ${sessionId} ${owner}`);
    line(`    ${program} chat --session ${sessionId} --workspace ${workspace} ${owner}`);
  }
  line("  To talk to an agent (a real model, if its key is in the environment):");
  line(`    ${program} chat`);
  line("  All commands:");
  line(`    ${program} --help`);
}

/** Returns the document that is printed as JSON. */
function report(outcome: Outcome, seconds: number, kept: DemoFiles | undefined): object {
  return {
    ...outcome,
    seconds: Math.round(seconds * 10) / 10,
    ...(kept !== undefined && { directory: kept.directory }),
  };
}

/** Returns the command that runs this program: its name where it is installed, else the script that was started. */
export function programCommand(
  script: string = process.argv[1] ?? "",
  cwd: string = process.cwd(),
): string {
  const isInstalled = /^holdfast(?:\.\w+)?$/.test(basename(script)) || script === "";
  return isInstalled ? "holdfast" : `node ${shellWord(relative(cwd, script))}`;
}

/** Quotes a word for a shell where it needs quoting. */
export function shellWord(word: string): string {
  return /^[\w./:@%+=\\-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
