import { type AgentState, userMessage } from "@holdfast/core";
import fc from "fast-check";

/** One change of a state, with positions as fractions so that it fits any length. */
export type ContextEdit =
  | { readonly kind: "push"; readonly texts: readonly string[] }
  | { readonly kind: "replace"; readonly at: number; readonly text: string }
  | {
      readonly kind: "splice";
      readonly at: number;
      readonly deleteCount: number;
      readonly texts: readonly string[];
    }
  | { readonly kind: "replaceAll"; readonly keep: number; readonly texts: readonly string[] }
  | { readonly kind: "summary"; readonly text: string | null }
  | { readonly kind: "head"; readonly text: string };

/** Random sequences of saves, each after a few random edits. */
export function contextEdits(): fc.Arbitrary<ContextEdit[][]> {
  // Any UTF-16 unit, so lone surrogates are common.
  const text = fc
    .array(fc.nat({ max: 0xffff }), { maxLength: 6 })
    .map((units) => String.fromCharCode(...units));
  const texts = fc.array(text, { maxLength: 4 });
  const at = fc.double({ min: 0, max: 1, noNaN: true });
  const edit: fc.Arbitrary<ContextEdit> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("push"), texts }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("replace"), at, text }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("splice"),
        at,
        deleteCount: fc.nat({ max: 3 }),
        texts,
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("replaceAll"), keep: at, texts }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("summary"), text: fc.option(text) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("head"), text }) },
  );
  return fc.array(fc.array(edit, { maxLength: 4 }), { minLength: 1, maxLength: 6 });
}

/** Makes the change. */
export function applyEdit(state: AgentState, edit: ContextEdit): void {
  const context = state.contextMutable();
  const place = (fraction: number): number => Math.floor(fraction * context.length);
  switch (edit.kind) {
    case "push":
      context.push(...edit.texts.map((text) => userMessage(text)));
      return;
    case "replace": {
      if (context.length === 0) return;
      const index = Math.min(place(edit.at), context.length - 1);
      context.replace(index, userMessage(edit.text));
      return;
    }
    case "splice": {
      const messages = edit.texts.map((text) => userMessage(text));
      context.splice(place(edit.at), edit.deleteCount, ...messages);
      return;
    }
    case "replaceAll": {
      const kept = state.context.slice(0, place(edit.keep));
      context.replaceAll([...kept, ...edit.texts.map((text) => userMessage(text))]);
      return;
    }
    case "summary":
      state.summary = edit.text;
      return;
    case "head":
      state.extensions = { ...state.extensions, note: edit.text };
      return;
  }
}
