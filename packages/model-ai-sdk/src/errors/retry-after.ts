import type { ErrorFacts } from "./error-facts.js";

/** How long the provider asks to wait: by header, in Google's details, or in words. */
export function retryAfterMs({ headers, words }: ErrorFacts, now: number): number | undefined {
  const ms = leadingNumber(headers["retry-after-ms"]);
  if (ms !== undefined) return Math.ceil(ms);
  const after = headers["retry-after"];
  const seconds = leadingNumber(after);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  // A date has letters; `Date.parse` makes something of most numbers as well.
  const date = /[a-z]/i.test(after ?? "") ? Date.parse(after ?? "") : Number.NaN;
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  const said =
    /"retryDelay": ?"(\d+(?:\.\d+)?s)"/.exec(words) ??
    /(?:try again|retry) in ((?:\d+(?:\.\d+)?(?:ms|[hms]))+)/i.exec(words);
  return said?.[1] === undefined ? undefined : durationMs(said[1]);
}

/** The number a header is; one that came twice is joined by a comma. */
function leadingNumber(header: string | undefined): number | undefined {
  const value = Number(/^\s*(\d+(?:\.\d+)?)\s*(?:,|$)/.exec(header ?? "")?.[1]);
  return Number.isFinite(value) ? value : undefined;
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** "9m38.016s" in milliseconds. */
function durationMs(text: string): number {
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(ms|[hms])/g))
    total += Number(amount) * (units[unit ?? ""] ?? 0);
  return Math.ceil(total);
}
