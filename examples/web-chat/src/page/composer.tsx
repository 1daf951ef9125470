import { type KeyboardEvent, useEffect, useEffectEvent, useRef, useState } from "react";
import { Icon } from "./icons.js";

/** Field in which a person writes. While the agent works it takes words for it, and stops it. */
export function Composer({
  isWorking,
  onSay,
  onStop,
}: {
  readonly isWorking: boolean;
  readonly onSay: (text: string) => Promise<void>;
  readonly onStop: () => Promise<void>;
}) {
  const [text, setText] = useState("");
  const box = useRef<HTMLTextAreaElement>(null);
  const words = text.trim();

  const send = (): void => {
    if (words === "") return;
    setText("");
    // Words that reached nobody come back.
    onSay(words).catch(() => setText((now) => now || words));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const onKey = useEffectEvent((event: globalThis.KeyboardEvent) => {
    const inField = (event.target as Element).closest("input, textarea") !== null;
    if (event.key === "Escape" && isWorking) void onStop();
    if (event.key !== "/" || inField) return;
    event.preventDefault();
    box.current?.focus();
  });
  useEffect(() => {
    const listener = (event: globalThis.KeyboardEvent) => onKey(event);
    addEventListener("keydown", listener);
    // On a phone the keyboard would cover half of the page.
    if (matchMedia("(hover: hover)").matches) box.current?.focus();
    return () => removeEventListener("keydown", listener);
  }, []);
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={box}
        rows={1}
        value={text}
        aria-label="Message"
        placeholder={isWorking ? "Add something while it works…" : "Write to the desk…"}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
      />
      {isWorking && (
        <button
          type="button"
          className="stop"
          aria-label="Stop"
          title="Stop (Esc)"
          onClick={() => void onStop()}
        >
          <Icon name="stop" />
        </button>
      )}
      {(!isWorking || words !== "") && (
        <button
          type="submit"
          className="send"
          aria-label={isWorking ? "Steer" : "Send"}
          disabled={words === ""}
        >
          <Icon name={isWorking ? "turn" : "send"} />
        </button>
      )}
    </form>
  );
}
