import type { AgentState, Filesystem, PluginState, Slot } from "@holdfast/core";
import * as s from "@holdfast/core/plugin-kit/schema";
import { pathSegment } from "@holdfast/core/store-kit";

/** Part of a session's state that holds the plan when there is no filesystem. */
export type KeptPlan = { readonly plan: string | null };

/** Schema of {@link KeptPlan}. */
export const keptPlanSchema: s.Schema<KeptPlan> = s.object({ plan: s.string().nullable() });

/** Parts of a {@link PlanKeeper}. */
export interface PlanKeeperParts {
  /** Returns the agent's filesystem, if it has one. */
  filesystem(): Filesystem | undefined;
  readonly kept: PluginState<KeptPlan>;
  readonly directory: string;
}

/** Keeps the plan of each session: in a file of its user, or in the session's state when there is no filesystem. */
export class PlanKeeper {
  readonly #parts: PlanKeeperParts;

  constructor(parts: PlanKeeperParts) {
    this.#parts = parts;
  }

  /** Returns the path of a session's plan; null when it is kept in the state. */
  path({ sessionId }: Slot): string | null {
    const { filesystem, directory } = this.#parts;
    return filesystem() ? `${directory}/${pathSegment(sessionId)}.md` : null;
  }

  /** Returns the plan of a session; null when there is none, or nothing in it. */
  async read(slot: Slot, state: AgentState): Promise<string | null> {
    const path = this.path(slot);
    if (path === null) return filled(this.#parts.kept.get(state).plan);
    const bytes = await this.#parts.filesystem()?.read(slot, path);
    return filled(bytes ? new TextDecoder().decode(bytes) : null);
  }

  /**
   * Replaces the plan of a session.
   *
   * @throws StateTooLargeError when it is kept in the state and does not fit
   */
  async write(slot: Slot, state: AgentState, plan: string): Promise<void> {
    const path = this.path(slot);
    if (path === null) this.#parts.kept.set(state, { plan });
    else await this.#parts.filesystem()?.write(slot, path, new TextEncoder().encode(plan));
  }

  /** Deletes the plan file of a session that is deleted; a plan in the state goes with it. */
  async delete(slot: Slot): Promise<void> {
    const path = this.path(slot);
    if (path !== null) await this.#parts.filesystem()?.delete(slot, path);
  }
}

function filled(plan: string | null): string | null {
  return plan === null || plan.trim() === "" ? null : plan;
}
