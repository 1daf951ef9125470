import { slotText } from "@holdfast/core/store-kit";
import {
  describeAgentStateStore,
  describeConversationLog,
  describeKeyValueStore,
  describeSessionGate,
  describeSignalBus,
} from "../src/index.js";
import { ReferenceGate } from "./reference/reference-gate.js";
import { ReferenceKeyValueStore } from "./reference/reference-key-value-store.js";
import { ReferenceLog } from "./reference/reference-log.js";
import { ReferenceSignalBus } from "./reference/reference-signal-bus.js";
import { ReferenceStore } from "./reference/reference-store.js";

describeAgentStateStore("the reference store", {
  create: () => new ReferenceStore(),
  reopen: (store) => new ReferenceStore((store as ReferenceStore).backend),
  fuses: ["gate", "log"],
  inbox: true,
  callRecords: true,
  endLease: (store) => (store as ReferenceStore).backend.gate.lapse(),
  corrupt(store, slot) {
    const stored = (store as ReferenceStore).backend.states.get(slotText(slot));
    if (stored) stored.body = stored.body.slice(0, -10);
  },
  breakBackend(store) {
    (store as ReferenceStore).backend.broken = true;
  },
});

describeConversationLog("the reference log", {
  create: () => new ReferenceLog(),
  reopen: (log) => new ReferenceLog((log as ReferenceLog).slots),
  createLimited: () => Object.assign(new ReferenceLog(), { maxRecords: 1 }),
  breakBackend(log) {
    (log as ReferenceLog).broken = true;
  },
});

describeKeyValueStore("the reference key-value store", {
  create: () => new ReferenceKeyValueStore(),
  reopen: (store) => new ReferenceKeyValueStore((store as ReferenceKeyValueStore).namespaces),
  breakBackend(store) {
    (store as ReferenceKeyValueStore).broken = true;
  },
});

describeSessionGate("the reference gate", {
  create: () => new ReferenceGate(),
  reopen: (gate) => gate,
  killHolder: (gate) => (gate as ReferenceGate).lapse(),
  stallHolder(gate) {
    (gate as ReferenceGate).lapse();
    return () => {};
  },
});

describeSignalBus("the reference bus", {
  create: () => new ReferenceSignalBus(),
  reopen: (bus) => new ReferenceSignalBus((bus as ReferenceSignalBus).handlers),
});
