import { expect, test } from "vitest";
import { TokenLedger, type WrittenRequest } from "../../bench/src/replay/token-ledger.js";
import { messageTokens, replyTokens, tokensOf } from "../../bench/src/replay/tokens.js";

const request = (...messages: string[]): WrittenRequest => ({
  purpose: "reasoning",
  fixedPart: "system prompt and tools",
  messages,
});

function send(ledger: TokenLedger, sent: WrittenRequest) {
  const tokens = ledger.count(sent);
  ledger.book(sent, tokens, 7);
  return tokens;
}

test("what a request has in common with any earlier one, from its start, costs a tenth", () => {
  const ledger = new TokenLedger(100);
  send(ledger, request("first", "second"));
  send(ledger, request("other"));
  const tokens = send(ledger, request("first", "second", "third thing"));
  const [fixed, old, fresh] = [
    tokensOf("system prompt and tools"),
    messageTokens("first") + messageTokens("second"),
    messageTokens("third thing"),
  ];
  expect(tokens).toEqual({
    fixed,
    fixedCached: true,
    messages: old + fresh + replyTokens,
    messagesCached: old,
  });
  const all = ledger.totals("reasoning");
  const other = messageTokens("other");
  expect(all.requests).toBe(3);
  expect(all.output).toBe(21);
  expect(all.input).toBe(3 * (fixed + replyTokens) + 2 * old + other + fresh);
  expect(all.cached).toBe(2 * fixed + old);
  expect(all.billed).toBeCloseTo(1.2 * fixed + 1.1 * old + other + fresh + 3 * replyTokens);
  expect(all.billedAlike).toBeCloseTo(1.2 * 100 + 1.1 * old + other + fresh + 3 * replyTokens);
});

test("a message behind one that differs is not cached", () => {
  const ledger = new TokenLedger(100);
  send(ledger, request("first", "second", "third"));
  expect(send(ledger, request("changed", "second", "third")).messagesCached).toBe(0);
});

test("another system prompt has nothing in common with what was sent", () => {
  const ledger = new TokenLedger(100);
  send(ledger, request("first"));
  const tokens = send(ledger, { ...request("first"), fixedPart: "" });
  expect(tokens).toMatchObject({ fixed: 0, fixedCached: false, messagesCached: 0 });
});

test("a request that was only counted is neither billed nor cached", () => {
  const ledger = new TokenLedger(100);
  ledger.count(request("refused"));
  expect(ledger.totals("reasoning").requests).toBe(0);
  expect(ledger.count(request("refused"))).toMatchObject({ fixedCached: false, messagesCached: 0 });
});
