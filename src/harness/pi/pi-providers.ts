import { createProvider } from "@earendil-works/pi-ai";
import type { Api, Model, ModelAuth } from "@earendil-works/pi-ai";
import type { ModelRuntime } from "@earendil-works/pi-coding-agent";
import type { JobModel } from "../../contracts/job.ts";
import { wires } from "./wires.ts";

/** The providers of a session's models, under the names that pi has for them. */
export interface PiProviders {
  /** The model as pi's table has it. */
  readonly listed: (provider: string, model: string) => Model<Api> | undefined;
  /** Requests to the provider are authenticated like this from now on; its models may differ in that. */
  readonly authenticate: (provider: string, auth: ModelAuth) => void;
  /** Resolves once pi can use all providers that have an authentication. */
  readonly ready: () => Promise<void>;
}

/** The name that pi has for a model's provider: two servers of the user's own are two providers. */
export function piProvider({ provider }: JobModel, index: number): string {
  return provider === "custom" || provider === "scripted" ? `${provider}-${index + 1}` : provider;
}

/**
 * Takes the place of pi's own providers, which guess from a key how it is sent, and each of which speaks the API of
 * its own models only.
 */
export function createPiProviders(runtime: ModelRuntime): PiProviders {
  const active = new Map<string, ModelAuth>();
  const register = (id: string): void => {
    const resolve = () => {
      const auth = active.get(id);
      return Promise.resolve(auth === undefined ? undefined : { auth });
    };
    const models = runtime.getModels(id);
    runtime.registerNativeProvider(
      createProvider({ id, auth: { apiKey: { name: "API key", resolve } }, models, api: wires }),
    );
  };
  return {
    listed: (provider, model) => runtime.getModel(provider, model),
    authenticate: (provider, auth) => {
      const isNew = !active.has(provider);
      active.set(provider, auth);
      if (isNew) register(provider);
    },
    // pi changes to a model only once it has seen that its provider is authenticated.
    ready: async () => {
      await runtime.refresh({ allowNetwork: false });
    },
  };
}
