/** A promise that a test opens when it is time. */
export interface Door<T> {
  readonly opened: Promise<T>;
  open(value: T): void;
}

/** A door that is closed. */
export function door<T = void>(): Door<T> {
  let open: (value: T) => void = () => undefined;
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
