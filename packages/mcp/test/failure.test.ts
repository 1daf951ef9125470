import { describe, expect, test } from "vitest";
import { failureOf } from "../src/connection/failure.js";
import { redactor } from "../src/connection/redactor.js";

const kindOf = (cause: object) =>
  failureOf(new TypeError("fetch failed", { cause: Object.assign(new Error(), cause) }), String)
    .kind;

describe("a request that the network failed", () => {
  test.each([
    { code: "ECONNREFUSED" },
    { code: "ENOTFOUND", syscall: "getaddrinfo" },
    { code: "EHOSTUNREACH", syscall: "connect" },
    { code: "ETIMEDOUT", syscall: "connect" },
    { code: "CERT_HAS_EXPIRED" },
  ])("before it was on its way was certainly not sent: %o", (cause) => {
    expect(kindOf(cause)).toBe("not_sent");
  });

  test.each([
    { code: "ECONNRESET", syscall: "read" },
    { code: "EHOSTUNREACH", syscall: "read" },
    { code: "ENETUNREACH", syscall: "write" },
    { code: "ETIMEDOUT", syscall: "read" },
    { code: "ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC" },
    { code: "UND_ERR_SOCKET" },
  ])("when it was on its way may have run: %o", (cause) => {
    expect(kindOf(cause)).toBe("lost");
  });
});

test("what a server was given in confidence is blanked out, wherever it was put", () => {
  const url = new URL("https://mcp.example/api/key-0123456789abcdef/mcp?token=hunter2");
  const headers = { Authorization: "Bearer swordfish" };
  const redact = redactor({ kind: "http", url, headers });
  const said = "no /api/key-0123456789abcdef/mcp for swordfish or hunter2";
  expect(redact(said)).toBe("no /api/[redacted]/mcp for [redacted] or [redacted]");
});
