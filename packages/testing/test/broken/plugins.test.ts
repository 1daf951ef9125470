import {
  definePlugin,
  type Middleware,
  type Plugin,
  type PluginHost,
  type PluginStateOptions,
  textOf,
} from "@holdfast/core";
import { describePlugin, type PluginOptions } from "../../src/index.js";
import { pluginCases } from "../../src/plugin/describe-plugin.js";
import { catches } from "./catches.js";

const made = (setup: (host: PluginHost) => void): Plugin =>
  definePlugin({ name: "sample", contract: 1, setup });

/** A plugin with this one middleware. */
const hooked = (hooks: Omit<Middleware, "name">): Plugin =>
  made((host) => host.use({ name: "sample", ...hooks }));

function flaw(
  what: string,
  create: () => Plugin,
  sentence: string,
  options?: Partial<PluginOptions>,
) {
  catches(what, pluginCases({ create, ...options }), sentence);
}

/** Accepts numbers. */
const numbers: PluginStateOptions<number>["schema"] = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) =>
      typeof value === "number" ? { value } : { issues: [{ message: "not a number" }] },
  },
};

/** A plugin that keeps a number in every session. */
const counting = (options: Partial<PluginStateOptions<number>> = {}, add = 1): Plugin =>
  made((host) => {
    const count = host.state({ schema: numbers, initial: () => 0, ...options });
    host.use({
      name: "sample",
      onCall(step, next) {
        count.set(step.state, count.get(step.state) + add);
        return next();
      },
    });
  });

describePlugin("a sound plugin", { create: () => counting() });

flaw("no name", () => ({ ...counting(), name: "" }), "it has a name");
flaw(
  "a port used in setup",
  () => made((host) => void host.require("keyValue").get(["sample"], "key")),
  "setup returns at once",
);
flaw(
  "a setup that has to be waited for",
  () => ({ ...counting(), setup: async () => {} }),
  "setup returns at once",
);
const timers: NodeJS.Timeout[] = [];
flaw(
  "a timer started in setup",
  () => made(() => void timers.push(setTimeout(() => {}, 50))),
  "setup returns at once",
);
flaw(
  "a second agent refused",
  () => {
    let setups = 0;
    return made(() => {
      if (++setups > 1) throw new Error("set up already");
    });
  },
  "setup returns at once",
);
flaw(
  "a hook that nothing calls",
  () => hooked({ onTooCall: async () => {} } as Omit<Middleware, "name">),
  "only hooks there are",
);
flaw("a tool that is not there", () => counting(), "a conversation with tools comes to its end", {
  toolCalls: [{ name: "missing_tool", input: {} }],
});
flaw(
  "next called twice",
  () =>
    hooked({
      async onToolCall(_, next) {
        await next();
        return next();
      },
    }),
  "every hook calls next once",
);
flaw(
  "next never called",
  () =>
    hooked({
      async onToolCall({ call }) {
        return {
          ...{ type: "tool_result", toolCallId: call.id, name: call.name, state: "success" },
          output: [],
        };
      },
    }),
  "every hook calls next once",
);
flaw(
  "a request changed in place",
  () =>
    hooked({
      onModelCall(step, next) {
        Object.assign(step.request, { system: "Be rude." });
        return next();
      },
    }),
  "changed in place",
);
flaw(
  "calls changed in place",
  () =>
    hooked({
      onActing(step, next) {
        (step.calls as unknown[]).length = 0;
        return next();
      },
    }),
  "changed in place",
);
flaw("a value that JSON changes", () => counting({}, Number.NaN), "state fits its schema");
flaw(
  "an initial value that does not fit",
  () => counting({ initial: () => "0" as never }),
  "state fits",
);
flaw("a version without migration", () => counting({ version: 2 }), "state fits its schema");
flaw(
  "one object for all sessions",
  () => {
    const shared: never[] = [];
    const schema = {
      "~standard": { version: 1, vendor: "t", validate: (value: unknown) => ({ value }) },
    };
    return made((host) => void host.state({ schema: schema as never, initial: () => shared }));
  },
  "state fits its schema",
);
flaw(
  "an event that was not declared",
  () =>
    hooked({
      onCall(step, next) {
        step.emit({ type: "sample_happened" } as never);
        return next();
      },
    }),
  "events are JSON and of declared types",
);
flaw(
  "an event that is not JSON, in the background",
  () =>
    made((host) =>
      host.observe((event) => {
        if (event.type === "call_end")
          host.emit(event.slot, "c", { type: "error", code: "X", message: 1n as never });
      }),
    ),
  "events are JSON and of declared types",
);
flaw(
  "what one user said, told to the next",
  () => {
    let last = "";
    return hooked({
      async onCall(step, next) {
        last += step.input.map(textOf).join();
        return next();
      },
      onSystemPrompt: (prompt) => prompt + last,
    });
  },
  "two sessions at once do not mix",
);
flaw(
  "one memory for all agents",
  () => {
    const said: string[] = [];
    return made((host) =>
      host.use({
        name: "sample",
        async onCall(step, next) {
          said.push(...step.input.map(textOf));
          return next();
        },
        onSystemPrompt: (prompt) => prompt + said.join(),
      }),
    );
  },
  "two agents with one instance do not mix",
);
flaw(
  "a flag that a failure leaves behind",
  () => {
    let isBusy = false;
    return hooked({
      async *onModelCall(_, next) {
        if (isBusy) throw new Error("busy");
        isBusy = true;
        yield* next();
        isBusy = false;
      },
    });
  },
  "goes on after calls that failed",
);
flaw(
  "a lock that a process leaves behind",
  () =>
    made((host) => {
      const values = host.require("keyValue");
      host.onStart(async () => {
        if (await values.get(["sample"], "lock")) throw new Error("locked");
        await values.put(["sample"], "lock", true);
      });
    }),
  "goes on in another process",
);
flaw(
  "an unknown session that cannot be deleted",
  () =>
    made((host) =>
      host.onDelete(async ({ sessionId }) => {
        if (sessionId !== "one") throw new Error(`no session ${sessionId}`);
      }),
    ),
  "deleting a session or a user that never was",
);
flaw(
  "an unknown user who cannot be deleted",
  () =>
    made((host) =>
      host.onDeleteUser(async (userId) => {
        if (userId !== "ann") throw new Error(`no user ${userId}`);
      }),
    ),
  "deleting a session or a user that never was",
);
flaw(
  "a memory that outlives its user",
  () => {
    const said = new Map<string | null, string>();
    return hooked({
      async onCall(step, next) {
        const { userId } = step.slot;
        said.set(userId, (said.get(userId) ?? "") + step.input.map(textOf).join());
        return next();
      },
      onSystemPrompt: (prompt, { slot }) => prompt + (said.get(slot.userId) ?? ""),
    });
  },
  "what a deleted session or user had",
);
flaw(
  "a close that needs a start",
  () =>
    made((host) => {
      let connection: { end(): void } | undefined;
      host.onStart(async () => {
        connection = { end: () => {} };
      });
      host.onClose(() => {
        if (!connection) throw new Error("not connected");
      });
    }),
  "before anything has started",
);
flaw(
  "a close that fails the second time",
  () =>
    made((host) => {
      let isOpen = true;
      host.onClose(() => {
        if (!isOpen) throw new Error("closed already");
        isOpen = false;
      });
    }),
  "after a conversation",
);
