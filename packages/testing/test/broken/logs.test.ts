import type { LogRecord, Slot } from "@holdfast/core";
import {
  type LogDraft,
  type LogFinds,
  type LogQuery,
  type LogRange,
  type LogSessionPage,
  type LogSessionQuery,
  slotText,
} from "@holdfast/core/store-kit";
import { conversationLogCases } from "../../src/conversation-log/describe-conversation-log.js";
import { ReferenceLog } from "../reference/reference-log.js";
import { catches } from "./catches.js";

function casesOf(
  log: new (slots?: ReferenceLog["slots"]) => ReferenceLog,
): ReturnType<typeof conversationLogCases> {
  return conversationLogCases({
    create: () => new log(),
    reopen: (first) => new log((first as ReferenceLog).slots),
    breakBackend(broken) {
      (broken as ReferenceLog).broken = true;
    },
  });
}

class Doubles extends ReferenceLog {
  protected override isNew(): boolean {
    return true;
  }
}
catches("doubling", casesOf(Doubles), "at once or much later, is not doubled");
catches("doubling", casesOf(Doubles), "given twice in one append");
catches("doubling", casesOf(Doubles), "repeated through another instance");

class RemembersTen extends ReferenceLog {
  protected override isNew(log: { lines: string[] }, record: LogDraft): boolean {
    return !log.lines.slice(-10).some((line) => JSON.parse(line).id === record.id);
  }
}
catches("remembering ten ids", casesOf(RemembersTen), "at once or much later, is not doubled");

class KnowsOnlyItsOwn extends ReferenceLog {
  readonly #own = new Set<string>();
  protected override isNew(_log: unknown, record: LogDraft): boolean {
    const isNew = !this.#own.has(record.id);
    this.#own.add(record.id);
    return isNew;
  }
}
catches("ids kept per instance", casesOf(KnowsOnlyItsOwn), "repeated through another instance");

class OldestFirst extends ReferenceLog {
  override async read(slot: Slot, range: LogRange = {}): Promise<readonly LogRecord[]> {
    return super.read(slot, range.before === undefined ? { after: -1, ...range } : range);
  }
}
catches("the oldest for the newest", casesOf(OldestFirst), "read returns the newest 100");

class Inclusive extends ReferenceLog {
  override async read(slot: Slot, range: LogRange = {}): Promise<readonly LogRecord[]> {
    const { after, ...rest } = range;
    return super.read(slot, after === undefined ? rest : { ...rest, after: after - 1 });
  }
}
catches("after as from", casesOf(Inclusive), "after returns the oldest newer ones");

class SharedBlobs extends ReferenceLog {
  override async readBlob(_slot: Slot, ref: string): Promise<string | null> {
    for (const { blobs } of this.slots.values()) if (blobs.has(ref)) return blobs.get(ref) ?? null;
    return null;
  }
}
catches("blobs of everybody", casesOf(SharedBlobs), "a blob belongs to its slot");

class CutsBlobs extends ReferenceLog {
  override async readBlob(slot: Slot, ref: string): Promise<string | null> {
    return (await super.readBlob(slot, ref))?.slice(0, 65_536) ?? null;
  }
}
catches("cut blobs", casesOf(CutsBlobs), "long text comes back whole");

class SeesEverybody extends ReferenceLog {
  protected override sees(query: Omit<LogQuery, "text">, slot: Slot): boolean {
    return slot.agentId === query.agentId;
  }
}
catches(
  "searching everybody",
  casesOf(SeesEverybody),
  "the named agent's and user's sessions only",
);
catches("listing everybody", casesOf(SeesEverybody), "lists the sessions of a user with an agent");

class WithoutNext extends ReferenceLog {
  override async search(query: LogQuery): Promise<LogFinds> {
    return { hits: (await super.search(query)).hits };
  }
}
catches("a search without next", casesOf(WithoutNext), "says where to go on");

class SearchMoves extends ReferenceLog {
  protected readonly by: number = 0;
  override async search(query: LogQuery): Promise<LogFinds> {
    const { before } = query;
    return super.search({ ...query, before: before && { ...before, seq: before.seq + this.by } });
  }
}
class SearchOverlaps extends SearchMoves {
  protected override readonly by = 1;
}
catches("a search that goes on from its last hit", casesOf(SearchOverlaps), "where to go on");

class SearchSkips extends SearchMoves {
  protected override readonly by = -2;
}
catches("a search that skips a record", casesOf(SearchSkips), "where to go on");

class BeginsAgain extends ReferenceLog {
  override async search({ before: _, ...query }: LogQuery): Promise<LogFinds> {
    return super.search(query);
  }
}
catches("a search that begins again", casesOf(BeginsAgain), "where to go on");

class EndsWithItsSession extends ReferenceLog {
  override async search(query: LogQuery): Promise<LogFinds> {
    return super.search({ ...query, sessionId: query.sessionId ?? query.before?.sessionId });
  }
}
catches("going on in one session only", casesOf(EndsWithItsSession), "where to go on");

class FindsOldestFirst extends ReferenceLog {
  protected override inOrder(records: readonly LogRecord[]): readonly LogRecord[] {
    return records;
  }
}
catches("hits in the wrong order", casesOf(FindsOldestFirst), "the newest records come first");

class ListsDeleted extends ReferenceLog {
  override async delete(slot: Slot): Promise<boolean> {
    const log = this.slots.get(slotText(slot));
    log?.ids.clear();
    log?.blobs.clear();
    return (log?.lines.splice(0).length ?? 0) > 0;
  }
}
catches("listing deleted sessions", casesOf(ListsDeleted), "whose log was deleted is not listed");
catches("listing deleted sessions", casesOf(ListsDeleted), "a delete is seen by a second instance");

class ListingOverlaps extends ReferenceLog {
  override async sessions(query: LogSessionQuery): Promise<LogSessionPage> {
    const page = await super.sessions(query);
    const last = page.sessions.at(-1)?.slot.sessionId;
    return page.cursor === undefined ? page : { ...page, cursor: last };
  }
}
catches("overlapping pages", casesOf(ListingOverlaps), "lists sessions page by page, each once");

class ListingSkips extends ReferenceLog {
  override async sessions(query: LogSessionQuery): Promise<LogSessionPage> {
    const page = await super.sessions(query);
    return query.cursor === undefined ? page : { ...page, sessions: page.sessions.slice(1) };
  }
}
catches("pages that skip", casesOf(ListingSkips), "lists sessions page by page, each once");

class OnePage extends ReferenceLog {
  override async sessions(query: LogSessionQuery): Promise<LogSessionPage> {
    return { sessions: (await super.sessions(query)).sessions };
  }
}
catches("one page only", casesOf(OnePage), "lists sessions page by page, each once");

class ListsNobodys extends ReferenceLog {
  override async sessions(query: LogSessionQuery): Promise<LogSessionPage> {
    return query.userId === null ? { sessions: [] } : super.sessions(query);
  }
}
catches("listing nobody's sessions", casesOf(ListsNobodys), "a listing without a user is refused");

class NoSessionsForErrors extends ReferenceLog {
  override async sessions(query: LogSessionQuery): Promise<LogSessionPage> {
    return super.sessions(query).catch(() => ({ sessions: [] }));
  }
}
catches("no sessions for errors", casesOf(NoSessionsForErrors), "an outage fails every method");
catches("no sessions for errors", casesOf(NoSessionsForErrors), "is refused by every method");

class Patterns extends ReferenceLog {
  protected override matches(text: string, wanted: string): boolean {
    return new RegExp(wanted.replaceAll("[", "\\[").replaceAll("(", "\\(")).test(text);
  }
}
catches("text as a pattern", casesOf(Patterns), "characters that patterns use");

class AnonymousForAll extends ReferenceLog {
  override async search(query: LogQuery) {
    return super.search({ ...query, sessionId: query.sessionId ?? "any" });
  }
}
catches("all anonymous sessions", casesOf(AnonymousForAll), "without a user must name a session");

class KeepsBlobs extends ReferenceLog {
  override async delete(slot: Slot): Promise<boolean> {
    const log = [...this.slots.values()].find((each) => each.slot.sessionId === slot.sessionId);
    return (log?.lines.splice(0).length ?? 0) > 0;
  }
}
catches("blobs left behind", casesOf(KeepsBlobs), "delete removes records and blobs");

class EmptyForErrors extends ReferenceLog {
  override async read(slot: Slot, range?: LogRange): Promise<readonly LogRecord[]> {
    return super.read(slot, range).catch(() => []);
  }
}
catches("an empty log for errors", casesOf(EmptyForErrors), "an outage fails every method");
