import type { AgentStateStore, DistributedStore, EventFeed, Slot } from "@holdfast/core";
import { InMemoryEventFeed } from "@holdfast/core/store-kit";
import { withEncryption } from "@holdfast/encryption";
import {
  describeAgentStateStore,
  describeConversationLog,
  describeEventFeed,
  describeKeyValueStore,
  describeSessionGate,
  describeSignalBus,
  scaled,
} from "@holdfast/testing";
import { freshOptions } from "./keys.js";
import { tamper } from "./stored.js";
import {
  breakFiles,
  breakMemory,
  type FileSubject,
  fileSubject,
  memorySubject,
  partsOf,
  removeFiles,
  type Subject,
} from "./subjects.js";

/** By what was made of it, so that the suites can get at what is behind. */
const subjects = new WeakMap<object, Subject>();

function inMemory(fused: boolean) {
  const keep = (subject: Subject) => {
    subjects.set(subject.store, subject);
    return subject.store;
  };
  const subjectOf = (store: AgentStateStore) => subjects.get(store) as Subject;
  return {
    create: () => keep(memorySubject(fused)),
    reopen(store: AgentStateStore) {
      const { inner, options } = subjectOf(store);
      return keep({ store: withEncryption(inner, options), inner, options });
    },
    breakBackend: (store: AgentStateStore) => breakMemory(subjectOf(store).inner),
    corrupt: (store: AgentStateStore, slot: Slot) =>
      tamper(subjectOf(store).inner, slot, ({ messages }) => ({ messages: messages.toReversed() })),
  };
}

// Files do not fuse either.
for (const fused of scaled([true], [true, false]))
  describeAgentStateStore(`in-memory, fused: ${fused}, encrypted`, {
    ...inMemory(fused),
    deltaLoads: true,
    fuses: fused ? ["gate", "log"] : [],
    inbox: true,
    callRecords: true,
  });
// On files these can also be opened again and broken.
for (const name of scaled<string>([], ["in-memory, encrypted"])) {
  describeConversationLog(name, { create: () => part(memorySubject(), "log") });
  describeKeyValueStore(name, { create: () => part(memorySubject(), "keyValue") });
}
describeSessionGate("in-memory, encrypted", { create: () => part(memorySubject(), "gate") });
describeSignalBus("in-memory, encrypted", { create: () => part(memorySubject(), "signals") });

describeEventFeed("in-memory, encrypted", {
  create: (limits) => encryptedFeed({ eventFeed: new InMemoryEventFeed(limits) }),
});

function encryptedFeed(inner: { readonly eventFeed: EventFeed }): EventFeed {
  return withEncryption(inner, freshOptions()).eventFeed;
}

function onFiles<T extends object>(take: (store: AgentStateStore) => T) {
  const keep = (subject: FileSubject): T => {
    const taken = take(subject.store);
    subjects.set(taken, subject);
    return taken;
  };
  const subjectOf = (taken: T) => subjects.get(taken) as FileSubject;
  return {
    create: () => keep(fileSubject()),
    reopen: (taken: T) => keep(fileSubject(subjectOf(taken).options, subjectOf(taken).root)),
    cleanup: (taken: T) => removeFiles(subjectOf(taken).root),
    breakBackend: (taken: T) => breakFiles(subjectOf(taken).root),
  };
}

describeConversationLog(
  "JSON files, encrypted",
  onFiles((store) => partsOf(store).log),
);
describeKeyValueStore(
  "JSON files, encrypted",
  onFiles((store) => partsOf(store).keyValue),
);
// What memory shows as well, at a tenth of the cost: a directory for each of thousands of sessions takes its time.
for (const name of scaled<string>([], ["JSON files, encrypted"])) {
  describeAgentStateStore(name, {
    ...onFiles((store) => store),
    deltaLoads: true,
    inbox: true,
    callRecords: true,
  });
  describeSessionGate(
    name,
    onFiles((store) => partsOf(store).gate),
  );
  describeSignalBus(
    name,
    onFiles((store) => partsOf(store).signals),
  );
}

function part<P extends keyof DistributedStore>({ store }: Subject, name: P): DistributedStore[P] {
  return partsOf(store)[name];
}
