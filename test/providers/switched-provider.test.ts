import { describe, expect, test } from "vitest";
import { ctx, desk, lookUp, sent, signed } from "./desk.js";
import { type ProviderKit, providerKits } from "./provider-kits.js";

test("a session goes on with any other provider, and back, and none sees what is another's", async () => {
  const { start, hire } = await desk();
  const tokenOf = (kit: ProviderKit, request: number): string =>
    Buffer.from(`${kit.name} signed ${request}`).toString("base64");
  const staff = await Promise.all(
    providerKits.map(async (kit) => {
      const answer = `${kit.name} says: shipped.`;
      const server = await start(kit, (_request, index) =>
        signed(tokenOf(kit, index), index % 2 === 0 ? { toolCalls: [lookUp] } : { text: answer }),
      );
      return { kit, server, answer };
    }),
  );
  let questions = 0;
  for (const round of [0, 1])
    for (const { kit, server, answer } of staff) {
      const agent = hire(kit, server);
      const reply = await agent.call(`Question ${questions++}`, ctx);
      expect(reply).toMatchObject({ reason: "stop", text: answer });
      await agent.close();
      // None was refused and sent again with less.
      expect(server.requests).toHaveLength(2 * (round + 1));
      const request = sent(server, -1);
      for (let asked = 0; asked < questions; asked++)
        expect(request).toContain(`Question ${asked}`);
      const known = providerKits.flatMap((one) =>
        [0, 1, 2].map((index) => tokenOf(one, index)).filter((token) => request.includes(token)),
      );
      const own = [0, 1, 2].slice(0, 1 + 2 * round).map((index) => tokenOf(kit, index));
      expect(known).toEqual(kit.signs ? own : []);
    }
});

const pairs = providerKits.flatMap((from) =>
  providerKits.filter((to) => to !== from).map((to) => ({ from, to })),
);

describe.each(pairs)("a turn begun by $from.name", ({ from, to }) => {
  test(`can be finished by ${to.name}`, async () => {
    const { start, hire } = await desk();
    const ask = { name: "ask_a_person", input: { question: "May it leave?" } };
    const begin = await start(from, [
      signed("YmVnaW4=", { text: "Wait.", toolCalls: [lookUp, ask] }),
    ]);
    const finish = await start(to, [{ text: "It may." }, { text: "Goodbye." }]);
    const first = hire(from, begin);
    const waiting = await first.call("May order 7 leave?", ctx);
    await first.close();
    const results = ("pending" in waiting ? waiting.pending : []).map(({ toolCallId }) => ({
      toolCallId,
      output: "Yes, it may.",
    }));
    expect(results).toHaveLength(1);
    const second = hire(to, finish);
    expect(await second.call({ results }, ctx)).toMatchObject({ reason: "stop", text: "It may." });
    expect(sent(finish, 0)).toContain("order 7: shipped");
    expect(sent(finish, 0)).toContain("Yes, it may.");
    expect(sent(finish, 0)).not.toContain("YmVnaW4=");
    expect(await second.call("Bye.", ctx)).toMatchObject({ text: "Goodbye." });
    expect(finish.requests).toHaveLength(2);
  });
});
