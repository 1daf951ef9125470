/** Events of `toolResultEviction()`. */
export interface EvictionEvents {
  /** A result was too large for the context and can be read at `reference`. */
  readonly tool_result_evicted: {
    readonly toolCallId: string;
    readonly name: string;
    readonly chars: number;
    readonly reference: string;
  };
}

declare module "@holdfast/core" {
  interface EventTypes extends EvictionEvents {}
}
