import { describeSlot } from "@holdfast/core/store-kit";
import { plural } from "../terminal/format.js";
import { type Progress, progress } from "../terminal/progress.js";
import { safeLine } from "../terminal/safe-text.js";
import type { Terminal } from "../terminal/terminal.js";
import type { MigrationEvent } from "./migration.js";
import type { MigrationReport } from "./migration-report.js";
import type { SessionOutcome } from "./session-outcome.js";

/** Minimum time between two progress events. */
const TOLD_EVERY_MS = 100;

/** Shows a migration: a progress bar and lines, or NDJSON. */
export class MigrationView {
  readonly #terminal: Terminal;
  readonly #startedAt: number = performance.now();
  #bar: Progress | undefined;
  #sessions = 0;
  #toldAt = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show(event: MigrationEvent): void {
    switch (event.type) {
      case "sessions":
        this.#bar?.stop();
        this.#sessions = event.sessions;
        this.#bar = progress(this.#terminal, {
          total: event.sessions,
          label: event.pass === 1 ? "sessions" : `sessions, pass ${event.pass}`,
        });
        this.#json({ type: "pass", pass: event.pass, sessions: event.sessions });
        return;
      case "done":
        this.#tell(event);
        return;
      case "outcome":
        if (event.isProblem) this.#problem(event.outcome);
    }
  }

  /** Prints a line above the progress bar. */
  note(text: string): void {
    this.#terminal.warn(text);
  }

  /** Prints the report. */
  end(report: MigrationReport, goOn: string): void {
    this.#bar?.stop();
    const durationMs = Math.round(performance.now() - this.#startedAt);
    if (this.#terminal.isJson) {
      this.#terminal.json(reportJson(report, durationMs));
      return;
    }
    const { verified, outcomes, passes } = report;
    const counted = Object.entries(outcomes).filter(([, count]) => count > 0);
    this.#terminal.line(
      counted.map(([kind, count]) => `${count} ${kind}`).join(", ") || "no sessions",
    );
    this.#terminal.line(
      `verified: ${verified.sessions} sessions, ${verified.messages} messages, ${verified.records} log records, ${verified.blobs} long texts, ${size(verified.bytes)}; ${passes} ${passes === 1 ? "pass" : "passes"} in ${seconds(durationMs)}`,
    );
    for (const slot of report.changing.slice(0, 20))
      this.#terminal.line(`still changing: ${safeLine(describeSlot(slot))}`);
    if (report.subagentSessions > 0) this.#terminal.line(tasksText(report.subagentSessions));
    if (goOn !== "") this.#terminal.line(goOn);
  }

  stop(): void {
    this.#bar?.stop();
  }

  #tell({ pass, done, bytes }: Extract<MigrationEvent, { readonly type: "done" }>): void {
    const now = performance.now();
    if (done < this.#sessions && now - this.#toldAt < TOLD_EVERY_MS) return;
    this.#toldAt = now;
    const perSecond = (1_000 * bytes) / Math.max(now - this.#startedAt, 1);
    this.#bar?.update(done, `${size(bytes)}, ${size(perSecond)}/s`);
    this.#json({ type: "progress", pass, done, sessions: this.#sessions, bytes });
  }

  #problem(outcome: SessionOutcome): void {
    this.#json({ type: "session", ...outcomeJson(outcome) });
    if (this.#terminal.isJson) return;
    const { kind, slot, reason, source, target } = outcome;
    const sides =
      source && target
        ? ` (source ${source.messages} messages at ${source.revision ?? "no state"}, target ${target.messages} at ${target.revision ?? "no state"})`
        : "";
    this.note(`${kind}: ${describeSlot(slot)}${reason ? `: ${reason}` : ""}${sides}`);
  }

  #json(value: object): void {
    if (this.#terminal.isJson) this.#terminal.json(value);
  }
}

/** Says what is missing on the target where agents have subagents. */
function tasksText(sessions: number): string {
  return `${plural(sessions, "session")} of subagents among them: the records of their tasks are not moved, and neither are open background tasks`;
}

function size(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1_000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

/** Converts an outcome to its documented JSON form. */
function outcomeJson(outcome: SessionOutcome): object {
  const { kind, slot, reason, summary, source, target } = outcome;
  return {
    outcome: kind,
    slot,
    ...(reason !== undefined && { reason }),
    ...(summary !== undefined && { summary }),
    ...(source !== undefined && { source }),
    ...(target !== undefined && { target }),
  };
}

/** Converts a report to the last line of `--json`. */
function reportJson(report: MigrationReport, durationMs: number): object {
  const { outcomes, verified, passes, problems, changing } = report;
  const { changingSessions, subagentSessions, isInterrupted } = report;
  return {
    type: "summary",
    outcomes,
    verified,
    passes,
    problems: problems.map(outcomeJson),
    changing,
    changingSessions,
    subagentSessions,
    interrupted: isInterrupted,
    durationMs,
  };
}
