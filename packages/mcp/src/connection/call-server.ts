import type { Slot } from "@holdfast/core";
import type { ServerSettings } from "../options/server-settings.js";
import type { Connection } from "./connection.js";

/** A connection that a tool call may use, until it is released. */
export interface UsedConnection {
  readonly connection: Connection;
  release(): void;
}

/** A server as a tool call sees it. */
export interface CallServer {
  readonly settings: ServerSettings;
  /** Reason the server is not connected, worded to follow "the server". */
  readonly awayReason: string;
  /**
   * Returns a connection for a call of a session, as soon as there is one.
   *
   * @throws AuthorizationNeeded when a person has to sign in first
   * @throws the signal's reason
   */
  use(slot: Slot, signal: AbortSignal): Promise<UsedConnection>;
}
