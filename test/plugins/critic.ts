import {
  type CallInput,
  definePlugin,
  type Plugin,
  type RuntimeContext,
  type Slot,
  suspend,
  tool,
} from "@holdfast/core";
import { delegatedContext, delegationOf } from "@holdfast/core/plugin-kit";
import { z } from "zod";

/** Adds the tool `ask_critic`: another agent, with a prompt of its own, looks for mistakes in a text. */
export function critic(): Plugin {
  return definePlugin({
    name: "critic",
    contract: 1,
    setup(host) {
      const agent = () =>
        host.deriveAgent({
          name: "critic",
          systemPrompt: "You look for mistakes. Name them, and nothing else.",
          hasTool: ({ name }) => name !== "ask_critic",
        });
      const ask = async (input: CallInput, ctx: RuntimeContext) => {
        const reply = await agent().call(input, ctx);
        // Left open: by a question for a person, or by a shutdown, after which the tool runs again.
        const isOpen = reply.reason === "permission_asking" || reply.reason === "shutdown";
        return isOpen ? suspend("the critic has not finished") : reply.text;
      };
      host.tool(
        tool({
          name: "ask_critic",
          description: "Has a critic look for mistakes in a text.",
          input: z.object({ text: z.string() }),
          readOnly: true,
          execute: ({ text }, ctx) => ask(text, workFor(ctx.slot, ctx.toolCallId, ctx)),
          delegation: {
            pending: async (_, { slot, toolCallId, ctx }) =>
              (await agent().pending(workFor(slot, toolCallId, ctx))).map((call) => ({
                agent: "critic",
                ...call,
              })),
            answer: (confirm, _, ctx) =>
              ask({ confirm }, workFor(ctx.slot, ctx.toolCallId, ctx, `:${ctx.callId}`)),
          },
        }),
      );
    },
  });
}

/** The context of the critic's call: a session and a call id that any process finds again by the tool call. */
function workFor(
  slot: Slot,
  toolCallId: string,
  ctx: RuntimeContext,
  answered = "",
): RuntimeContext {
  const above = delegationOf(ctx);
  const { agentState: state, callId = "" } = ctx;
  return delegatedContext(
    ctx,
    { userId: slot.userId, sessionId: `critic-${toolCallId}`, callId: `${toolCallId}${answered}` },
    {
      root: above?.root ?? slot,
      depth: (above?.depth ?? 0) + 1,
      rootCall: () => (above ? above.rootCall() : state ? { callId, state } : null),
    },
  );
}
