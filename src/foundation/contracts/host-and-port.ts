/** The port that is meant where there is none. */
export const defaultPort = 443;

/** The form in which addresses of requests, and entries, have a host. */
export function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** Without the port that is meant where there is none. */
export function hostAndPort({
  host,
  port,
}: {
  readonly host: string;
  readonly port: number;
}): string {
  return port === defaultPort ? bracketed(host) : `${bracketed(host)}:${port}`;
}
