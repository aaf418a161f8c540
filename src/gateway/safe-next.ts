/** The path to go to after login: one of this site, or the fallback. `next` comes from the address bar. */
export function safeNext(next: unknown, fallback: string): string {
  if (typeof next !== "string" || !next.startsWith("/") || !URL.canParse(next, base)) {
    return fallback;
  }
  const url = new URL(next, base);
  const path = url.pathname + url.search;
  // `/.//evil.example` is of this site to the parser, yet its normalized path is not to a browser.
  const isOwn = url.origin === base && !/^\/[/\\]/.test(path);
  return isOwn && !/^\/log(in|out)\b/.test(path) ? path : fallback;
}

const base = "http://this.invalid";
