import type { Terminal } from "../terminal/terminal.js";
import { figure } from "./figure.js";
import { type Glyphs, glyphsFor } from "./glyphs.js";
import { narrator } from "./narrator.js";
import { type Outcome, outcomeOf } from "./outcome.js";
import { playSession } from "./play-session.js";
import { tokenPlot } from "./plot.js";
import { programCommand, shellWord } from "./shown-command.js";
import { demoSlot, type Stage, setStage } from "./stage.js";
import { storyOf } from "./story.js";
import { outcomeTable } from "./table.js";
import { wrapped } from "./wrapped.js";

/** How a demo is run. */
export interface DemoOptions {
  readonly turns: number;
  /** Leave the files where they are. */
  readonly keep: boolean;
  readonly terminal: Terminal;
  /** Ends it early: workers are killed, files removed. */
  readonly signal: AbortSignal;
}

/** Plays the session, shows what it came to, and returns the numbers. */
export async function runDemo({ turns, keep, terminal, signal }: DemoOptions): Promise<Outcome> {
  const began = performance.now();
  const glyphs = glyphsFor(terminal.env);
  const triggerTokens = triggerFor(turns);
  const contextWindow = Math.round((triggerTokens * 4) / 3);
  const stage = await setStage(keep);
  try {
    const show = narrator(terminal, turns, glyphs);
    if (!terminal.isJson) showBeginning(terminal, turns, contextWindow, triggerTokens);
    const session = await playSession({
      ...{ stage, triggerTokens, contextWindow, signal, audience: show },
      story: storyOf(turns),
    }).finally(() => show.stop());
    const outcome = await outcomeOf(stage, session);
    signal.throwIfAborted();
    const seconds = (performance.now() - began) / 1_000;
    if (terminal.isJson) terminal.json(report(outcome, seconds, keep ? stage : undefined));
    else {
      showOutcome(terminal, outcome, glyphs);
      showEnd(terminal, seconds, keep ? stage : undefined);
    }
    return outcome;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    await stage.leave();
  }
}

/** Shorter sessions have a smaller window: two compactions are to be seen in any of them. */
function triggerFor(turns: number): number {
  return Math.min(24_000, Math.max(9_000, 120 * turns));
}

function showBeginning(terminal: Terminal, turns: number, window: number, trigger: number): void {
  const { line, colors } = terminal;
  const about = `Offline: the model is a script that decides by what it is shown, and uses real tools on real files. Its window has ${figure(window)} tokens; compaction begins at ${figure(trigger)}. Halfway through, its process is killed in the middle of a reply.`;
  line(colors.bold(`One coding session of ${turns} turns that never outgrows its window`));
  for (const text of wrapped(about, terminal.columns)) line(colors.dim(text));
  line();
}

function showOutcome(terminal: Terminal, outcome: Outcome, glyphs: Glyphs): void {
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

function showEnd(terminal: Terminal, seconds: number, kept: Stage | undefined): void {
  const { line, colors } = terminal;
  const program = programCommand();
  line();
  line(colors.bold(`Done in ${seconds.toFixed(1)} s`));
  if (kept === undefined) {
    line("  Its files are removed. To keep them, and to go on with the session:");
    line(`    ${program} demo --keep`);
  } else {
    const { agentId, userId, sessionId } = demoSlot;
    const store = shellWord(`json:${kept.store}`);
    const whose = `--store ${store} --agent ${agentId} --user ${userId}`;
    const workspace = shellWord(kept.workspace);
    line(`  Its files are in ${kept.directory}`);
    line("  To look at the session, and to go on with it:");
    line(`    ${program} sessions show ${sessionId} ${whose}`);
    line(`    ${program} chat --session ${sessionId} --workspace ${workspace} ${whose}`);
  }
  line("  To talk to an agent, with a key in the environment to a real model:");
  line(`    ${program} chat`);
  line("  Everything else:");
  line(`    ${program} --help`);
}

/** What `--json` prints. */
function report(outcome: Outcome, seconds: number, kept: Stage | undefined): object {
  return {
    ...outcome,
    seconds: Math.round(seconds * 10) / 10,
    ...(kept !== undefined && { directory: kept.directory }),
  };
}
