import { valueAt } from "../../../../streams/where.ts";
import { rows, sortedTexts, type HookApi } from "./hook-api.ts";

/** https://docs.stripe.com/api/webhook_endpoints; the secret is in the answer that makes the webhook, and in no other. */
export const stripeHooks: HookApi = {
  credential: "stripe_key",
  address: "https://api.stripe.com/v1",
  target: null,
  choosesSecret: true,
  sendsForms: true,
  headers: (token) => ({ authorization: `Bearer ${token}` }),
  eventsOf: (events) => events ?? ["*"],
  find: async (call, _target, urls) => {
    const list = valueAt(await call("GET", "/webhook_endpoints?limit=100"), "data");
    const found = rows(list).find((hook) => urls.includes(String(hook.url)));
    if (found === undefined) return null;
    const { id, enabled_events: events, status } = found;
    return { id: String(id), events: sortedTexts(events), isActive: status === "enabled" };
  },
  save: async (call, _target, id, { url, events }) => {
    const hook = { url, enabled_events: events };
    const saved =
      id === null
        ? await call("POST", "/webhook_endpoints", hook)
        : await call("POST", `/webhook_endpoints/${id}`, { ...hook, disabled: false });
    const secret = valueAt(saved, "secret");
    return { id: String(valueAt(saved, "id")), secret: typeof secret === "string" ? secret : null };
  },
};
