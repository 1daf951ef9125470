import { eventually, scaled } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { fleetStores } from "../fleet/choices.js";
import { approvalNodes, session } from "./approval-nodes.js";

const call = (name: string, text: string) => ({ name, input: { text } });

describe.concurrent.each(scaled(["mysql"], fleetStores))("on %s", (kind) => {
  test("a process asks and is killed; another approves with an edited input: the tool runs once, with it", async () => {
    await using nodes = await approvalNodes(kind);
    const asking = nodes.start();
    const reply = await asking.use([call("append", "wanted")]);
    expect(reply.reason).toBe("permission_asking");
    await asking.kill9();
    const approving = nodes.start();
    expect((await approving.waiting()).slots.map(({ slot }) => slot.sessionId)).toEqual(["s"]);
    const pending = await approving.pending();
    expect(pending).toEqual("pending" in reply ? reply.pending : []);
    expect(pending).toMatchObject([{ name: "append", input: { text: "wanted" } }]);
    const [{ toolCallId } = { toolCallId: "" }] = pending;
    const answer = { toolCallId, approve: true, input: { text: "edited" } };
    expect(await approving.confirm([answer])).toMatchObject({ text: "append success" });
    expect(await nodes.lines()).toEqual(["append edited"]);
    await expect(approving.confirm([answer])).rejects.toMatchObject({ code: "INVALID_INPUT" });
    await expect(nodes.start().confirm([answer])).rejects.toMatchObject({ code: "INVALID_INPUT" });
    expect((await approving.waiting()).slots).toEqual([]);
    expect(await nodes.lines()).toEqual(["append edited"]);
  });

  test("a batch of allowed, asked and denied calls is answered in two parts by two processes", async () => {
    await using nodes = await approvalNodes(kind);
    const asking = nodes.start();
    const calls = [
      call("append", "one"),
      call("look", "around"),
      call("drop", "all"),
      call("append", "two"),
      call("append", "three"),
    ];
    await asking.use(calls);
    // What may run has run, before anyone answered.
    expect(await nodes.lines()).toEqual(["look around"]);
    await asking.kill9();
    const first = nodes.start();
    const [one, two, three] = (await first.pending()).map(({ toolCallId }) => toolCallId);
    if (one === undefined || two === undefined || three === undefined) throw new Error("not asked");
    const rest = await first.confirm([
      { toolCallId: two, approve: true, input: { text: "two, edited" } },
    ]);
    expect(rest).toMatchObject({
      reason: "permission_asking",
      pending: [{ toolCallId: one }, { toolCallId: three }],
    });
    expect(await nodes.lines()).toEqual(["look around", "append two, edited"]);
    await first.kill9();
    const second = nodes.start();
    expect((await second.pending()).map(({ toolCallId }) => toolCallId)).toEqual([one, three]);
    const twice = [{ toolCallId: two, approve: true }];
    await expect(second.confirm(twice)).rejects.toMatchObject({ code: "INVALID_INPUT" });
    const reply = await second.confirm([
      { toolCallId: one, approve: true },
      { toolCallId: three, approve: false, reason: "Not that one." },
    ]);
    expect(reply.reason).toBe("stop");
    expect(reply.text.split(", ").sort()).toEqual([
      "append denied",
      ...["append success", "append success"],
      "drop denied",
      "look success",
    ]);
    expect(await nodes.lines()).toEqual(["look around", "append two, edited", "append one"]);
  });

  test("a process that saves its steps is killed while approved tools run: their outcome is unknown, and none runs twice", async () => {
    await using nodes = await approvalNodes(kind, 5_000);
    const asking = nodes.start({ persistence: "step", hangs: true });
    const repeated = { ...session, sessionId: "repeated", callId: "answer" };
    const resumed = { ...session, sessionId: "resumed" };
    const answers = async (name: typeof session) => {
      await asking.use([call("hang", name.sessionId), call("append", name.sessionId)], name);
      const pending = await asking.pending({ ...session, sessionId: name.sessionId });
      return pending.map(({ toolCallId }) => ({ toolCallId, approve: true }));
    };
    const confirm = await answers({ ...session, sessionId: "repeated" });
    asking.send("call", { confirm }, repeated);
    asking.send("call", { confirm: await answers(resumed) }, resumed);
    const ran = ["append repeated", "append resumed", "hang repeated", "hang resumed"];
    await eventually(async () => (await nodes.lines()).length === 4, { what: "four tools" });
    await asking.kill9();
    const successor = nodes.start({ persistence: "step" });
    expect((await successor.confirm(confirm, repeated)).text).toMatch(
      /hang interrupted \(.*outcome is unknown/,
    );
    expect((await successor.resume(resumed))?.text).toMatch(
      /hang interrupted \(.*outcome is unknown/,
    );
    expect((await nodes.lines()).toSorted()).toEqual(ran);
    expect((await successor.waiting()).slots).toEqual([]);
  });
});
