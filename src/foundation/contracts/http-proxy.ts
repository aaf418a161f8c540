/** Headers of one connection, which no proxy passes on (RFC 9110 7.6.1; `Proxy-Connection` is older than that). */
export const connectionHeaders: ReadonlySet<string> = new Set([
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Names and values in turn, without those of these names, which are in lower case. */
export function withoutHeaders(lines: readonly string[], dropped: ReadonlySet<string>): string[] {
  return lines.filter((_text, index) => {
    const name = lines[index - (index % 2)] ?? "";
    return !dropped.has(name.toLowerCase());
  });
}

/** Whether a request is for a proxy: its address is whole. */
export function isAbsoluteForm(url: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(url);
}

/** What a proxy with user and password in its address wants to read; null for one without. */
export function proxyLogin({ username, password }: URL): string | null {
  if (username === "" && password === "") return null;
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(login).toString("base64")}`;
}
