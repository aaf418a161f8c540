/** Hosts of this machine as a `Host` header or NO_PROXY names them. */
export const loopbackNames: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** True if a URL's host is this machine, by any of its loopback addresses. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host);
}
