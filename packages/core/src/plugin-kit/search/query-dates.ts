import { plainText } from "./words.js";

/** A time that a query names, and how to grade texts by it. */
export interface QueryDate {
  /** The words of the query. */
  readonly text: string;
  /** Tells how well a time fits, from 0 to 1. People also speak of a day after it. */
  fit(at: number): number;
}

const DAY_MS = 86_400_000;
/** Days after a period in which people still speak of it, and how much those days count. */
const AFTERMATH_DAYS = 7;
const AFTERMATH_FIT = 0.5;

/** Months by their names, from January to December, in the languages whose function words are known. */
const MONTHS = `january jan januar janvier enero gennaio janeiro januari
february feb februar fevrier febrero febbraio fevereiro februari
march mar marz mars marzo marco maart
april apr avril abril aprile
may mai mayo maggio maio mei
june jun juni juin junio giugno junho
july jul juli juillet julio luglio julho
august aug aout agosto augustus
september sep sept septembre septiembre settembre setembro
october oct oktober octobre octubre ottobre outubro
november nov novembre noviembre novembro
december dec dezember decembre diciembre dicembre dezembro`;
/** Months that are also other words; they need a number or a word of time beside them. */
const AMBIGUOUS: ReadonlySet<string> = new Set([
  "may",
  "march",
  "mars",
  "mai",
  "mei",
  "sep",
  "dec",
]);
const BEFORE_MONTH =
  "(?:in|on|of|last|this|since|until|till|during|early|late|mid|by|from|before|after|around|im|en|em|a|letzten|vom|le|el|de)";

const months: ReadonlyMap<string, number> = new Map(
  MONTHS.split("\n").flatMap((line, month) =>
    line.split(" ").map((name): [string, number] => [name, month]),
  ),
);
const MONTH = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:(?:the )?(${BEFORE_MONTH}) )?(?:the )?(?:(\\d{1,2})(?:st|nd|rd|th|\\.)? (?:of |de )?)?(${[...months.keys()].sort((a, b) => b.length - a.length).join("|")})(?![\\p{L}])(?: (\\d{1,2})(?:st|nd|rd|th)?(?!\\d))?,?(?: (?:of |de )?((?:19|20)\\d\\d)\\b)?`,
  "gu",
);

/** Returns the times that a query names: `in March`, `8 May 2023`, `2023-05-08`, `2023`, `last week`, `three days ago`. */
export function queryDates(query: string, now: number): QueryDate[] {
  const text = plainText(query);
  return [...namedMonths(text, now), ...numericDates(text), ...relativeDates(text, now)];
}

function* namedMonths(text: string, now: number): Generator<QueryDate, void, void> {
  for (const match of text.matchAll(MONTH)) {
    const [whole, lead, dayBefore, name = "", dayAfter, yearText] = match;
    const month = months.get(name);
    if (month === undefined) continue;
    const day = Number(dayBefore ?? dayAfter ?? 0);
    if (AMBIGUOUS.has(name) && lead === undefined && day === 0 && yearText === undefined) continue;
    const year = yearText === undefined ? lastYearOf(lead, month, now) : Number(yearText);
    const dated = whole.trim();
    if (year === undefined) yield { text: dated, fit: (at) => anyYearFit(at, month, day) };
    else if (day > 0) yield period(dated, Date.UTC(year, month, day), DAY_MS);
    else yield between(dated, Date.UTC(year, month), Date.UTC(year, month + 1));
  }
}

/** `last May` is the one before today; a month without a year is that of any year. */
function lastYearOf(lead: string | undefined, month: number, now: number): number | undefined {
  const today = new Date(now);
  if (lead === "this") return today.getUTCFullYear();
  if (lead !== "last") return undefined;
  return today.getUTCFullYear() - (month < today.getUTCMonth() ? 0 : 1);
}

function* numericDates(text: string): Generator<QueryDate, void, void> {
  for (const [whole, year, month, day] of text.matchAll(
    /\b((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?\b/g,
  )) {
    const start = Date.UTC(Number(year), Number(month) - 1, Number(day ?? 1));
    if (day === undefined) yield between(whole, start, Date.UTC(Number(year), Number(month)));
    else yield period(whole, start, DAY_MS);
  }
  // A year of its own, not that of a date.
  for (const [whole, year] of text.matchAll(/\b(?:in|of|since|during) ((?:19|20)\d\d)\b(?!-)/g))
    yield between(whole, Date.UTC(Number(year), 0), Date.UTC(Number(year) + 1, 0));
}

const COUNTS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
const UNIT_DAYS: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30.4, year: 365.25 };

function* relativeDates(text: string, now: number): Generator<QueryDate, void, void> {
  const today = now - (now % DAY_MS);
  for (const [whole] of text.matchAll(/\b(?:yesterday|today)\b/g))
    yield period(whole, whole === "today" ? today : today - DAY_MS, DAY_MS);
  for (const [whole, which, unit = ""] of text.matchAll(
    /\b(last|past|previous|this) (week|weekend|month|year)\b/g,
  )) {
    const length = (unit === "weekend" ? 7 : (UNIT_DAYS[unit] ?? 1)) * DAY_MS;
    yield which === "this" || which === "past"
      ? period(whole, now - length, length)
      : period(whole, now - 2 * length, 2 * length);
  }
  for (const [whole, count = "", unit = ""] of text.matchAll(
    /\b(an?|\d{1,3}|two|three|four|five|six|seven|eight|nine|a couple of|a few) (day|week|month|year)s? ago\b/g,
  )) {
    const known = count.startsWith("a")
      ? count.includes("few")
        ? 3
        : count.includes("couple")
          ? 2
          : 1
      : COUNTS.indexOf(count);
    const length = (UNIT_DAYS[unit] ?? 1) * DAY_MS;
    const ago = (known > 0 ? known : Number(count)) * length;
    yield period(whole, now - ago - length / 2, length);
  }
}

function period(text: string, start: number, length: number): QueryDate {
  return between(text, start, start + length);
}

function between(text: string, start: number, end: number): QueryDate {
  const aftermath = end + AFTERMATH_DAYS * DAY_MS;
  return {
    text,
    fit: (at) => (at < start || at >= aftermath ? 0 : at < end ? 1 : AFTERMATH_FIT),
  };
}

function anyYearFit(at: number, month: number, day: number): number {
  const date = new Date(at);
  const start = Date.UTC(date.getUTCFullYear(), month, day || 1);
  const end = day > 0 ? start + DAY_MS : Date.UTC(date.getUTCFullYear(), month + 1);
  return between("", start, end).fit(at);
}
