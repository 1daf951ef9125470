import { chores } from "./chores.js";
import type { Turn } from "./turn.js";

/** Turns of the whole session. */
export const defaultTurns = 200;
/** Fewer have no room for what is to be shown. */
export const leastTurns = 60;
/** More show nothing else, and take minutes. */
export const mostTurns = 5_000;

/** Said at the beginning, and asked for when it has long left the context. */
const decision =
  "Decision: fares are rounded to five cents, because the ticket machine at Skarv takes no smaller coins.";

/** Turns with something to show, and after which part of the session they come. */
const scenes: readonly (readonly [part: number, turn: Turn])[] = [
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

/** A session of so many turns: the scenes where they belong, and the day's work between them. */
export function storyOf(turns: number): Turn[] {
  const work = chores();
  const story: Turn[] = [];
  const waiting = [...scenes];
  while (story.length < turns) {
    const [part, scene] = waiting[0] ?? [1, undefined];
    if (scene !== undefined && story.length >= Math.floor(part * turns)) {
      waiting.shift();
      story.push(scene);
    } else story.push({ says: work.next().value as string });
  }
  return story;
}

function holds(promise: string, ...texts: string[]): NonNullable<Turn["expects"]> {
  return { holds: texts, promise };
}
