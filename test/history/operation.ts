import type { OnBusy, PendingCall, ReplyReason } from "@holdfast/core";

/** Operation that a client asks a node for. */
export type Operation = { readonly op: string; readonly session: string } & (
  | ({
      readonly kind: "call";
      readonly question: string;
      readonly input: string;
    } & CallSettings)
  /** Answers open tool calls with `{ confirm }` or `{ results }`. */
  | ({
      readonly kind: "settle";
      readonly approve: boolean;
      /** Result of the calls that ran outside. */
      readonly result: string;
    } & CallSettings)
  | {
      readonly kind: "interrupt";
      readonly message?: string | undefined;
      readonly callId?: string | undefined;
    }
  | { readonly kind: "resume"; readonly callId?: string | undefined }
  | { readonly kind: "update"; readonly note: string }
  | { readonly kind: "compact" }
  | { readonly kind: "delete" }
  | { readonly kind: "unfinished" }
);

/** Settings of an operation that runs a turn. */
export interface CallSettings {
  readonly callId?: string | undefined;
  readonly onBusy?: OnBusy | undefined;
  readonly abortAfterMs?: number | undefined;
  /** The first model request fails. */
  readonly fail?: boolean | undefined;
  readonly streamed?: boolean | undefined;
}

/** An operation as a client makes it, before it has an id. */
export type NewOperation = Operation extends infer O
  ? O extends Operation
    ? Omit<O, "op">
    : never
  : never;

/** Reply of a turn, as its caller saw it. */
export interface ToldReply {
  readonly reason: ReplyReason;
  readonly text: string;
  readonly callId: string;
  readonly pending?: readonly PendingCall[] | undefined;
}

/** Result of an operation; `lost` when its node ended before it answered. */
export interface Told {
  readonly reply?: ToldReply | null | undefined;
  /** Text that a streamed call streamed. */
  readonly streamed?: string;
  readonly error?: { readonly code: string; readonly name: string; readonly message: string };
  /** Answer of `interrupt`; a boolean in releases before runs had an identity. */
  readonly interrupted?: boolean | "stopped" | "queued" | "closed_asks";
  readonly compacted?: boolean;
  readonly deleted?: boolean;
  readonly unfinished?: readonly string[];
  readonly nothingOpen?: boolean;
  readonly unsupported?: boolean;
  /** Time that the lease was still valid when the operation failed. */
  readonly leftMs?: number | undefined;
  readonly lost?: boolean;
}

/** An operation with what its caller was told, and when, by the machine's monotonic clock. */
export interface DoneOperation {
  readonly operation: Operation;
  readonly node: string;
  readonly start: number;
  readonly end: number;
  readonly told: Told;
}
