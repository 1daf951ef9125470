import { scaled } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { fleetStores } from "../fleet/choices.js";
import { approvalNodes } from "./approval-nodes.js";

const call = (text: string) => ({ name: "append", input: { text } });

describe.concurrent.each(scaled(["redis"], fleetStores))("on %s", (kind) => {
  test("a rule remembered in one call is applied in the next on another node, and taken back on a third", async () => {
    await using nodes = await approvalNodes(kind);
    const [asking, next, third] = [nodes.start(), nodes.start(), nodes.start()];
    for (const [scope, text] of [
      ["session", "a"],
      ["user", "b"],
    ] as const) {
      await asking.use([call(text)]);
      const confirm = (await asking.pending()).map(({ toolCallId }) => ({
        ...{ toolCallId, approve: true, remember: scope },
      }));
      await asking.confirm(confirm);
      const other = { sessionId: "other", onPending: "deny" };
      expect(await next.use([call(text)])).toMatchObject({ reason: "stop" });
      const elsewhere = await next.use([call(text)], other);
      expect(elsewhere.reason).toBe(scope === "user" ? "stop" : "permission_asking");
      const asks = await next.use([call(`${text} and more`)], other);
      expect(asks.reason).toBe("permission_asking");
      expect(await third.rememberedRules()).toEqual([{ tool: "append", pattern: text, scope }]);
      const wrong = { scope, rules: [{ tool: "append", pattern: "another" }] };
      expect(await third.forgetRules(wrong)).toBe(0);
      expect(await third.forgetRules({ scope })).toBe(1);
      expect(await next.rememberedRules()).toEqual([]);
      const again = await next.use([call(text)]);
      expect(again.reason).toBe("permission_asking");
      await next.confirm(
        (await next.pending()).map(({ toolCallId }) => ({ toolCallId, approve: false })),
      );
    }
    expect(await nodes.lines()).toEqual([
      ...["append a", "append a"],
      ...["append b", "append b", "append b"],
    ]);
  });
});
