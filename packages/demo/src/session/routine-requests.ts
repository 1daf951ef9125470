/** Modules of the sample project, each with a name to search for. */
const modules: readonly (readonly [name: string, symbol: string])[] = [
  ["clock", "formatTime"],
  ["routes", "routesFrom"],
  ["ships", "hasRoom"],
  ["timetable", "dayPlan"],
  ["calendar", "isServiceDay"],
  ["tides", "clearance"],
  ["weather", "maySail"],
  ["fares", "passengerFare"],
  ["tickets", "sellTicket"],
  ["bookings", "keyOf"],
  ["announcements", "announce"],
  ["report", "takings"],
];

/** Names used in one module only, so that the project still works after they are renamed. */
const renames: readonly (readonly [from: string, to: string, module: string])[] = [
  ["margin", "safetyMargin", "tides"],
  ["winterBreak", "winterPause", "calendar"],
  ["scale", "beaufortScale", "weather"],
  ["lastNumber", "lastSold", "tickets"],
  ["today", "laterToday", "timetable"],
  ["period", "tidePeriod", "tides"],
  ["known", "alreadySaid", "announcements"],
  ["sums", "sumByRoute", "report"],
];

/** Remarks that belong in the long-term memory. */
const statements: readonly string[] = [
  "Rule: a function that refuses says why, in words for the loudspeaker.",
  "Keep in mind: the Gannet is in the yard in the second week of October.",
  "Decision: the winter break stays in the code, because it changes every ten years.",
  "Fact: the gauge at Farne reads eight centimetres too high.",
  "From now on, every new module gets a page in docs/reference.",
  "Decision: islanders pay forty percent, and the council pays the rest.",
  "Rule: nobody edits data/routes.json on a Friday.",
  "Fact: the auditor wants the records by the fifteenth of January.",
];

/** Requests of each round, made for one module after another. */
const rounds: readonly ((name: string, symbol: string) => string)[] = [
  (name) => `Outline src/${name}.js.`,
  (_, symbol) => `Find ${symbol} in src.`,
  (name) => `Read src/${name}.js.`,
  (name) => `Document src/${name}.js in docs/reference/${name}.md.`,
  (name) => `How many lines has src/${name}.js?`,
  (name) => `Read docs/reference/${name}.md lines 1 to 12.`,
  (_, symbol) => `Find ${symbol} in test.`,
];

/** Generates an endless list of requests, the same every time. */
export function* routineRequests(): Generator<string> {
  let said = 0;
  for (let round = 0; ; round++) {
    const ask = rounds[round % rounds.length] as (typeof rounds)[number];
    for (const [index, [name, symbol]] of modules.entries()) {
      yield ask(name, symbol);
      const rename = index % 6 === 3 ? renames[said++ >> 1] : undefined;
      if (rename !== undefined) yield `Rename ${rename[0]} to ${rename[1]} in src/${rename[2]}.js.`;
      const statement = index % 6 === 5 ? statements[said++ >> 1] : undefined;
      if (statement !== undefined) yield statement;
    }
  }
}
