/** A choice that this browser remembers; null if it is not made yet, or if the browser refuses storage. */
export function remembered(name: string): string | null {
  try {
    return localStorage.getItem(`almanac-${name}`);
  } catch {
    return null;
  }
}

/** Remembers a reader's choice in this browser, if it has storage. */
export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(`almanac-${name}`, value);
  } catch {
    // The choice holds for this page only.
  }
}
