import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** Pixels from the end within which new text is followed. */
const NEAR = 80;

/** Keeps the end of a scrolled element in view while it grows, unless the reader has scrolled away. */
export function useStickyScroll(changes: readonly unknown[]): {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly isAway: boolean;
  readonly toEnd: () => void;
} {
  const scroller = useRef<HTMLDivElement>(null);
  const [isAway, setAway] = useState(false);
  const toEnd = useCallback(() => {
    const { current } = scroller;
    if (current) current.scrollTop = current.scrollHeight;
  }, []);
  useEffect(() => {
    const { current } = scroller;
    const onScroll = (): void => {
      if (current) setAway(current.scrollHeight - current.scrollTop - current.clientHeight > NEAR);
    };
    current?.addEventListener("scroll", onScroll, { passive: true });
    return () => current?.removeEventListener("scroll", onScroll);
  }, []);
  useLayoutEffect(() => {
    if (!isAway) toEnd();
  }, changes);
  return { scroller, isAway, toEnd };
}
