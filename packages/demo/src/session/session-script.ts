import { routineRequests } from "./routine-requests.js";

/** Texts that the answer to a turn must contain. */
export interface Expectation {
  readonly holds: readonly string[];
  /** Named in the report when one of them is missing. */
  readonly promise: string;
}

/** One request of the user. */
export interface ScriptedTurn {
  readonly says: string;
  readonly expects?: Expectation | undefined;
  /** Kill the process while this is being answered. */
  readonly isKilled?: true | undefined;
  /** Statement this turn asks for; it must have left the context by then. */
  readonly asksFor?: string | undefined;
}

/** Said in turn 3, and asked for long after it has left the context. */
const decision =
  "Decision: fares are rounded to five cents, because the ticket machine at Skarv takes no smaller coins.";

/** Turns that show something, each with the part of the session after which it comes. */
const showcaseTurns: readonly (readonly [part: number, turn: ScriptedTurn])[] = [
  [0, { says: "Hello." }],
  [0, { says: "What files are there in src?", expects: holds("files are listed", "tides.js") }],
  [0, { says: decision }],
  [0, { says: "Note that the harbour master of Tern is called Ingrid Vik." }],
  [0.02, { says: "Document src/fares.js in docs/reference/fares.md." }],
  [0.04, { says: "Document src/tides.js in docs/reference/tides.md." }],
  [0.12, { says: 'Call fetch_departures with {"year": 2025}.' }],
  [
    0.14,
    {
      says: "Find 2025-08-14,06:10 in the large result.",
      expects: holds("an evicted result can be searched", "deer on the ramp"),
    },
  ],
  [
    0.55,
    {
      says: "Rename roundToFive to roundToFiveCents in src/fares.js.",
      expects: holds("a call that was killed goes on", "roundToFiveCents", "2 occurrences"),
      isKilled: true,
    },
  ],
  [
    0.75,
    {
      says: "Find 2025-06-21,08:00 in the large result.",
      expects: holds("an evicted result can be searched after compaction", "2025-06-21,08:00"),
    },
  ],
  [
    0.9,
    {
      says: "What do you know about the harbour master of Tern?",
      expects: holds("what was noted is remembered", "Ingrid Vik"),
    },
  ],
  [
    0.97,
    {
      says: "What did we say about the ticket machine?",
      expects: holds("what was compacted away is found", `"${decision}"`),
      asksFor: decision,
    },
  ],
];

/** Returns the turns of a session: those that show something, with routine requests between them. */
export function sessionScript(turns: number): ScriptedTurn[] {
  const routine = routineRequests();
  const script: ScriptedTurn[] = [];
  const waiting = [...showcaseTurns];
  while (script.length < turns) {
    const [part, showcase] = waiting[0] ?? [1, undefined];
    if (showcase !== undefined && script.length >= Math.floor(part * turns)) {
      waiting.shift();
      script.push(showcase);
    } else script.push({ says: routine.next().value as string });
  }
  return script;
}

function holds(promise: string, ...texts: string[]): NonNullable<ScriptedTurn["expects"]> {
  return { holds: texts, promise };
}
