import { connect } from "node:net";
import { StoreUnavailableError } from "@holdfast/core";
import type { ServerStoreUrl } from "./store-url.js";

/** Longest time to wait for a connection in an interactive command. */
export const CONNECT_TIMEOUT_MS = 3_000;

/**
 * Checks that the server accepts connections. The store's own commands would retry until their deadline, which is right for
 * a service and too long for a mistyped port.
 *
 * @throws StoreUnavailableError
 */
export function checkReachable({ url, host, port }: ServerStoreUrl): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      socket.destroy();
      reject(
        new StoreUnavailableError(
          `${url}: ${why}; see that the server runs, and that host and port are right`,
        ),
      );
    };
    const socket = connect({ host, port, timeout: CONNECT_TIMEOUT_MS });
    socket.once("connect", () => {
      socket.destroy();
      resolve();
    });
    socket.once("timeout", () => fail(`no answer within ${CONNECT_TIMEOUT_MS / 1_000} s`));
    socket.once("error", (error: NodeJS.ErrnoException) =>
      fail(reasons[error.code ?? ""] ?? "not reached"),
    );
  });
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "the name could not be looked up",
  EHOSTUNREACH: "no way to that host",
  ENETUNREACH: "no way to that network",
};
