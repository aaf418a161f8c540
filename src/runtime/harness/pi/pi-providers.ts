import { createProvider } from "@earendil-works/pi-ai";
import type { ModelAuth } from "@earendil-works/pi-ai";
import type { ModelRuntime } from "@earendil-works/pi-coding-agent";
import type { JobModel } from "../../../foundation/contracts/job.ts";
import { wires } from "./wires.ts";

/** The name that pi has for a model's provider: two servers of the user's own are two providers. */
export function piProvider({ provider }: JobModel, index: number): string {
  return provider === "custom" || provider === "scripted" ? `${provider}-${index + 1}` : provider;
}

/**
 * Gives a function by which requests to a provider are authenticated from then on; models of one provider may differ in
 * that. Takes the place of pi's own providers, which guess from a key how it is sent, and each of which speaks the API
 * of its own models only.
 */
export function piAuthenticator(
  runtime: ModelRuntime,
): (provider: string, auth: ModelAuth) => void {
  const active = new Map<string, ModelAuth>();
  return (id, auth) => {
    const isNew = !active.has(id);
    active.set(id, auth);
    if (!isNew) return;
    const resolve = () => Promise.resolve({ auth: active.get(id) ?? auth });
    const models = runtime.getModels(id);
    runtime.registerNativeProvider(
      createProvider({ id, auth: { apiKey: { name: "API key", resolve } }, models, api: wires }),
    );
  };
}
