/** Ref of a field that has the focus when it appears. One function, so that later renders leave the focus alone. */
export function takeFocus(field: HTMLElement | null): void {
  field?.focus();
  if (field instanceof HTMLInputElement) field.select();
}
