/** Shorter parts of a path are words, such as "webhooks". */
const shortestSecret = 9;

/** A text without the address that was asked, whose path is a secret: some servers repeat it. */
export function withoutAddress(text: string, url: URL): string {
  const parts = [url.href, url.pathname, url.search, ...url.pathname.split("/")];
  return parts
    .filter((part) => part.length >= shortestSecret)
    .reduce((shown, part) => shown.replaceAll(part, "[redacted]"), text);
}
