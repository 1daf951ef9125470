import { type Revision, type Slot, StateConflictError } from "@holdfast/core";
import { type LoadedState, revisionSeq, type StateWrite, slotText } from "@holdfast/core/store-kit";
import { ReferenceStore } from "../reference/reference-store.js";
import { catches } from "./catches.js";
import { casesOf } from "./store-cases-of.js";

class LastWriterWins extends ReferenceStore {
  protected override conflicts(): boolean {
    return false;
  }
}
catches("last writer wins", casesOf(LastWriterWins), "based on an older revision is refused");
catches("last writer wins", casesOf(LastWriterWins), "a first save is refused where");
catches("last writer wins", casesOf(LastWriterWins), "many writers at once lose nothing");
catches("last writer wins", casesOf(LastWriterWins), "overwrote is refused");

class CountsOnly extends ReferenceStore {
  protected override conflicts(stored: Revision | null, expected: Revision | null): boolean {
    return revisionSeq(stored ?? "0") !== revisionSeq(expected ?? "0");
  }
}
catches("a revision that is only a number", casesOf(CountsOnly), "another token is refused");

class ChecksThenActs extends ReferenceStore {
  override async save(slot: Slot, write: StateWrite): Promise<Revision> {
    const stored = this.backend.states.get(slotText(slot));
    if ((stored?.revision ?? null) !== write.expected) throw new StateConflictError("too late");
    return super.save(slot, write);
  }
  protected override conflicts(): boolean {
    return false;
  }
}
catches("check, then act", casesOf(ChecksThenActs), "of many first saves at once exactly one");
catches("check, then act", casesOf(ChecksThenActs), "many writers at once lose nothing");
catches("check, then act", casesOf(ChecksThenActs), "many writers over two instances");

class ForgetsOps extends ReferenceStore {
  protected override remembers(): boolean {
    return false;
  }
}
catches("forgetting ops", casesOf(ForgetsOps), "a repeated save returns the same revision");
catches("forgetting ops", casesOf(ForgetsOps), "repeated through another instance");
catches("forgetting ops", casesOf(ForgetsOps), "does not double its records");

class RemembersOneOp extends ReferenceStore {
  protected override remembers(op: string): boolean {
    return [...this.backend.states.values()].some(({ ops }) => ops.at(-1)?.op === op);
  }
}
catches("remembering one op", casesOf(RemembersOneOp), "repeated after another writer's");
catches("remembering one op", casesOf(RemembersOneOp), "each of the last 16");

class TrustsExpected extends ReferenceStore {
  override async save(slot: Slot, write: StateWrite): Promise<Revision> {
    const stored = this.backend.states.get(slotText(slot));
    const fits = stored !== undefined && stored.revision === write.expected;
    return super.save(slot, fits ? { ...write, op: `${write.op}*` } : write);
  }
}
catches("ops looked at only on conflict", casesOf(TrustsExpected), "whatever revision it expects");

class SharesReferences extends ReferenceStore {
  readonly #shared = new Map<string, LoadedState>();
  override async save(slot: Slot, write: StateWrite): Promise<Revision> {
    const revision = await super.save(slot, write);
    const messages = this.apply([], { ...write, keep: 0, replace: [] });
    this.#shared.set(slotText(slot), { revision, head: write.head, messages });
    return revision;
  }
  override async load(slot: Slot): Promise<LoadedState | null> {
    return this.#shared.get(slotText(slot)) ?? null;
  }
}
catches("sharing references", casesOf(SharesReferences), "values given are copied");
catches("sharing references", casesOf(SharesReferences), "values returned are the caller's own");

class JoinsIds extends ReferenceStore {
  protected override keyOf({ agentId, userId, sessionId }: Slot): string {
    return `${agentId}/${userId}/${sessionId}`;
  }
}
catches("joining ids", casesOf(JoinsIds), "(a, b/c) is not (a/b, c)");
catches("joining ids", casesOf(JoinsIds), "no awkward id in any place of a slot");

class FoldsCase extends ReferenceStore {
  protected override keyOf(slot: Slot): string {
    return slotText(slot).toLowerCase();
  }
}
catches("ids without case", casesOf(FoldsCase), "no awkward id in any place of a slot");

class NormalisesIds extends ReferenceStore {
  protected override keyOf(slot: Slot): string {
    return slotText(slot).normalize("NFC").replace(/\d+:/g, ":");
  }
}
catches("ids normalised", casesOf(NormalisesIds), "no awkward id in any place of a slot");

class Utf8Only extends ReferenceStore {
  protected override copy(write: StateWrite): StateWrite {
    return JSON.parse(JSON.stringify(write), (_, value) =>
      typeof value === "string" ? Buffer.from(value, "utf8").toString("utf8") : value,
    );
  }
}
catches("text through UTF-8", casesOf(Utf8Only), "lone surrogates");

class PollutedKeys extends ReferenceStore {
  protected override copy(write: StateWrite): StateWrite {
    const assign = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(assign);
      if (typeof value !== "object" || value === null) return value;
      const copy: Record<string, unknown> = {};
      for (const [key, item] of Object.entries(value)) copy[key] = assign(item);
      return copy;
    };
    return assign(write) as StateWrite;
  }
}
catches("copying by assignment", casesOf(PollutedKeys), "__proto__ keys");

class ForgetsReplacements extends ReferenceStore {
  protected override apply(stored: LoadedState["messages"], write: StateWrite) {
    return super.apply(stored, { ...write, replace: [] });
  }
}
catches("ignoring replacements", casesOf(ForgetsReplacements), "whatever was edited");

class Bends extends ReferenceStore {
  protected override apply(stored: LoadedState["messages"], write: StateWrite) {
    const keep = Math.max(0, Math.min(write.keep, stored.length));
    const replace = write.replace.filter(([index]) => index >= 0 && index < keep);
    return super.apply(stored, { ...write, keep: Math.floor(keep) || 0, replace });
  }
}
catches("making misfits fit", casesOf(Bends), "does not fit what is stored is refused");
