/** The address as CLIs take it that add the version themselves: `https://host/v1` becomes `https://host`. */
export function withoutVersion(baseUrl: string): string {
  return baseUrl.replace(/\/v1(beta)?\/*$/, "");
}

/** The address as CLIs take it that add nothing: `https://host` becomes `https://host/v1`. A path is kept as it is. */
export function withVersion(baseUrl: string): string {
  return new URL(baseUrl).pathname === "/" ? `${baseUrl.replace(/\/+$/, "")}/v1` : baseUrl;
}
