/** Part of a message, of whichever version of the AI SDK. */
interface AnyPart {
  readonly type: string;
}

/**
 * Returns the parts of a message without the steps that were taken back, for example by a retry: a page shows these. The AI SDK
 * has no way to take back what it streamed, so that `data-discarded` parts say how many of the steps before them do not count.
 */
export function settledParts<P extends AnyPart>(message: { readonly parts: readonly P[] }): P[] {
  const parts: P[] = [];
  for (const part of message.parts) {
    if (part.type !== "data-discarded") {
      parts.push(part);
      continue;
    }
    for (let steps = stepsOf(part); steps > 0; steps--) {
      const start = parts.findLastIndex(({ type }) => type === "step-start");
      if (start < 0) break;
      parts.splice(start);
    }
  }
  return parts.filter((part, index) => part.type !== "step-start" || hasContent(parts, index));
}

function stepsOf(part: AnyPart): number {
  const { data } = part as { readonly data?: { readonly steps?: unknown } };
  return typeof data?.steps === "number" ? data.steps : 1;
}

/** Tells whether anything of the model follows a step's start within the step. */
function hasContent(parts: readonly AnyPart[], start: number): boolean {
  for (const { type } of parts.slice(start + 1)) {
    if (type === "step-start") return false;
    if (!type.startsWith("data-")) return true;
  }
  return false;
}
