import type { ModelAuth } from "@earendil-works/pi-ai";
import type { ModelApi } from "../../../streams/agent-config.ts";
import type { JobModel } from "../../contracts/job.ts";

/** By this in a key pi decides that a request to Anthropic is made as OAuth tokens need it. */
const oauthMark = "sk-ant-oat";

/** How a request proves who it is from. The config's `authType` decides, whatever the key looks like. */
export function modelAuth({ provider, authType, key }: JobModel, api: ModelApi): ModelAuth {
  const isAnthropic = api === "anthropic-messages";
  if (authType === "none" || key === null) {
    return { apiKey: "none", headers: { authorization: null, "x-api-key": null } };
  }
  if (!isAnthropic) return { apiKey: key };
  if (authType === "api_key") {
    return key.includes(oauthMark)
      ? { apiKey: "in the header", headers: { "x-api-key": key } }
      : { apiKey: key };
  }
  const headers = { Authorization: `Bearer ${key}` };
  // Others who speak Anthropic's API want the token alone.
  return provider === "anthropic" ? { apiKey: oauthMark, headers } : { headers };
}
