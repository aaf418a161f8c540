import { createHmac } from "node:crypto";

/**
 * 32 bytes that only the holder of the project's own key can make, the same each time: a later scheduler has them again,
 * and nothing is stored. Each purpose has bytes of its own.
 */
export function derivedBytes(
  projectKey: string,
  purpose: string,
  ...parts: readonly (string | number)[]
): Buffer {
  const purposeKey = createHmac("sha256", projectKey).update(purpose).digest();
  return createHmac("sha256", purposeKey).update(JSON.stringify(parts)).digest();
}
