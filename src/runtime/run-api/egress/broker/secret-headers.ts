/** By these names, and those in them, hosts ask for what proves who sends a request. */
const names =
  /\bauth\b|authorization|authentication|token|secret|passw|credential|cookie|session|(api|app|application|access|account|master|private|service|subscription)-?key$/i;

/**
 * Whether a host takes the header as a secret. Others it may store, and show to a stranger whose account the request names:
 * a User-Agent in a list of events, an Idempotency-Key in a list of requests.
 */
export function isForSecrets(header: string): boolean {
  return names.test(header);
}
