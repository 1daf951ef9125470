import { ReActAgent, StateConflictError, userMessage } from "@holdfast/core";
import { scaled, scriptedModel, spawnScript } from "@holdfast/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { logRecords, outline, saidIn, slotOf } from "../engine/conversation.js";
import { newPlace, type StorePlace, sharedStores } from "./every-store.js";

const script = new URL("fork-node.mjs", import.meta.url);
const one = slotOf("one", "ada");
const lines = Array.from({ length: 120 }, (_, n) => `line ${n}`);
const long = "A long line, 漢字.\n".repeat(10_000);
const manyLong = Array.from({ length: 8 }, (_, n) => `${n} ${long}`);

type Size = readonly [size: string, more: readonly string[]];

/** Starts a node that forks session "one". */
function forkingNode({ choice }: StorePlace, ...args: readonly string[]) {
  return spawnScript(script, [JSON.stringify(choice), ...args]);
}

describe.each(scaled(["files", "redis"] as const, sharedStores))("on %s", (kind) => {
  const short: Size = ["short", [long]];
  // More than goes with one save, where log and state are saved together: they are not on files.
  const sizes: readonly Size[] = [short, ["long", manyLong]];
  test.each(kind === "files" ? scaled([short], sizes) : sizes)(
    "a %s fork whose process is killed is whole or not there, and can be made again",
    async (_, more) => {
      await using place = await newPlace(kind, 5_000);
      const store = place.open();
      const model = scriptedModel(() => "ok");
      const agent = new ReActAgent({ name: "a", model, distributedStore: store });
      await agent.updateAgentState(one, (state) => {
        for (const line of [...lines, ...more]) state.contextMutable().push(userMessage(line));
      });
      await agent.call("And you?", one);
      const said = [...lines, ...more, "And you?", "ok"];
      const source = async () => [
        (await agent.getAgentState(one))?.toJsonString(),
        await logRecords(store.log, one),
      ];
      const before = await source();
      const context = outline(await agent.getAgentState(one));

      await using living = forkingNode(place, "whole");
      await living.exited;
      expect(living.lines.at(-1), living.stderr).toBe("forked");
      const commands = living.lines.length - 1;
      const seen = { whole: 0, absent: 0 };

      const instant = fc.record({
        command: fc.integer({ min: 1, max: commands }),
        when: fc.constantFrom("before", "during", "after", "from outside"),
      });
      let run = 0;
      const property = fc.asyncProperty(instant, async ({ command, when }) => {
        const fork = slotOf(`fork-${run++}`, "ada");
        const death = when === "from outside" ? [] : [String(command), when];
        await using dying = forkingNode(place, fork.sessionId, ...death);
        if (when === "from outside") {
          await dying.line(`command ${command}`);
          await dying.kill9();
        }
        await dying.exited;

        const isThere = async () => (await agent.getAgentState(fork)) !== null;
        const wasThere = await isThere();
        const texts = await saidIn(store, fork);
        // Unless its last command, which the store had received, was carried out just now.
        if (wasThere === (await isThere())) expect(texts).toEqual(wasThere ? said : []);
        seen[wasThere ? "whole" : "absent"]++;
        const again = await agent.fork(one, { as: fork.sessionId }).then(
          () => "made",
          (error: unknown) => (StateConflictError.is(error) ? "exists" : Promise.reject(error)),
        );
        if (wasThere) expect(again).toBe("exists");
        expect(await saidIn(store, fork)).toEqual(said);
        expect(outline(await agent.getAgentState(fork))).toEqual(context);
        await agent.call("And now?", fork);
        expect(await saidIn(store, fork)).toEqual([...said, "And now?", "ok"]);
        expect(await source()).toEqual(before);
      });
      const examples: [{ command: number; when: string }][] = [
        [{ command: commands, when: "after" }],
        [{ command: commands - 1, when: "after" }],
      ];
      await fc.assert(property, { numRuns: scaled(4, 30), examples, endOnFailure: true });
      expect(seen.whole).toBeGreaterThan(0);
      expect(seen.absent).toBeGreaterThan(0);
    },
  );
});
