import type { WindowShare } from "./chat-message.js";

/** Shows how full the model's window is. */
export function WindowMeter({ share }: { readonly share: WindowShare | undefined }) {
  const { contextTokens, contextWindow } = share ?? {};
  if (contextTokens === undefined || contextWindow === undefined) return null;
  const percent = Math.round((contextTokens / contextWindow) * 100);
  const words = `${contextTokens.toLocaleString("en")} of ${contextWindow.toLocaleString("en")} tokens of the window`;
  return (
    <span className="window" title={words}>
      <meter className="hidden" min={0} max={100} value={percent} aria-label={words} />
      <span className="bar" aria-hidden="true">
        <span style={{ width: `${Math.min(percent, 100)}%` }} />
      </span>
      <span aria-hidden="true">{percent} %</span>
    </span>
  );
}
