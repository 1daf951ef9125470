import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
} from "@modelcontextprotocol/client";

/**
 * Calls that a server was told to stop and that it has not answered. To stop is only asked of it: such a call may still run, and
 * ask something.
 */
export class GivenUpCalls {
  readonly #open = new Set<unknown>();
  readonly #givenUp = new Set<unknown>();

  get size(): number {
    return this.#givenUp.size;
  }

  sent(message: JSONRPCMessage): void {
    if (isJSONRPCRequest(message) && message.method === "tools/call") this.#open.add(message.id);
    if (!isJSONRPCNotification(message) || message.method !== "notifications/cancelled") return;
    const id = message.params?.["requestId"];
    if (this.#open.delete(id)) this.#givenUp.add(id);
  }

  received(message: JSONRPCMessage): void {
    if (!isJSONRPCResponse(message)) return;
    this.#open.delete(message.id);
    this.#givenUp.delete(message.id);
  }
}
