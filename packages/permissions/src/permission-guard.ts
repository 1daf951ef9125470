import { homedir } from "node:os";
import type {
  AgentState,
  PermissionMode,
  PermissionRule,
  ToolDecision,
  ToolGuard,
  ToolSubject,
} from "@holdfast/core";
import type { GuardedCall } from "@holdfast/core/plugin-kit";
import { decide } from "./decide.js";
import { openedPaths } from "./opened-files.js";
import { realPathOf } from "./path/real-path-of.js";
import type { PermissionSettings } from "./permissions-options.js";

/** Tools of `@holdfast/workspace` whose path rules also hold for files that a command opens by redirection. */
const fileTools = { reads: ["read_file"], writes: ["write_file", "edit_file"] };

/** Guard of `permissions`: gathers what a decision depends on, from the options, the session and its user. */
export class PermissionGuard implements ToolGuard {
  readonly considers = ["needsApproval", "permissionMode"] as const;
  readonly #settings: PermissionSettings;
  readonly #ruleProblem: (rule: PermissionRule) => string | null;

  constructor(settings: PermissionSettings, ruleProblem: (rule: PermissionRule) => string | null) {
    this.#settings = settings;
    this.#ruleProblem = ruleProblem;
  }

  ruleProblem(rule: PermissionRule): string | null {
    return this.#ruleProblem(rule);
  }

  async check(guarded: GuardedCall): Promise<ToolDecision> {
    const { tool, ctx } = guarded;
    const { rules, workingDirectories } = this.#settings;
    const context = ctx.agentState?.permissionContext;
    const subjects = await this.#subjects(guarded);
    const input = {
      mode: ctx.agentState ? this.modeOf(ctx.agentState) : this.#settings.mode,
      rules: {
        allow: [...rules.allow, ...(context?.allow ?? [])],
        ask: [...rules.ask, ...(context?.ask ?? [])],
        deny: [...rules.deny, ...(context?.deny ?? [])],
      },
      workingDirectories: [...workingDirectories, ...(context?.workingDirectories ?? [])],
      tool: { name: tool.name, readOnly: tool.readOnly, hasSubject: tool.permission !== undefined },
      subjects,
      toolCheck: (await needsApproval(guarded)) ? ("ask" as const) : null,
      fileTools: { ...fileTools, realPaths: await this.#realPaths(subjects) },
      root: this.#root,
      home: homedir(),
    };
    const decision = decide(input);
    // The user's rules are in another store: they are read only where they make a difference.
    const isSettled = decision.decision === "deny" && input.mode !== "dont_ask";
    if (decision.decision === "allow" || isSettled) return decision;
    const ofUser = (await guarded.remembered()).filter(({ scope }) => scope === "user");
    if (ofUser.length === 0) return decision;
    const allow = [...input.rules.allow, ...ofUser];
    return decide({ ...input, rules: { ...input.rules, allow } });
  }

  modeOf(state: AgentState): PermissionMode {
    const { mode, isModeSet = mode !== "default" } = state.permissionContext;
    return isModeSet ? mode : this.#settings.mode;
  }

  /** Asks the tool what the call acts on; paths get their real form where the tool does not tell it. */
  async #subjects({ tool, input, slot }: GuardedCall): Promise<readonly ToolSubject[]> {
    if (!tool.permission) return [];
    const told = await tool.permission.subject(input as never, { slot });
    const subjects = Array.isArray(told) ? (told as readonly ToolSubject[]) : [told as ToolSubject];
    return Promise.all(
      subjects.map(async (subject) =>
        subject.kind === "path" && subject.real === undefined
          ? { ...subject, real: await realPathOf(this.#root, subject.value) }
          : subject,
      ),
    );
  }

  /** Directory that paths begin in, for tools that do not resolve theirs. */
  get #root(): string {
    return this.#settings.root ?? process.cwd();
  }

  /** Returns the real paths of what commands open; undefined when it is not known where they start. */
  async #realPaths(
    subjects: readonly ToolSubject[],
  ): Promise<ReadonlyMap<string, string> | undefined> {
    const { root } = this.#settings;
    if (root === undefined) return undefined;
    const paths = subjects.flatMap((subject) =>
      subject.kind === "command" ? openedPaths(subject) : [],
    );
    const real = paths.map(async (path) => [path, await realPathOf(root, path)] as const);
    return new Map(await Promise.all(real));
  }
}

async function needsApproval({ tool, input, ctx }: GuardedCall): Promise<boolean> {
  const { needsApproval: needs = false } = tool;
  return typeof needs === "function" ? needs(input as never, ctx) : needs;
}
