import assert from "node:assert/strict";
import { type SignalBus, type Slot, textOf, userMessage } from "@holdfast/core";
import { type Signal, slotText } from "@holdfast/core/store-kit";
import { assertRejects } from "../conformance/assert-rejects.js";
import {
  type CaseBody,
  type ConformanceCase,
  caseFactory,
  type ReopenableOptions,
  registerCases,
} from "../conformance/conformance-case.js";
import { inBatches } from "../conformance/in-batches.js";
import { everyBlockType } from "../conformance/sample-messages.js";
import { badSlots, nastySlots, sampleSlot as slot } from "../conformance/sample-slots.js";
import { eventually } from "../crash/eventually.js";

/** Options of {@link describeSignalBus}. */
export interface SignalBusOptions extends ReopenableOptions<SignalBus> {}

type BusCase = (title: string, body: CaseBody<SignalBus>) => ConformanceCase;

/** Registers the tests every `SignalBus` must pass. */
export function describeSignalBus(name: string, options: SignalBusOptions): void {
  registerCases(`${name} as a SignalBus`, signalBusCases(options), options);
}

/** The cases of {@link describeSignalBus}. */
export function signalBusCases(options: SignalBusOptions): ConformanceCase[] {
  const check = caseFactory(options);
  return [
    check("it names its contract", async (bus) => {
      assert.equal(bus.contract, 1);
      assert.ok(bus.kind.length > 0);
      assert.ok(["process", "host", "distributed"].includes(bus.reach));
    }),
    ...deliveryCases(check),
    ...(options.reopen === undefined ? [] : reopenCases(check)),
  ];
}

function deliveryCases(check: BusCase): ConformanceCase[] {
  return [
    check("a signal reaches the call it names and no other of the slot", async (bus) => {
      const one = await listener(bus, slot, "c-1");
      const two = await listener(bus, slot, "c-2");
      assert.equal(await bus.send(slot, "c-1", { kind: "interrupt" }), true);
      await one.got(1);
      assert.equal(await bus.send(slot, "c-2", { kind: "rollback" }), true);
      await two.got(1);
      assert.deepStrictEqual(one.kinds(), ["interrupt"]);
      assert.deepStrictEqual(two.kinds(), ["rollback"]);
    }),
    check("the message of a signal arrives as it was, as a frozen value", async (bus) => {
      const one = await listener(bus, slot, "c-1");
      const message = userMessage(everyBlockType()[2]?.content ?? [], { name: "Ada" });
      await bus.send(slot, "c-1", { kind: "interrupt", message });
      await one.got(1);
      const received = one.signals[0]?.message;
      assert.deepStrictEqual(received, message);
      assert.ok(
        Object.isFrozen(received) && Object.isFrozen(received?.content),
        "a message is frozen wherever it comes from",
      );
    }),
    check("a call gets each signal once, however many follow", async (bus) => {
      const one = await listener(bus, slot, "c-1");
      const texts = ["first", "second", "third"];
      for (const [index, text] of texts.entries()) {
        await bus.send(slot, "c-1", { kind: "interrupt", message: userMessage(text) });
        await one.got(index + 1);
      }
      const heard = one.signals.map(({ message }) => message && textOf(message));
      assert.deepStrictEqual(heard, texts);
    }),
    check(
      "without a listener send returns false, and a later listener gets nothing",
      async (bus) => {
        assert.equal(await bus.send(slot, "c-1", { kind: "interrupt" }), false);
        const one = await listener(bus, slot, "c-1");
        assert.equal(await bus.send(slot, "c-0", { kind: "interrupt" }), false);
        assert.equal(await bus.send(slot, "c-1", { kind: "rollback" }), true);
        await one.got(1);
        assert.deepStrictEqual(one.kinds(), ["rollback"]);
      },
    ),
    check("a closed subscription gets nothing, nor does the next call of the slot", async (bus) => {
      const one = await listener(bus, slot, "c-1");
      await one.close();
      await one.close();
      assert.equal(await bus.send(slot, "c-1", { kind: "interrupt" }), false);
      const two = await listener(bus, slot, "c-2");
      assert.equal(await bus.send(slot, "c-2", { kind: "rollback" }), true);
      await two.got(1);
      assert.deepStrictEqual(one.kinds(), []);
      assert.deepStrictEqual(two.kinds(), ["rollback"]);
    }),
    check("a signal for a call that ended does not hit the call that follows", async (bus) => {
      const one = await listener(bus, slot, "c-1");
      const sent = bus.send(slot, "c-1", { kind: "interrupt" });
      await Promise.all([sent, one.close()]);
      const two = await listener(bus, slot, "c-2");
      await bus.send(slot, "c-2", { kind: "rollback" });
      await two.got(1);
      assert.deepStrictEqual(two.kinds(), ["rollback"]);
    }),
    check(
      "the same call id in different slots is different calls, whatever the ids",
      async (bus) => {
        const slots = nastySlots();
        const listeners = await inBatches(slots, 16, (each) => listener(bus, each, "c"));
        await inBatches(slots, 16, async (each) => {
          const message = userMessage(slotText(each));
          assert.equal(await bus.send(each, "c", { kind: "interrupt", message }), true);
        });
        for (const [index, one] of listeners.entries()) {
          await one.got(1);
          const texts = one.signals.map(({ message }) => message?.content[0]);
          assert.deepStrictEqual(texts, [{ type: "text", text: slotText(slots[index] as Slot) }]);
        }
        await inBatches(listeners, 16, (one) => one.close());
      },
    ),
    check("what is not an id is refused", async (bus) => {
      for (const [what, bad] of badSlots()) {
        const send = () => bus.send(bad, "c", { kind: "interrupt" });
        await assertRejects(send, "InvalidIdError", `send with ${what}`);
        const listen = () => bus.listen(bad, "c", () => {});
        await assertRejects(listen, "InvalidIdError", `listen with ${what}`);
      }
    }),
  ];
}

/** Two instances over the same data, as two processes would have. */
function reopenCases(check: BusCase): ConformanceCase[] {
  return [
    check(
      "a signal sent through one instance reaches the call in the other",
      async (bus, reopen) => {
        const second = await reopen();
        const one = await listener(bus, slot, "c-1");
        const two = await listener(second, slot, "c-2");
        const message = userMessage("stop");
        assert.equal(await second.send(slot, "c-1", { kind: "interrupt", message }), true);
        assert.equal(await bus.send(slot, "c-2", { kind: "rollback" }), true);
        await Promise.all([one.got(1), two.got(1)]);
        assert.deepStrictEqual(one.signals, [{ kind: "interrupt", message }]);
        assert.deepStrictEqual(two.kinds(), ["rollback"]);
      },
    ),
    check("an ended call is not reached from the other instance", async (bus, reopen) => {
      const second = await reopen();
      const one = await listener(bus, slot, "c-1");
      await one.close();
      assert.equal(await second.send(slot, "c-1", { kind: "interrupt" }), false);
      const two = await listener(bus, slot, "c-2");
      assert.equal(await second.send(slot, "c-2", { kind: "rollback" }), true);
      await two.got(1);
      assert.deepStrictEqual([one.kinds(), two.kinds()], [[], ["rollback"]]);
    }),
  ];
}

interface Listener {
  readonly signals: readonly Signal[];
  kinds(): string[];
  got(count: number): Promise<unknown>;
  close(): Promise<void>;
}

async function listener(bus: SignalBus, where: Slot, callId: string): Promise<Listener> {
  const signals: Signal[] = [];
  const subscription = await bus.listen(where, callId, (signal) => void signals.push(signal));
  return {
    signals,
    kinds: () => signals.map(({ kind }) => kind),
    got: (count) =>
      eventually(() => signals.length >= count, { what: `signal ${count} to ${callId}` }),
    close: () => subscription.close(),
  };
}
