import type { ErrorFacts } from "./error-facts.js";

/** How long the provider asks to wait: by header, in Google's details, or in words. */
export function retryAfterMs({ headers, words }: ErrorFacts, now: number): number | undefined {
  const ms = Number.parseFloat(headers["retry-after-ms"] ?? "");
  if (Number.isFinite(ms) && ms >= 0) return Math.ceil(ms);
  const after = headers["retry-after"]?.trim();
  if (after !== undefined && /^\d+(\.\d+)?$/.test(after)) return Math.ceil(Number(after) * 1000);
  const date = Date.parse(after ?? "");
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  const said =
    /"retryDelay": ?"([\d.]+s)"/.exec(words) ??
    /(?:try again|retry) in ((?:[\d.]+(?:ms|[hms]))+)/i.exec(words);
  return said?.[1] === undefined ? undefined : durationMs(said[1]);
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** "9m38.016s" in milliseconds. */
function durationMs(text: string): number {
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(ms|[hms])/g))
    total += Number(amount) * (units[unit ?? ""] ?? 0);
  return Math.ceil(total);
}
