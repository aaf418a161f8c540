/** Body of a request to a model: conversations with pictures are as large as the providers take them. */
export const maxModelRequestBytes = 32 * 1024 * 1024;

/** What a key of Anthropic's subscriptions begins with; clients tell by it how to ask. */
export const oauthMark = "sk-ant-oat01-";

/** Stands for the host of a scripted model, which has none. */
const scriptedHost = "scripted";

/**
 * Where a run asks a model: `/model/<name>/<host of the provider>/<path>`. The host is part of it because pi tells by
 * the address what an API can do. `upstream` is the base URL as the API's clients want it; empty for scripted models.
 */
export function modelPath(name: string, upstream: string): string {
  const { host, pathname } =
    upstream === "" ? { host: scriptedHost, pathname: "/v1" } : new URL(upstream);
  return `/model/${encodeURIComponent(name)}/${host}${pathname === "/" ? "" : pathname}`;
}

/** Header of an answer that the gateway gave in place of the provider: the code of what is wrong. */
export const problemHeader = "x-al-problem";

/** Code of a call that money alone is missing for. */
export const noMoneyCode = "budget_exceeded";

/** Codes of a call that no budget pays: another model can't be paid by it, either. */
export const overBudgetCodes: readonly string[] = [noMoneyCode, "too_many_turns"];
