import type { EventBody, RuntimeContext, Task } from "@holdfast/core";

/** Events of `planning()`. */
export interface PlanningEvents {
  /** The agent has put its session into plan mode. */
  readonly plan_entered: {
    /** File of the plan; null when the plan is kept in the session's state. */
    readonly planFile: string | null;
  };
  /** The agent has written its plan, of `chars` characters. */
  readonly plan_written: { readonly planFile: string | null; readonly chars: number };
  /** A person has approved the plan, and plan mode has ended. */
  readonly plan_exited: { readonly planFile: string | null };
  /** The todo list has changed; `todos` is the whole new one. */
  readonly todos_changed: { readonly todos: readonly Task[] };
}

declare module "@holdfast/core" {
  interface EventTypes extends PlanningEvents {}
}

/** Emits the events of a running call. The context of the call carries it to the tools, which have no `emit` of their own. */
export class CallEvents {
  readonly emit: (event: EventBody) => void;

  constructor(emit: (event: EventBody) => void) {
    this.emit = emit;
  }

  /** Emits an event of the call that `ctx` belongs to. */
  static emit(ctx: RuntimeContext, event: EventBody): void {
    ctx.get(CallEvents)?.emit(event);
  }
}
